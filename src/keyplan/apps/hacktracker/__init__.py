"""Softball teams: their rosters, their games, what happens at bat, and the statistics.

`design` declares the design document: one table, `hacktracker-{environment}`, with five indexes.
"""
