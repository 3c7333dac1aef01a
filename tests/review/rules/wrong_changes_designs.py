"""Designs in which changes at the same time go wrong, and designs in which they don't."""

from typing import Annotated

from pydantic import Field

from keyplan.design import (
    Count,
    Design,
    Entity,
    Id,
    Ref,
    Refusal,
    Table,
    Updated,
    Version,
    belongs_to,
    counts,
    key,
    mirror,
    ref,
    unique,
    updated,
)
from tests.review.rules.cases import Cases

CASES = Cases()
table = Table("Things", key("PK", "SK"))


@CASES.finds("KP315", "Note")
def notes_that_are_changed_without_a_version() -> type[Design]:
    class Note(Entity, table=table):
        note_id: Id
        text: str
        color: Id
        updated_at: Updated = updated()
        primary = key("NOTE#{note_id}", "NOTE")

    class Notes(Design):
        tables = (table,)
        entities = (Note,)

    return Notes


@CASES.finds_nothing("KP315")
def notes_with_a_version() -> type[Design]:
    class Copy(Entity, table=table):
        note_id: Id
        updated_at: Updated = updated()
        primary = key("COPY#{note_id}", "NOTE")

    class Note(Entity, table=table):
        note_id: Id
        updated_at: Updated = updated()
        version: Version = 0
        primary = key("NOTE#{note_id}", "NOTE")

        @mirror
        def copy_of(self) -> Copy:
            return Copy(note_id=self.note_id)

    class Line(Entity, table=table):
        line_id: Id
        text: str
        updated_at: Updated = updated()
        primary = key("LINE#{line_id}", "NOTE")

    class Event(Entity, table=table):
        event_id: Id
        primary = key("EVENT#{event_id}", "EVENT")

    class Notes(Design):
        tables = (table,)
        entities = (Note, Copy, Line, Event)

    return Notes


class Group(Entity, table=table):
    group_id: Id
    owners: Count = 0
    seats: Count = 0
    score: Count = 0
    primary = key("GROUP#{group_id}", "GROUP")


@CASES.finds("KP316", "Member.owned")
@CASES.finds("KP317", "Member.seated")
@CASES.finds("KP320", "Group.score")
def groups_that_lose_their_last_owner() -> type[Design]:
    class Member(Entity, table=table):
        group_id: Id
        user_id: Id
        owner: bool = False
        primary = key("GROUP#{group_id}", "MEMBER#{user_id}")

        @counts("owners", refusal=Refusal("last-owner", "A group needs an owner."))
        def owned(self) -> Ref[Group] | None:
            return ref(Group, group_id=self.group_id) if self.owner else None

        @counts("seats")
        def seated(self) -> Ref[Group]:
            return ref(Group, group_id=self.group_id).adding(-1)

    class Groups(Design):
        tables = (table,)
        entities = (Group, Member)

    return Groups


@CASES.finds_nothing("KP316", "KP317", "KP320")
def groups_that_keep_their_last_owner() -> type[Design]:
    class Member(Entity, table=table):
        group_id: Id
        user_id: Id
        owner: bool = False
        likes: bool = True
        points: Annotated[int, Field(ge=-5, le=5)] = 0
        primary = key("GROUP#{group_id}", "MEMBER#{user_id}")

        @counts("owners", floor=1, refusal=Refusal("last-owner", "A group needs an owner."))
        def owned(self) -> Ref[Group] | None:
            return ref(Group, group_id=self.group_id) if self.owner else None

        @counts("seats", floor=0)
        def seated(self) -> Ref[Group]:
            return ref(Group, group_id=self.group_id).adding(-1)

        @counts("score")
        def scored(self) -> Ref[Group]:
            return ref(Group, group_id=self.group_id).adding(1 if self.likes else -1)

    class Child(Entity, table=table):
        group_id: Id
        child_id: Id
        seats: int = 0
        primary = key("GROUP#{group_id}", "CHILD#{child_id}")

        @belongs_to(on_delete="refuse", count="score")
        def group(self) -> Ref[Group]:
            return ref(Group, group_id=self.group_id)

    class Groups(Design):
        tables = (table,)
        entities = (Group, Member, Child)

    return Groups


@CASES.finds("KP319", "Post.slug_guard")
def a_guard_of_the_primary_key() -> type[Design]:
    class Post(Entity, table=table):
        slug: Id
        primary = key("POST#{slug}", "POST")
        slug_guard = unique("SLUG#{slug}")

    class Posts(Design):
        tables = (table,)
        entities = (Post,)

    return Posts


@CASES.finds_nothing("KP319")
def guards_of_something_else() -> type[Design]:
    class Post(Entity, table=table):
        slug: Id
        title: Id
        primary = key("POST#{slug}", "POST")
        slug_guard = unique("SLUG#{slug.lower}")
        title_guard = unique("TITLE#{title}", carries="slug")

    class Posts(Design):
        tables = (table,)
        entities = (Post,)

    return Posts
