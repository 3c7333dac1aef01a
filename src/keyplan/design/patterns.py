"""Access patterns, and designs.

A pattern is a method that returns an operation. When the design's class is created, each pattern is called once with
stand-ins for its parameters. So tools can see what it does, and a pattern that the keys can't answer fails at import.
"""

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import Any, ClassVar, Concatenate, Generic, ParamSpec, TypeVar, get_args, get_type_hints, overload

from keyplan.design.effects import BelongsTo, Ref, Unique
from keyplan.design.entity import Entity, EntitySpec
from keyplan.design.errors import DesignError
from keyplan.design.large_checks import check_parts
from keyplan.design.operation_entities import entities_read
from keyplan.design.operations import Op
from keyplan.design.rewrites import Rewrite
from keyplan.design.specs import StandIn
from keyplan.design.standins import FieldName, read_refs
from keyplan.design.tables import HOUSEKEEPING, Table
from keyplan.design.transaction_size import check_transaction
from keyplan.design.vectors import check_shared_vectors
from keyplan.design.words import Accepted, check_design_words, check_pattern_words

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
    if not isinstance(text, str) or not text.strip():
        place = getattr(wording, "__qualname__", "pattern")
        raise DesignError("pattern-wording", place, "the pattern has no wording", 'Write @pattern("Get order by id").')

    def declare(build: Callable[Concatenate[D, P], R]) -> Pattern[P, R]:
        check_pattern_words(build.__qualname__, decides, returns)
        return Pattern(wording, build, decides, returns)

    return declare


def job(build: Callable[Concatenate[D, P], Rewrite[E]]) -> Callable[Concatenate[D, P], Rewrite[E]]:
    """Declare a method of a design as a job: a rewrite, journaled with its name and arguments (text and numbers)."""

    def named(design: D, /, *args: P.args, **kwargs: P.kwargs) -> Rewrite[E]:
        bound = inspect.signature(build).bind(design, *args, **kwargs)
        arguments = dict(list(bound.arguments.items())[1:])
        work: object = build(design, *args, **kwargs)
        if not isinstance(work, Rewrite):
            problem = f"it returns {work!r}, which isn't a rewrite"
            raise DesignError("job", build.__qualname__, problem, "Return rewrite(...) or rekey(...).")
        return replace(work, name=build.__name__, arguments=arguments)

    return named


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
            if not isinstance(getattr(cls, name), Sequence):
                problem = f"{name} isn't a tuple or a list"
                raise DesignError("not-a-sequence", cls.__name__, problem, f"Write {name} = (One,), with the comma.")
        cls.patterns = {name: value for name, value in vars(cls).items() if isinstance(value, Pattern)}
        cls.purpose = inspect.cleandoc(cls.__doc__ or "")
        _check_entities(cls)
        check_design_words(
            cls.__name__,
            tenant_field=cls.tenant_field,
            fields=[name for entity in cls.entities for name in entity.spec.fields],
            regions=cls.regions,
            accepted=cls.accepted,
        )
        design = cls()
        for each in cls.patterns.values():
            each.symbolic = each.read(design)
            for entity in entities_read(each.symbolic):
                _check_known(cls, entity, f"{cls.__name__}.{each.name}")

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


def _check_known(cls: type[Design], entity: type[Entity], place: str) -> None:
    """Refuse an entity that isn't in the design. Those in the housekeeping table can be used by any design."""
    if entity not in cls.entities and entity.spec.table is not HOUSEKEEPING:
        raise DesignError(
            "foreign-entity", place, f"{entity.__name__} isn't in the design", f"Add it to {cls.__name__}.entities."
        )


def _check_entities(cls: type[Design]) -> None:
    specs = [entity.spec for entity in cls.entities]
    _check_names(cls)
    for spec in specs:
        if spec.table not in (*cls.tables, HOUSEKEEPING):
            raise DesignError(
                "foreign-table", spec.name, f"its table {spec.table.name} isn't in the design", "Add it to tables."
            )
        _check_guards(spec, cls)
        _bind_derived(spec, cls)
        _bind_parents(spec, cls)
        _check_counters(spec, cls)
        check_transaction(spec)
    check_parts(specs)
    check_shared_vectors(specs)
    for first, second in combinations(specs, 2):
        if first.table is not second.table or not first.may_share_keys_with(second):
            continue
        first.identified_by_type = second.identified_by_type = True
        if first.may_be_mistaken_for(second):
            raise DesignError(
                "ambiguous-entities",
                f"{first.name} and {second.name}",
                f"their keys are ambiguous ({_shown(first)} and {_shown(second)})",
                "Use different literals, Id for fields without the separator, or a type attribute.",
            )


def _check_names(cls: type[Design]) -> None:
    """Refuse duplicate names: tables and entities are identified by name in requests, addresses and journals."""
    for names in ([table.name for table in cls.tables], [entity.__name__ for entity in cls.entities]):
        twice = [name for number, name in enumerate(names) if name in names[:number]]
        if twice:
            raise DesignError(
                "same-name", f"{cls.__name__}.{twice[0]}", "the name is used twice", "Rename one of them."
            )


