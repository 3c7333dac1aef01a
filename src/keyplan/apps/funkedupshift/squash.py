"""The rules of the squash section. To those who may not see it, none of it is there."""

import datetime
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Annotated, Literal, TypeAlias

from fastapi import Query as QueryParameter

from keyplan.apps.funkedupshift.access import Access
from keyplan.apps.funkedupshift.entities import SquashMatch, SquashPlayer, four
from keyplan.apps.funkedupshift.models import ItemId
from keyplan.apps.funkedupshift.squash_models import (
    Day,
    MatchChange,
    MatchOut,
    NewMatch,
    NewPlayer,
    PlayerChange,
    PlayerOut,
    Standing,
    Standings,
)
from keyplan.data import ConditionFailed, Create, InUse, ParentMissing, Update, check, create, delete, update
from keyplan.design import Id, ref
from keyplan.web import ANYONE, IfMatch, InConflict, Listing, Missing, Paging, Unprocessable, allow, page_of

MOST_MATCHES = 2000
"""Matches of one player: their list is sorted by date after all of them were read."""
MOST_IN_TABLE = 5000
"""Matches that one squash table is made of."""
_SEES = "Squash is there for you"
_CHANGES = "you may change Squash"

Players: TypeAlias = Annotated[list[Id] | None, QueryParameter(max_length=8)]


