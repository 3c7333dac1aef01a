# pyright: strict
"""# Many-to-many

A person is in many groups, and a group has many people. Both lists are one query each, because the item that connects
the two has a key for either side.

Use it for memberships, enrollments, tags, likes, roles: wherever the connection itself has data (a role, a date).

**Not for** a few tags on an item that are only ever read with it: a set in the item is enough. If you need one item for
each tag only to list by tag, let the item [derive](../design.md#derived) them.
"""

from typing import Literal

import pytest

from keyplan.data import FloorReached, Store, create, delete
from keyplan.design import (
    Count,
    Design,
    Entity,
    Follow,
    Id,
    Query,
    Ref,
    Table,
    belongs_to,
    counts,
    follow,
    key,
    pattern,
    query,
    ref,
)

club = Table("Club", key("PK", "SK"), indexes={"GSI1": key("GSI1PK", "GSI1SK")})


class Person(Entity, table=club):
    person_id: Id
    name: str

    primary = key("PERSON#{person_id}", "PERSON")


class Group(Entity, table=club):
    group_id: Id
    title: str
    owners: Count = 0

    primary = key("GROUP#{group_id}", "GROUP")


class Membership(Entity, table=club):
    group_id: Id
    person_id: Id
    role: Literal["owner", "member"] = "member"

    primary = key("GROUP#{group_id}", "PERSON#{person_id}")
    by_person = club.GSI1("PERSON#{person_id}", "GROUP#{group_id}")

    @belongs_to(on_delete="cascade")
    def group(self) -> Ref[Group]:
        return ref(Group, group_id=self.group_id)

    @belongs_to(on_delete="cascade", via="by_person")
    def person(self) -> Ref[Person]:
        return ref(Person, person_id=self.person_id)

    @counts("owners", floor=1)
    def ownership(self) -> Ref[Group] | None:
        return ref(Group, group_id=self.group_id) if self.role == "owner" else None


class Club(Design):
    tables = (club,)
    entities = (Person, Group, Membership)

    @pattern("List memberships of a group")
    def members_of(self, group_id: str) -> Query[Membership]:
        return query(Membership.primary, group_id=group_id)

    @pattern("List people in a group")
    def people_in(self, group_id: str) -> Follow[Person]:
        return follow(self.members_of(group_id), lambda each: ref(Person, person_id=each.person_id), Person)

    @pattern("List groups of a person")
    def groups_of(self, person_id: str) -> Follow[Group]:
        memberships = query(Membership.by_person, person_id=person_id)
        return follow(memberships, lambda each: ref(Group, group_id=each.group_id), Group)


def use(store: Store[Club]) -> None:
    """`follow` reads the connections and then what they point to, in the same order. The rule `floor=1` keeps the last
    owner in the group."""
    chess = Group(group_id="chess", title="Chess")
    ann, joe = Person(person_id="ann", name="Ann"), Person(person_id="joe", name="Joe")
    owner = Membership(group_id="chess", person_id="ann", role="owner")
    store.transact(create(chess), create(ann), create(joe), create(owner))
    store.run(create(Membership(group_id="chess", person_id="joe")))

    assert [person.name for person in store.run(store.design.people_in("chess")).items] == ["Ann", "Joe"]
    assert [group.title for group in store.run(store.design.groups_of("joe")).items] == ["Chess"]
    with pytest.raises(FloorReached):
        store.run(delete(owner))
    store.run(delete(joe))  # and his memberships
    assert len(store.run(store.design.members_of("chess")).items) == 1
