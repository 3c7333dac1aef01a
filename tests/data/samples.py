"""Entities with fields of every type, values for them, and items that other programs may have stored."""

from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from enum import Enum, IntEnum, StrEnum
from typing import Annotated, Any, Literal, get_args, get_origin
from uuid import UUID

from hypothesis import strategies as st
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PrivateAttr,
    SecretBytes,
    SecretStr,
    StringConstraints,
    ValidationInfo,
    field_validator,
    model_validator,
)

from keyplan.data import StoredDataError
from keyplan.data.codec.values import Item
from keyplan.design import (
    Count,
    Created,
    Design,
    Entity,
    Id,
    Secret,
    Table,
    Ttl,
    Version,
    created,
    key,
    stored,
)


class Color(StrEnum):
    RED = "red"
    BLUE = "blue"


class Level(IntEnum):
    LOW = 1
    HIGH = 2


class Ratio(Enum):
    HALF = 0.5
    NONE = "none"


class Cat(BaseModel):
    kind: Literal["cat"] = "cat"
    lives: int = 9


class Dog(BaseModel):
    kind: Literal["dog"] = "dog"
    lives: Decimal = Decimal(1)


class Inner(BaseModel):
    model_config = ConfigDict(str_strip_whitespace=True)

    at: datetime
    note: str | None
    tags: set[str]
    size: int = Field(default=1, alias="howLarge")
    parts: list[Decimal] = []


class Tree(BaseModel):
    name: str
    children: list["Tree"] = []


AT = datetime(2026, 1, 31, 12, 30, 15, 250_999, tzinfo=timezone(timedelta(hours=2)))

VALUES: list[tuple[Any, list[Any]]] = [
    (str, ["", "a", " A "]),
    (Id, ["a", "B c"]),
    (Annotated[str, StringConstraints(strip_whitespace=True, to_lower=True)], ["a", "x y"]),
    (Annotated[str, BeforeValidator(str)], ["a", "1"]),
    (Annotated[int, AfterValidator(abs)], [1, 7]),
    (Annotated[Decimal, Field(gt=0, decimal_places=2)], [Decimal("1.50"), Decimal(3)]),
    (int, [0, 1, -5, 10**37]),
    (bool, [True, False]),
    (Decimal, [Decimal(0), Decimal("1.50"), Decimal("-1E+3"), Decimal("1E-9")]),
    (float, [0.0, -0.0, 0.1, 1.0, 1e100]),
    (bytes, [b"", b"\x00\xff"]),
    (datetime, [AT, AT.astimezone(UTC), AT + timedelta(microseconds=1), AT + timedelta(milliseconds=1)]),
    (Ttl, [AT, AT + timedelta(microseconds=1), AT + timedelta(seconds=1)]),
    (date, [date(2026, 1, 31), date(1, 1, 1)]),
    (UUID, [UUID(int=1), UUID(int=2)]),
    (Color, list(Color)),
    (Level, list(Level)),
    (Ratio, list(Ratio)),
    (Literal["a", "b"], ["a", "b"]),
    (Literal[1, 2], [1, 2]),
    (Literal["a", 1, True], ["a", 1, True]),
    (list[int], [[], [2, 1], [1, 2]]),
    (list[str | None], [["a", None], []]),
    (list[set[str]], [[set(), {"a"}], []]),
    (tuple[int, str], [(1, "a")]),
    (tuple[Color, ...], [(Color.RED, Color.BLUE), ()]),
    (set[str], [set(), {"b", "a"}]),
    (set[int], [set(), {10, 9}]),
    (set[Decimal], [{Decimal("1.0"), Decimal(2)}]),
    (frozenset[bytes], [frozenset(), frozenset([b"a"])]),
    (set[Level], [{Level.LOW}]),
    (set[datetime], [{AT, AT + timedelta(microseconds=1)}]),
    (set, [set(), {"a"}]),
    (dict[str, Any], [{}, {"a": [1, None]}, {"a": [True, None]}, {"a": 0.5}]),
    (dict[str, Decimal], [{"a": Decimal("1.0")}]),
    (dict[Color, set[str]], [{Color.RED: set(), Color.BLUE: {"a"}}]),
    (dict[Id, datetime], [{"a": AT}]),
    (Inner, [Inner(at=AT, note=None, tags=set()), Inner(at=AT, note="n", tags={"t"}, howLarge=5)]),
    (list[Inner], [[Inner(at=AT, note=None, tags=set())]]),
    (Tree, [Tree(name="a"), Tree(name="a", children=[Tree(name="b")])]),
    (Annotated[Cat | Dog, Field(discriminator="kind")], [Cat(), Dog(lives=Decimal("0.5"))]),
    (Any, ["a", 1, True, Decimal("0.5"), [1, {"b": b"c"}]]),
    (int | str, [7, "7"]),
    (int | bool, [1, True]),
    (Secret[str], [Secret("s"), Secret("t")]),
    (SecretStr, [SecretStr("s")]),
    (SecretBytes, [SecretBytes(b"s")]),
]
NAMES = [f"f{number}" for number in range(len(VALUES))]

