"""What hacktracker sees to by itself, told by the table's stream: what follows from a change and takes many writes.

Each of these is also begun by the request that makes the change, so that it is seen at once; the stream finishes what
was cut off. All of them look at how things are now, so that it does no harm to do them twice.
"""

from contextlib import suppress
from datetime import datetime

from keyplan.apps.hacktracker.design import HackTrackerDesign
from keyplan.apps.hacktracker.entities import AtBat, FormerPlayer, Game, Player, Team, User
from keyplan.data import ConditionFailed, NotFound, Part, check, create, delete, touch, update
from keyplan.data.streams import Change, on
from keyplan.design import get, ref
from keyplan.web import Running

Hack = Running[HackTrackerDesign]
_TOGETHER = 50
"""At-bats that are changed in one transaction."""


def unlinking(running: Hack, player: Player, now: datetime) -> list[Part]:
    """The writes that make a linked player a ghost again, and leave the way to what the user batted."""
    assert player.user_id is not None
    former = FormerPlayer(team_id=player.team_id, user_id=player.user_id, player_id=player.player_id, unlinked_at=now)
    known = running.store.run(
        get(FormerPlayer, team_id=former.team_id, user_id=former.user_id, player_id=former.player_id, consistent=True)
    )
    player.user_id, player.linked_at, player.is_ghost = None, None, True
    return [update(player)] if known is not None else [update(player), create(former)]


# Somebody has gone

NOBODY = ("Former", "Player")
"""The names of a player whose account was deleted."""


def leave_everything(running: Hack, user_id: str) -> None:
    """Of an account that is gone: the memberships go, and the players are ghosts again, without the name."""
    store, design = running.store, running.design
    for membership in store.each(design.memberships(user_id)):
        with suppress(NotFound):  # somebody else was faster
            store.run(delete(membership))
    for player in store.each(design.user_players(user_id)):
        player.first_name, player.last_name = NOBODY
        with suppress(NotFound):
            # What a removed team left of the player is all that leads to what was batted for it.
            store.transact(*([update(player)] if player.removed_at else unlinking(running, player, store.clock())))


@on(User, "MODIFY")
def leave(change: Change[User], running: Hack) -> None:
    """An account was deleted."""
    assert change.after is not None
    if change.after.deleted_at is not None:
        leave_everything(running, change.after.user_id)


# A game was moved to another day


def redate(running: Hack, game_id: str) -> None:
    """The at-bats of a game carry its date. It is a copy, which makes no new version of them."""
    while (game := running.store.run(running.design.game(game_id))) is not None:
        try:
            _redate(running, game)
            return
        except (ConditionFailed, NotFound):
            continue  # it was moved once more, or an at-bat was taken back


def _redate(running: Hack, game: Game) -> None:
    start = game.scheduled_start
    still = check(ref(Game, game_id=game.game_id), lambda stored: stored.scheduled_start == start)
    behind = [
        touch(ref(AtBat, game_id=each.game_id, at_bat_id=each.at_bat_id), game_date=start)
        for each in running.store.each(running.design.last_at_bats(game.game_id).limit(100))
        if each.game_date != start
    ]
    for at in range(0, len(behind), _TOGETHER):
        running.store.transact(*behind[at : at + _TOGETHER], still)


@on(Game, "MODIFY")
def move_to_another_day(change: Change[Game], running: Hack) -> None:
    """The start of a game was changed."""
    assert change.before is not None
    assert change.after is not None
    if change.before.scheduled_start != change.after.scheduled_start:
        redate(running, change.after.game_id)


# A team is gone for good


@on(Team, "REMOVE")
def remove_what_belonged(change: Change[Team], running: Hack) -> None:
    """A team's time was over: everything of it goes but the at-bats and the records of those who batted them.

    Invitations go by themselves: they live shorter than a deleted team.
    """
    team_id = str(change.keys["team_id"])
    if running.store.run(running.design.team(team_id)) is not None:
        return  # another team has its id by now
    _remove_games(running, team_id, change.time)
    _remove_players(running, team_id, change.time)
    for member in running.store.each(running.design.members(team_id)):
        membership = running.store.run(running.design.membership(member.user_id, team_id))
        if membership is not None:
            with suppress(NotFound):
                running.store.run(delete(membership))


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
