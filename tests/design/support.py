"""Helpers for the tests of designs: templates without an entity, and exact checks of errors."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import new_class
from typing import Any

import pytest

from keyplan.design import DesignError, Entity, InvalidValue, Table, key
from keyplan.design.keys.templates import Template


def template(text: str, **fields: object) -> Template:
    """A template over fields of these types: `template("A#{n:04}", n=int)`."""
    annotations = {"key_of_the_table": str, **fields}
    table = Table("any-table", key("PK"))
    body = {"__annotations__": annotations, "primary": key("{key_of_the_table}"), "__module__": __name__}
    entity: type[Entity] = new_class("Thing", (Entity,), {"table": table}, lambda space: space.update(body))
    return entity.spec.template(text, "Thing.key")


def written(made: Template, values: Mapping[str, object]) -> str | None:
    """The key for these values, or None if they are refused."""
    try:
        return made.write(values)
    except InvalidValue:
        return None


@contextmanager
def wrong(code: str, place: str, remedy: str) -> Iterator[dict[str, Any]]:
    """The block makes a wrong declaration, which raises an error with this code, place and remedy."""
    with pytest.raises(DesignError) as caught:
        yield {}
    error = caught.value
    assert (error.code, error.place, error.remedy) == (code, place, remedy)
    assert str(error) == f"{place}: {error.problem}. {remedy} [{code}]"


@contextmanager
def refused(code: str, field: str | None) -> Iterator[None]:
    """The block uses a value that can't be in a key, which raises an error with this code and field."""
    with pytest.raises(InvalidValue) as caught:
        yield
    assert (caught.value.code, caught.value.field) == (code, field)
