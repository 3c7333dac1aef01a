"""The types of fields, from all values that were seen of each."""

import keyword
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal

from pydantic import BaseModel

from keyplan.adopt.formats import Times, is_date, is_time
from keyplan.adopt.model import FoundField, FoundModel
from keyplan.adopt.names import class_name, singular
from keyplan.data import AttributeValue

_DEEPEST = 3
_MOST_MEMBERS = 40
_ANYTHING = "Any"


@dataclass
class Types:
    """Finds types, and names the models that it makes for maps."""

    times: Times
    taken: set[str]
    """Names of classes that are taken."""
    models: list[FoundModel] = field(default_factory=list)
    mixed: list[str] = field(default_factory=list)
    """Places with values of different types."""

    def of(self, values: Iterable[AttributeValue], name: str, depth: int = 0) -> str:
        """The type of these values, as Python source. None of them is NULL."""
        found = list(values)
        tags = {tag for value in found for tag in value}
        if len(tags) != 1:
            self.mixed += [name] if tags else []
            return _ANYTHING
        contents = [value[tag] for value in found for tag in value]
        match tags.pop():
            case "S":
                return self._text(contents)
            case "N":
                return _number(contents)
            case "BOOL":
                return "bool"
            case "B":
                return "bytes"
            case "SS":
                return "frozenset[str]"
            case "NS":
                return f"frozenset[{_number([each for content in contents for each in content])}]"
            case "BS":
                return "frozenset[bytes]"
            case "L":
                return f"list[{self._member([each for content in contents for each in content], name, depth)}]"
            case "M":
                return self._map(contents, name, depth)
        return _ANYTHING

    def _text(self, texts: Sequence[str]) -> str:
        if all(is_time(text, self.times) for text in texts):
            return "datetime"
        return "date" if all(map(is_date, texts)) else "str"

    def _member(self, values: Sequence[AttributeValue], name: str, depth: int) -> str:
        """The type of a list's or a dict's members, which may be None."""
        present = [value for value in values if "NULL" not in value]
        if not present:
            return _ANYTHING
        found = self.of(present, singular(name), depth + 1)
        return found if len(present) == len(values) or found == _ANYTHING else f"{found} | None"

    def _map(self, maps: Sequence[Mapping[str, AttributeValue]], name: str, depth: int) -> str:
        counts = Counter(member for each in maps for member in each)
        if _is_recursive(maps):
            return f"dict[str, {_ANYTHING}]"
        if not _is_model(counts, maps, depth):
            return f"dict[str, {self._member([value for each in maps for value in each.values()], name, depth)}]"
        members = []
        for member, count in counts.items():
            values = [each[member] for each in maps if member in each]
            kind, optional = self.of(values, member, depth + 1), count < len(maps)
            is_set = kind.startswith("frozenset")
            members.append(
                FoundField(
                    name=member,
                    attribute=member,
                    type=kind,
                    optional=optional and not is_set,
                    default="frozenset()" if optional and is_set else None,
                )
            )
        model = FoundModel(class_name(name, self.taken), members)
        self.taken.add(model.name)
        self.models.append(model)
        return model.name


def _is_model(counts: Mapping[str, int], maps: Sequence[Mapping[str, AttributeValue]], depth: int) -> bool:
    """Whether maps are alike: the same few names, most of them always there, each of them valid in Python."""
    if not counts or len(counts) > _MOST_MEMBERS or depth >= _DEEPEST:
        return False
    if any("NULL" in value for each in maps for value in each.values()):
        return False
    if not all(map(_is_name, counts)):
        return False
    often = sum(count * 2 >= len(maps) for count in counts.values())
    return often * 2 >= len(counts) and (len(maps) > 1 or len(counts) > 1)


def _is_recursive(maps: Sequence[Mapping[str, AttributeValue]]) -> bool:
    """Whether maps contain maps like themselves, as documents and trees do."""
    for each in maps:
        for value in each.values():
            inner = [member for member in value.get("L", [value]) if "M" in member]
            if any(len(each.keys() & member["M"].keys()) > 1 for member in inner):
                return True
    return False


def _is_name(name: str) -> bool:
    return name.isidentifier() and not (
        keyword.iskeyword(name) or name.startswith(("_", "model_")) or hasattr(BaseModel, name)
    )


def _number(texts: Sequence[str]) -> str:
    numbers = [Decimal(text) for text in texts]
    return "int" if all(number == number.to_integral_value() for number in numbers) else "Decimal"
