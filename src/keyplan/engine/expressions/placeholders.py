"""ExpressionAttributeNames and ExpressionAttributeValues of one request."""

import re
from collections.abc import Collection

from keyplan.engine.errors import ConstraintError, DynamoError, InvalidPlaceholder, validation_error
from keyplan.engine.expressions.expression_errors import invalid
from keyplan.engine.expressions.nodes import Parsed
from keyplan.engine.values.attribute_values import AttributeValue, Item, name_size
from keyplan.engine.values.normal_form import normalize, normalize_item

# A placeholder has up to 255 characters, including the # or colon.
_NAME_KEY = re.compile(r"#[A-Za-z0-9_]{1,254}\Z").match
_VALUE_KEY = re.compile(r":[A-Za-z0-9_]{1,254}\Z").match


class Placeholders:
    """The `#names` and `:values` of a request, and which of them its expressions have used."""

    __slots__ = ("_used", "names", "values")

    def __init__(self, names: dict[str, str] | None, values: Item | None) -> None:
        """Check both maps and normalize the values."""
        self.names: dict[str, str] = {} if names is None else _checked_names(names)
        self.values: Item = {} if values is None else _checked_values(values)
        self._used: list[Parsed] = []

    def use(self, parsed: Parsed) -> tuple[str, ...]:
        """Record what an expression uses, and return its names in order; raise AWS's error if one isn't defined."""
        self._used.append(parsed)
        try:
            found = tuple([self.names[name] for name in parsed.names]) if parsed.names else ()
        except KeyError as missing:
            problem = "An expression attribute name used in the document path is not defined; attribute name: "
            raise invalid(parsed.kind, problem + missing.args[0]) from None
        values = self.values
        for name in parsed.values:
            if name not in values:
                problem = "An expression attribute value used in expression is not defined; attribute value: "
                raise invalid(parsed.kind, problem + name)
        return found

    def finish(self) -> None:
        """Refuse placeholders that no expression of the request used."""
        names, values, used = self.names, self.values, self._used
        if not names and not values:
            return
        # Everything that is used is defined, so equal numbers mean the same placeholders.
        if len(used) == 1 and len(used[0].names) == len(names) and len(used[0].values) == len(values):
            return
        _refuse_unused("ExpressionAttributeNames", names, [parsed.names for parsed in used])
        _refuse_unused("ExpressionAttributeValues", values, [parsed.values for parsed in used])


def _refuse_unused(member: str, defined: Collection[str], uses: list[tuple[str, ...]]) -> None:
    used: set[str] = set().union(*uses)
    if len(used) < len(defined):
        unused = ", ".join([name for name in defined if name not in used])
        raise validation_error(f"Value provided in {member} unused in expressions: keys: {{{unused}}}")


def _checked_names(names: dict[str, str]) -> dict[str, str]:
    if not names:
        raise validation_error("ExpressionAttributeNames must not be empty")
    if not all(map(_NAME_KEY, names)):
        raise _invalid_key("ExpressionAttributeNames", next(key for key in names if not _NAME_KEY(key)))
    if not all(names.values()):
        key = next(key for key, name in names.items() if not name)
        raise validation_error(
            "ExpressionAttributeNames contains invalid value: "
            f"One or more parameter values were invalid: Empty attribute name for key {key}"
        )
    for name in names.values():
        name_size(name)
    return names


def _checked_values(values: Item) -> Item:
    if not values:
        raise validation_error("ExpressionAttributeValues must not be empty")
    if not all(map(_VALUE_KEY, values)):
        raise _invalid_key("ExpressionAttributeValues", next(key for key in values if not _VALUE_KEY(key)))
    try:
        return normalize_item(values)
    except ConstraintError:
        raise
    except DynamoError as error:
        if error.code != "ValidationException":
            raise
    # Normalize again, one by one, to find out which value is wrong.
    return {key: _checked_value(key, value) for key, value in values.items()}


def _checked_value(key: str, value: AttributeValue) -> AttributeValue:
    try:
        return normalize(value)
    except DynamoError as error:
        raise InvalidPlaceholder(key, error) from None


def _invalid_key(member: str, key: str) -> DynamoError:
    return validation_error(f'{member} contains invalid key: Syntax error; key: "{key}"')
