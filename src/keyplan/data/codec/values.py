"""How Python values are stored: one codec for each type.

| Python | DynamoDB |
| --- | --- |
| str, UUID | S |
| int, Decimal, float | N, exact, at most 38 digits; NaN and infinities are refused |
| bool | BOOL |
| bytes | B |
| datetime | S, UTC, of one width (seconds or milliseconds, by the table's `times`); one without a zone is refused |
| `Ttl` | N, whole seconds |
| date | S, `2026-01-31` |
| Enum, Literal | as its value |
| list, tuple | L |
| set, frozenset of texts, numbers or bytes | SS, NS or BS; an empty one is left out and read back as empty |
| dict, nested models | M; keys as texts, a nested model's fields under their own names, None left out |
| Secret | as its content |
| None | the attribute is left out; NULL inside a list or dict |
"""

import math
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from decimal import Context, Decimal
from enum import Enum
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, NamedTuple, TypeAlias, Union, get_args, get_origin
from uuid import UUID

from pydantic import BaseModel, Secret, SecretBytes, SecretStr

from keyplan.design.errors import InvalidValue
from keyplan.design.keys.formats import TimePrecision, timestamp_text, utc
from keyplan.design.values.absence import NOTHING, when_absent

AttributeValue: TypeAlias = Mapping[str, Any]
Item: TypeAlias = dict[str, AttributeValue]

Encode: TypeAlias = Callable[[Any], AttributeValue | None]
Decode: TypeAlias = Callable[[AttributeValue], object]

_DIGITS = 38
_TOO_LONG = 10**_DIGITS
_LARGEST, _SMALLEST = 125, -130
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LAST_SECOND = (datetime.max.replace(tzinfo=UTC) - _EPOCH) // timedelta(seconds=1)
_LONG = Context(prec=400)  # the default context would round to 28 digits


class ValueCodec(NamedTuple):
    """Encodes and decodes the values of a type. With a `tag`, decoding takes the content under this type's name."""

    encode: Encode
    decode: Decode
    tag: str | None = None
    empty: object = None
    """What NULL inside a list or map is decoded as."""
    direct: bool = False
    """Whether encoding only puts the value under the type's name."""


def number_text(value: int | Decimal | float) -> str:
    """A number in DynamoDB's form; raises `InvalidValue` for one that DynamoDB can't store exactly."""
    if isinstance(value, float):
        if not math.isfinite(value):
            raise InvalidValue("not-finite", "number", f"{value} can't be stored: use a finite number.")
        value = Decimal(float.__repr__(value))  # that of a subclass, such as NumPy's, can be anything
    elif isinstance(value, int):
        if -_TOO_LONG < value < _TOO_LONG:
            return str(value)
        value = Decimal(value)
    if not value.is_finite():
        raise InvalidValue("not-finite", "number", f"{value} can't be stored: use a finite number.")
    text = str(value)
    if len(text) <= _DIGITS and "E" not in text:
        text = text.rstrip("0").rstrip(".") if "." in text else text
        return "0" if text == "-0" else text
    if not value:
        return "0"
    fits = _SMALLEST <= value.adjusted() <= _LARGEST
    exact = _LONG.normalize(value) if fits else value
    if not fits or len(exact.as_tuple().digits) > _DIGITS:
        raise InvalidValue(
            "number-range", "number", f"{value} can't be stored: use at most {_DIGITS} digits and a smaller exponent."
        )
    return format(exact, "f")


def integer_of(value: AttributeValue | None) -> int:
    """A stored counter or version as int; absent or NULL is 0."""
    return int((value or {}).get("N", "0"))


def _take(tag: str) -> Decode:
    return lambda value: value[tag]


def _simple(tag: str, text: Callable[[Any], object]) -> ValueCodec:
    return ValueCodec(lambda value: {tag: text(value)}, _take(tag), tag)


def _direct(tag: str) -> ValueCodec:
    return ValueCodec(lambda value: {tag: value}, _take(tag), tag, direct=True)


def _seconds(value: datetime) -> str:
    return str(min(math.ceil(utc(value).timestamp()), _LAST_SECOND))


def ttl_codec() -> ValueCodec:
    """The codec of a `Ttl`: whole seconds, as DynamoDB's time to live needs."""
    return ValueCodec(lambda value: {"N": _seconds(value)}, lambda value: _EPOCH + timedelta(seconds=float(value["N"])))