def _shown(spec: EntitySpec) -> str:
    return " / ".join(part.template.text if part.template else part.attribute.name for part in spec.primary.parts)


def _check_guards(spec: EntitySpec, cls: type[Design]) -> None:
    """Refuse guards in tables of other designs, and guards that could be mistaken for items."""
    for guard in spec.uniques:
        place = f"{spec.name}.{guard.name}"
        if guard.table not in (*cls.tables, HOUSEKEEPING):
            raise DesignError(
                "foreign-table", place, f"its table {guard.table.name} isn't in the design", "Add it to tables."
            )
        numbers = [each for each in guard.table.hash + guard.table.range if each.type != "S"]
        if numbers:
            raise DesignError(
                "key-type",
                place,
                f"{numbers[0].name} of {guard.table.name} is of type {numbers[0].type}, and a guard's key is text",
                "Keep guards in a table with keys of type S.",
            )
        for entity in cls.entities:
            other = entity.spec
            if other.table is not guard.table or not _looks_like(guard, other):
                continue
            other.identified_by_type = True
            if other.table.type_attribute is None or other.type is None:
                raise DesignError(
                    "ambiguous-guard",
                    place,
                    f"a guard could be mistaken for an item of {other.name} ({_shown(other)})",
                    "Start the guard's key with a different literal.",
                )


def _looks_like(guard: Unique, other: EntitySpec) -> bool:
    templates = [guard.hash] if guard.range is None else [guard.hash, guard.range]
    return all(
        part.template is not None and part.template.may_equal(mine)
        for mine, part in zip(templates, other.primary.parts, strict=True)
    )


def _bind_derived(spec: EntitySpec, cls: type[Design]) -> None:
    """Read from a method's annotation which entities it makes."""
    names = {entity.__name__: entity for entity in cls.entities}
    for derived in spec.derived:
        hint = get_type_hints(derived.method, localns=names).get("return")
        made = tuple(entity for entity in cls.entities if _mentions(hint, entity))
        if not made:
            raise DesignError(
                "derived-entity",
                f"{spec.name}.{derived.name}",
                "its return annotation has no entity of the design",
                "Annotate what the method returns, and add that entity to the design.",
            )
        derived.entities = made
        for entity in made:
            own = entity.spec
            if own.uniques or own.derived or own.counters or own.parents or own.large:
                raise DesignError(
                    "derived-entity",
                    f"{spec.name}.{derived.name}",
                    f"{entity.__name__} is derived from another item, so it can't have effects of its own",
                    f"Declare its effects in {spec.name}, next to {derived.name}.",
                )


def _mentions(hint: object, entity: type[Entity]) -> bool:
    return hint is entity or any(_mentions(argument, entity) for argument in get_args(hint))


def _bind_parents(spec: EntitySpec, cls: type[Design]) -> None:
    """Find the child's field for each field of its parent's key."""
    for parent in spec.parents:
        place = f"{spec.name}.{parent.name}"
        refs = read_refs(spec, parent.parent)
        if not refs:
            raise DesignError("parent", place, "it returns no parent", "Return ref(Parent, ...).")
        named = refs[0]
        _check_known(cls, named.entity, place)
        parent.entity = named.entity
        parent.fields = {name: value.name for name, value in named.values.items() if isinstance(value, FieldName)}
        _check_parent(spec, parent, place)


def _check_parent(spec: EntitySpec, parent: BelongsTo[Entity], place: str) -> None:
    assert parent.entity is not None
    if parent.on_delete == "refuse":
        if parent.count is None:
            raise DesignError(
                "refuse-needs-count",
                place,
                "a delete can only be refused safely if the parent counts its children",
                'Add count="...", the name of a Count field of the parent.',
            )
        return
    if parent.on_delete == "cascade":
        access = spec.primary if parent.via == "primary" else spec.placements.get(parent.via)
        if access is None:
            raise DesignError(
                "cascade-via", place, f"via={parent.via!r} isn't a key of the entity", "Use the name of a placement."
            )
        known = {*parent.fields.values(), *parent.over}
        unknown = [name for name in access.partition_fields if name not in known]
        if unknown:
            raise DesignError(
                "cascade-via",
                place,
                f"{access.name} can't find the children: {', '.join(unknown)} isn't in the parent's key",
                "Use via= with a placement whose hash key is made of the parent's key, or list all values in over=.",
            )


def _check_counters(spec: EntitySpec, cls: type[Design]) -> None:
    for counter in spec.counters:
        # If the method returned no item for any of the values tried, there is nothing to check.
        for named in read_refs(spec, counter.target):
            _check_known(cls, named.entity, f"{spec.name}.{counter.name}")
            _check_count(named, counter.field, f"{spec.name}.{counter.name}")
    for parent in spec.parents:
        if parent.count is not None:
            assert parent.entity is not None
            _check_count(Ref(parent.entity, {}), parent.count, f"{spec.name}.{parent.name}")


def _check_count(named: Ref[Entity], name: str, place: str) -> None:
    field = named.entity.spec.fields.get(name)
    if field is None or field.kind != "count":
        raise DesignError(
            "counter",
            place,
            f"{named.entity.__name__} has no Count field {name!r}",
            f"Declare {name}: Count = 0 there.",
        )
