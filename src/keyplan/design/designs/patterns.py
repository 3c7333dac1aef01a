"""Access patterns, and designs.

A pattern is a method that returns an operation. When the design's class is created, each pattern is called once with
stand-ins for its parameters. So tools can see what it does, and a pattern that the keys can't answer fails at import.
"""

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, wraps
from typing import Any, ClassVar, Concatenate, Generic, ParamSpec, TypeVar, overload
from weakref import WeakSet

from keyplan.design.designs.checks import check_entities, check_known, usable_entities
from keyplan.design.entities.entity import Entity
from keyplan.design.entities.specs import StandIn
from keyplan.design.errors import DesignError, is_collecting, recorded
from keyplan.design.operations.operation_entities import entities_read
from keyplan.design.operations.reading import Op
from keyplan.design.operations.rewrites import Rewrite
from keyplan.design.tables.tables import HOUSEKEEPING, Table
from keyplan.design.words import Accepted, as_meant, check_design_words, check_pattern_words

P = ParamSpec("P")
R = TypeVar("R", bound=Op[object])
D = TypeVar("D", bound="Design")
E = TypeVar("E", bound=Entity)


@dataclass(frozen=True, eq=False)
class Parameter(StandIn):
    """Stands in for a pattern's parameter while the design is checked.

    It supports `+` and `-` (`now - timedelta(days=31)`), which return another stand-in, and nothing else.
    """

    name: str

    def __add__(self, other: object) -> "Parameter":
        return Parameter(f"{self.name} + {other!r}")

    def __sub__(self, other: object) -> "Parameter":
        return Parameter(f"{self.name} - {other!r}")

    def __hash__(self) -> int:
        return hash(self.name)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Parameter):
            return self.name == other.name
        raise TypeError(f"a pattern can't compare its parameter {self.name}: it is checked once, for all values")

    def __format__(self, spec: str) -> str:
        raise TypeError(
            f"a pattern can't build text from its parameter {self.name}: that is what key templates are for"
        )

    def __str__(self) -> str:
        return format(self)

    def __getattr__(self, name: str) -> object:
        if name.startswith("__"):
            raise AttributeError(name)
        raise TypeError(
            f"a pattern can't use attributes of its parameter {self.name}: it is checked once, for all values"
        )

    def __bool__(self) -> bool:
        raise TypeError(f"a pattern can't branch on its parameter {self.name}: it is checked once, for all values")

    def __iter__(self) -> Iterator[object]:
        raise TypeError(f"a pattern can't iterate over its parameter {self.name}: it is checked once, for all values")


@dataclass(frozen=True)
class Departure:
    """Where the design differs from its document."""

    document: str
    here: str
    because: str


def departure(document: str, here: str, because: str) -> Departure:
    """A departure: what the document says, what the design does instead, and why."""
    return Departure(document, here, because)


class Pattern(Generic[P, R]):
    """An access pattern, with the document's wording. Checked once, when the design's class is created."""

    def __init__(
        self,
        wording: str,
        build: Callable[Concatenate[Any, P], R],
        decides: str | None = None,
        returns: int | None = None,
    ) -> None:
        self.wording = wording
        self.decides = decides
        """What is decided on what it reads, if anything."""
        self.returns = returns
        """How many items it usually returns, if that is known."""
        self._build = build
        self.name = build.__name__
        self.symbolic: Op[object]
        self.__doc__ = build.__doc__
        taken = list(inspect.signature(build).parameters.values())[1:]
        self.parameters = tuple(parameter.name for parameter in taken)
        self._defaults = {each.name: each.default for each in taken if each.default is not inspect.Parameter.empty}

    @overload
    def __get__(self, instance: None, owner: type) -> "Pattern[P, R]": ...
    @overload
    def __get__(self, instance: "Design", owner: type) -> Callable[P, R]: ...
    def __get__(self, instance: "Design | None", owner: type) -> "Pattern[P, R] | Callable[P, R]":
        if instance is None:
            return self

        # Annotations as text: this runs at each call of a pattern, and would make new objects for them.
        def build(*args: "P.args", **kwargs: "P.kwargs") -> R:
            operation = self._build(instance, *args, **kwargs)  # fails if the arguments don't fit
            arguments = dict(zip(self.parameters, args, strict=False))
            if len(arguments) < len(self.parameters):
                arguments = {name: kwargs.get(name, self._defaults.get(name)) for name in self.parameters} | arguments
            return operation.changed(pattern=self.name, arguments=arguments)

        return build

    def read(self, design: "Design") -> Op[object]:
        """The operation with stand-ins for the parameters."""
        stand_ins = [Parameter(name) for name in self.parameters]
        build: Callable[..., Op[object]] = self._build
        try:
            operation = build(design, *stand_ins)
            if not isinstance(operation, Op):
                raise TypeError(f"it returns {operation!r}, which isn't an operation")
            return operation
        except DesignError as error:
            error.add_note(f"in the access pattern {type(design).__name__}.{self.name}")
            error.pattern = self.name
            raise
        except TypeError as error:
            raise DesignError(
                "pattern-branches",
                f"{type(design).__name__}.{self.name}",
                str(error),
                "Split it into two patterns, or let the caller decide.",
            ) from error


