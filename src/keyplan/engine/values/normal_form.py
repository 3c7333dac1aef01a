"""The normal form of attribute values: one walk checks types, normalizes, and adds up the size.

In normal form, numbers are in plain notation, base64 is canonical and sets are sorted, so that equal values are equal
dicts. The values of a request are normalized when the request is read (`validation.readers`); the operations get
`NormalItem`s, which need no more work. A request with a value that AWS refuses is not read. Its values stay as they
are, and the operation refuses them at the point where AWS would.
"""

from base64 import b64encode
from binascii import Error, a2b_base64
from collections.abc import Callable
from typing import TypeAlias

from keyplan.engine.errors import DynamoError, PlainError, invalid_parameter, validation_error
from keyplan.engine.values import numbers
from keyplan.engine.values.attribute_values import (
    MAXIMUM_NAME_SIZE,
    MAXIMUM_NESTING,
    AttributeValue,
    Item,
    NormalItem,
    SizedItem,
    base64_size,
    check_item_size,
    name_size,
)

Sized: TypeAlias = tuple[AttributeValue, int]
_Rule: TypeAlias = Callable[[object, int], Sized]


class WrongType(Exception):
    """A value doesn't have the Python type that its DynamoDB type calls for."""


class Normalizer:
    """Normalizes values; `binary` returns canonical base64 for a binary value, `deepest` is how deep they may nest."""

    def __init__(self, binary: Callable[[object], str], deepest: int = MAXIMUM_NESTING) -> None:
        self._binary_text = binary
        self._deepest = deepest
        self._rules: dict[object, _Rule] = {
            "S": _string,
            "N": _number,
            "B": self._binary,
            "BOOL": _boolean,
            "NULL": _null,
            "SS": _string_set,
            "NS": _number_set,
            "BS": self._binary_set,
            "M": self._map,
            "L": self._list,
        }

    def value(self, value: object, depth: int = 1) -> Sized:
        """Return the value in normal form and its size; raise AWS's error if it isn't legal."""
        if type(value) is not dict:
            raise WrongType
        try:
            ((kind, content),) = value.items()
            rule = self._rules[kind]
        except (ValueError, KeyError):
            raise self._not_one_type(value, depth) from None
        return rule(content, depth)

    def attributes(self, given: object) -> NormalItem:
        """Return a map of attribute values in normal form: a key, or the values of expressions."""
        if type(given) is not dict:
            raise WrongType
        result = NormalItem(given)
        for name, value in given.items():
            if type(name) is not str or type(value) is not dict:
                raise WrongType
            # Nearly all values are strings and numbers in normal form: they are recognized right here.
            if len(value) == 1:
                if "S" in value and type(value["S"]) is str:
                    continue
                if "N" in value and type(value["N"]) is str and numbers.normal_size(value["N"]):
                    continue
            result[name] = self.value(value)[0]
        return result

    def item(self, given: object) -> tuple[Item, int]:
        """Return all attributes of an item in normal form, and its size by AWS's rule."""
        if not isinstance(given, dict):
            raise WrongType
        check_item_size(len(given))
        result: Item = {}
        total = 0
        for name, value in given.items():
            if type(name) is not str:
                raise WrongType
            result[name], size = self.value(value)
            total += size + (len(name) if name.isascii() and 0 < len(name) <= MAXIMUM_NAME_SIZE else name_size(name))
        return result, total

    def _not_one_type(self, value: dict[object, object], depth: int) -> Exception:
        """What is wrong with a value that hasn't exactly one member, named by a type."""
        if not value.keys() <= self._rules.keys():
            return WrongType()
        if not value:
            return PlainError("Supplied AttributeValue is empty, must contain exactly one of the supported datatypes")
        for kind, content in value.items():  # AWS looks for mistakes in each of them first
            self._rules[kind](content, depth)
        return PlainError(
            "Supplied AttributeValue has more than one datatypes set, "
            "must contain exactly one of the supported datatypes"
        )

    def _binary(self, content: object, depth: int) -> Sized:
        text = self._binary_text(content)
        return {"B": text}, base64_size(text)

    def _binary_set(self, content: object, depth: int) -> Sized:
        if type(content) is not list:
            raise WrongType
        if not content:
            raise invalid_parameter("Binary sets should not be empty")
        check_item_size(len(content))
        members = [self._binary_text(member) for member in content]
        if len(set(members)) != len(members):
            raise invalid_parameter(f"Input collection [{', '.join(members)}]of type BS contains duplicates.")
        return {"BS": sorted(members, key=a2b_base64)}, sum(map(base64_size, members))

    def _map(self, content: object, depth: int) -> Sized:
        if type(content) is not dict:
            raise WrongType
        _check_depth(depth, self._deepest)
        check_item_size(2 * len(content))  # now, before a million members are walked
        result: Item = {}
        total = 3
        for name, value in content.items():
            if type(name) is not str:
                raise WrongType
            result[name], size = self.value(value, depth + 1)
            total += size + 1 + name_size(name)
        return {"M": result}, total

    def _list(self, content: object, depth: int) -> Sized:
        if type(content) is not list:
            raise WrongType
        _check_depth(depth, self._deepest)
        check_item_size(len(content))
        sized = [self.value(value, depth + 1) for value in content]
        return {"L": [value for value, _ in sized]}, 3 + len(sized) + sum(size for _, size in sized)


