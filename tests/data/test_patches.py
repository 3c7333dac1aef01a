"""Patches as parts of a transaction."""

from typing import Annotated, Any

import pytest
from pydantic import BaseModel, ConfigDict, Field

from keyplan.data import (
    ConditionFailed,
    DataError,
    NotFound,
    StaleVersion,
    Store,
    check,
    create,
    increment,
    patch,
    touch,
    update,
)
from keyplan.design import Design, Entity, Id, InvalidValue, Table, Version, get, key, ref
from keyplan.engine import Engine
from tests.data.club import Alias, Article, Club, Member, Note, Team, User
from tests.data.support import Recorder, shape

shelf = Table("Shelf", key("PK"))


class Size(BaseModel):
    width: int = Field(default=0, alias="W")


class Jar(Entity, table=shelf):
    model_config = ConfigDict(str_strip_whitespace=True)

    jar_id: Id
    label: Annotated[str, Field(max_length=5)] = ""
    size: Size = Size()
    version: Version = 0

    primary = key("JAR#{jar_id}")


class Shelf(Design):
    tables = (shelf,)
    entities = (Jar,)


@pytest.fixture
def filled(store: Store[Club], sent: Recorder) -> Store[Club]:
    store.run(create(User(username="ann", email="a")))
    store.run(create(Note(note_id="n", stars=1)))
    store.run(create(Team(team_id="t", name="T")))
    store.run(create(Alias(alias_id="a", name="A")))
    store.run(create(Article(slug="one", number=1, title="T", author="ann")))
    sent.taken()
    return store


def test_a_patch_and_effects_on_the_same_item_are_one_action(filled: Store[Club], sent: Recorder) -> None:
    filled.transact(
        create(Member(team_id="t", username="ann", role="admin")),  # counted on the user and the team
        patch(ref(Note, note_id="n"), stars=increment(2)),
        check(ref(Team, team_id="t")),
        patch(ref(Team, team_id="t")),
    )
    assert shape(sent.taken()) == [
        "transact: Put TEAM#t/MEMBER#ann, Update TEAM#t/TEAM, Update USER#ann/USER, Update NOTE#n/NOTE"
    ]
    note, team = filled.run(get(Note, note_id="n")), filled.run(get(Team, team_id="t"))
    assert note is not None
    assert team is not None
    assert (note.stars, team.version, team.member_count) == (3, 2, 1)
    assert filled.verify() == []


def test_a_touch_does_not_change_the_version(filled: Store[Club], sent: Recorder) -> None:
    filled.transact(touch(ref(Article, slug="one"), category="misc"), create(Note(note_id="m")))
    reads, write = shape(sent.taken())
    assert (reads, write) == ("get_item ARTICLE#one/ARTICLE", "transact: Update ARTICLE#one/ARTICLE, Put NOTE#m/NOTE")
    article = filled.run(get(Article, slug="one"))
    assert article is not None
    assert (article.category, article.version) == ("misc", 1)
    sent.taken()
    with pytest.raises(InvalidValue, match=r"touch\(\) can.t set"):
        filled.transact(touch(ref(Alias, alias_id="a"), name="B"), create(Note(note_id="o")))
    assert sent.taken() == []


def test_a_patch_with_other_effects_reads_the_item(filled: Store[Club], sent: Recorder) -> None:
    filled.transact(patch(ref(Alias, alias_id="a"), name="B"), create(Note(note_id="m")))
    assert shape(sent.taken()) == [
        "get_item ALIAS#a/ALIAS",
        "transact: Update ALIAS#a/ALIAS, Delete ALIASNAME#A/ALIASNAME#A, Put ALIASNAME#B/ALIASNAME#B, Put NOTE#m/NOTE",
    ]
    assert filled.verify() == []


def test_a_failed_condition_of_a_patch_refuses_the_transaction(filled: Store[Club]) -> None:
    new = create(Note(note_id="m"))
    with pytest.raises(NotFound):
        filled.transact(patch(ref(Note, note_id="none"), stars=increment(-1)), new)
    with pytest.raises(NotFound):
        filled.transact(patch(ref(Alias, alias_id="none"), name="B"), new)
    with pytest.raises(ConditionFailed):
        filled.transact(patch(ref(Note, note_id="n"), where=lambda note: note.stars == 7, text="x"), new)
    assert filled.run(get(Note, note_id="m")) is None


def test_one_item_cannot_be_written_twice(filled: Store[Club], sent: Recorder) -> None:
    note = filled.run(get(Note, note_id="n"))
    assert note is not None
    note.text = "new"
    more = patch(ref(Note, note_id="n"), stars=increment())
    sent.taken()
    for parts in ((update(note), more), (more, update(note)), (more, more)):
        with pytest.raises(DataError, match="two writes"):
            filled.transact(*parts)
    assert sent.taken() == []


def test_an_old_copy_in_the_same_transaction_is_stale(filled: Store[Club]) -> None:
    team = filled.run(get(Team, team_id="t"))
    assert team is not None
    filled.run(patch(ref(Team, team_id="t"), name="U"))
    team.name = "V"
    with pytest.raises(StaleVersion):
        filled.transact(update(team), patch(ref(Note, note_id="n"), text="x"))


def test_a_value_is_validated_as_the_class_does() -> None:
    """With its settings and constraints; inside, by names as well as by aliases."""
    with Engine() as engine:
        store = Store(Shelf(), engine)
        store.create_tables()
        store.run(create(Jar(jar_id="j")))
        jar = ref(Jar, jar_id="j")

        def stored() -> Any:
            return engine.get_item(TableName="Shelf", Key={"PK": {"S": "JAR#j"}})["Item"]

        for change in (patch, touch):
            store.run(change(jar, label=f"  {change.__name__}"))
            assert stored()["label"] == {"S": change.__name__}
            for width, given in enumerate(({"W": 0}, {"width": 1}, Size(W=2))):
                store.run(change(jar, size=given))
                assert stored()["size"] == {"M": {"width": {"N": str(width)}}}
            for label, code in (("longer", "string-too-long"), (7, "invalid"), (None, "invalid")):
                with pytest.raises(InvalidValue) as refused:
                    store.run(change(jar, label=label))
                assert (refused.value.field, refused.value.code) == ("label", code)
        assert stored()["version"] == {"N": "5"}, "after four patches"
