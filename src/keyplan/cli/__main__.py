"""Runs `keyplan` as `python -m keyplan.cli`."""

from keyplan.cli import main

if __name__ == "__main__":
    main()
