"""Mistakes in using the layer are named, with what to write instead."""

import inspect
from collections.abc import Callable
from typing import Any

import pytest

from keyplan.data import (
    InvalidOperation,
    Store,
    check,
    clean_up_expired,
    create,
    delete,
    delete_all,
    import_all,
    move,
    patch,
    put,
    put_all,
    touch,
    update,
    upsert,
)
from keyplan.design import (
    Aggregate,
    DesignError,
    Entity,
    Id,
    InvalidValue,
    Table,
    aggregate,
    batch_get,
    count,
    follow,
    get,
    key,
    lookup,
    merge,
    one_of,
    query,
    ref,
    rewrite,
    scan,
    taken,
    there,
    together,
    transact_get,
    unique,
)
from keyplan.design.operations.key_values import OPTIONS
from keyplan.engine import Engine
from tests.data.club import Article, Club, Note, User
from tests.data.support import Recorder

club = Table("Club", key("PK", "SK"))  # another table of the same name


class Stranger(Entity, table=club):
    stranger_id: Id
    age: int = 0

    primary = key("STRANGER#{stranger_id}", "STRANGER")
    age_guard = unique("AGE#{age:03}", carries=("stranger_id",))


class Child(Entity, table=club):
    stranger_id: Id
    child_id: Id

    primary = key("STRANGER#{stranger_id}", "CHILD#{child_id}")


class Family(Aggregate):
    parent: Stranger
    children: list[Child]


STRANGE: list[Callable[[], Any]] = [
    lambda: create(Stranger(stranger_id="s")),
    lambda: put(Stranger(stranger_id="s")),
    lambda: update(Stranger(stranger_id="s")),
    lambda: delete(Stranger(stranger_id="s")),
    lambda: patch(ref(Stranger, stranger_id="s"), age=1),
    lambda: check(ref(Stranger, stranger_id="s")),
    lambda: get(Stranger, stranger_id="s"),
    lambda: query(Stranger.primary, stranger_id="s"),
    lambda: scan(Stranger),
    lambda: count(scan(Stranger)),
    lambda: lookup(Stranger.age_guard, age=1),
    lambda: taken(Stranger.age_guard, age=1),
    lambda: merge([query(Stranger.primary, stranger_id="s")], lambda each: each.age),
    lambda: follow(query(Stranger.primary, stranger_id="s"), lambda each: ref(Note, note_id="n"), Note),
    lambda: follow(query(Article.by_author, author="a"), lambda each: ref(Stranger, stranger_id="s"), Stranger),
    lambda: together(batch_get(Note, ["n"]), batch_get(Stranger, ["s"])),
    lambda: transact_get(get(Stranger, stranger_id="s")),
    lambda: aggregate(Family, stranger_id="s"),
]


@pytest.mark.parametrize("op", STRANGE)
def test_an_entity_of_another_design_is_refused(store: Store[Club], sent: Recorder, op: Callable[[], Any]) -> None:
    with pytest.raises(InvalidOperation, match="Stranger isn't an entity of Club: its table Club is none of"):
        store.run(op())
    with pytest.raises(InvalidOperation):
        store.transact(create(Note(note_id="n")), op())
    assert sent.taken() == []


class Unlisted(Entity, table=Note.spec.table):
    unlisted_id: Id
    age: int = 0

    primary = key("UNLISTED#{unlisted_id}", "UNLISTED")
    age_guard = unique("UNLISTED_AGE#{age:03}", carries=("unlisted_id",))


UNLISTED: list[Callable[[], Any]] = [
    lambda: create(Unlisted(unlisted_id="u")),
    lambda: put(Unlisted(unlisted_id="u")),
    lambda: patch(ref(Unlisted, unlisted_id="u"), age=1),
    lambda: upsert(ref(Unlisted, unlisted_id="u"), age=1),
    lambda: delete(ref(Unlisted, unlisted_id="u")),
    lambda: put_all([Note(note_id="n"), Unlisted(unlisted_id="u")]),
    lambda: delete_all([ref(Note, note_id="n"), ref(Unlisted, unlisted_id="u")]),
    lambda: import_all([Note(note_id="n"), Unlisted(unlisted_id="u")]),
    lambda: rewrite(query(Unlisted.primary, unlisted_id="u"), lambda each: None),
    lambda: get(Unlisted, unlisted_id="u"),
    lambda: lookup(Unlisted.age_guard, age=1),
]


