"""Designs for the tests of rules: those that a rule finds something in, and those in which it doesn't."""

from collections.abc import Callable
from dataclasses import dataclass, field

from keyplan.design import Design
from keyplan.review import Reviewed

Declaration = Callable[[], type[Design] | Reviewed]


@dataclass
class Cases:
    """The designs for the rules of one group. Each is declared by a function, which is called by the test."""

    found: list[tuple[str, tuple[str, ...], Declaration]] = field(default_factory=list)
    """The rule, the places that it finds, and the design."""
    clean: list[tuple[str, Declaration]] = field(default_factory=list)
    """The rule, and a design in which it finds nothing."""
    unjudged: list[tuple[str, str, Declaration]] = field(default_factory=list)
    """The rule, the place that it can't judge, and the design."""

    def finds(self, code: str, *places: str) -> Callable[[Declaration], Declaration]:
        """The rule finds something at these places of the design, and nowhere else."""

        def add(declaration: Declaration) -> Declaration:
            self.found.append((code, places, declaration))
            return declaration

        return add

    def finds_nothing(self, *codes: str) -> Callable[[Declaration], Declaration]:
        """The rules find nothing in the design."""

        def add(declaration: Declaration) -> Declaration:
            self.clean += [(code, declaration) for code in codes]
            return declaration

        return add

    def cannot_judge(self, code: str, place: str) -> Callable[[Declaration], Declaration]:
        """The rule says that it can't judge this place."""

        def add(declaration: Declaration) -> Declaration:
            self.unjudged.append((code, place, declaration))
            return declaration

        return add


def reviewed(declaration: Declaration) -> Reviewed:
    """The design that a function declares, with what is known about it."""
    declared = declaration()
    return declared if isinstance(declared, Reviewed) else Reviewed(declared)
