"""The parts of a YAML file, which know their lines."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import NoReturn, TypeVar

import yaml

from keyplan.capacity.quantities import QuantityError
from keyplan.capacity.traffic.errors import TrafficError, nearest

T = TypeVar("T")


@dataclass(frozen=True)
class Part:
    """A value of a file: a text, a mapping or a list. `name` is what stands before it."""

    file: str
    node: yaml.Node | None
    name: str = ""
    name_line: int = 1

    @property
    def line(self) -> int:
        """Where it begins, counted from 1."""
        return self.name_line if self.node is None else self.node.start_mark.line + 1

    @property
    def is_empty(self) -> bool:
        """Whether nothing is there."""
        return self.node is None or (isinstance(self.node, yaml.ScalarNode) and self.node.value in ("", "~", "null"))

    @property
    def is_mapping(self) -> bool:
        """Whether it has fields."""
        return isinstance(self.node, yaml.MappingNode)

    def fail(self, code: str, problem: str, remedy: str, *, at_name: bool = False) -> NoReturn:
        """Raise the error for this part."""
        raise TrafficError(code, self.file, self.name_line if at_name else self.line, problem, remedy)

    def fields(self, known: Iterable[str] | None = None, what: str = "field") -> "Iterator[Part]":
        """Its fields, each with its name. A name that is there twice, or isn't `known`, is refused."""
        if self.is_empty:
            return
        if not isinstance(self.node, yaml.MappingNode):
            self.fail(
                "not-a-mapping", f"{self.name or 'the file'} isn't a mapping", "Write one `name: value` per line."
            )
        names = None if known is None else list(known)
        seen: set[str] = set()
        for key, value in self.node.value:
            name = key.value if isinstance(key, yaml.ScalarNode) else ""
            part = Part(self.file, value, name, key.start_mark.line + 1)
            if names is not None and name not in names:
                part.fail(f"unknown-{what}", f"unknown {what}: {name}", nearest(name, names), at_name=True)
            if name in seen:
                part.fail("twice", f"{name} is there twice", "Keep one of them.", at_name=True)
            seen.add(name)
            yield part

    def text(self) -> str:
        """Its text."""
        if not isinstance(self.node, yaml.ScalarNode) or self.is_empty:
            self.fail("no-value", f"{self.name} has no value", "Write one after the colon.")
        return str(self.node.value)

    def read(self, quantity: Callable[[str], T]) -> T:
        """Its text as a quantity."""
        try:
            return quantity(self.text())
        except QuantityError as error:
            self.fail(error.code, error.problem, error.remedy)

    def one_of(self, choices: Iterable[str]) -> str:
        """Its text, which is one of these."""
        known = list(choices)
        if (text := self.text()) not in known:
            self.fail("unknown-value", f"{self.name} can't be {text}", nearest(text, known))
        return text

    def is_true(self) -> bool:
        """Whether it says yes."""
        text = self.text().lower()
        if text not in ("true", "false", "yes", "no"):
            self.fail("unknown-value", f"{self.name} can't be {text}", "Write true or false.")
        return text in ("true", "yes")

    def members(self) -> "list[Part]":
        """The parts of a list."""
        if not isinstance(self.node, yaml.SequenceNode):
            self.fail("not-a-list", f"{self.name} isn't a list", "Write [one, another].")
        return [Part(self.file, each, self.name, each.start_mark.line + 1) for each in self.node.value]


def parsed(text: str, file: str) -> Part:
    """The whole of a YAML text."""
    try:
        node = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        problem = f"this isn't YAML: {error.problem or error.context or 'unreadable'}"
        raise TrafficError(
            "not-yaml", file, line, problem, "Write `name: value` lines, indented with spaces."
        ) from None
    except (yaml.YAMLError, RecursionError) as error:
        raise TrafficError("not-yaml", file, 1, f"this isn't YAML: {error}", "Save it as text in UTF-8.") from None
    return Part(file, node)
