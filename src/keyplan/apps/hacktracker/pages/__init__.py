"""hacktracker's pages: teams and their people, games and scoring, and the caller's own statistics."""

from keyplan.apps.hacktracker.pages import games, mine, people, plays, scoring, teams
from keyplan.apps.hacktracker.pages.shared import pages

__all__ = ["games", "mine", "pages", "people", "plays", "scoring", "teams"]
