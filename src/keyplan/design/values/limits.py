"""Limits: what a value must be besides its type, such as a length, a range or a pattern.

Limits are declared with a field's type: `Annotated[str, StringConstraints(max_length=200)]`, `Annotated[int,
Field(ge=1)]`, or `Annotated[str, limit(check)]` with a function of your own. They are checked whenever an item is
written. Creating and reading an entity checks types only: an item that was stored under looser limits can still be
read, listed and changed in its other fields.

Other validators (`BeforeValidator`, `AfterValidator` and so on) convert values, and always run.

`keyplan.design.values.relaxed` removes the limits from an entity's types, and
`keyplan.design.entities.limit_checks` checks them.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema

from keyplan.design.errors import DesignError

WRITTEN: Final = "written"
"""The context in which pydantic checks what is about to be written: nothing converts it any more."""
CHECKED_ON_WRITE: Final = "checked on write"
"""The context in which a text of one line may be as it was stored: a form sends what nobody changed, too."""


@dataclass(frozen=True)
class Limit:
    """A limit that a function checks; see `limit`."""

    check: Callable[[Any], object]
    pattern: str | None = None
    in_bodies: bool = True

    def __get_pydantic_core_schema__(self, source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_after_validator_function(self._checked, handler(source))

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return {**handler(schema), **({} if self.pattern is None else {"pattern": self.pattern})}

    def _checked(self, value: object) -> object:
        self.check(value)
        return value


def limit(check: Callable[[Any], object], *, pattern: str | None = None, in_bodies: bool = True) -> Limit:
    """A limit of your own: `Annotated[str, limit(check)]`. `check` raises `ValueError` with a sentence for people.

    `pattern` is the pattern in the API's OpenAPI document. With `in_bodies=False`, the limit is checked when an item is
    written but not when a body is read: use it if the service refuses such values with a code of its own.
    """
    if not callable(check):
        raise DesignError(
            "limit",
            "limit",
            f"{check!r} isn't a function",
            "Use a function that raises ValueError, or pydantic's limits: Field(le=3).",
        )
    return Limit(check, pattern, in_bodies)
