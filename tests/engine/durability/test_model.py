"""Random operations, side by side with a plain model: in memory, and on a file that is closed and opened in between.

`KEYPLAN_TEST_LONG=1` (`make test-long`) has it go on for some minutes.
"""

import os
import tempfile
from pathlib import Path

from hypothesis import settings
from hypothesis.stateful import rule

from tests.engine.durability.statement_comparison import StatementComparison

LONG = bool(os.environ.get("KEYPLAN_TEST_LONG"))
BOUNDS = settings(max_examples=800 if LONG else 50, stateful_step_count=80 if LONG else 50)


class ComparisonOnFile(StatementComparison):
    """The same, on a file that is closed and opened again, and that others look into."""

    def __init__(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.path = str(Path(self.folder.name) / "data.db")
        super().__init__()
        self.other = self.open()

    def teardown(self) -> None:
        super().teardown()
        self.other.close()
        self.folder.cleanup()

    @rule()
    def reopen(self) -> None:
        self.engine.close()
        self.engine = self.open()

    @rule()
    def look_from_elsewhere(self) -> None:
        self.compare(self.other)
        with self.open() as new:
            self.compare(new)

    @rule()
    def go_on_elsewhere(self) -> None:
        """Each engine must see all changes of the other."""
        self.engine, self.other = self.other, self.engine


StatementComparison.TestCase.settings = BOUNDS
ComparisonOnFile.TestCase.settings = BOUNDS
TestInMemory = StatementComparison.TestCase
TestOnFile = ComparisonOnFile.TestCase
