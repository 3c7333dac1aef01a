"""The rules of 3FC: leagues, seasons and games in one service."""

from keyplan.apps.threefc.games import Games
from keyplan.apps.threefc.leagues import Leagues
from keyplan.apps.threefc.seasons import Seasons


class Football(Leagues, Seasons, Games):
    """Everything that can be done with 3FC."""