table = Table(
    "Quick",
    key("pk"),
    case="camel",
    indexes={"byKind": key("kind", "rank:N"), "byDay": key("dayKey")},
    ttl=NAMES[[annotation for annotation, _ in VALUES].index(Ttl)],
)


def made(name: str, annotations: dict[str, Any], defaults: dict[str, Any], prefix: str) -> type[Entity]:
    namespace = {
        "__module__": __name__,
        "__qualname__": name,
        "__annotations__": {"id": Id, **annotations, "version": Version},
        "version": 0,
        "primary": key(f"{prefix}#{{id}}"),
        **defaults,
    }
    return type(Entity)(name, (Entity,), namespace, table=table)  # type: ignore[no-any-return,misc]  # made here


def optional(annotation: Any) -> Any:
    """The type with None, where that's allowed: an empty set is stored like None."""
    origin = get_origin(annotation) or annotation
    return annotation if origin in (set, frozenset, Any) else annotation | None


TYPES = {name: annotation for name, (annotation, _) in zip(NAMES, VALUES, strict=True)}
CHOICES = {name: values for name, (_, values) in zip(NAMES, VALUES, strict=True)}

Required = made("Required", TYPES, {}, "REQUIRED")
Optional = made(
    "Optional",
    {name: optional(annotation) for name, annotation in TYPES.items()},
    {name: None if optional(kind) is not kind or kind is Any else set() for name, kind in TYPES.items()},
    "OPTIONAL",
)


class Everything(Entity, table=table):
    """Keys, stamps, counters, and defaults of all kinds."""

    id: Id
    kind: str = "card"
    rank: Decimal | None = None
    day: date | None = None
    site: Annotated[Id | None, stored("dayKey")] = None
    count: int = 5
    ratio: Ratio = Ratio.HALF
    note: Any = None
    at: Created = created()
    names: list[str] = Field(default_factory=lambda: ["a"])
    inner: Inner | None = None
    seen: Count
    version: Version

    primary = key("EVERYTHING#{id}")
    by_kind = table.byKind("{kind}", "{rank}")
    by_day = table.byDay("DAY#{site}")


class Strict(Entity, table=table):
    """A class with its own settings."""

    model_config = ConfigDict(str_strip_whitespace=True, use_enum_values=True, validate_default=True)

    id: Id
    text: str = " d "
    colour: Color = Color.RED
    number: int = 1

    primary = key("STRICT#{id}")


class Named(Entity, table=table):
    """Fields with other names in JSON."""

    id: Id = Field(alias="theId")
    text: str = Field(default="d", alias="id")
    inner: Inner | None = Field(default=None, alias="within")

    primary = key("NAMED#{id}")


class Hooked(Entity, table=table):
    """Validators that see several values."""

    id: Id
    low: int = 0
    high: int = 10
    text: str = "d"

    primary = key("HOOKED#{id}")

    @field_validator("high")
    @classmethod
    def above(cls, value: int, info: ValidationInfo) -> int:
        if value < info.data.get("low", 0):
            raise ValueError("too low")
        return value


class Trimmed(Entity, table=table):
    """Validators that see one value."""

    id: Id
    text: str = "d"

    primary = key("TRIMMED#{id}")

    @field_validator("text")
    @classmethod
    def trimmed(cls, value: str) -> str:
        return value.strip()


class Checked(Entity, table=table):
    id: Id
    text: str = "d"

    primary = key("CHECKED#{id}")

    @model_validator(mode="after")
    def filled(self) -> "Checked":
        if not self.text:
            raise ValueError("no text")
        return self


class Private(Entity, table=table):
    id: Id
    text: str = "d"
    _length: int = PrivateAttr(default=1)

    primary = key("PRIVATE#{id}")


class Custom(Entity, table=table):
    id: Id
    text: str = "d"

    primary = key("CUSTOM#{id}")

    def __init__(self, **values: Any) -> None:
        super().__init__(**{**values, "text": "custom"})


