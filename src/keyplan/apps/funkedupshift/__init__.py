"""Web sites worth sharing, with tags, ratings and comments, and the results of a circle of squash players.

`design` is the document as a declaration: one table, `fus-main`, with five indexes. `access` says who has which power;
`catalogue`, `people` and `squash` hold the rules, which `api` puts on routes and `pages` shows.
"""
