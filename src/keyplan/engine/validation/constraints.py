"""Checks the constraints of a request: one ValidationException with AWS's message for each one that is violated."""

from collections.abc import Iterator
from itertools import islice
from typing import cast
from zlib import crc32

import orjson

from keyplan.engine.errors import DynamoError, validation_error
from keyplan.engine.service_model import Model, Shape
from keyplan.engine.validation import extras
from keyplan.engine.validation.extras import Constraints
from keyplan.engine.validation.readers import compile_pattern, constraints_of, required_members
from keyplan.engine.validation.serialization import DEEPEST
from keyplan.engine.validation.wording import Wording

MAXIMUM_SHOWN = 200
"""The most members of a list or map that an error message prints."""
MAXIMUM_TEXT = 65_536
"""The most characters of a string that an error message prints."""


class Violations:
    """Collects the violations in a request whose JSON types are correct, in the words of its operation."""

    def __init__(self, model: Model, wording: Wording) -> None:
        self._model = model
        self._wording = wording
        self.errors: list[str] = []

    def structure(self, name: str, value: dict[str, object], path: str = "", depth: int = 0) -> None:
        """Collect the violations in a structure and everything in it, in the order of the model."""
        shape = self._model["shapes"][name]
        required = required_members(name, shape)
        for member, reference in shape.get("members", {}).items():
            name_shown = member if self._wording.names_members else _lower(member)
            place = f"{path}.{name_shown}" if path else name_shown
            content = value.get(member)
            if content is not None:
                self._visit(reference["shape"], content, place, extras.MEMBERS.get((name, member)), depth + 1)
            elif member in required:
                self._null(place)

    def _visit(self, name: str, value: object, path: str, more: Constraints | None, depth: int) -> None:
        shape = self._model["shapes"][name]
        if shape["type"] == "structure":
            if depth <= DEEPEST:
                self.structure(name, cast(dict[str, object], value), path, depth)
            return
        for sentence in violated(_effective(name, constraints_of(name, shape, more), value), value):
            self._report(name, value, path, sentence)
        if shape["type"] == "list":
            self._list(name, shape, cast(list[object], value), path, depth)
        elif shape["type"] == "map":
            self._map(name, shape, cast(dict[str, object], value), path, depth)

    def _list(self, name: str, shape: Shape, value: list[object], path: str, depth: int) -> None:
        member = shape["member"]["shape"]
        # A list or map that is too long has been reported already, and the rest of it may be very long.
        looked_at = value[: shape.get("max", len(value))]
        self._members(name, value, path, member, looked_at, "Member must satisfy constraint")
        for position, content in enumerate(looked_at, 1):
            self._member(member, content, f"{path}.{position}.member", depth)

    def _map(self, name: str, shape: Shape, value: dict[str, object], path: str, depth: int) -> None:
        key, member = shape["key"]["shape"], shape["value"]["shape"]
        looked_at = dict(islice(value.items(), shape.get("max", len(value))))
        self._members(name, value, path, key, list(looked_at), "Map keys must satisfy constraint")
        self._members(name, value, path, member, list(looked_at.values()), "Map value must satisfy constraint")
        for entry, content in looked_at.items():
            self._member(member, content, f"{path}.{entry}.member", depth)

    def _members(self, name: str, value: object, path: str, member: str, contents: list[object], phrase: str) -> None:
        """The constraints on the members of a collection; the service reports all of them for the collection."""
        constraints = constraints_of(member, self._model["shapes"][member], None)
        for content in contents:
            effective = _effective(member, constraints, content)
            if content is not None and any(violated(effective, content)):
                self._report(name, value, path, f"{phrase}: [{', '.join(_sentences(effective))}]")
                return

    def _member(self, name: str, value: object, path: str, depth: int) -> None:
        """Check what is inside a member; its own constraints have been checked already."""
        shape = self._model["shapes"][name]
        if value is None:
            self._null(path)
        elif shape["type"] == "structure":
            self._visit(name, value, path, None, depth)
        elif shape["type"] == "list":
            self._list(name, shape, cast(list[object], value), path, depth)
        elif shape["type"] == "map":
            self._map(name, shape, cast(dict[str, object], value), path, depth)

    def _null(self, path: str) -> None:
        self._add("null", path, "Member must not be null")

    def _report(self, name: str, value: object, path: str, sentence: str) -> None:
        shown = "" if self._wording.names_members else f"'{_render(self._model, name, value)}'"
        self._add(shown, path, sentence)

    def _add(self, shown: str, path: str, sentence: str) -> None:
        subject = "Value" if self._wording.names_members else f"Value {shown}"
        self.errors.append(f"{subject} at '{path}' failed to satisfy constraint: {sentence}")
        if self._wording.stops or len(self.errors) == extras.MAXIMUM_ERRORS:
            self.check()

    def check(self) -> None:
        """Raise one error for all violations, if there are any."""
        if self.errors:
            raise violations_error(self.errors)