def value_codec(annotation: object, times: TimePrecision) -> ValueCodec:
    """The codec of a type."""
    while hasattr(annotation, "__metadata__"):
        annotation = get_args(annotation)[0]
    simple: ValueCodec | None = {
        str: _direct("S"),
        int: _simple("N", number_text),
        Decimal: _simple("N", number_text),
        float: _simple("N", number_text),
        bool: _direct("BOOL"),
        bytes: ValueCodec(lambda value: {"B": bytes(value)}, lambda value: bytes(value["B"])),
        datetime: _simple("S", lambda value: timestamp_text(value, times)),
        date: _simple("S", date.isoformat),
        UUID: _simple("S", str),
    }.get(annotation)  # type: ignore[call-overload]  # any object may be looked up
    if simple is not None:
        return simple
    origin, arguments = get_origin(annotation), get_args(annotation)
    if isinstance(annotation, type):
        if issubclass(annotation, Enum):
            return _enum(annotation)
        if issubclass(annotation, Secret | SecretStr | SecretBytes):
            return _secret(bytes if issubclass(annotation, SecretBytes) else str, times)
        if issubclass(annotation, BaseModel):
            return _model(annotation, times)
    if origin is Literal and all(isinstance(argument, str) for argument in arguments):
        # Other values keep their types, since a Literal doesn't accept a text for a number.
        return value_codec(str, times)
    if origin is Secret:
        return _secret(arguments[0], times)
    if origin in (list, Sequence) or (origin is tuple and arguments[-1] is Ellipsis):
        return _list(value_codec(arguments[0], times))
    if origin is tuple:
        return _tuple([value_codec(argument, times) for argument in arguments])
    if origin in (set, frozenset):
        return _set(value_codec(arguments[0], times))
    if annotation in (set, frozenset):
        return _set(value_codec(Any, times))
    if origin in (dict, Mapping):
        return _map(value_codec(arguments[1], times))
    if origin in (Union, UnionType):
        present = [argument for argument in arguments if argument is not NoneType]
        if len(present) == 1:
            return _nullable(value_codec(present[0], times))
    return ValueCodec(lambda value: encode_untyped(value, times), decode_untyped)


def _enum(annotation: type[Enum]) -> ValueCodec:
    """An enum by its members' values. Also encodes a plain value of a member, for conditions."""
    if all(isinstance(member.value, str) for member in annotation):
        return ValueCodec(lambda value: {"S": str(annotation(value).value)}, _take("S"), "S")
    if all(isinstance(member.value, int) for member in annotation):
        return ValueCodec(lambda value: {"N": str(int(annotation(value).value))}, lambda value: int(value["N"]))
    return ValueCodec(lambda value: encode_untyped(annotation(value).value), decode_untyped)


def _secret(annotation: object, times: TimePrecision) -> ValueCodec:
    inner = value_codec(annotation, times)
    return ValueCodec(lambda value: inner.encode(value.get_secret_value()), inner.decode, inner.tag)


@cache
def model_codecs(model: type[BaseModel], times: TimePrecision) -> dict[str, ValueCodec]:
    """The codecs of a model's fields; made on first use, since a model may contain itself."""
    return {name: value_codec(info.annotation, times) for name, info in model.model_fields.items()}


def _model(annotation: type[BaseModel], times: TimePrecision) -> ValueCodec:
    absent = {name: when_absent(info) for name, info in annotation.model_fields.items()}
    filled = {name: value for name, value in absent.items() if value is not NOTHING}
    takes_more = annotation.model_config.get("extra") == "allow"

    def encode(value: BaseModel) -> AttributeValue:
        members = {}
        for name, codec in model_codecs(annotation, times).items():
            content = getattr(value, name)
            if content is not None:
                encoded = codec.encode(content)
                if encoded is not None:
                    members[name] = encoded
        for name, content in (value.model_extra or {}).items() if takes_more else ():
            members[map_name(name)] = encode_untyped(content, times)
        return {"M": members}

    def decode(value: AttributeValue) -> object:
        fields = model_codecs(annotation, times)
        return filled | {
            name: fields[name].decode(content) if name in fields else decode_untyped(content)
            for name, content in value["M"].items()
        }

    return ValueCodec(encode, decode)


def _list(member: ValueCodec) -> ValueCodec:
    return ValueCodec(
        lambda value: {"L": [member.encode(each) or {"NULL": True} for each in value]},
        lambda value: [member.empty if "NULL" in each else member.decode(each) for each in value["L"]],
    )


def _tuple(members: Sequence[ValueCodec]) -> ValueCodec:
    """A tuple with a type for each element."""
    return ValueCodec(
        lambda value: {"L": [m.encode(each) or {"NULL": True} for m, each in zip(members, value, strict=True)]},
        lambda value: [
            m.empty if "NULL" in each else m.decode(each) for m, each in zip(members, value["L"], strict=True)
        ],
    )