def pattern(
    wording: str, *, decides: str | None = None, returns: int | None = None
) -> Callable[[Callable[Concatenate[D, P], R]], Pattern[P, R]]:
    """Declare a method of a design as an access pattern, with the document's wording.

    `decides` says what is decided on what it reads (`"whether the user may publish"`), and `returns` how many items it
    usually returns.
    """

    text: object = wording
    with recorded():
        if not isinstance(text, str) or not text.strip():
            place, remedy = getattr(wording, "__qualname__", "pattern"), 'Write @pattern("Get order by id").'
            raise DesignError("pattern-wording", place, "the pattern has no wording", remedy)

    def declare(build: Callable[Concatenate[D, P], R]) -> Pattern[P, R]:
        check_pattern_words(build.__qualname__, decides, returns)
        return Pattern(wording, build, decides, returns)

    return declare


def job(build: Callable[Concatenate[D, P], Rewrite[E]]) -> Callable[Concatenate[D, P], Rewrite[E]]:
    """Declare a method of a design as a job: a rewrite, journaled with its name and arguments (text and numbers)."""

    @wraps(build)
    def named(design: D, /, *args: P.args, **kwargs: P.kwargs) -> Rewrite[E]:
        bound = inspect.signature(build).bind(design, *args, **kwargs)
        arguments = dict(list(bound.arguments.items())[1:])
        work: object = build(design, *args, **kwargs)
        if not isinstance(work, Rewrite):
            problem = f"it returns {work!r}, which isn't a rewrite"
            raise DesignError("job", build.__qualname__, problem, "Return rewrite(...) or rekey(...).")
        return replace(work, name=build.__name__, arguments=arguments)

    _JOBS.add(named)
    return named


_JOBS: WeakSet[Callable[..., Any]] = WeakSet()


def jobs_of(design: "type[Design]") -> Mapping[str, Callable[..., Rewrite[Any]]]:
    """The jobs of a design, by their names."""
    functions = {name: value for name, value in vars(design).items() if inspect.isfunction(value)}
    return {name: value for name, value in functions.items() if value in _JOBS}


class Design:
    """A design: its tables, entities, access patterns and departures from its document."""

    tables: ClassVar[Sequence[Table]] = ()
    entities: ClassVar[Sequence[type[Entity]]] = ()
    departures: ClassVar[Sequence[Departure]] = ()
    purpose: ClassVar[str] = ""
    """What it is for: the docstring of the class."""
    tenant_field: ClassVar[str | None] = None
    """The field that says whose data an item is, where several customers share the tables."""
    regions: ClassVar[Sequence[str]] = ()
    """The regions in which the tables are; global tables, if there are several."""
    accepted: ClassVar[Sequence[Accepted]] = ()
    """What a review finds and is accepted, with the reason."""
    patterns: ClassVar[Mapping[str, Pattern[..., Any]]] = {}

    def __init__(self, environment: Mapping[str, str] | None = None) -> None:
        self.environment = dict(environment or {})

    def __init_subclass__(cls) -> None:
        for name in ("tables", "entities"):
            with recorded():
                if not isinstance(getattr(cls, name), Sequence):
                    problem, remedy = f"{name} isn't a tuple or a list", f"Write {name} = (One,), with the comma."
                    setattr(cls, name, (getattr(cls, name),))  # as it is meant
                    raise DesignError("not-a-sequence", cls.__name__, problem, remedy)
        cls.entities = usable_entities(cls)
        cls.patterns = {name: value for name, value in vars(cls).items() if isinstance(value, Pattern)}
        cls.purpose = inspect.cleandoc(cls.__doc__ or "")
        check_entities(cls)
        check_design_words(
            cls.__name__,
            tenant_field=cls.tenant_field,
            fields=[name for entity in cls.entities for name in entity.spec.fields],
            regions=cls.regions,
            accepted=cls.accepted,
        )
        if is_collecting():  # what is wrong was recorded
            cls.regions, cls.accepted = as_meant(cls.regions, str), as_meant(cls.accepted, Accepted)
        design = cls()
        usable = {}
        for name, each in cls.patterns.items():
            with recorded():
                each.symbolic = each.read(design)
                for entity in entities_read(each.symbolic):
                    check_known(cls, entity, f"{cls.__name__}.{name}")
                usable[name] = each
        cls.patterns = usable

    def table_name(self, table: Table) -> str:
        """The table's name in this environment."""
        return self.table_names[table.name]

    @cached_property
    def table_names(self) -> Mapping[str, str]:
        """The names of all tables in this environment, by their declared names."""
        names = {table.name: table.actual_name(self.environment) for table in self.tables}
        first = next(iter(names.values()), "")
        return names | {HOUSEKEEPING.name: HOUSEKEEPING.actual_name({"document": first})}

    @property
    def all_tables(self) -> tuple[Table, ...]:
        """The document's tables and the housekeeping table."""
        return tuple(dict.fromkeys((*self.tables, HOUSEKEEPING)))

    def entity(self, name: str) -> type[Entity]:
        """The entity with this name."""
        return next(entity for entity in self.entities if entity.__name__ == name)

    def find_entity(self, name: str) -> type[Entity] | None:
        """The entity with this name, or None."""
        return next((entity for entity in self.entities if entity.__name__ == name), None)