CLASSES: list[type[Entity]] = [
    *(Required, Optional, Everything, Strict, Named, Hooked, Trimmed, Checked, Private, Custom),
]


class Quick(Design):
    tables = (table,)
    entities = tuple(CLASSES)


# What may be stored, by the data layer or by programs that store types differently

NUMBERS = ["0", "1", "-5", "1.0", "1.50", "0.5", "1E2", "2", "1769855416", "1" + "0" * 30, "9" * 38]
TEXTS = [
    *(
        "",
        "a",
        " A ",
        "#",
        "red",
        "cat",
        "1",
        "true",
        "5" * 200,
        "DAY#x",
        "DAY#",
        "00000000-0000-0000-0000-000000000001",
    ),
    *("2026-01-31", "2026-01-31T10:30:15Z", "2026-01-31T10:30:15.250Z", "2026-01-31T10:30:15.250999+02:00"),
    *("2026-01-31T10:30:15", "1769855416"),
]
scalars: st.SearchStrategy[Any] = st.one_of(
    st.sampled_from(TEXTS).map(lambda text: {"S": text}),
    st.sampled_from(NUMBERS).map(lambda text: {"N": text}),
    st.booleans().map(lambda value: {"BOOL": value}),
    st.sampled_from([b"", b"a"]).map(lambda value: {"B": value}),
    st.just({"NULL": True}),
    st.lists(st.sampled_from(TEXTS), min_size=1, unique=True).map(lambda texts: {"SS": texts}),
    st.lists(st.sampled_from(NUMBERS), min_size=1, unique=True).map(lambda texts: {"NS": texts}),
    st.just({"BS": [b"a", b"b"]}),
)
NAMED = ["at", "note", "tags", "size", "parts", "kind", "lives", "name", "children", "a", "red", "other"]
anything = st.recursive(
    scalars,
    lambda inside: (
        st.lists(inside, max_size=3).map(lambda each: {"L": each})
        | st.dictionaries(st.sampled_from(NAMED), inside, max_size=4).map(lambda each: {"M": each})
    ),
    max_leaves=6,
)


def same(first: object, second: object) -> bool:
    """Equal, and of the same types at every depth."""
    if type(first) is not type(second):
        return False
    if isinstance(first, dict) and isinstance(second, dict):
        return first.keys() == second.keys() and all(same(first[name], second[name]) for name in first)
    if isinstance(first, list | tuple) and isinstance(second, list | tuple):
        return len(first) == len(second) and all(map(same, first, second))
    if isinstance(first, BaseModel) and isinstance(second, BaseModel):
        alike = (
            first.model_fields_set == second.model_fields_set and first.__pydantic_extra__ == second.__pydantic_extra__
        )
        return alike and first.__pydantic_private__ == second.__pydantic_private__ and same(vars(first), vars(second))
    return first == second


def outcome(read: Any, item: Item) -> object:
    try:
        return read(dict(item))
    except StoredDataError as error:
        return str(error), error.attribute


def values_of(entity: type[Entity]) -> st.SearchStrategy[dict[str, Any]]:
    """Values for some of a class's fields."""
    known = {name: st.sampled_from(CHOICES[name]) for name in CHOICES if name in entity.model_fields}
    if entity is Optional:
        nothing = {name: st.none() for name in known if type(None) in get_args(entity.model_fields[name].annotation)}
        known = {name: strategy | nothing[name] if name in nothing else strategy for name, strategy in known.items()}
    if entity is Everything:
        known = {
            "kind": st.sampled_from(["card", "board"]),
            "rank": st.sampled_from([None, Decimal(1), Decimal("1.50")]),
            "day": st.sampled_from([None, date(2026, 1, 31)]),
            "site": st.sampled_from([None, "s", "t" * 100]),
            "count": st.integers(-5, 5),
            "ratio": st.sampled_from(Ratio),
            "note": st.sampled_from([None, 1, True, "a", {"a": 1}, {"a": True}]),
            "names": st.lists(st.sampled_from("ab"), max_size=2),
            "inner": st.sampled_from([None, *CHOICES[NAMES[[a for a, _ in VALUES].index(Inner)]]]),
        }
    required = {name: each for name, each in known.items() if entity.model_fields[name].is_required()}
    others = {name: each for name, each in known.items() if name not in required}
    return st.fixed_dictionaries(required, optional=others)


def new(entity: type[Entity], values: dict[str, Any]) -> Entity:
    kept = {"seen": 0, "version": 0} if entity is Everything else {}
    return entity.model_validate({"id": "1", **kept, **values}, by_alias=False, by_name=True)
