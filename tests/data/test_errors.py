"""Refusals are raised as errors that name entity, constraint and values; botocore's errors don't leak."""

from collections.abc import Callable
from typing import Any

import pytest
from botocore.exceptions import ClientError, EndpointConnectionError, ReadTimeoutError

from keyplan.data import (
    AlreadyExists,
    ConditionFailed,
    Conflict,
    DataError,
    FloorReached,
    InUse,
    NotFound,
    ParentMissing,
    Part,
    Refused,
    RequestFailed,
    StaleVersion,
    Store,
    Throttled,
    UniqueViolation,
    check,
    create,
    delete,
    move,
    patch,
    update,
)
from keyplan.data import steps as steps_module
from keyplan.design import InvalidValue, Refusal, batch_get, ref
from tests.data.club import Alias, Article, Club, Member, Note, Team, User
from tests.data.support import Failing, Recorder, failure


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(steps_module, "_FIRST_PAUSE", 0.0)


def fill(store: Store[Club]) -> User:
    user = store.run(create(User(username="ann", email="ann@x.org")))
    store.run(create(Article(slug="one", number=1, title="One", author="ann")))
    store.run(create(Team(team_id="t", name="T")))
    store.run(create(Member(team_id="t", username="ann", role="admin")))
    store.run(create(Note(note_id="n", text="a")))
    return store.run(store.design.user("ann")) or user


def read_article(store: Store[Club]) -> Article:
    return next(iter(store.each(store.design.articles_of("ann"))))


def stale_user(store: Store[Club]) -> Any:
    user, other = store.run(store.design.user("ann")), store.run(store.design.user("ann"))
    assert user is not None
    assert other is not None
    other.email = "other@x.org"
    store.run(update(other))
    user.email = "mine@x.org"
    return update(user)


def gone_note(store: Store[Club]) -> Any:
    note = store.run(create(Note(note_id="gone")))
    store.run(delete(note))
    note = Note(note_id="gone")
    return delete(note)


def last_admin(store: Store[Club]) -> Any:
    return delete(Member(team_id="t", username="ann", role="admin"))


REFUSALS: list[tuple[Callable[[Store[Club]], Any], type[Refused], str, str, dict[str, object]]] = [
    (lambda s: create(Note(note_id="n")), AlreadyExists, "Note", "primary", {"note_id": "n"}),
    (
        lambda s: create(User(username="joe", email="ANN@x.org")),
        UniqueViolation,
        "User",
        "email_guard",
        {"email": "ANN@x.org"},
    ),
    (lambda s: create(User(username="ann", email="other")), AlreadyExists, "User", "primary", {"username": "ann"}),
    (
        lambda s: create(Article(slug="two", number=1, title="T", author="ann")),
        AlreadyExists,
        "Article",
        "short",
        {"number": 1},
    ),
    (
        lambda s: create(Article(slug="two", number=2, title="T", author="joe")),
        ParentMissing,
        "Article",
        "written_by",
        {"username": "joe"},
    ),
    (stale_user, StaleVersion, "User", "version", {"username": "ann"}),
    (gone_note, NotFound, "Note", "primary", {"note_id": "gone"}),
    (last_admin, FloorReached, "Member", "admins", {"team_id": "t"}),
    (lambda s: delete(fill_again(s)), InUse, "User", "Article", {"username": "ann"}),
    (lambda s: patch(ref(Note, note_id="x"), text="b"), NotFound, "Note", "primary", {"note_id": "x"}),
    (lambda s: patch(ref(Alias, alias_id="x"), name="b"), NotFound, "Alias", "primary", {"alias_id": "x"}),
    (
        lambda s: patch(ref(Note, note_id="n"), where=lambda n: n.text == "z", text="b"),
        ConditionFailed,
        "Note",
        "primary",
        {"note_id": "n"},
    ),
    (lambda s: check(ref(Note, note_id="x")), NotFound, "Note", "check", {"note_id": "x"}),
    (
        lambda s: check(ref(Note, note_id="n"), lambda n: n.text == "z"),
        ConditionFailed,
        "Note",
        "check",
        {"note_id": "n"},
    ),
    (
        lambda s: delete(read_article(s), where=lambda a: a.title == "Z"),
        ConditionFailed,
        "Article",
        "where",
        {"slug": "one"},
    ),
]


