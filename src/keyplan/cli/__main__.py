"""`python -m keyplan.cli` is `keyplan`."""

from keyplan.cli import main

if __name__ == "__main__":
    main()
