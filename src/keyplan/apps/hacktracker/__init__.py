"""Softball teams: who plays, which games are coming, what happened at bat, and the statistics of it.

`design` is the document as a declaration: one table, `hacktracker-{environment}`, with five indexes.
"""
