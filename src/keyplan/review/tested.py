"""The record of the patterns that tests ran, which pytest writes with `--keyplan-patterns FILE`.

Each line names a design and a pattern of it: `shop:Shop orders_of_customer`. The lines come in any order, and can be
repeated: several processes write into one file.
"""

from pathlib import Path

from keyplan.design import Design


class InvalidRecord(Exception):
    """A file that has no record of a design's patterns."""


def patterns_tested(file: Path, design: type[Design]) -> frozenset[str]:
    """The patterns of a design that tests ran. Raises `InvalidRecord`, or `OSError` if the file can't be read."""
    try:
        lines = file.read_text("utf-8").splitlines()
    except UnicodeDecodeError:
        lines = ["?"]
    tested: set[str] = set()
    others: dict[str, None] = {}
    for line in lines:
        place, _, pattern = line.partition(" ")
        module, colon, name = place.partition(":")
        if not (colon and name and pattern.isidentifier()):
            raise InvalidRecord("it isn't a record of tested patterns: write one with pytest --keyplan-patterns FILE")
        if name == design.__qualname__ and _is_same(module, design.__module__):
            tested.add(pattern)
        else:
            others[place] = None
    if others and not tested:
        raise InvalidRecord(
            f"it has no patterns of {design.__module__}:{design.__qualname__}, but of {', '.join(others)}"
        )
    return frozenset(tested)


def _is_same(one: str, other: str) -> bool:
    """Whether two names are of one module, which can be imported from different folders: `shop`, `src.shop`."""
    return one == other or one.endswith(f".{other}") or other.endswith(f".{one}")