class Squash(Access):
    """Players, matches, and the table that comes of them."""

    @allow(ANYONE, also=_SEES)
    def may_see_squash(self) -> None:
        """Refuse those for whom the squash section is not there."""
        self._sees_squash()

    @allow(ANYONE, also=_CHANGES)
    def may_change_squash(self) -> None:
        """Refuse those who may not change what is in the squash section."""
        self._changes_squash()

    # Players

    @allow(ANYONE, also=_SEES)
    def players(self, page: Paging) -> Listing[PlayerOut]:
        """All players, in the order in which they were added."""
        self._sees_squash()
        return self.listed(self.design.players(), page, self._shown_player)

    @allow(ANYONE, also=_SEES)
    def player(self, player_id: ItemId) -> PlayerOut:
        """A player."""
        self._sees_squash()
        return self._shown_player(self._player(player_id))

    @allow(ANYONE, also=_CHANGES)
    def add_player(self, new: NewPlayer) -> PlayerOut:
        """Add a player."""
        self._changes_squash()
        return self._shown_player(self.store.run(create(SquashPlayer(**new.model_dump()))))

    @allow(ANYONE, also=_CHANGES)
    def change_player(self, player_id: ItemId, change: PlayerChange, version: IfMatch) -> PlayerOut:
        """Change a player."""
        self._changes_squash()
        player = self._player(player_id)
        self.current(player, version)
        if change.name is None and "name" in change.model_fields_set:
            raise Unprocessable("required", "A player has a name.", pointer="/name")
        for name in change.model_fields_set:
            setattr(player, name, getattr(change, name))
        return self._shown_player(self.store.run(update(player)))

    @allow(ANYONE, also=_CHANGES)
    def delete_player(self, player_id: ItemId, version: IfMatch) -> None:
        """Delete a player whom no match names."""
        self._changes_squash()
        player = self._player(player_id)
        self.current(player, version)
        try:
            self.store.run(delete(player))
        except InUse as error:
            raise InConflict("has-matches", "There are matches of this player.") from error

    def _player(self, player_id: str) -> SquashPlayer:
        player = self.store.run(self.design.player(player_id))
        if player is None:
            raise Missing(detail="There is no such player.")
        return player

    def _shown_player(self, player: SquashPlayer) -> PlayerOut:
        return PlayerOut.of(player, private="squash:write" in self._powers)

    # Matches

    @allow(ANYONE, also=_SEES)
    def matches(
        self,
        page: Paging,
        date: Day | None = None,
        date_from: Day | None = None,
        date_to: Day | None = None,
        player: Players = None,
        how: Literal["any", "all"] = "any",
    ) -> Listing[MatchOut]:
        """Matches: all, the latest first; of a date, or from one date to another, in their order; or of players, the
        latest first: such that any of them, or all of them, played in.
        """
        self._sees_squash()
        if date is not None and (date_from or date_to):
            raise Unprocessable("date-or-range", "Ask for one date, or for a range.", pointer="?date")
        first, last = _range(date or date_from, date or date_to)
        if player:
            return self._matches_of(player, how, first, last, page)
        if date is not None:
            return self.listed(self.design.matches_by_date(date), page, MatchOut.of)
        if date_from or date_to:
            return self.listed(self.design.matches_by_date_range(first, last), page, MatchOut.of)
        return self.listed(self.design.matches(), page, MatchOut.of)

    def _matches_of(
        self, players: Sequence[str], how: str, first: datetime.date, last: datetime.date, page: Paging
    ) -> Listing[MatchOut]:
        """No key has them in this order: all participations are read, at most 2,000 of each player, and sorted."""
        name = f"matches of {sorted(set(players))}, {how}, {first} to {last}"
        found = page_of(name, self._dates_of(players, how, first, last), page, "#".join, newest_first=True)
        stored = self.store.run(self.design.matches_by_ids([match_id for _, match_id in found.items]))
        return Listing(items=[MatchOut.of(match) for match in stored if match is not None], next=found.next)

    def _dates_of(
        self, players: Sequence[str], how: str, first: datetime.date, last: datetime.date
    ) -> set[tuple[str, str]]:
        """Date and id of the matches in a range that any of these players, or all of them, were in."""
        sets = []
        for player in set(players):
            participations = islice(self.store.each(self.design.participations(player).limit(1000)), MOST_MATCHES)
            sets.append(
                {(f"{each.squash_date}", each.match_id) for each in participations if first <= each.squash_date <= last}
            )
        return set.intersection(*sets) if how == "all" else set.union(*sets)

    @allow(ANYONE, also=_SEES)
    def match(self, match_id: ItemId) -> MatchOut:
        """A match."""
        self._sees_squash()
        return MatchOut.of(self._match(match_id))

    @allow(ANYONE, also=_CHANGES)
    def add_match(self, new: NewMatch) -> MatchOut:
        """Add a match."""
        self._changes_squash()
        match = SquashMatch(**new.model_dump())
        return self._written(create(match), four(match))

    @allow(ANYONE, also=_CHANGES)
    def change_match(self, match_id: ItemId, change: MatchChange, version: IfMatch) -> MatchOut:
        """Change a match. What the players have of it changes with it."""
        self._changes_squash()
        match = self._match(match_id)
        self.current(match, version)
        before = four(match)
        for name in change.model_fields_set:
            value = getattr(change, name)
            if value is None:
                raise Unprocessable("required", "A match has this.", pointer=f"/{name}")
            setattr(match, name, value)
        return self._written(update(match), set(four(match)).difference(before))

    @allow(ANYONE, also=_CHANGES)
    def delete_match(self, match_id: ItemId, version: IfMatch) -> None:
        """Delete a match."""
        self._changes_squash()
        match = self._match(match_id)
        self.current(match, version)
        self.store.run(delete(match))

    def _match(self, match_id: str) -> SquashMatch:
        match = self.store.run(self.design.match(match_id))
        if match is None:
            raise Missing(detail="There is no such match.")
        return match

    def _written(self, write: Create[SquashMatch] | Update[SquashMatch], new_players: Iterable[str]) -> MatchOut:
        """The match, once it is written. The write decides that its players exist and have room for another one."""
        match = write.entity
        _check(match)
        room = [check(ref(SquashPlayer, id=id), lambda player: player.match_count < MOST_MATCHES) for id in new_players]
        try:
            self.store.transact(write, *room)
        except ParentMissing as error:
            raise _no_player(error, match) from error
        except ConditionFailed as error:
            name = error.stored.name if isinstance(error.stored, SquashPlayer) else "A player"
            raise InConflict("too-many-matches", f"{name} has {MOST_MATCHES:,} matches, and no more fit.") from error
        return MatchOut.of(match)

    # The table

    @allow(ANYONE, also=_SEES)
    def table(self, date_from: Day | None = None, date_to: Day | None = None) -> Standings:
        """The squash table: matches, wins, and games won and lost of each player, over all time or a range of it."""
        self._sees_squash()
        op = self.design.matches_by_date_range(*_range(date_from, date_to))
        matches = list(islice(self.store.each(op.limit(1000)), MOST_IN_TABLE + 1))
        if len(matches) > MOST_IN_TABLE:
            raise Unprocessable("too-many-matches", f"These are more than {MOST_IN_TABLE:,} matches: take fewer days.")
        return Standings(date_from=date_from, date_to=date_to, matches=len(matches), rows=self._rows(matches))

    def _rows(self, matches: Sequence[SquashMatch]) -> list[Standing]:
        played = list(dict.fromkeys(player for match in matches for player in four(match)))
        players = self.store.run(self.design.players_by_ids(played))
        rows = {each.id: Standing(player_id=each.id, name=each.name) for each in players if each is not None}
        for match in matches:
            first, second, third, fourth = four(match)
            for team, won, lost, ids in (
                ("A", match.team_a_games, match.team_b_games, (first, second)),
                ("B", match.team_b_games, match.team_a_games, (third, fourth)),
            ):
                for row in (rows[id] for id in ids if id in rows):
                    row.matches += 1
                    row.wins += team == match.winning_team
                    row.games_won += won
                    row.games_lost += lost
        order = sorted(rows.values(), key=lambda row: (row.name.casefold(), row.player_id))
        return sorted(order, key=lambda row: (row.wins, row.games_won - row.games_lost), reverse=True)


def _check(match: SquashMatch) -> None:
    """What a match must be like, whoever played in it."""
    if len(set(four(match))) < 4:
        raise Unprocessable("same-player", "A match is among four different players.")
    games = {"A": match.team_a_games, "B": match.team_b_games}
    winner = games.pop(match.winning_team)
    (loser,) = games.values()
    if winner != 3 or loser == 3:
        raise Unprocessable("wrong-score", "The winning team has 3 games, the other 0, 1 or 2.")


def _range(first: datetime.date | None, last: datetime.date | None) -> tuple[datetime.date, datetime.date]:
    """A range of dates; without an end it goes on for ever."""
    first, last = first or datetime.date.min, last or datetime.date.max
    if first > last:
        raise Unprocessable("empty-range", "The range ends before it begins.", pointer="?date_to")
    return first, last


def _no_player(error: ParentMissing, match: SquashMatch) -> Unprocessable:
    missing = error.values.get("id")
    named = (name for name in SquashMatch.model_fields if name.endswith("_id") and getattr(match, name) == missing)
    return Unprocessable("no-such-player", "There is no such player.", pointer=f"/{next(named, '')}")
