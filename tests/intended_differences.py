"""What the systems do differently on purpose since `tests/fixtures/unchanged` was captured; see `test_unchanged.py`.

An entry names the system, the place as a failure shows it (`*` for any text; what is below is meant as well), and why.
Give `now` where it is about one value. An entry that no longer applies fails the test: remove it.
"""

from tools.differences import Intended

INTENDED: tuple[Intended, ...] = ()
