"""3FC: scoring for three-sided football, in one table without an index.

An organizer creates a league, its seasons, sessions and games; a scorekeeper logs goals from the touchline; players
follow the results. What makes it hard on DynamoDB: items whose fields are one JSON string, permissions that are found
through lookup mirrors, and a timeline that sorts by third and minute.
"""
