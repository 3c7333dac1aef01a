"""3FC's pages: leagues and seasons to read and manage, and games to score from the touchline."""

from keyplan.apps.threefc.pages import games, goals, leagues, seasons, teams
from keyplan.apps.threefc.pages.shared import pages

__all__ = ["games", "goals", "leagues", "pages", "seasons", "teams"]
