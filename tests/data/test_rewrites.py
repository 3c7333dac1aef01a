"""How a rewrite starts and ends: with the writes that announce it, and a final step; killed at any point."""

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

import pytest

from keyplan.data import (
    AlreadyExists,
    DataError,
    InUse,
    StaleVersion,
    Store,
    create,
    delete,
    patch,
    update,
)
from keyplan.design import (
    Count,
    Design,
    Entity,
    Id,
    Query,
    Ref,
    Rewrite,
    Table,
    Version,
    belongs_to,
    get,
    job,
    key,
    query,
    ref,
    rewrite,
)
from keyplan.engine import Engine
from tests.data.support import Clock, Killed, Mortal, Recorder, shape

blog = Table("Blog", key("PK", "SK"), indexes={"GSI1": key("GSI1PK", "GSI1SK")})


class Category(Entity, table=blog):
    slug: Id
    renamed_to: Id | None = None
    posts: Count = 0
    version: Version = 0

    primary = key("CATEGORY#{slug}", "CATEGORY")


class Post(Entity, table=blog):
    slug: Id
    category: Id

    primary = key("POST#{slug}", "POST")
    by_category = blog.GSI1("CATEGORY#{category}", "{slug}")

    @belongs_to(on_delete="refuse", count="posts")
    def filed(self) -> Ref[Category]:
        return ref(Category, slug=self.category)


class Follower(Entity, table=blog):
    category: Id
    name: Id

    primary = key("CATEGORY#{category}", "FOLLOWER#{name}")

    @belongs_to(on_delete="cascade")
    def follows(self) -> Ref[Category]:
        return ref(Category, slug=self.category)


class Shelf(Entity, table=blog):
    shelf: Id
    note: str = ""

    primary = key("SHELF#{shelf}", "SHELF")


class Plain(Design):
    """Deleting a category is one transaction with the end of the journal."""

    tables = (blog,)
    entities: ClassVar[Sequence[type[Entity]]] = (Category, Post, Shelf)

    def posts_in(self, category: str) -> Query[Post]:
        return query(Post.by_category, category=category)

    @job
    def rename(self, old: str, new: str) -> Rewrite[Post]:
        moved = rewrite(self.posts_in(old), lambda post: setattr(post, "category", new))
        return moved.then(ref(Category, slug=old), lambda category: delete(category))

    @job
    def empty(self, old: str, new: str, shelf: str) -> Rewrite[Post]:
        moved = rewrite(self.posts_in(old), lambda post: setattr(post, "category", new))
        return moved.then(ref(Shelf, shelf=shelf), lambda shelf: setattr(shelf, "note", "done"))


class Cascading(Plain):
    """Deleting a category is a job of its own."""

    tables = (blog,)
    entities = (Category, Post, Shelf, Follower)


@pytest.fixture(params=[Plain, Cascading], ids=["in one transaction", "by a cascade"])
def opened(request: Any) -> Iterator[tuple[Store[Plain], Recorder]]:
    with Engine() as engine:
        sent = Recorder(engine)
        store = Store(request.param(), sent, clock=Clock(), secret=b"of the tests")
        fill(store)
        yield store, sent


def fill(store: Store[Plain]) -> None:
    store.create_tables()
    store.run(create(Category(slug="old")))
    for n in range(3):
        store.run(create(Post(slug=f"p{n}", category="old")))
    if isinstance(store.design, Cascading):
        store.run(create(Follower(category="old", name="ann")))


def category(store: Store[Plain], slug: str) -> Category | None:
    return store.run(get(Category, slug=slug, consistent=True))


def begun(store: Store[Plain]) -> Rewrite[Post]:
    """The rename, with the writes that announce it."""
    old = category(store, "old")
    assert old is not None
    old.renamed_to = "new"
    return store.design.rename("old", "new").first(create(Category(slug="new")), update(old))


def finished(store: Store[Plain]) -> None:
    new = category(store, "new")
    assert new is not None
    assert (category(store, "old"), new.posts) == (None, 3)
    assert store.resume() == 0
    assert store.verify() == []