@pytest.mark.parametrize("op", UNLISTED)
def test_an_entity_that_the_design_lacks_is_refused(store: Store[Club], sent: Recorder, op: Callable[[], Any]) -> None:
    with pytest.raises(InvalidOperation, match=r"^Unlisted isn't an entity of Club\. Add it to Club\.entities\.$"):
        store.run(op())
    assert sent.taken() == []


CONDITIONS: list[tuple[Callable[[Any], object], str]] = [
    (lambda note: 1 < note.stars < 5, "write 1 < x < 5 as between"),
    (lambda note: note.stars in (1, 2), "write x in .1, 2. as one_of"),
    (lambda note: note.stars in {1, 2}, "Write x in .1, 2. as one_of"),
    (lambda note: note.stars > 1 and note.text == "", "use &, . and not_"),
    (lambda note: not note.text, "use &, . and not_"),
    (lambda note: "a" in note.text, "use contains"),
    (lambda note: note.stars > 1 & note.stars == 2, "put comparisons in parentheses"),
    (lambda note: note.text == f"{note.note_id}", "note_id stands for a field.*put it into a text"),
    (lambda note: len(note.text) > 3, "use size"),
    (lambda note: note.text.lower() == "a", r"you can't call text\.lower\(\.\.\.\).*contains"),
    (lambda note: note.stars + 1 > 3, "stars stands for a field.*compute with it"),
    (lambda note: list(note.text), "iterate over it"),
    (lambda note: one_of(note.text, "ab"), "one_of takes a list of values, not 'ab'"),
    (lambda note: note.text[:2] == "a", "take a part of it. Name one element, such as x.0."),
    (lambda note: note.text is None, "False isn't a condition.*absent"),
]


@pytest.mark.parametrize(("condition", "sentence"), CONDITIONS, ids=[sentence for _, sentence in CONDITIONS])
def test_python_that_a_condition_cannot_record(
    store: Store[Club], condition: Callable[[Any], object], sentence: str
) -> None:
    with pytest.raises(TypeError, match=sentence):
        store.run(patch(ref(Note, note_id="n"), where=condition, stars=1))


def test_a_condition_and_a_change_are_functions(store: Store[Club]) -> None:
    wrong: Any = True
    with pytest.raises(TypeError, match=r"a condition is a function of the item, such as lambda .* not True"):
        store.run(patch(ref(Note, note_id="n"), where=wrong, stars=1))
    with pytest.raises(TypeError, match=r"a patch takes a function, such as lambda .* not True"):
        patch(ref(Note, note_id="n"), wrong)


def test_a_value_that_is_not_in_a_guard() -> None:
    with pytest.raises(
        DesignError, match=r"no value for email, and mail isn't in the guard's key\. The fields .* are: email\."
    ):
        lookup(User.email_guard, mail="ann@x.org")


@pytest.mark.parametrize(
    ("wrong", "meant"), [("newestfirst", "newest_first"), ("newestFirst", "newest_first"), ("filters", "filter")]
)
def test_a_misspelled_option_of_a_query(wrong: str, meant: str) -> None:
    values: dict[str, Any] = {"author": "ann", wrong: True}
    with pytest.raises(DesignError, match=f"neither an option nor a field of the key: {wrong}.*Did you mean {meant}"):
        query(Article.by_author, **values)


@pytest.mark.parametrize(
    "source", [follow(query(Article.by_author, author="a"), lambda each: ref(Note, note_id="n"), Note), Article]
)
def test_a_count_takes_a_query_or_a_scan(source: Any) -> None:
    with pytest.raises(DesignError, match="isn't a query, a collection or a scan") as caught:
        count(source)
    assert caught.value.code == "count"


