"""The rules of the squash section. Callers who may not see it get 404 for all of it."""

import datetime
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Annotated, Literal, TypeAlias

from fastapi import Query as QueryParameter

from keyplan.apps.funkedupshift.entities import SquashMatch, SquashPlayer
from keyplan.apps.funkedupshift.fields import player_ids
from keyplan.apps.funkedupshift.models import (
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
from keyplan.apps.funkedupshift.service.access import Access
from keyplan.data import ConditionFailed, Create, ParentMissing, Update, check, create, delete, update
from keyplan.design import Id, ref
from keyplan.web import ANYONE, IfMatch, InConflict, Listing, Paging, Unprocessable, Versions, allow, page_of

MAX_MATCHES = 2000
"""Matches of one player: their list is sorted by date after all of them are read."""
MAX_IN_TABLE = 5000
"""Matches that one squash table can be made from."""
_SEES = "you may see Squash"
_CHANGES = "you may change Squash"

Players: TypeAlias = Annotated[list[Id] | None, QueryParameter(max_length=8)]


class Squash(Access):
    """Players, matches, and the squash table."""

    @allow(ANYONE, also=_SEES)
    def may_see_squash(self) -> None:
        """Refuse callers who may not see the squash section."""
        self._permit_seeing_squash()

    @allow(ANYONE, also=_CHANGES)
    def may_change_squash(self) -> None:
        """Refuse callers who may not change the squash section."""
        self._permit_changing_squash()

    # Players

    @allow(ANYONE, also=_SEES)
    def players(self, page: Paging) -> Listing[PlayerOut]:
        """List all players in the order in which they were added."""
        self._permit_seeing_squash()
        return self.listed(self.design.players(), page, self._player_out)

    @allow(ANYONE, also=_SEES)
    def player(self, player_id: Id) -> PlayerOut:
        """Get a player."""
        self._permit_seeing_squash()
        return self._player_out(self._player(player_id))

    @allow(ANYONE, also=_CHANGES)
    def add_player(self, new: NewPlayer) -> PlayerOut:
        """Add a player."""
        self._permit_changing_squash()
        return self._player_out(self.store.run(create(SquashPlayer.from_fields(new))))

    @allow(ANYONE, also=_CHANGES)
    def change_player(self, player_id: Id, change: PlayerChange, version: IfMatch) -> PlayerOut:
        """Change a player."""
        self._permit_changing_squash()
        return self._player_out(self.save(self._player(player_id, version), change))

    @allow(ANYONE, also=_CHANGES, one_way=True)
    def delete_player(self, player_id: Id, version: IfMatch) -> None:
        """Delete a player who has played no match."""
        self._permit_changing_squash()
        self.store.run(delete(self._player(player_id, version)))

    def _player(self, player_id: str, version: Versions = None) -> SquashPlayer:
        return self.find(self.design.player(player_id), version)

    def _player_out(self, player: SquashPlayer) -> PlayerOut:
        if "squash:write" in self._permissions:
            return PlayerOut.from_fields(player)
        return PlayerOut.from_fields(player, email=None, user_id=None)

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
        """List matches, latest first: all, or those of one or more players.

        Matches on a date or from one date to another come in order of date. With several players, `how` says whether
        any of them or all of them must have played.
        """
        self._permit_seeing_squash()
        if date is not None and (date_from or date_to):
            raise Unprocessable("date-or-range", "Give either a date or a range, not both.", pointer="?date")
        first, last = _range(date or date_from, date or date_to)
        if player:
            return self._matches_of(player, how, first, last, page)
        if date is not None:
            return self.listed(self.design.matches_by_date(date), page, MatchOut.from_fields)
        if date_from or date_to:
            return self.listed(self.design.matches_by_date_range(first, last), page, MatchOut.from_fields)
        return self.listed(self.design.matches(), page, MatchOut.from_fields)

    def _matches_of(
        self, players: Sequence[str], how: str, first: datetime.date, last: datetime.date, page: Paging
    ) -> Listing[MatchOut]:
        """No key has them in this order: all participations are read, at most 2,000 of each player, and sorted."""
        name = f"matches of {sorted(set(players))}, {how}, {first} to {last}"
        found = page_of(self.store, name, self._dates_of(players, how, first, last), page, "#".join, newest_first=True)
        stored = self.store.run(self.design.matches_by_ids([match_id for _, match_id in found.items]))
        return Listing(items=[MatchOut.from_fields(each) for each in stored if each is not None], next=found.next)

    def _dates_of(
        self, players: Sequence[str], how: str, first: datetime.date, last: datetime.date
    ) -> set[tuple[str, str]]:
        """Date and id of the matches in a range that any of these players, or all of them, were in."""
        sets = []
        for player in set(players):
            participations = islice(self.store.each(self.design.participations(player).limit(1000)), MAX_MATCHES)
            sets.append(
                {(f"{each.squash_date}", each.match_id) for each in participations if first <= each.squash_date <= last}
            )
        return set.intersection(*sets) if how == "all" else set.union(*sets)

    @allow(ANYONE, also=_SEES)
    def match(self, match_id: Id) -> MatchOut:
        """Get a match."""
        self._permit_seeing_squash()
        return MatchOut.from_fields(self._match(match_id))

    @allow(ANYONE, also=_CHANGES)
    def add_match(self, new: NewMatch) -> MatchOut:
        """Add a match."""
        self._permit_changing_squash()
        match = SquashMatch.from_fields(new)
        return self._written(create(match), player_ids(match))

    @allow(ANYONE, also=_CHANGES)
    def change_match(self, match_id: Id, change: MatchChange, version: IfMatch) -> MatchOut:
        """Change a match. The players' records change with it."""
        self._permit_changing_squash()
        match = self._match(match_id, version)
        before = player_ids(match)
        change.apply_to(match)
        return self._written(update(match), set(player_ids(match)).difference(before))

    @allow(ANYONE, also=_CHANGES, one_way=True)
    def delete_match(self, match_id: Id, version: IfMatch) -> None:
        """Delete a match."""
        self._permit_changing_squash()
        self.store.run(delete(self._match(match_id, version)))

    def _match(self, match_id: str, version: Versions = None) -> SquashMatch:
        return self.find(self.design.match(match_id), version)

    def _written(self, write: Create[SquashMatch] | Update[SquashMatch], new_players: Iterable[str]) -> MatchOut:
        """The match after it was written. The write decides that its players exist and may have another match."""
        match = write.entity
        room = [check(ref(SquashPlayer, id=id), lambda player: player.match_count < MAX_MATCHES) for id in new_players]
        try:
            self.store.transact(write, *room)
        except ParentMissing as error:
            raise _no_player(error, match) from error
        except ConditionFailed as error:
            name = error.stored.name if isinstance(error.stored, SquashPlayer) else "A player"
            raise InConflict(
                "too-many-matches", f"{name} already has {MAX_MATCHES:,} matches, the maximum per player."
            ) from error
        return MatchOut.from_fields(match)

    # The table

    @allow(ANYONE, also=_SEES)
    def table(self, date_from: Day | None = None, date_to: Day | None = None) -> Standings:
        """Get the squash table: each player's matches, wins, games won and games lost, of all time or a date range."""
        self._permit_seeing_squash()
        op = self.design.matches_by_date_range(*_range(date_from, date_to))
        matches = list(islice(self.store.each(op.limit(1000)), MAX_IN_TABLE + 1))
        if len(matches) > MAX_IN_TABLE:
            raise Unprocessable(
                "too-many-matches", f"The range has more than {MAX_IN_TABLE:,} matches. Choose a shorter one."
            )
        return Standings(date_from=date_from, date_to=date_to, matches=len(matches), rows=self._rows(matches))

    def _rows(self, matches: Sequence[SquashMatch]) -> list[Standing]:
        played = list(dict.fromkeys(player for match in matches for player in player_ids(match)))
        players = self.store.run(self.design.players_by_ids(played))
        rows = {each.id: Standing.from_fields(each) for each in players if each is not None}
        for match in matches:
            first, second, third, fourth = player_ids(match)
            for team, won, lost, ids in (
                ("A", match.team_a_games, match.team_b_games, (first, second)),
                ("B", match.team_b_games, match.team_a_games, (third, fourth)),
            ):
                for row in (rows[id] for id in ids if id in rows):
                    row.matches += 1
                    row.wins += team == match.winning_team
                    row.games_won += won
                    row.games_lost += lost
        order = sorted(rows.values(), key=lambda row: (row.name.casefold(), row.id))
        return sorted(order, key=lambda row: (row.wins, row.games_won - row.games_lost), reverse=True)


def _range(first: datetime.date | None, last: datetime.date | None) -> tuple[datetime.date, datetime.date]:
    """A range of dates; without a first or last date it is open at that end."""
    first, last = first or datetime.date.min, last or datetime.date.max
    if first > last:
        raise Unprocessable("empty-range", "The range ends before it starts.", pointer="?date_to")
    return first, last


def _no_player(error: ParentMissing, match: SquashMatch) -> Unprocessable:
    missing = error.values.get("id")
    named = (name for name in SquashMatch.model_fields if name.endswith("_id") and getattr(match, name) == missing)
    return Unprocessable("no-such-player", "Player not found.", pointer=f"/{next(named, '')}")