def fill_again(store: Store[Club]) -> User:
    user = store.run(store.design.user("ann"))
    assert user is not None
    return user


@pytest.mark.parametrize(
    ("write", "kind", "entity", "constraint", "values"), REFUSALS, ids=[f"{r[1].__name__}-{r[3]}" for r in REFUSALS]
)
def test_a_refusal_is_a_typed_error(
    store: Store[Club],
    write: Callable[[Store[Club]], Any],
    kind: type[Refused],
    entity: str,
    constraint: str,
    values: dict[str, object],
) -> None:
    fill(store)
    op = write(store)
    with pytest.raises(Refused) as caught:
        store.run(op)
    error = caught.value
    assert type(error) is kind
    assert (error.entity, error.constraint, error.values) == (entity, constraint, values)
    for name, value in values.items():
        assert f"{name}={value!r}" in str(error)
    assert entity in str(error)
    assert constraint in str(error)
    assert store.verify() == []


SENTENCES: list[tuple[Callable[[Store[Club]], Any], str]] = [
    (lambda s: check(ref(Note, note_id="x")), "Note(note_id='x') doesn't exist [Note.check]"),
    (lambda s: create(Note(note_id="n", text="b")), "Note(note_id='n') already exists [Note.primary]"),
    (
        lambda s: create(User(username="joe", email="ANN@x.org")),
        "Another item has the same value: User(email='ANN@x.org') [User.email_guard]",
    ),
    (stale_user, "User(username='ann') was changed since it was read. Read it again [User.version]"),
    (
        lambda s: patch(ref(Note, note_id="n"), where=lambda n: n.text == "z", text="b"),
        "Note(note_id='n') doesn't meet the condition [Note.primary]",
    ),
    (
        lambda s: create(Article(slug="two", number=2, title="T", author="joe")),
        "Can't write Article: User(username='joe') doesn't exist [Article.written_by]",
    ),
    (
        lambda s: delete(fill_again(s)),
        "Can't delete User(username='ann'): 1 Article item refers to it [User.Article]",
    ),
    (
        last_admin,
        "Can't write Member: admin_count of Team(team_id='t') would fall below 1 [Member.admins]",
    ),
]


@pytest.mark.parametrize(("write", "sentence"), SENTENCES, ids=[sentence for _, sentence in SENTENCES])
def test_the_message_of_a_refusal(store: Store[Club], write: Callable[[Store[Club]], Any], sentence: str) -> None:
    fill(store)
    op = write(store)
    with pytest.raises(Refused) as caught:
        store.run(op)
    assert str(caught.value) == sentence


def test_several_children_are_counted(store: Store[Club]) -> None:
    fill(store)
    store.run(create(Article(slug="two", number=2, title="Two", author="ann")))
    with pytest.raises(InUse, match="2 Article items refer to it"):
        store.run(delete(fill_again(store)))


def test_a_refusal_has_the_stored_item(store: Store[Club]) -> None:
    fill(store)
    with pytest.raises(StaleVersion) as stale:
        store.run(stale_user(store))
    assert isinstance(stale.value.stored, User)
    assert stale.value.stored.email == "other@x.org"
    with pytest.raises(ConditionFailed) as failed:
        store.run(patch(ref(Note, note_id="n"), where=lambda n: n.text == "z", text="b"))
    assert failed.value.stored == Note(note_id="n", text="a")
    with pytest.raises(AlreadyExists) as there:
        store.run(create(Note(note_id="n", text="new")))
    assert there.value.stored == Note(note_id="n", text="a")


def test_a_condition_can_have_its_own_message(store: Store[Club]) -> None:
    fill(store)
    own = Refusal("not-z", "The title isn't Z.")
    note, missing = ref(Note, note_id="n"), ref(Note, note_id="x")
    writes: list[Part] = [
        check(note, lambda n: n.text == "z", refusal=own),
        check(missing, refusal=own),
        delete(read_article(store), where=lambda a: a.title == "Z", refusal=own),
        update(read_article(store), where=lambda a: a.title == "Z", refusal=own),
    ]
    for write in writes:
        with pytest.raises((ConditionFailed, NotFound)) as refused:
            store.transact(write)
        assert refused.value.refusal is own
    with pytest.raises(ConditionFailed) as plain:
        store.transact(check(note, lambda n: n.text == "z"))
    assert plain.value.refusal is None


