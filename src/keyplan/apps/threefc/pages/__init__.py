"""3FC's pages: leagues and seasons to look at and look after, and a game to be scored from the touchline."""

from keyplan.apps.threefc.pages import games, goals, leagues, seasons, teams
from keyplan.apps.threefc.pages.shared import pages

__all__ = ["games", "goals", "leagues", "pages", "seasons", "teams"]
