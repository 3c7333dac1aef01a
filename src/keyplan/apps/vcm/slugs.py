"""Slugs: what a title or name is called in an address."""

from keyplan import web

LONGEST = 80


def slug_of(text: str) -> str:
    """The slug of a text: a-z, 0-9 and hyphens; empty where nothing of it can be in one. The club speaks German."""
    return web.slug_of(text, LONGEST, german=True)