def _map(member: ValueCodec) -> ValueCodec:
    return ValueCodec(
        lambda value: {"M": {map_name(name): member.encode(each) or {"NULL": True} for name, each in value.items()}},
        lambda value: {
            name: member.empty if "NULL" in each else member.decode(each) for name, each in value["M"].items()
        },
    )


def map_name(key: object) -> str:
    """The key of a dict as the name in a map."""
    name = str(key.value if isinstance(key, Enum) else key)
    if not name:
        raise InvalidValue("empty-name", "dict", "A key of a dict can't be empty: DynamoDB needs a name.")
    return name


def _set(member: ValueCodec) -> ValueCodec:
    """A set, sorted by its stored members, so that equal sets are stored the same way."""

    def encode(value: Any) -> AttributeValue | None:  # noqa: ANN401 - checked by the model
        if member.direct and member.tag == "S":
            return {"SS": sorted(value)} if value else None
        pairs = [next(iter((member.encode(each) or {"NULL": True}).items())) for each in value]
        if not pairs:
            return None
        tags = {tag for tag, _ in pairs}
        if len(tags) > 1 or not tags <= {"S", "N", "B"}:
            raise InvalidValue(
                "no-codec", "set", "This set can't be stored: its members must all be texts, all numbers or all bytes."
            )
        # Values that differ by less than the stored precision are one member.
        return {tags.pop() + "S": sorted({content for _, content in pairs})}

    def decode(value: AttributeValue) -> object:
        ((tag, contents),) = value.items()
        return [member.decode({tag[0]: content}) for content in contents] if tag in ("SS", "NS", "BS") else value["SS"]

    return ValueCodec(encode, decode, f"{member.tag}S" if member.tag in ("S", "N", "B") else None, empty=())


def index_key_codec(codec: ValueCodec, longest: int) -> ValueCodec:
    """The codec, but it refuses values that can't be index keys."""

    def encode(value: object) -> Mapping[str, Any] | None:
        encoded = codec.encode(value)
        content = next(iter(encoded.values())) if encoded else None
        if content in ("", b""):
            raise InvalidValue(
                "empty-key-value", "key", "This value can't be empty, because it is the key of an index."
            )
        if (
            isinstance(content, str | bytes)
            and len(content.encode() if isinstance(content, str) else content) > longest
        ):
            raise InvalidValue(
                "key-too-long",
                "key",
                f"This value is too long: as the key of an index it can have at most {longest} bytes.",
            )
        return encoded

    return codec._replace(encode=encode, direct=False)


def _nullable(inner: ValueCodec) -> ValueCodec:
    return ValueCodec(
        lambda value: {"NULL": True} if value is None else inner.encode(value),
        lambda value: None if "NULL" in value else inner.decode(value),
    )


def encode_untyped(value: object, times: TimePrecision = "milliseconds") -> AttributeValue:
    """A value without a declared type, encoded by its Python type."""
    match value:
        case None:
            return {"NULL": True}
        case bool():
            return {"BOOL": value}
        case str():
            return {"S": value}
        case int() | Decimal() | float():
            return {"N": number_text(value)}
        case bytes() | bytearray():
            return {"B": bytes(value)}
        case datetime():
            return {"S": timestamp_text(value, times)}
        case date():
            return {"S": value.isoformat()}
        case Enum():
            return encode_untyped(value.value, times)
        case UUID():
            return {"S": str(value)}
        case Mapping():
            return {"M": {map_name(name): encode_untyped(each, times) for name, each in value.items()}}
        case list() | tuple():
            return {"L": [encode_untyped(each, times) for each in value]}
        case set() | frozenset() if value:
            return _set(ValueCodec(lambda each: encode_untyped(each, times), decode_untyped)).encode(value) or {
                "NULL": True
            }
        case BaseModel():
            return _model(type(value), times).encode(value) or {"NULL": True}
        case Secret() | SecretStr() | SecretBytes():
            return encode_untyped(value.get_secret_value(), times)
    raise InvalidValue("no-codec", type(value).__name__, f"{value!r} can't be stored: DynamoDB has no type for it.")


def decode_untyped(value: AttributeValue) -> object:
    """A stored value without a declared type, in Python; whole numbers become int."""
    ((tag, content),) = value.items()
    match tag:
        case "N":
            number = Decimal(content)
            return int(number) if number == number.to_integral_value() else number
        case "M":
            return {name: decode_untyped(each) for name, each in content.items()}
        case "L":
            return [decode_untyped(each) for each in content]
        case "NULL":
            return None
        case "SS" | "BS":
            return set(content)
        case "NS":
            return {Decimal(each) for each in content}
    return content
