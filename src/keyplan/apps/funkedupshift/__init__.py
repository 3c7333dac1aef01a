"""Web sites worth sharing, with tags, ratings and comments, and the results of a circle of squash players.

`fields`, `entities` and `design` are the document as a declaration: one table, `fus-main`, with five indexes.
`service` holds the rules, which `api` puts on routes and `pages` shows.
"""
