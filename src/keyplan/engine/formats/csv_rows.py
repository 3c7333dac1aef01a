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
    texts = _Texts(lines)
    rows = _rows(csv.reader(texts, delimiter=delimiter, strict=True), texts)
    names = header
    for row in rows:
        if isinstance(row, BadRecord):
            yield row
        elif names is None:
            names = _checked_header(row)
        elif row:
            yield _item(names, row, types)


def _rows(reader: Iterator[list[str]], texts: "_Texts") -> Iterator[list[str] | BadRecord]:
    while True:
        texts.length = 0
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


class _Texts:
    """The lines as texts."""

    def __init__(self, lines: Iterable[bytes | None]) -> None:
        self._lines = iter(lines)
        self._encoding = "utf-8-sig"
        self.length = 0
        """The bytes of the lines since this was set to 0: a row with quoted values can have many."""

    def __iter__(self) -> "_Texts":
        return self

    def __next__(self) -> str:
        line = next(self._lines)
        if line is not None:
            self.length += len(line)
        if line is None or self.length > LONGEST_LINE:
            raise BadRecord(f"a row is longer than {LONGEST_LINE} bytes; the rest of the file is skipped")
        try:
            text = line.decode(self._encoding)
        except UnicodeDecodeError:
            raise BadRecord("a line is not UTF-8; the rest of the file is skipped") from None
        self._encoding = "utf-8"
        return text + "\n"


def _checked_header(row: list[str]) -> list[str]:
    if len(set(row)) < len(row) or "" in row:
        raise BadFile("The header has an empty name, or the same name twice")
    return row


def _item(names: list[str], row: list[str], types: dict[str, str]) -> dict[str, object] | BadRecord:
    if len(row) != len(names):
        return BadRecord(f"The row has {len(row)} columns, and the header {len(names)}")
    return {name: {types.get(name, "S"): text} for name, text in zip(names, row, strict=True)}
