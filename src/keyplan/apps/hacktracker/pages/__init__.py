"""hacktracker's pages: teams and their people, games and how they are scored, and one's own numbers."""

from keyplan.apps.hacktracker.pages import games, mine, people, plays, scoring, teams
from keyplan.apps.hacktracker.pages.shared import pages

__all__ = ["games", "mine", "pages", "people", "plays", "scoring", "teams"]