def test_a_query_takes_a_key() -> None:
    with pytest.raises(
        DesignError, match=r"takes a key, not an entity\. Use one of: Article\.primary, .*\[not-a-key\]"
    ):
        query(Article, author="ann")  # type: ignore[arg-type]
    with pytest.raises(DesignError, match="'Article' isn't a key"):
        query("Article", author="ann")  # type: ignore[arg-type]


@pytest.mark.parametrize("target", [Note, Note(note_id="n")])
@pytest.mark.parametrize("write", [patch, upsert, touch, check])
def test_a_write_by_key_takes_a_reference(write: Callable[..., object], target: object) -> None:
    with pytest.raises(InvalidOperation, match=r"takes ref\(Note, \.\.\.\)"):
        write(target)


@pytest.mark.parametrize("write", [create, update, put, move, delete, clean_up_expired])
def test_a_write_takes_an_entity(store: Store[Club], sent: Recorder, write: Callable[[Any], Any]) -> None:
    given: list[tuple[object, str]] = [
        (None, "not None, which is what a read of a missing item returns"),
        (Note, "not a class"),
        ({"note_id": "n"}, "not dict"),
    ]
    for wrong, said in given:
        with pytest.raises(InvalidOperation, match=rf"^{write.__name__}\(\) takes an entity, {said}$"):
            store.run(write(wrong))
        with pytest.raises(InvalidOperation, match="an entity"):
            store.transact(create(Note(note_id="n")), write(wrong))
    assert sent.taken() == []


@pytest.mark.parametrize("wrong", [Note(note_id="n"), "Note", None, Note.primary])
def test_a_read_takes_a_class(wrong: Any) -> None:
    reads: dict[str, Callable[[], object]] = {
        "get": lambda: get(wrong, note_id="n"),
        "there": lambda: there(wrong, note_id="n"),
        "ref": lambda: ref(wrong, note_id="n"),
        "batch_get": lambda: batch_get(wrong, ["n"]),
        "scan": lambda: scan(wrong),
    }
    for word, read in reads.items():
        with pytest.raises(TypeError, match=rf"^{word}\(\) takes the class of an entity, such as User, not "):
            read()


def test_each_takes_a_list(store: Store[Club]) -> None:
    wrong: Any = get(Note, note_id="n")
    with pytest.raises(InvalidOperation, match=r"each\(\) reads a list.* Get\(.* isn't one\. Use run\(\)"):
        next(store.each(wrong))


def test_what_a_partial_view_is_read_by(store: Store[Club]) -> None:
    store.run(create(Note(note_id="n")))
    found: Any = store.run(patch(ref(Note, note_id="n"), stars=3, returning="updated"))
    with pytest.raises(AttributeError, match=r"Partial.Note. has no attribute stars\. Its fields are read by get\("):
        _ = found.stars
    assert not hasattr(found, "nonsense")
    assert found.get(lambda note: note.stars) == 3


@pytest.mark.parametrize("write", [patch, upsert])
def test_what_a_write_returns_is_one_of_four(write: Callable[..., object]) -> None:
    with pytest.raises(InvalidOperation, match=r"returning can't be 'ALL_NEW'\. Use one of: new, updated, old"):
        write(ref(Note, note_id="n"), stars=1, returning="ALL_NEW")


def test_a_store_takes_a_design_not_its_class() -> None:
    with pytest.raises(InvalidOperation, match=r"Club\(\)"):
        Store(Club, Engine())  # type: ignore[type-var]


def test_a_misspelled_field_of_a_patch_lists_the_fields() -> None:
    with pytest.raises(InvalidValue, match=r"Note\.star: There is no such field\. The fields are: note_id, .*stars"):
        patch(ref(Note, note_id="n"), star=1)


def test_the_options_are_those_of_a_query() -> None:
    parameters = inspect.signature(query).parameters.values()
    assert {each.name for each in parameters if each.kind is inspect.Parameter.KEYWORD_ONLY} == set(OPTIONS)
