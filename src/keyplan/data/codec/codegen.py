"""Functions generated for one entity, as dataclasses do it, so that nothing about the entity is looked up at run time.

They handle the usual items and values. For anything else they raise one of `UNEXPECTED`, and the caller falls back to
the thorough code, which handles every case or reports what is wrong.
"""

from typing import Any

UNEXPECTED = (LookupError, ValueError, TypeError, AttributeError, ArithmeticError)
"""What a generated function raises for values it doesn't handle. Includes `ValidationError` and `InvalidValue`."""


class GeneratedFunction:
    """The source lines of a function with one parameter, and the objects they use."""

    def __init__(self, parameter: str) -> None:
        self.lines: list[str] = []
        self._parameter = parameter
        self._objects: dict[str, object] = {}

    def named(self, thing: object) -> str:
        """A name for an object, to use in the source."""
        name = f"_{len(self._objects)}"
        self._objects[name] = thing
        return name

    def function(self, result: str) -> Any:  # noqa: ANN401 - the caller knows what it wrote
        """Compile the function; it returns the value of this expression."""
        names = dict(self._objects)
        lines = [f"def function({self._parameter}):", *(f"    {line}" for line in self.lines), f"    return {result}"]
        exec("\n".join(lines), names)
        return names["function"]