def _effective(name: str, constraints: Constraints, value: object) -> Constraints:
    """The constraints of a shape, or those of a table name if one is given in place of an ARN."""
    if name != extras.TABLE_NAME_OR_ARN or any(violated(constraints, value)):
        return constraints
    return constraints if cast(str, value).startswith(extras.ARN_PREFIX) else extras.TABLE_NAME


def violations_error(errors: list[str]) -> DynamoError:
    """Return the one exception for all violations."""
    shown = errors[: extras.MAXIMUM_ERRORS]
    return validation_error(
        f"{len(shown)} validation error{'s' if len(shown) > 1 else ''} detected: {'; '.join(shown)}"
    )


def violated(constraints: Constraints, value: object) -> Iterator[str]:
    """Yield AWS's sentence for each constraint that a value violates."""
    if "enum" in constraints and value not in constraints["enum"]:
        yield _enum_sentence(constraints["enum"])
    if "pattern" in constraints:
        pattern = compile_pattern(constraints["pattern"])
        if pattern is not None and not pattern.fullmatch(cast(str, value)):
            yield _pattern_sentence(constraints["pattern"])
    what, measure = ("length", len(value)) if isinstance(value, str | list | dict) else ("value", cast(int, value))
    if "max" in constraints and measure > constraints["max"]:
        yield _limit_sentence(what, "less", constraints["max"])
    if "min" in constraints and measure < constraints["min"]:
        yield _limit_sentence(what, "greater", constraints["min"])


def _sentences(constraints: Constraints) -> Iterator[str]:
    """AWS's sentences for all constraints on the members of a collection, in the service's order."""
    if "max" in constraints:
        yield _limit_sentence("length", "less", constraints["max"])
    if "min" in constraints:
        yield _limit_sentence("length", "greater", constraints["min"])
    if "pattern" in constraints:
        yield _pattern_sentence(constraints["pattern"])
    if "enum" in constraints:
        yield _enum_sentence(constraints["enum"])


def _limit_sentence(what: str, direction: str, limit: int) -> str:
    return f"Member must have {what} {direction} than or equal to {limit}"


def _pattern_sentence(pattern: str) -> str:
    return f"Member must satisfy regular expression pattern: {pattern}"


def _enum_sentence(values: list[str]) -> str:
    return f"Member must satisfy enum value set: [{', '.join(values)}]"


def _lower(member: str) -> str:
    return member[0].lower() + member[1:]


def _render(model: Model, name: str, value: object) -> str:
    """A value as the service prints it, in Java's notation."""
    shape = model["shapes"][name]
    if value is None:
        return "null"
    if name == "AttributeValue":
        return f"com.amazonaws.dynamodb.v20120810.AttributeValue@{_hash(value):x}"
    if shape["type"] == "structure":
        given = cast(dict[str, object], value)
        members = (
            f"{_lower(member)}={_render(model, reference['shape'], given.get(member))}"
            for member, reference in shape.get("members", {}).items()
        )
        return f"{name}({', '.join(members)})"
    if shape["type"] == "list":
        member = shape["member"]["shape"]
        contents = cast(list[object], value)
        return "[" + _listed((_render(model, member, content) for content in contents), len(contents)) + "]"
    if shape["type"] == "map":
        member = shape["value"]["shape"]
        entries = cast(dict[str, object], value).items()
        shown = (f"{key}={_render(model, member, content)}" for key, content in entries)
        return "{" + _listed(shown, len(entries)) + "}"
    return str(value).lower() if isinstance(value, bool) else str(value)[:MAXIMUM_TEXT]


def _listed(texts: Iterator[str], count: int) -> str:
    """The texts, separated by commas; only the first of very many, so that a huge request is refused quickly."""
    shown = ", ".join(islice(texts, MAXIMUM_SHOWN))
    return shown if count <= MAXIMUM_SHOWN else f"{shown}, ..."


def _hash(value: object) -> int:
    try:
        return crc32(orjson.dumps(value))
    except orjson.JSONEncodeError:  # nested too deep to be encoded; any number will do
        return 0
