"""Items from CSV: the first row, or the request, has the names of the attributes.

All values are strings, except those of key attributes, which have the types of their definitions.
"""

import csv
from collections.abc import Iterable, Iterator

from keyplan.engine.formats.lines import LONGEST_LINE, BadFile, BadRecord


def read_items(
    lines: Iterable[bytes | None], *, delimiter: str, header: list[str] | None, types: dict[str, str]
) -> Iterator[dict[str, object] | BadRecord]:
    """Yield the items; `types` are the types of the key attributes."""
    if csv.field_size_limit() < LONGEST_LINE:
        csv.field_size_limit(LONGEST_LINE)
    rows = _rows(csv.reader(_texts(lines), delimiter=delimiter, strict=True))
    names = header
    for row in rows:
        if isinstance(row, BadRecord):
            yield row
        elif names is None:
            names = _checked_header(row)
        elif row:
            yield _item(names, row, types)


def _rows(reader: Iterator[list[str]]) -> Iterator[list[str] | BadRecord]:
    while True:
        try:
            row = next(reader)
        except StopIteration:
            return
        except (csv.Error, BadRecord) as error:
            yield BadRecord(f"The row is not CSV: {error}")
            if isinstance(error, BadRecord):  # it ended the lines
                return
            continue
        yield row


def _texts(lines: Iterable[bytes | None]) -> Iterator[str]:
    first = True
    for line in lines:
        if line is None:
            raise BadRecord(f"a line is longer than {LONGEST_LINE} bytes; the rest of the file is skipped")
        try:
            text = line.decode("utf-8-sig" if first else "utf-8")
        except UnicodeDecodeError:
            raise BadRecord("a line is not UTF-8; the rest of the file is skipped") from None
        first = False
        yield text + "\n"


def _checked_header(row: list[str]) -> list[str]:
    if len(set(row)) < len(row) or "" in row:
        raise BadFile("The header has an empty name, or the same name twice")
    return row


def _item(names: list[str], row: list[str], types: dict[str, str]) -> dict[str, object] | BadRecord:
    if len(row) != len(names):
        return BadRecord(f"The row has {len(row)} columns, and the header {len(names)}")
    return {name: {types.get(name, "S"): text} for name, text in zip(names, row, strict=True)}
