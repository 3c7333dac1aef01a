"""Functions that are written out as code for one entity, as dataclasses do it: what is known of it is not asked again.

They are for items and values as they nearly always are. Over anything else they fail with one of `UNEXPECTED`, and
the caller does it the thorough way, which knows what to make of it or what to say.
"""

from typing import Any

UNEXPECTED = (LookupError, ValueError, TypeError, AttributeError, ArithmeticError)
"""What such a function raises over what it was not written for; pydantic's error and ours of a value are among them."""


class GeneratedFunction:
    """The lines of a function of one parameter, and the objects that they name."""

    def __init__(self, parameter: str) -> None:
        self.lines: list[str] = []
        self._parameter = parameter
        self._objects: dict[str, object] = {}

    def named(self, thing: object) -> str:
        """A name for an object."""
        name = f"_{len(self._objects)}"
        self._objects[name] = thing
        return name

    def function(self, result: str) -> Any:  # noqa: ANN401 - the caller knows what it wrote
        """The function, which returns this expression."""
        names = dict(self._objects)
        lines = [f"def function({self._parameter}):", *(f"    {line}" for line in self.lines), f"    return {result}"]
        exec("\n".join(lines), names)
        return names["function"]
