"""The records of a file in any format."""

from collections.abc import Iterator
from typing import TypeAlias

from keyplan.engine.formats import csv_rows, dynamodb_json, ion_reader
from keyplan.engine.formats.lines import LONGEST_LINE, BadRecord, Lines

ItemRecord: TypeAlias = dict[str, object]
"""An object with an `Item`, and what an operation accepts beside it."""

_READERS = {"DYNAMODB_JSON": dynamodb_json.read_record, "ION": ion_reader.read_record}


def records(
    lines: Lines, kind: str, *, delimiter: str = ",", header: list[str] | None = None, types: dict[str, str]
) -> Iterator[ItemRecord | BadRecord]:
    """Yield the records of a file, good and bad ones; raise `BadFile` where it can't be read further."""
    if kind == "CSV":
        for item in csv_rows.read_items(lines, delimiter=delimiter, header=header, types=types):
            yield item if isinstance(item, BadRecord) else {"Item": item}
        return
    read = _READERS[kind]
    for line in lines:
        if line is None:
            yield BadRecord(f"The line is longer than {LONGEST_LINE} bytes")
        elif line.strip():
            try:
                yield read(line)
            except BadRecord as error:
                yield error