def _string(content: object, depth: int) -> Sized:
    if type(content) is not str:
        raise WrongType
    return {"S": content}, len(content) if content.isascii() else len(content.encode())


def _number(content: object, depth: int) -> Sized:
    if type(content) is not str:
        raise WrongType
    number = numbers.normal(content)
    return {"N": number}, numbers.size(number)


def _boolean(content: object, depth: int) -> Sized:
    if type(content) is not bool:
        raise WrongType
    return {"BOOL": content}, 1


def _null(content: object, depth: int) -> Sized:
    if content is True:
        return {"NULL": True}, 1
    if content is False:
        raise invalid_parameter("Null attribute value types must have the value of true")
    raise WrongType


def _texts(content: object) -> list[str]:
    if type(content) is not list:
        raise WrongType
    for member in content:
        if type(member) is not str:
            raise WrongType
    return content


def _string_set(content: object, depth: int) -> Sized:
    members = _texts(content)
    if not members:
        raise invalid_parameter("An string set  may not be empty")
    size = sum(len(member.encode()) for member in members)
    check_item_size(max(size, len(members)))  # now, before a million members are sorted
    if len(set(members)) != len(members):
        raise invalid_parameter(f"Input collection [{', '.join(members)}] contains duplicates.")
    return {"SS": sorted(members)}, size


def _number_set(content: object, depth: int) -> Sized:
    given = _texts(content)
    check_item_size(len(given))
    members = [numbers.normal(member) for member in given]
    if not members:
        raise invalid_parameter("An number set  may not be empty")
    if len(set(members)) != len(members):
        raise validation_error("Input collection contains duplicates")
    return {"NS": sorted(members, key=numbers.to_decimal)}, sum(map(numbers.size, members))


def _check_depth(depth: int, deepest: int = MAXIMUM_NESTING) -> None:
    """Refuse a map or list at the 32nd level; only a scalar may be there."""
    if depth >= deepest:
        raise NestedTooDeep


class NestedTooDeep(PlainError):
    """AWS's answer to a value with more than 32 levels."""

    def __init__(self) -> None:
        super().__init__(
            "Nesting Levels have exceeded supported limits: "
            "Attributes in the item have nested levels beyond supported limit"
        )


def check_nesting(value: AttributeValue, depth: int = 1) -> None:
    """Refuse a value that an update assembled from legal ones and that is nested too deep."""
    members = value.get("M")
    inner = value.get("L") if members is None else members.values()
    if inner is not None:
        _check_depth(depth)
        for member in inner:
            check_nesting(member, depth + 1)


def is_base64(text: str) -> bool:
    """Return whether a text is canonical base64: with padding, and without bits that decoding would drop."""
    try:
        a2b_base64(text, strict_mode=True)
    except (Error, ValueError):
        return False
    if not text.endswith("="):
        return True
    return text[-3] in "AQgw" if text.endswith("==") else text[-2] in "AEIMQUYcgkosw048"


def _checked_base64(content: object) -> str:
    if type(content) is not str:
        raise WrongType
    if not is_base64(content):
        raise DynamoError("SerializationException", "Base64 encoded length is unexpected or invalid")
    return content


def _encoded(content: object) -> str:
    if type(content) is bytes or type(content) is bytearray:
        return b64encode(content).decode()
    raise WrongType


FROM_JSON = Normalizer(_checked_base64)
"""For values in the wire's form."""
FROM_BOTO3 = Normalizer(_encoded)
"""For values in the form that boto3's clients take, where binary values are bytes."""
ONLY_COMPARED = Normalizer(_checked_base64, deepest=200)
"""For values in the wire's form that aren't stored: they may nest as deep as a request can be read."""


def normalize(value: AttributeValue) -> AttributeValue:
    """Return the value in normal form; raise AWS's error if it isn't legal."""
    return FROM_JSON.value(value)[0]


def normalize_item(item: Item) -> NormalItem:
    """Return all attributes in normal form; an item that was read already is returned as it is."""
    return item if isinstance(item, NormalItem) else FROM_JSON.attributes(item)


def normalize_sized(item: Item) -> tuple[Item, int]:
    """Return all attributes in normal form, and the size of the item by AWS's rule."""
    return (item, item.size) if isinstance(item, SizedItem) else FROM_JSON.item(item)
