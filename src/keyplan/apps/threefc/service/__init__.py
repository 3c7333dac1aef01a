"""The rules of 3FC: leagues, seasons and games in one service."""

from keyplan.apps.threefc.service.games import Games
from keyplan.apps.threefc.service.goals import Goals
from keyplan.apps.threefc.service.leagues import Leagues
from keyplan.apps.threefc.service.seasons import Seasons


class Football(Leagues, Seasons, Games, Goals):
    """Everything that can be done with 3FC."""
