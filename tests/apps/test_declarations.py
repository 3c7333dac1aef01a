"""Fields that are declared once, in all five systems: who may set and see them, and their labels and help texts."""

from collections.abc import Iterator
from importlib import import_module
from types import UnionType
from typing import Any, Union, get_args, get_origin

import pytest
from pydantic import BaseModel, Secret, SecretBytes, SecretStr

from keyplan.design import Entity, Fields, NoSeparator, OneLine
from keyplan.web import In, Out, System
from keyplan.web.models.signatures import signature_of

SYSTEMS = ["wavyblog", "hacktracker", "threefc", "funkedupshift", "vcm"]
SECRETS = (Secret, SecretStr, SecretBytes)

SET_THOUGH_READ_ONLY: dict[str, str] = {}
"""Bodies that take a field which is read-only elsewhere, by `system.Body.field`, with the reason."""

NOT_A_LINE = {
    "a text of several lines": [
        "funkedupshift.Comment.body", "funkedupshift.Group.description", "funkedupshift.Rating.note",
        "funkedupshift.Site.description", "funkedupshift.Site.scraped_content", "funkedupshift.UserComment.body",
        "hacktracker.Team.description", "vcm.News.excerpt", "vcm.Team.description", "vcm.Media.alt",
        "wavyblog.Post.content",
    ],
    "rich text": ["vcm.Event.description", "vcm.Event.lexical", "vcm.News.content", "vcm.News.lexical"],
    "a copy of a name, as it was stored": ["funkedupshift.Comment.display_name", "hacktracker.AtBat.team_name"],
    "made by the server": [
        "funkedupshift.LeftoverFile.file", "funkedupshift.Profile.avatar_key", "funkedupshift.Profile.last_login_ip",
        "funkedupshift.Site.search_text", "vcm.Media.filename", "vcm.Media.s3_bucket", "vcm.Media.s3_key",
        "vcm.Media.url", "wavyblog.Image.file", "wavyblog.Leftover.file",
    ],
    "an id of another system": ["vcm.SamsClub.name_slug", "vcm.SamsTeam.league_id"],
}  # fmt: skip
"""Fields with text that isn't one line for people, by `system.Entity.field`, with the reason."""


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
        # A form's `version` is the version that the user saw. It is compared and never set.
        if field.access in ("read-only", "hidden") and field.name in body.model_fields and field.name != "version"
    }
    assert found == {each for each in SET_THOUGH_READ_ONLY if each.startswith(f"{name}.")}


@pytest.mark.parametrize("name", SYSTEMS)
def test_most_bodies_and_answers_are_derived(name: str) -> None:
    """The tests above have something to check."""
    system = system_of(name)
    assert sum(bool(declarations(getattr(each, "declaration", each))) for each in bodies_of(system)) >= 5
    assert sum(bool(declarations(each)) for each in answers_of(system) if issubclass(each, Out)) >= 5


def texts_in(hint: object, marks: tuple[object, ...] = ()) -> Iterator[tuple[object, ...]]:
    """The markers of each text that a type is made of, also in a list or in a part of the entity."""
    if hasattr(hint, "__metadata__"):
        yield from texts_in(get_args(hint)[0], (*marks, *hint.__metadata__))
    elif get_origin(hint) in (Union, UnionType):
        for each in get_args(hint):
            yield from texts_in(each, marks)
    elif get_origin(hint) in (list, tuple, dict, set, frozenset):
        for each in get_args(hint):
            yield from texts_in(each)
    elif hint is str:
        yield marks
    elif isinstance(hint, type) and issubclass(hint, Fields):
        for info in hint.model_fields.values():
            yield from texts_in(info.annotation, tuple(info.metadata))


def takes_any_text(marks: tuple[object, ...]) -> bool:
    """Whether a text isn't an id, has no pattern of its own, and isn't one line for people."""
    patterned = any(getattr(each, "pattern", None) for mark in marks for each in (mark, *getattr(mark, "metadata", ())))
    return not patterned and not any(isinstance(mark, OneLine | NoSeparator) for mark in marks)


@pytest.mark.parametrize("name", SYSTEMS)
def test_names_titles_and_tags_are_lines(name: str) -> None:
    """A field with text for people is a `OneLine`, or says here why it isn't."""
    found = {
        f"{name}.{entity.__name__}.{field}"
        for entity in system_of(name).design.entities
        for field, info in entity.declared_fields.items()
        if any(map(takes_any_text, texts_in(info.annotation, tuple(info.metadata))))
    }
    expected = {each for fields in NOT_A_LINE.values() for each in fields if each.startswith(f"{name}.")}
    assert found == expected


@pytest.mark.parametrize(
    "field",
    [
        "wavyblog.Post.title", "wavyblog.Category.name", "threefc.League.name", "threefc.Season.name",
        "threefc.Team.name", "threefc.Player.display_name", "funkedupshift.Site.title", "funkedupshift.Site.tags",
        "funkedupshift.SiteTag.tag", "funkedupshift.Profile.display_name", "funkedupshift.SquashPlayer.name",
        "hacktracker.User.first_name", "hacktracker.Team.name", "hacktracker.Player.last_name",
        "hacktracker.Game.opponent_name", "hacktracker.Game.location", "hacktracker.Game.season_id",
        "vcm.News.title", "vcm.Event.title", "vcm.Event.address", "vcm.Team.name", "vcm.Team.league",
        "vcm.Member.name", "vcm.Sponsor.name", "vcm.Role.name", "vcm.Location.street", "vcm.SamsClub.name",
    ],
)  # fmt: skip
def test_this_is_a_line(field: str) -> None:
    name, entity, attribute = field.split(".")
    declared = next(each for each in system_of(name).design.entities if each.__name__ == entity).declared_fields
    marks = [*texts_in(declared[attribute].annotation, tuple(declared[attribute].metadata))]
    assert marks
    assert all(any(isinstance(mark, OneLine) for mark in each) for each in marks)
