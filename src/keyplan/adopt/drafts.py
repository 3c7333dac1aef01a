"""An entity while its keys are worked out."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from keyplan.adopt.matching import Sources
from keyplan.adopt.model import Doubt, Parts, Record, Slot
from keyplan.adopt.shapes import Kind
from keyplan.design import Table


@dataclass
class Draft:
    """Items of one kind, with what their keys are made of."""

    kind: Kind
    table: Table
    separator: str
    sources: Sources
    templates: dict[str, Parts] = field(default_factory=dict)
    """The template of each key attribute."""
    native: dict[str, str] = field(default_factory=dict)
    """For a key attribute that is a number or bytes: the source of its value."""
    placed: list[str] = field(default_factory=list)
    """The indexes that items are in."""
    whens: dict[str, str] = field(default_factory=dict)
    doubts: list[Doubt] = field(default_factory=list)

    @property
    def records(self) -> Sequence[Record]:
        return self.kind.records

    def holding(self, names: Iterable[str]) -> list[int]:
        """The items that have all of these attributes."""
        wanted = list(names)
        return [number for number, each in enumerate(self.records) if all(name in each.item for name in wanted)]

    def parts(self, attribute: str) -> Parts:
        """The template of a key attribute; for a number, the field alone."""
        return (Slot(self.native[attribute]),) if attribute in self.native else self.templates[attribute]

    def in_every_key(self) -> dict[str, Parts]:
        """All templates, those of numbers and bytes included."""
        return {**self.templates, **{name: (Slot(source),) for name, source in self.native.items()}}
