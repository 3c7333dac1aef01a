"""Designs in which something grows without a limit, and designs in which nothing does."""

from typing import Annotated, Literal

from pydantic import Field

from keyplan.design import Design, Entity, Id, OneLine, Table, derived, expect, key, limit, local, vector_index
from tests.review.rules.cases import Cases

CASES = Cases()
table = Table("Things", key("PK", "SK"), vectors={"ByMeaning": vector_index("meaning", 3)})
threads = Table("Threads", key("forum", "subject"), indexes={"LastPost": local("last_post")})


def at_most_ten(values: list[str]) -> None:
    if len(values) > 10:
        raise ValueError("Use at most 10.")


class Tagged(Entity, table=table):
    tag: Id
    post_id: Id
    primary = key("TAG#{tag}", "POST#{post_id}")


@CASES.finds("KP409", "Post.tags", "Post.likes")
def posts_with_any_number_of_tags() -> type[Design]:
    class Post(Entity, table=table):
        post_id: Id
        tags: frozenset[Annotated[str, OneLine(max_length=50)]] = frozenset()
        likes: list[Id] = Field(default_factory=list)
        primary = key("POST#{post_id}", "POST")

        @derived
        def tagged(self) -> list[Tagged]:
            return [Tagged(tag=each, post_id=self.post_id) for each in self.tags]

    class Posts(Design):
        tables = (table,)
        entities = (Post, Tagged)

    return Posts


@CASES.finds_nothing("KP409")
def posts_with_a_few_tags() -> type[Design]:
    class Post(Entity, table=table):
        post_id: Id
        tags: Annotated[frozenset[str], Field(max_length=10)] = frozenset()
        days: frozenset[Literal["mo", "tu", "we"]] = frozenset()
        place: tuple[int, int] = (0, 0)
        pictures: Annotated[list[Id], Field(max_length=3)] | None = None
        meaning: tuple[float, ...] = ()
        links: Annotated[list[str], limit(at_most_ten)] = Field(default_factory=list)
        primary = key("POST#{post_id}", "POST")

        @derived
        def tagged(self) -> list[Tagged]:
            return [Tagged(tag=each, post_id=self.post_id) for each in self.tags]

    class Posts(Design):
        tables = (table,)
        entities = (Post, Tagged)

    return Posts


@CASES.finds("KP410", "Thread.primary")
def a_forum_of_40_gb() -> type[Design]:
    class Thread(Entity, table=threads, expected=expect(partition=10_000_000, size=2_000)):
        forum: Id
        subject: Id
        last_post: Id
        primary = key("{forum}", "{subject}")
        by_last_post = threads.LastPost("{forum}", "{last_post}")

    class Forums(Design):
        tables = (threads,)
        entities = (Thread,)

    return Forums


@CASES.finds_nothing("KP410")
def a_forum_of_2_mb() -> type[Design]:
    class Thread(Entity, table=threads, expected=expect(partition=1_000, size=2_000)):
        forum: Id
        subject: Id
        last_post: Id
        primary = key("{forum}", "{subject}")
        by_last_post = threads.LastPost("{forum}", "{last_post}")

    class Huge(Entity, table=table, expected=expect(partition=10_000_000, size=2_000)):
        huge_id: Id
        primary = key("HUGE", "{huge_id}")

    class Forums(Design):
        tables = (threads, table)
        entities = (Thread, Huge)

    return Forums


@CASES.cannot_judge("KP410", "Thread")
def a_forum_of_unknown_size() -> type[Design]:
    class Thread(Entity, table=threads):
        forum: Id
        subject: Id
        last_post: Id
        primary = key("{forum}", "{subject}")

    class Forums(Design):
        tables = (threads,)
        entities = (Thread,)

    return Forums
