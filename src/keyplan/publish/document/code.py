"""How a pattern is run, as code: by the data layer in Python, by boto3, and by the AWS CLI."""

import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from typing import Any
from uuid import UUID

from keyplan.publish.document.model import Example, Sent
from keyplan.publish.document.requests import json_line, jsonable

_WIDTH = 120
"""How long lines of Python may be: the examples are formatted as ruff formats them with this length."""
_WORDS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


class Code:
    """Python text for values, which remembers what has to be imported for it."""

    def __init__(self) -> None:
        self._imports: dict[str, set[str]] = {}

    def imported(self, module: str, name: str) -> str:
        """A name that is imported from a module."""
        self._imports.setdefault(module, set()).add(name)
        return name

    def imports(self) -> list[str]:
        """The lines that import everything."""
        return [f"from {module} import {', '.join(sorted(names))}" for module, names in sorted(self._imports.items())]

    def value(self, value: object, indent: int = 0, before: int = 0) -> str:
        """A value as Python has it, over several lines if it doesn't fit behind what is `before` it on its line."""
        text = self._flat(value)
        if before + len(text) + 1 <= _WIDTH or not isinstance(value, Mapping | list | tuple) or not value:
            return text
        inner, outer = " " * (indent + 4), " " * indent
        pairs = (
            [(f"{self._flat(name)}: ", each) for name, each in value.items()]
            if isinstance(value, Mapping)
            else [("", each) for each in value]
        )
        starts = [(f"{inner}{start}", each) for start, each in pairs]
        opening, closing = "{}" if isinstance(value, Mapping) else "[]"
        lines = [f"{start}{self.value(each, indent + 4, len(start))}," for start, each in starts]
        return "\n".join([opening, *lines, f"{outer}{closing}"])

    def call(self, function: str, arguments: Mapping[str, object], indent: int = 0) -> str:
        """A call with keyword arguments, over several lines if it is long."""
        flat = f"{function}({', '.join(f'{name}={self._flat(value)}' for name, value in arguments.items())})"
        if len(flat) + indent <= _WIDTH:
            return flat
        starts = {f"{' ' * (indent + 4)}{name}=": value for name, value in arguments.items()}
        lines = [f"{start}{self.value(value, indent + 4, len(start))}," for start, value in starts.items()]
        return "\n".join([f"{function}(", *lines, f"{' ' * indent})"])

    def _flat(self, value: object) -> str:
        match value:
            case Enum():
                return self._flat(value.value)
            case str():
                return _quoted(value)
            case datetime():
                return self._moment(value)
            case date():
                return f"{self.imported('datetime', 'date')}({value.year}, {value.month}, {value.day})"
            case timedelta():
                return f"{self.imported('datetime', 'timedelta')}(seconds={value.total_seconds():g})"
            case time():
                return f'{self.imported("datetime", "time")}.fromisoformat("{value.isoformat()}")'
            case UUID():
                return f'{self.imported("uuid", "UUID")}("{value}")'
            case Decimal():
                return f'{self.imported("decimal", "Decimal")}("{value}")'
            case Mapping():
                return "{" + ", ".join(f"{self._flat(name)}: {self._flat(each)}" for name, each in value.items()) + "}"
            case list() | tuple():
                return f"[{', '.join(map(self._flat, value))}]"
            case set() | frozenset():
                return "{" + ", ".join(sorted(map(self._flat, value))) + "}"
        return repr(value)

    def _moment(self, value: datetime) -> str:
        name = self.imported("datetime", "datetime")
        return f'{name}.fromisoformat("{value.isoformat()}")'


def _quoted(text: str) -> str:
    """A text in double quotes, as formatters want it."""
    quoted = repr(text)
    return f'"{quoted[1:-1]}"' if '"' not in text else quoted


def pattern_example(code: Code, name: str, arguments: Mapping[str, object], sent: Sequence[Sent]) -> Example:
    """How an access pattern is run with these arguments, and the requests that this sends."""
    call = code.call(f"design.{name}", arguments, indent=4)
    flat = f"store.run({call})"
    python = flat if "\n" not in flat and len(flat) <= _WIDTH else f"store.run(\n    {call}\n)"
    return Example(python, boto3_code(code, sent), cli_code(sent))


def boto3_code(code: Code, sent: Iterable[Sent]) -> str:
    """The requests as calls of boto3's client `dynamodb`."""
    return "\n".join(code.call(f"dynamodb.{each.operation}", each.request) for each in sent)


def cli_code(sent: Iterable[Sent]) -> str:
    """The requests as commands of the AWS CLI."""
    return "\n".join(_command(each) for each in sent)


def _command(sent: Sent) -> str:
    words = [f"aws dynamodb {sent.operation.replace('_', '-')}"]
    for member, value in sent.request.items():
        option = "--" + _WORDS.sub("-", member).lower()
        if isinstance(value, bool):
            words.append(option if value else option.replace("--", "--no-", 1))
        else:
            words.append(f"{option} {_argument(value)}")
    return " \\\n    ".join(words)


def _argument(value: Any) -> str:  # noqa: ANN401 - a member of a request
    if isinstance(value, str):
        return shlex.quote(value)
    return shlex.quote(json_line(jsonable(value)))
