"""`Reviewed`: a design as rules see it, with what is known beside it."""

import inspect
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, TypeAlias

from keyplan.design import HOUSEKEEPING, Design, DesignError, Entity, Op, Pattern, Table
from keyplan.design.designs.patterns import Parameter, jobs_of
from keyplan.design.entities.entity_spec import EntitySpec
from keyplan.design.entities.specs import KeySpec
from keyplan.design.examples import example_of, made_by_others
from keyplan.design.operations.item_collections import Aggregated
from keyplan.design.operations.item_reads import Together, TransactGet
from keyplan.design.operations.queries import Follow, ItemCount, Merge, Query, Scan
from keyplan.design.tables.tables import Index
from keyplan.review.places import Place, class_line, table_line

_SOME_TEXT = "2026-01-31T12:00:00.000Z"
"""An argument that also jobs take which read a time from it."""

TargetName: TypeAlias = Literal["aws", "extenddb", "alternator", "embedded"]
"""Which DynamoDB the design will run on."""
Read: TypeAlias = tuple[Pattern[..., Any], Op[Any]]
"""An operation of a pattern, or one that it is made of, with the pattern."""


@dataclass(frozen=True)
class Reviewed:
    """A design as rules see it, and what is known beside it.

    What rules ask again and again is worked out here once.
    """

    design: type[Design]
    target: TargetName = "aws"
    rates: Mapping[str, float] | None = None
    """How often patterns (`posts_by_user`) and writes (`Post.create`) happen, per second at the busiest hour, if that
    is known; see `--traffic`."""
    tested: Collection[str] | None = None
    """The patterns that tests ran, if there is a record of it; see `--tests`."""
    errors: Sequence[DesignError] = ()
    """What is refused when the design is imported, and was recorded instead."""

    @property
    def name(self) -> str:
        return self.design.__name__

    @cached_property
    def specs(self) -> tuple[EntitySpec, ...]:
        """The entities, also those in the housekeeping table."""
        return tuple(entity.spec for entity in self.design.entities)

    @cached_property
    def tables(self) -> tuple[Table, ...]:
        """The design's own tables. The housekeeping table is declared by Keyplan."""
        return tuple(self.design.tables)

    @cached_property
    def patterns(self) -> tuple[Pattern[..., Any], ...]:
        """The access patterns."""
        return tuple(self.design.patterns.values())

    def entities_in(self, table: Table) -> tuple[EntitySpec, ...]:
        """The entities whose items are in a table."""
        return tuple(spec for spec in self.specs if spec.table is table)

    def placed_in(self, index: Index) -> tuple[tuple[EntitySpec, KeySpec], ...]:
        """The entities whose items are in an index, with their keys in it."""
        return tuple((spec, key) for spec in self.specs for key in spec.placements.values() if key.index is index)

    @cached_property
    def reads(self) -> tuple[Read, ...]:
        """All operations of all patterns, with those that they are made of."""
        return tuple((each, op) for each in self.patterns for op in _parts(each.symbolic))

    @cached_property
    def queries(self) -> tuple[tuple[Pattern[..., Any], Query[Any]], ...]:
        """The queries of all patterns, also those inside other operations."""
        return tuple((pattern, op) for pattern, op in self.reads if isinstance(op, Query))

    @cached_property
    def lists(self) -> tuple[tuple[Pattern[..., Any], Query[Any]], ...]:
        """The queries of all patterns that return items, in some order: those that aren't only counted."""
        counted = {id(op.source) for _, op in self.reads if isinstance(op, ItemCount)}
        return tuple((pattern, query) for pattern, query in self.queries if id(query) not in counted)

    @cached_property
    def keys_read(self) -> tuple[tuple[EntitySpec, KeySpec], ...]:
        """The keys by which patterns query, with their entities, each once; of a collection, those of all entities."""
        found: dict[tuple[str, str], tuple[EntitySpec, KeySpec]] = {}
        for _, query in self.queries:
            for spec in (entity.spec for entity in query.entities):
                keys = [query.key] if spec is query.entities[0].spec else spec.keys
                found |= {(spec.name, key.name): (spec, key) for key in keys if key.index is query.key.index}
        return tuple(found.values())

    @cached_property
    def indexes_used(self) -> frozenset[Index]:
        """The indexes that patterns and jobs read, also to search in, and that cascading deletes go through."""
        read = {query.key.index for _, query in self.queries}
        cascades = {
            spec.placements[parent.via].index
            for spec in self.specs
            for parent in spec.parents
            if parent.on_delete == "cascade" and parent.via in spec.placements
        }
        worked = {job.key.index for job in self.jobs if isinstance(job, Query)}
        return frozenset(index for index in read | cascades | worked if index is not None)

    @cached_property
    def jobs(self) -> tuple[Query[Any] | Scan[Any], ...]:
        """What the design's jobs rewrite, as far as it can be seen without their arguments."""
        found: list[Query[Any] | Scan[Any]] = []
        for job in jobs_of(self.design).values():
            names = list(inspect.signature(job).parameters)[1:]
            for arguments in ([Parameter(name) for name in names], [_SOME_TEXT] * len(names)):
                with suppress(Exception):  # a job may do anything with its arguments, which are texts and numbers
                    found.append(job(self.design(), *arguments).source)
                    break
        return tuple(found)

    @property
    def knows_all_jobs(self) -> bool:
        """Whether it is known what all jobs read."""
        return len(self.jobs) == len(jobs_of(self.design))

    # Examples

    def example(self, spec: EntitySpec) -> Entity | None:
        """An example of an entity's items, or None if none can be made."""
        return self._examples.get(spec.entity)

    def made_from(self, spec: EntitySpec) -> Sequence[Entity]:
        """The mirrors and derived items of the example of an entity."""
        return self._made[spec.entity]

    @cached_property
    def _examples(self) -> Mapping[type[Entity], Entity]:
        found = {}
        for spec in self.specs:
            with suppress(Exception):  # fields can have types and validators that no example is known for
                found[spec.entity] = example_of(self.design, spec.entity)
        return found

    @cached_property
    def _made(self) -> Mapping[type[Entity], Sequence[Entity]]:
        made: dict[type[Entity], list[Entity]] = {}
        for spec in self.specs:
            made[spec.entity] = []
            for derived in spec.derived if spec.entity in self._examples else ():
                with suppress(Exception):  # the method isn't ours
                    made[spec.entity] += derived.make(self._examples[spec.entity])
        return made

    @cached_property
    def made_by_others(self) -> frozenset[type[Entity]]:
        """The entities whose items are mirrors or derived items of others."""
        return made_by_others(self.design)

    # Places

    def at(self, spec: EntitySpec, member: str | None = None, *, key: KeySpec | None = None) -> Place:
        """The place of an entity, of its field or declaration `member`, or of its key `key`."""
        name = key.name if key is not None else member
        file, line = class_line(spec.entity, name)
        index = key.index.name if key is not None and key.index is not None else None
        text = spec.name if name is None else f"{spec.name}.{name}"
        return Place(text, spec.table.name, spec.name, name, index, None, file, line)

    def at_table(self, table: Table, index: str | None = None) -> Place:
        """The place of a table, or of one of its indexes."""
        file, line = table_line(table, self._modules, index)
        return Place(
            table.name if index is None else f"{table.name}.{index}", table.name, index=index, file=file, line=line
        )

    def at_pattern(self, pattern: Pattern[..., Any]) -> Place:
        """The place of an access pattern."""
        file, line = class_line(self.design, pattern.name)
        return Place(f"{self.name}.{pattern.name}", pattern=pattern.name, file=file, line=line)

    def at_design(self, member: str | None = None) -> Place:
        """The place of the design itself, or of one of its words."""
        file, line = class_line(self.design, member)
        return Place(self.name if member is None else f"{self.name}.{member}", file=file, line=line)

    @cached_property
    def _modules(self) -> Sequence[str]:
        """The modules in which the design's tables may be declared."""
        declaring = [self.design, *(spec.entity for spec in self.specs)]
        return tuple(dict.fromkeys(base.__module__ for kind in declaring for base in kind.__mro__))


def is_housekeeping(table: Table) -> bool:
    """Whether a table is Keyplan's own, so that the design can't change it."""
    return table is HOUSEKEEPING


def _parts(op: Op[Any]) -> Iterator[Op[Any]]:
    """An operation and those that it is made of."""
    yield op
    inner: Sequence[Op[Any]] = ()
    match op:
        case Follow(source=source) | ItemCount(source=source) | Aggregated(source=source):
            inner = (source,)
        case Merge(queries=parts) | Together(gets=parts) | TransactGet(gets=parts):
            inner = parts
    for each in inner:
        yield from _parts(each)
