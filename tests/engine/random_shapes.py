"""Random values for any shape of botocore's model, valid and invalid."""

import base64
import copy
from typing import Any

from hypothesis import strategies as st

from keyplan.engine.service_model import Model, load, service_of

NAMES = st.text("abcXYZ019_.-", min_size=3, max_size=8)
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
SCALARS = [None, True, False, 0, 1, -1, 7.5, 2**70, "", "abc", "x" * 300, b"ab"]
CONTAINERS = [[], ["a"], {}, {"a": 1}, {"S": "a"}, (), ("a",)]
# Copies, because drawn values may be changed further.
JUNK: st.SearchStrategy[Any] = st.sampled_from([*SCALARS, *CONTAINERS]).map(copy.deepcopy)


def attribute_values(*, binary: bool) -> st.SearchStrategy[Any]:
    """Attribute values; binaries as bytes (boto3's form) or as base64 (the wire's)."""
    blobs: st.SearchStrategy[Any] = st.binary(max_size=6)
    if not binary:
        blobs = blobs.map(lambda data: base64.b64encode(data).decode())
    scalar = st.one_of(
        TEXTS.map(lambda text: {"S": text}),
        st.integers().map(lambda number: {"N": str(number)}),
        blobs.map(lambda data: {"B": data}),
        st.booleans().map(lambda truth: {"BOOL": truth}),
        st.just({"NULL": True}),
        st.lists(TEXTS, max_size=3).map(lambda texts: {"SS": texts}),
        st.lists(blobs, max_size=3).map(lambda data: {"BS": data}),
    )
    names = st.sampled_from(["a", "b", "B", "BS", "M", "S"])
    return st.recursive(
        scalar,
        lambda inner: st.one_of(
            st.lists(inner, max_size=3).map(lambda values: {"L": values}),
            st.dictionaries(names, inner, max_size=3).map(lambda values: {"M": values}),
        ),
        max_leaves=5,
    )


def values_of(model: Model, name: str, *, binary: bool) -> st.SearchStrategy[Any]:
    """Values that fit a shape and its constraints."""
    shape = model["shapes"][name]
    least, most = shape.get("min", 0), shape.get("max", 10**6)
    if name == "AttributeValue":
        return attribute_values(binary=binary)
    if "enum" in shape:
        return st.sampled_from(shape["enum"])
    match shape["type"]:
        case "structure":
            members = {
                member: values_of(model, reference["shape"], binary=binary)
                for member, reference in shape.get("members", {}).items()
            }
            required = shape.get("required", [])
            return st.fixed_dictionaries(
                {member: values for member, values in members.items() if member in required},
                optional={member: values for member, values in members.items() if member not in required},
            )
        case "list":
            inner = values_of(model, shape["member"]["shape"], binary=binary)
            return st.lists(inner, min_size=least, max_size=least + 1)  # two keys are the most in a schema
        case "map":
            inner = values_of(model, shape["value"]["shape"], binary=binary)
            return st.dictionaries(NAMES, inner, min_size=least, max_size=least + 2)
        case "string":
            return NAMES.map(lambda text: text.ljust(least, "x")[:most])
        case "boolean":
            return st.booleans()
        case "integer" | "long":
            return st.integers(least, min(most, 10**6))
        case _:
            return st.integers(0, 2 * 10**9)


def requests(operation: str, *, binary: bool) -> st.SearchStrategy[Any]:
    """Valid requests for an operation."""
    service = service_of(operation)
    assert service is not None
    model = load(service)
    return values_of(model, model["operations"][operation]["input"]["shape"], binary=binary)


def _places(value: Any) -> list[tuple[Any, Any]]:
    """Every (container, key) in a value."""
    if isinstance(value, dict):
        entries: list[tuple[Any, Any]] = list(value.items())
    else:
        entries = list(enumerate(value)) if isinstance(value, list) else []
    return [place for key, content in entries for place in [(value, key), *_places(content)]]


@st.composite
def spoilt(draw: st.DrawFn, values: st.SearchStrategy[Any]) -> Any:
    """A value with one to three things in it replaced, removed or added."""
    value = copy.deepcopy(draw(values))
    for _ in range(draw(st.integers(1, 3))):
        places = _places(value)
        if not places:
            break
        container, key = draw(st.sampled_from(places))
        change = draw(st.sampled_from(["replace", "remove", "add"]))
        if change == "replace":
            container[key] = draw(JUNK)
        elif change == "remove":
            del container[key]
        elif isinstance(container, dict):
            container["Unknown"] = draw(JUNK)
        else:
            container.append(draw(JUNK))
    return value
