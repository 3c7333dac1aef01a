"""Fields that are declared once, in all five systems: who may set and see them, and what people read about them."""

from collections.abc import Iterator
from importlib import import_module
from types import UnionType
from typing import Any, Union, get_args, get_origin

import pytest
from pydantic import BaseModel, Secret, SecretBytes, SecretStr

from keyplan.design import Entity, Fields
from keyplan.web import In, Out, System
from keyplan.web.models.signatures import signature_of

SYSTEMS = ["wavyblog", "hacktracker", "threefc", "funkedupshift", "vcm"]
SECRETS = (Secret, SecretStr, SecretBytes)

SET_THOUGH_READ_ONLY: dict[str, str] = {}
"""Bodies that take a field which is read-only elsewhere, by `system.Body.field`, with the reason."""


def system_of(name: str) -> System[Any]:
    system: System[Any] = import_module(f"keyplan.apps.{name}.api").SYSTEM
    return system


def classes_in(hint: object) -> Iterator[type]:
    """The classes that a type is made of, and those of their fields."""
    if hasattr(hint, "__metadata__"):
        yield from classes_in(get_args(hint)[0])
    elif get_origin(hint) in (Union, UnionType, list, tuple, dict, set, frozenset):
        for each in get_args(hint):
            yield from classes_in(each)
    elif isinstance(hint, type):
        yield hint
        if issubclass(hint, BaseModel):
            for info in hint.model_fields.values():
                yield from classes_in(info.annotation)


def answers_of(system: System[Any]) -> set[type[BaseModel]]:
    """All models that a system's API sends back, and the models inside them."""
    found = (each for route in system.api.routes for each in classes_in(signature_of(route.method).answer))
    return {each for each in found if issubclass(each, BaseModel)}


def bodies_of(system: System[Any]) -> set[type[In]]:
    """All models that callers send: to the API, and by forms."""
    functions = [route.method for route in system.api.routes]
    functions += [page.function for page in system.pages.routes] if system.pages else []
    bodies = (signature_of(function).body for function in functions)
    return {body[1] for body in bodies if body is not None}


def declarations(model: type[BaseModel]) -> set[type[Fields]]:
    """The classes from which a model takes fields."""
    return {base for base in model.__mro__ if issubclass(base, Fields) and base is not Fields and base.model_fields}


def relatives(system: System[Any], model: type[BaseModel]) -> Iterator[type[Entity]]:
    """The entities whose fields a model has: those that share a declaration which no other entity has."""
    entities = system.design.entities
    for declared in declarations(getattr(model, "declaration", model)):
        sharing = [entity for entity in entities if declared in declarations(entity)]
        if len(sharing) == 1:
            yield sharing[0]


@pytest.mark.parametrize("name", SYSTEMS)
def test_no_secret_is_in_any_answer(name: str) -> None:
    system = system_of(name)
    secrets = {
        field
        for entity in system.design.entities
        for field, info in entity.declared_fields.items()
        if any(issubclass(each, SECRETS) for each in classes_in(info.annotation))
    }
    for answer in answers_of(system):
        assert not secrets & answer.model_fields.keys(), answer
        assert not any(issubclass(each, SECRETS) for each in classes_in(answer)), answer


@pytest.mark.parametrize("name", SYSTEMS)
def test_no_hidden_field_is_in_an_answer_about_its_entity(name: str) -> None:
    system = system_of(name)
    for answer in answers_of(system):
        for entity in relatives(system, answer):
            hidden = {field.name for field in entity.spec.fields.values() if field.access == "hidden"}
            assert not hidden & answer.model_fields.keys(), f"{answer.__name__} shows what {entity.__name__} hides"


@pytest.mark.parametrize("name", SYSTEMS)
def test_no_read_only_field_is_in_a_body_about_its_entity(name: str) -> None:
    system = system_of(name)
    found = {
        f"{name}.{body.__name__}.{field.name}"
        for body in bodies_of(system)
        for entity in relatives(system, body)
        for field in entity.spec.fields.values()
        # A form says by `version` which version somebody saw; it is compared and never set.
        if field.access in ("read-only", "hidden") and field.name in body.model_fields and field.name != "version"
    }
    assert found == {each for each in SET_THOUGH_READ_ONLY if each.startswith(f"{name}.")}


@pytest.mark.parametrize("name", SYSTEMS)
def test_most_bodies_and_answers_are_derived(name: str) -> None:
    """What the tests above look at is not nothing."""
    system = system_of(name)
    assert sum(bool(declarations(getattr(each, "declaration", each))) for each in bodies_of(system)) >= 5
    assert sum(bool(declarations(each)) for each in answers_of(system) if issubclass(each, Out)) >= 5
