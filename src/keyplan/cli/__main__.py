"""`python -m keyplan.cli` is `keyplan`."""

from keyplan.cli import main

main()
