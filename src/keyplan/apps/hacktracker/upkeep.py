"""Background work of hacktracker: changes that cause many writes, finished by handlers of the table's stream.

The request that makes the change starts this work too, so that its effect is visible at once; the handler finishes what
was interrupted. All of it looks at the current state, so that doing it twice does no harm.
"""

from contextlib import suppress
from datetime import datetime

from keyplan.apps.hacktracker.design import HackTrackerDesign
from keyplan.apps.hacktracker.entities import AtBat, FormerPlayer, Game, Membership, Player, Team, User
from keyplan.data import ConditionFailed, NotFound, Update, Upsert, at, check, delete, touch, update, upsert
from keyplan.data.streams import ItemChange, on
from keyplan.design import ref
from keyplan.web import Running

Hack = Running[HackTrackerDesign]
_TOGETHER = 50
"""At-bats that are changed in one transaction."""


def unlinking(player: Player, now: datetime) -> list[Update[Player] | Upsert[FormerPlayer]]:
    """The writes that make a linked player a ghost again. The user's at-bats can still be found."""
    assert player.user_id is not None
    former = ref(FormerPlayer, team_id=player.team_id, user_id=player.user_id, player_id=player.player_id)
    player.user_id, player.linked_at, player.is_ghost = None, None, True
    return [update(player), upsert(former, lambda known: at(known.unlinked_at).set_default(now))]


# Deleted accounts

NOBODY = ("Former", "Player")
"""The names of a player whose account was deleted."""


def leave_everything(running: Hack, user_id: str) -> None:
    """Remove the memberships of a deleted account, and make its players ghosts again, without the name."""
    store, design = running.store, running.design
    for membership in store.each(design.memberships(user_id)):
        with suppress(NotFound):  # it was removed already
            store.run(delete(membership))
    for player in store.each(design.user_players(user_id)):
        player.first_name, player.last_name = NOBODY
        with suppress(NotFound):
            # The record of a player of a removed team is the only way to the at-bats for it.
            store.transact(*([update(player)] if player.removed_at else unlinking(player, store.clock())))


@on(User, "MODIFY")
def leave(change: ItemChange[User], running: Hack) -> None:
    """An account was deleted."""
    assert change.after is not None
    if change.after.deleted_at is not None:
        leave_everything(running, change.after.user_id)


# Games with another start


def redate(running: Hack, game_id: str) -> None:
    """Copy the start of a game to its at-bats, without raising their versions."""
    while (game := running.store.run(running.design.game(game_id))) is not None:
        try:
            _redate(running, game)
            return
        except (ConditionFailed, NotFound):
            continue  # the start was changed again, or an at-bat was removed


def _redate(running: Hack, game: Game) -> None:
    start = game.scheduled_start
    still = check(ref(Game, game_id=game.game_id), lambda stored: stored.scheduled_start == start)
    behind = [
        touch(ref(AtBat, game_id=each.game_id, at_bat_id=each.at_bat_id), game_date=start)
        for each in running.store.each(running.design.last_at_bats(game.game_id).limit(100))
        if each.game_date != start
    ]
    for first in range(0, len(behind), _TOGETHER):
        running.store.transact(*behind[first : first + _TOGETHER], still)


@on(Game, "MODIFY")
def move_to_another_day(change: ItemChange[Game], running: Hack) -> None:
    """The start of a game was changed."""
    assert change.before is not None
    assert change.after is not None
    if change.before.scheduled_start != change.after.scheduled_start:
        redate(running, change.after.game_id)


# Removed teams


@on(Team, "REMOVE")
def remove_what_belonged(change: ItemChange[Team], running: Hack) -> None:
    """A deleted team expired: remove what belonged to it, except the at-bats and the records of linked players.

    Invitations have expired before: they are kept for a shorter time than a deleted team.
    """
    team_id = str(change.keys["team_id"])
    if running.store.run(running.design.team(team_id)) is not None:
        return  # there is a new team with this id
    _remove_games(running, team_id, change.time)
    _remove_players(running, team_id, change.time)
    for member in running.store.each(running.design.members(team_id)):
        with suppress(NotFound):
            running.store.run(delete(ref(Membership, user_id=member.user_id, team_id=team_id)))


def _remove_games(running: Hack, team_id: str, moment: datetime) -> None:
    for game in running.store.each(running.design.team_games(team_id)):
        running.store.run(running.design.keep_at_bats(game.game_id, moment.isoformat()))
        with suppress(NotFound):
            running.store.run(delete(game))


def _remove_players(running: Hack, team_id: str, moment: datetime) -> None:
    for player in running.store.each(running.design.roster(team_id)):
        if player.is_ghost:
            with suppress(NotFound):
                running.store.run(delete(player))
        elif player.removed_at is None:
            player.removed_at, player.player_number = moment, None
            with suppress(NotFound):
                running.store.run(update(player))


HANDLERS = (leave, move_to_another_day, remove_what_belonged)

__all__ = ["HANDLERS", "leave_everything", "redate", "unlinking"]