def test_a_refused_write_leaves_the_entity_unchanged(store: Store[Club]) -> None:
    fill(store)
    fresh = User(username="joe", email="ann@x.org")
    with pytest.raises(UniqueViolation):
        store.run(create(fresh))
    assert fresh.version == 0
    fresh.email = "joe@x.org"
    store.run(create(fresh))
    assert fresh.version == 1
    assert store.verify() == []


def test_the_last_two_admins_cannot_leave_together(store: Store[Club]) -> None:
    fill(store)
    store.run(create(User(username="joe", email="joe@x.org")))
    joe = store.run(create(Member(team_id="t", username="joe", role="admin")))
    ann = Member(team_id="t", username="ann", role="admin")
    with pytest.raises(FloorReached):
        store.transact(delete(ann), delete(joe))
    joe.role = "member"
    store.run(update(joe))
    with pytest.raises(FloorReached):
        store.run(delete(ann))
    joe.role = "admin"
    store.transact(update(joe), delete(ann))  # one is added, one is removed
    assert store.verify() == []


def test_a_child_can_be_deleted_after_its_counter_is_gone(store: Store[Club], raw: Any) -> None:
    fill(store)
    raw.delete_item(TableName="Club", Key={"PK": {"S": "USER#ann"}, "SK": {"S": "USER"}})
    store.run(delete(read_article(store)))
    assert "Item" not in raw.get_item(TableName="Club", Key={"PK": {"S": "USER#ann"}, "SK": {"S": "USER"}})


CANCELLED = "TransactionCanceledException"


@pytest.mark.parametrize(
    "error",
    [
        failure(CANCELLED, "None", "TransactionConflict"),
        failure(CANCELLED, "ThrottlingError", "None"),
        failure("TransactionInProgressException"),
    ],
    ids=lambda error: str(error)[:60],
)
def test_a_transaction_that_lost_to_others_is_repeated(store: Store[Club], sent: Recorder, error: Exception) -> None:
    flaky = Failing(sent, [error, error], only="transact_write_items")
    again = Store(store.design, flaky)
    sent.taken()
    again.run(create(User(username="ann", email="ann@x.org")))
    assert flaky.tried == 3
    assert again.verify() == []


@pytest.mark.parametrize(
    "error",
    [
        failure("ThrottlingException"),
        failure("ProvisionedThroughputExceededException"),
        failure("InternalServerError"),
        EndpointConnectionError(endpoint_url="http://nowhere"),
        ReadTimeoutError(endpoint_url="http://nowhere"),
    ],
    ids=lambda error: str(error)[:60],
)
def test_what_the_client_repeats_is_not_repeated_again(store: Store[Club], sent: Recorder, error: Exception) -> None:
    flaky = Failing(sent, [error])
    with pytest.raises(RequestFailed):
        Store(store.design, flaky).run(create(User(username="ann", email="ann@x.org")))
    flaky.failures = [error]
    with pytest.raises(RequestFailed):
        Store(store.design, flaky).run(store.design.user("ann"))
    assert flaky.tried == 2


def test_all_retries_have_the_same_token(store: Store[Club], sent: Recorder) -> None:
    tokens = []

    class Watching(Failing):
        def __getattr__(self, name: str) -> Callable[..., Any]:
            call = super().__getattr__(name)

            def watched(**request: Any) -> Any:
                tokens.append(request["ClientRequestToken"])
                return call(**request)

            return watched

    client = Watching(sent, [failure(CANCELLED, "TransactionConflict")] * 2)
    Store(store.design, client).run(create(User(username="ann", email="ann@x.org")))
    assert len(tokens) == 3
    assert len(set(tokens)) == 1


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (failure(CANCELLED, "TransactionConflict"), Conflict),
        (failure("ThrottlingException"), Throttled),
        (failure("InternalServerError"), RequestFailed),
        (failure("AccessDeniedException"), RequestFailed),
        (failure(CANCELLED, "ValidationError"), RequestFailed),
        (EndpointConnectionError(endpoint_url="http://nowhere"), RequestFailed),
    ],
)
def test_after_the_last_retry_the_error_is_one_of_this_layer(
    store: Store[Club], error: Exception, kind: type[DataError]
) -> None:
    broken = Store(store.design, Failing(object(), [error] * 50))
    for op in (create(User(username="ann", email="ann@x.org")), create(Note(note_id="n"))):
        with pytest.raises(DataError) as caught:
            broken.run(op)
        assert type(caught.value) is kind
        assert not isinstance(caught.value, ClientError)
    with pytest.raises(kind):
        broken.run(store.design.user("ann"))


