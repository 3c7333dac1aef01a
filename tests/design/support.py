"""What the tests of the design language have in common: templates without an entity, and errors stated exactly."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import new_class
from typing import Any

import pytest

from keyplan.design import DesignError, Entity, InvalidValue, Table, key
from keyplan.design.templates import Template


def template(text: str, **fields: object) -> Template:
    """A template over fields of these types: `template("A#{n:04}", n=int)`."""
    annotations = {"key_of_the_table": str, **fields}
    table = Table("any-table", key("PK"))
    body = {"__annotations__": annotations, "primary": key("{key_of_the_table}"), "__module__": __name__}
    entity: type[Entity] = new_class("Thing", (Entity,), {"table": table}, lambda space: space.update(body))
    return entity.spec.template(text, "Thing.key")


def written(made: Template, values: Mapping[str, object]) -> str | None:
    """The key of these values; None where they are refused."""
    try:
        return made.write(values)
    except InvalidValue:
        return None


@contextmanager
def wrong(code: str, place: str, remedy: str) -> Iterator[dict[str, Any]]:
    """The block declares something wrong: the error has this code, is at this place and names this remedy."""
    with pytest.raises(DesignError) as caught:
        yield {}
    error = caught.value
    assert (error.code, error.place, error.remedy) == (code, place, remedy)
    assert str(error) == f"{place}: {error.problem}. {remedy} [{code}]"


@contextmanager
def refused(code: str, field: str | None) -> Iterator[None]:
    """The block gives a value that can't be in a key: the error has this code and names this field."""
    with pytest.raises(InvalidValue) as caught:
        yield
    assert (caught.value.code, caught.value.field) == (code, field)