def test_it_starts_with_its_announcement_and_ends_with_its_final_step(
    opened: tuple[Store[Plain], Recorder],
) -> None:
    store, sent = opened
    work = begun(store)
    sent.taken()
    assert store.run(work) == 3
    first, *_, last = sent.taken()
    journal = first[1]["TransactItems"][2]["Put"]["Item"]["sk"]["S"]
    assert shape([first]) == ["transact: Put CATEGORY#new/CATEGORY, Update CATEGORY#old/CATEGORY, Put JOB"]
    if isinstance(store.design, Cascading):
        assert shape([last]) == ["delete_item JOB"]
        assert last[1]["Key"]["sk"]["S"] == journal
    else:
        assert shape([last]) == ["transact: Delete CATEGORY#old/CATEGORY, Delete JOB"]
    finished(store)


def test_a_refused_rewrite_starts_nothing(opened: tuple[Store[Plain], Recorder]) -> None:
    store, _ = opened
    store.run(create(Category(slug="new")))
    with pytest.raises(AlreadyExists):
        store.run(begun(store))
    assert store.resume() == 0
    old = category(store, "old")
    assert old is not None
    assert (old.renamed_to, old.posts) == (None, 3)


def test_it_can_be_started_and_finished_later(opened: tuple[Store[Plain], Recorder]) -> None:
    store, _ = opened
    store.begin(begun(store))
    old = category(store, "old")
    assert old is not None
    assert (old.renamed_to, old.posts) == ("new", 3)
    assert store.resume() == 1
    finished(store)


def test_only_a_job_can_be_finished_later(opened: tuple[Store[Plain], Recorder]) -> None:
    store, sent = opened
    sent.taken()
    with pytest.raises(DataError, match="job"):
        store.begin(rewrite(store.design.posts_in("old"), lambda post: None))
    with pytest.raises(TypeError, match="first step"):
        store.run(store.design.rename("old", "new").first(store.design.posts_in("old")))
    assert sent.taken() == []


@pytest.mark.parametrize("design", [Plain, Cascading])
@pytest.mark.parametrize("after", [False, True], ids=["before the call", "after the call"])
def test_it_can_be_finished_after_being_killed_at_any_step(design: type[Plain], after: bool) -> None:
    for step in range(60):
        with Engine() as engine:
            store = Store(design(), engine, secret=b"of the tests")
            fill(store)
            work = begun(store)
            try:
                Store(store.design, Mortal(engine, step, after=after)).run(work)
            except Killed:
                if not store.resume() and category(store, "old") is not None:
                    store.run(begun(store))
                finished(store)
            else:
                assert step > 5
                return
    raise AssertionError("it never finished")


def test_items_created_meanwhile_are_rewritten_too(opened: tuple[Store[Plain], Recorder]) -> None:
    store, sent = opened
    engine: Any = sent.client
    late = Store(store.design, engine)

    class Interfering:
        """A post is created after all others were moved, and someone changes the old category."""

        pages = 0

        def __getattr__(self, name: str) -> Any:
            def call(**request: Any) -> Any:
                answer = getattr(engine, name)(**request)
                if name == "query" and not answer["Items"] and not self.pages:
                    self.pages = 1
                    late.run(create(Post(slug="late", category="old")))
                    late.run(patch(ref(Category, slug="old"), renamed_to="elsewhere"))
                return answer

            return call

    work = begun(store)
    assert Store(store.design, Interfering(), clock=Clock()).run(work) == 4
    assert category(store, "old") is None
    assert store.verify() == []


def test_an_error_in_the_final_step_is_reported_and_the_step_is_retried(
    opened: tuple[Store[Plain], Recorder],
) -> None:
    store, sent = opened
    engine: Any = sent.client
    work = begun(store)
    engine.update_item(  # a post that no query finds
        TableName="Blog",
        Key={"PK": {"S": "CATEGORY#old"}, "SK": {"S": "CATEGORY"}},
        UpdateExpression="ADD posts :one",
        ExpressionAttributeValues={":one": {"N": "1"}},
    )
    with pytest.raises((InUse, StaleVersion)):
        store.run(work)
    store.repair(store.verify())
    assert store.resume() == 1
    finished(store)


def test_the_final_step_may_update_an_item_or_find_it_deleted(opened: tuple[Store[Plain], Recorder]) -> None:
    store, _ = opened
    store.run(create(Category(slug="new")))
    store.run(create(Shelf(shelf="s")))
    assert store.run(store.design.empty("old", "new", "s")) == 3
    shelf = store.run(get(Shelf, shelf="s"))
    assert shelf is not None
    assert shelf.note == "done"
    assert store.run(store.design.empty("new", "old", "none")) == 3
    assert store.resume() == 0
