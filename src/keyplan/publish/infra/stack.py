"""What is deployed for a design, as values: every format is written from these."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from keyplan.design import Design
from keyplan.publish.infra.monitoring import Alarm, Dashboard, alarms_of, dashboard_of
from keyplan.publish.policies import Policy, consumers_of, divided, roles_of
from keyplan.publish.shapes import TableShape, logical_id, shapes_of


class InfraError(Exception):
    """A design that no template can be made for."""


@dataclass(frozen=True)
class Reader:
    """A consumer of a table's stream: a function that is deployed with the stack, or somewhere else."""

    id: str
    name: str
    table: str
    """The id of the table."""
    failures: str | None
    """The name or the ARN of the queue for records that it can't process."""
    elsewhere: str | None = None
    """Where these go, if that isn't a queue."""


@dataclass(frozen=True)
class PolicyResource:
    """A managed policy, for roles to have."""

    id: str
    purpose: str
    policy: Policy


@dataclass(frozen=True)
class Stack:
    """All that is deployed for a design."""

    design: Design
    name: str
    tables: tuple[TableShape, ...]
    ids: tuple[tuple[str, str], ...]
    """The declared name of each table, and its id."""
    readers: tuple[Reader, ...]
    alarms: tuple[Alarm, ...]
    dashboard: Dashboard
    policies: tuple[PolicyResource, ...]
    regions: tuple[str, ...] = ()

    def id_of(self, declared: str) -> str:
        """The id of the table with this declared name."""
        return dict(self.ids)[declared]

    def table(self, id: str) -> TableShape:
        """The table with this id."""
        return next(each for each in self.tables if each.id == id)


def stack_of(design: Design) -> Stack:
    """The stack of a design, with the table names of its environment. Raises `InfraError`."""
    kind = type(design)
    tables = shapes_of(design)
    _check_ids(design, tables)
    readers = tuple(
        Reader(
            each.id,
            each.consumer.name,
            logical_id(each.table.name),
            each.queue,
            each.consumer.failures if each.queue is None else None,
        )
        for each in consumers_of(kind)
    )
    names = {table.id: table.name for table in tables}
    stack = Stack(
        design=design,
        name=kind.__name__,
        tables=tables,
        ids=tuple((table.name, logical_id(table.name)) for table in design.all_tables),
        readers=readers,
        alarms=tuple(alarms_of(tables, [(each.id, each.name, names[each.table]) for each in readers])),
        dashboard=dashboard_of(tables),
        policies=tuple(_policies(kind)),
        regions=tuple(kind.regions),
    )
    _check_all_ids(stack)
    return stack


def _check_ids(design: Design, tables: tuple[TableShape, ...]) -> None:
    """Refuse tables that would have the same name in a template, or differ only by capital letters."""
    for id, count in Counter(table.id.lower() for table in tables).items():
        if count > 1:
            same = [each.name for each in design.all_tables if logical_id(each.name).lower() == id]
            names, called = ", ".join(same), logical_id(same[0])
            raise InfraError(
                f"The tables {names} would all be called {called} in a template. Rename all but one of them."
            )
    for name, count in Counter(table.name for table in tables).items():
        if count > 1:
            raise InfraError(f"Two tables have the name {name}. Give another --environment, or rename one of them.")


def _check_all_ids(stack: Stack) -> None:
    """Refuse alarms and policies that would have the name of something else in a template."""
    named = (stack.tables, stack.alarms, stack.policies, (stack.dashboard,))
    every = [each.id for resources in named for each in resources]
    for id, count in Counter(map(str.lower, every)).items():
        if count > 1:
            called = next(each for each in every if each.lower() == id)
            raise InfraError(
                f"{count} resources would be called {called} in a template. Rename an index or a consumer."
            )


def _policies(design: type[Design]) -> Iterator[PolicyResource]:
    for role in roles_of(design):
        for part in divided(role.policy):
            yield PolicyResource(f"{part.name}Policy", role.purpose, part)