def test_a_plain_write_with_an_unknown_outcome_is_not_repeated(store: Store[Club], sent: Recorder) -> None:
    flaky = Failing(sent, [failure("InternalServerError")])
    with pytest.raises(RequestFailed):
        Store(store.design, flaky).run(patch(ref(Note, note_id="n"), text="b"))
    assert flaky.tried == 1


def test_a_read_that_is_always_throttled_fails(store: Store[Club], monkeypatch: pytest.MonkeyPatch) -> None:
    class Stubborn:
        def batch_get_item(self, RequestItems: dict[str, Any]) -> Any:  # noqa: N803 - DynamoDB's name
            return {"Responses": {}, "UnprocessedKeys": RequestItems}

    with pytest.raises(Throttled, match="UnprocessedKeys"):
        Store(store.design, Stubborn()).run(batch_get(User, ["ann"]))


BAD: list[tuple[Callable[[], Any], str]] = [
    (lambda: create(User.model_construct(username="", email="x", nickname=None)), "username"),
    (lambda: create(User.model_construct(username="a#b", email="x", nickname=None)), "username"),
    (lambda: create(User(username="ann", email="")), "email"),
    (lambda: create(User(username="ann", email="x" * 2050)), "email"),
    (lambda: create(Note(note_id="n", folder="f", rank=10_000)), "rank"),
    (lambda: create(Note(note_id="n", text="x" * 410_000)), "text"),
    (lambda: create(Note(note_id="n", stars=10**38 + 1)), "stars"),
    (lambda: patch(ref(Note, note_id="n"), text="x" * 410_000), "text"),
    (lambda: patch(ref(Note, note_id="n"), colour="red"), "colour"),
    (lambda: patch(ref(Note, note_id="n"), note_id="m"), "note_id"),
    (lambda: patch(ref(Note, note_id="n"), text=None), "text"),
    (lambda: patch(ref(Note, note_id="n"), stars="many"), "stars"),
    (lambda: patch(ref(User, username="ann"), article_count=7), "article_count"),
    (lambda: patch(ref(User, username="ann"), version=7), "version"),
    (lambda: create(Alias(alias_id="a", name="")), "name"),
]


@pytest.mark.parametrize(("op", "field"), BAD, ids=[f"{field}-{n}" for n, (_, field) in enumerate(BAD)])
def test_invalid_input_is_refused_before_anything_is_sent(
    store: Store[Club], sent: Recorder, op: Callable[[], Any], field: str
) -> None:
    with pytest.raises(InvalidValue) as caught:
        store.run(op())
    assert caught.value.field == field
    assert field in str(caught.value)
    assert sent.taken() == []


def test_what_an_update_cannot_change(store: Store[Club], sent: Recorder) -> None:
    user = fill(store)
    sent.taken()
    article = read_article(store)
    article.slug = "two"
    with pytest.raises(InvalidValue, match="Use move") as caught:
        store.run(update(article))
    assert caught.value.field == "slug"
    user.article_count = 99
    with pytest.raises(InvalidValue) as counted:
        store.run(update(user))
    assert counted.value.field == "article_count"
    with pytest.raises(InvalidValue) as unknown:
        store.run(move(read_article(store), colour="red"))
    assert unknown.value.field == "colour"
    with pytest.raises(InvalidValue) as invalid:
        store.run(move(read_article(store), slug="a#b"))
    assert invalid.value.field == "slug"
    assert [name for name, _ in sent.taken() if name != "query"] == []


def test_an_entity_that_was_not_read_cannot_be_updated(store: Store[Club]) -> None:
    with pytest.raises(DataError, match="create it"):
        store.run(update(Note(note_id="n")))
    with pytest.raises(DataError, match="can't be moved"):
        store.run(move(Note(note_id="n"), note_id="m"))
