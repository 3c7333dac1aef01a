"""Examples: values within limits, items that can be created, arguments that find them."""

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from enum import Enum
from typing import Annotated, Any, Literal, Optional
from uuid import UUID

import pytest
from pydantic import BaseModel, Field, StringConstraints

from keyplan.data import Store, create
from keyplan.data.codec.entities import codec_of
from keyplan.data.codec.sizes import item_size
from keyplan.design import (
    DesignError,
    Entity,
    Id,
    OneLine,
    Page,
    Refusal,
    Table,
    Ttl,
    key,
    large,
    limit,
    limits,
    vector,
)
from keyplan.design.examples import example_arguments, example_item, example_items, example_of
from keyplan.design.examples.texts import text_of_pattern
from keyplan.design.examples.values import example_value
from keyplan.engine import Engine
from tests.all_designs import design, designs

FINDS_NOTHING = {
    "renamed_categories": "no category is being renamed",
    "memberships_but": "asks for other groups than the example's",
}
"""Patterns that find no example, and why."""


@pytest.mark.parametrize("name", designs())
def test_examples_can_be_created_and_are_found(name: str) -> None:
    kind = design(name)
    environment = {each: "x" for table in kind.tables for each in re.findall(r"\{([a-z_]+)\}", table.name)}
    with Engine() as engine:
        store = Store(kind(environment), engine)
        store.create_tables()
        created = [store.run(create(item)) for item in example_items(kind, (1, 2))]
        assert {type(each) for each in created} <= {*kind.entities}
        for pattern in kind.patterns.values():
            found = store.run(getattr(store.design, pattern.name)(**example_arguments(pattern, 2, kind)))
            items = found.items if isinstance(found, Page) else found
            assert bool(items) != (pattern.name in FINDS_NOTHING), pattern.name
        assert store.verify() == []


@pytest.mark.parametrize("name", designs())
def test_every_entity_has_an_example_which_is_always_the_same(name: str) -> None:
    kind = design(name)
    for entity in kind.entities:
        first = example_of(kind, entity, 1)
        assert type(first) is entity
        assert first == example_of(kind, entity, 1)
        assert type(example_item(entity, 7)) is entity  # which checks its limits


class Colour(Enum):
    RED = "red"


class Address(BaseModel):
    street: Annotated[str, OneLine(max_length=40)]
    postal_code: Annotated[str, StringConstraints(pattern=r"^[0-9]{5}$")]


@pytest.mark.parametrize(
    ("annotation", "value"),
    [
        (str, "team-1"),
        (int, 1),
        (bool, True),
        (Decimal, Decimal("1.5")),
        (datetime, datetime(2026, 1, 31, 12, tzinfo=UTC)),
        (date, date(2026, 1, 31)),
        (UUID, UUID(int=1)),
        (Colour, Colour.RED),
        (Literal["draft", "done"], "draft"),
        (int | None, 1),
        (Optional[int], 1),  # noqa: UP045 - the older form is another type
        (list[int], [1]),
        (tuple[int, str], (1, "team-id-2-1")),
        (set[str], {"team-1"}),
        (Annotated[str, StringConstraints(max_length=4)], "te-1"),
        (Annotated[str, StringConstraints(min_length=10)], "team-10000"),
        (Annotated[str, StringConstraints(pattern=r"^[a-z]{2}[0-9]{3}$")], "aa000"),
        (Annotated[int, Field(ge=10, le=12)], 10),
        (Annotated[int, Field(gt=0, lt=1)] | None, None),
        (Annotated[list[int], Field(min_length=3)], [1, 2, 3]),
        (Annotated[str, Field(examples=["red-team"])], "red-team"),
        (Annotated[list[float], vector(2)], [0.8, 0.1]),
        (Address, Address(street="street-1", postal_code="00000")),
    ],
)
def test_values_are_made_by_type_and_limits(annotation: object, value: object) -> None:
    assert example_value("team_id", annotation) == value


