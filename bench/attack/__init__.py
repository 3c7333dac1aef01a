"""Attacks on a running server, each with a bound on number and time: `make attack`.

`target` starts a server on this machine and measures what a normal user notices meanwhile. `connections` and `requests`
have the attacks; `ATTACKS` in `__main__` is the table of all of them. Nothing leaves 127.0.0.0/8.
"""
