"""The web site and CMS of a volleyball club: news, events, teams, members, media, sponsors.

One table for each entity, named `vcm-*`, and beside the document's tables three of our own: who has which slug, where
the teams train, and what uses a media item.
"""