class Comment(BaseModel):
    text: str
    replies: "list[Comment]" = []
    by_name: "dict[str, Comment]" = {}
    origin: "Comment | None" = None


@dataclass
class Branch:
    folder: "Folder | None" = None


class Folder(BaseModel):
    branch: Branch


class Endless(BaseModel):
    next: "Endless"


def test_a_model_that_contains_itself_has_an_example_that_ends() -> None:
    """Entities can have such models: a comment with its replies."""

    class Post(Entity, table=Table("Posts", key("pk"))):
        post_id: Id
        comments: list[Comment]
        primary = key("POST#{post_id}")

    (comment,) = example_item(Post).comments
    assert comment.text == "text-1"
    assert comment.replies == [Comment(text="text-1")]
    assert comment.origin == Comment(text="text-1")
    assert comment.by_name == {"key-1": Comment(text="text-1")}
    folder = example_value("folder", Folder)
    assert isinstance(folder, Folder)
    assert folder.branch.folder == Folder(branch=Branch())
    with pytest.raises(DesignError, match="next: no example"):
        example_value("chain", Endless)


def test_each_number_has_a_value_of_its_own() -> None:
    kinds = (str, int, datetime, Annotated[str, StringConstraints(pattern=r"^[A-Z]{3}$")], Annotated[int, Field(ge=5)])
    for kind in kinds:
        assert len({example_value("code", kind, None, number) for number in range(1, 50)}) == 49
    mail = [example_value("email", str, None, number) for number in (1, 2)]
    assert mail == ["email-1@example.com", "email-2@example.com"]


def test_what_no_example_fits_is_named() -> None:
    def never(value: str) -> None:
        raise ValueError("no")

    with pytest.raises(DesignError, match=r"riddle: no example .* Field\(examples=\[...\]\)"):
        example_value("riddle", Annotated[str, limit(never)])


@pytest.mark.parametrize(
    "pattern",
    [
        r"^[0-9A-HJKMNP-TV-Z]{26}$",
        r"^\d{4}-\d\d$",
        r"^(a|b)+c?$",
        r"^[^@\s]{1,64}@[^@\s.]+(\.[^@\s.]+)+$",
        r"^\+?[0-9 ]+$",
    ],
)
def test_texts_match_a_pattern(pattern: str) -> None:
    texts = [text_of_pattern(pattern, number) for number in range(1, 9)]
    assert all(text is not None and re.search(pattern, text) for text in texts)
    assert len(set(texts)) > 1


def test_a_pattern_that_cannot_be_met_has_no_text() -> None:
    assert text_of_pattern(r"^a(?=b)$", 1) is None


shelf = Table("Shelf", key("pk", "sk"), ttl="gone")


class Note(Entity, table=shelf):
    note_id: Id
    starts: int
    ends: int
    title: Annotated[str, OneLine(max_length=50)]
    text: str = ""
    body: Annotated[str, large()] = ""
    gone: Ttl | None = None
    primary = key("NOTE#{note_id}", "NOTE")

    @limits("starts", "ends")
    def in_order(self) -> Refusal | None:
        return Refusal("order", "It ends before it starts.") if self.ends < self.starts else None


def test_an_item_is_filled_up_to_a_size() -> None:
    for size in (300, 4_000, 100_000):
        made = item_size(codec_of(Note).encode(example_item(Note, 3, size)))
        assert abs(made - size) < size * 0.1 + 60


def test_fields_can_be_given() -> None:
    assert example_item(Note, 2, starts=0).starts == 0
    with pytest.raises(Exception, match="ends before"):
        example_item(Note, 2, starts=9)


def test_what_an_example_refers_to_has_the_same_number() -> None:
    from keyplan.apps.wavyblog.entities import Post, User

    assert example_item(Post, 2).author_id == example_item(User, 2).username


def test_arguments_find_the_example_of_their_number() -> None:
    from keyplan.apps.threefc.design import ThreeFC

    arguments: dict[str, Any] = example_arguments(ThreeFC.patterns["team"], 3)
    assert arguments == {"season_id": "season-3", "team_id": "team-3"}
