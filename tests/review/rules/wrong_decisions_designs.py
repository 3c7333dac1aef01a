"""Designs that decide on what may be out of date or not the only one, and designs that don't."""

from typing import Any

from keyplan.design import (
    Design,
    Entity,
    Follow,
    Get,
    Id,
    ItemCount,
    Lookup,
    Op,
    Query,
    Table,
    TransactGet,
    count,
    follow,
    get,
    key,
    lookup,
    pattern,
    query,
    ref,
    taken,
    transact_get,
    unique,
)
from tests.review.rules.cases import Cases

CASES = Cases()
table = Table("Users", key("PK", "SK"), indexes={"GSI1": key("GSI1PK"), "GSI2": key("GSI2PK", "GSI2SK")})


class User(Entity, table=table):
    user_id: Id
    email: Id
    team: Id
    nickname: Id
    primary = key("USER#{user_id}", "USER")
    by_email = table.GSI1("EMAIL#{email}")
    by_team = table.GSI2("TEAM#{team}", "{user_id}")
    nickname_guard = unique("NICKNAME#{nickname}", carries="user_id")


@CASES.finds("KP311", "Users.user", "Users.by_email", "Users.members", "Users.free", "Users.users_of", "Users.size")
def decisions_on_what_may_be_out_of_date() -> type[Design]:
    class Users(Design):
        tables = (table,)
        entities = (User,)

        @pattern("Get user", decides="whether the user may publish")
        def user(self, user_id: str) -> Get[User]:
            return get(User, user_id=user_id)

        @pattern("Get user by e-mail address", decides="whether the address is taken")
        def by_email(self, email: str) -> Query[User]:
            return query(User.by_email, email=email)

        @pattern("Members of a team", decides="whether the last one leaves")
        def members(self, team: str) -> Query[User]:
            return query(User.by_team, team=team)

        @pattern("Number of members", decides="whether there is room")
        def size(self, team: str) -> ItemCount:
            return count(query(User.by_team, team=team))

        @pattern("Members of a team, as they are in the table", decides="who pays")
        def users_of(self, team: str) -> Follow[User]:
            return follow(query(User.by_team, team=team), lambda user: ref(User, user_id=user.user_id), User)

        @pattern("Is the nickname free?", decides="whether to create the user")
        def free(self, nickname: str) -> Op[bool]:
            return taken(User.nickname_guard, nickname=nickname)

    return Users


@CASES.finds_nothing("KP311", "KP318")
def decisions_on_what_is_stored() -> type[Design]:
    class Users(Design):
        tables = (table,)
        entities = (User,)

        @pattern("Get user", decides="whether the user may publish")
        def user(self, user_id: str) -> Get[User]:
            return get(User, user_id=user_id, consistent=True)

        @pattern("Get user by nickname", decides="who is meant")
        def by_nickname(self, nickname: str) -> Lookup[User]:
            return lookup(User.nickname_guard, nickname=nickname, consistent=True)

        @pattern("Two users at one moment", decides="who has more points")
        def both(self, one: str, other: str) -> TransactGet[tuple[User | None, User | None]]:
            return transact_get(get(User, user_id=one), get(User, user_id=other))

    return Users


@CASES.cannot_judge("KP311", "Users.user")
@CASES.cannot_judge("KP322", "Users.by_email")
def reads_of_which_nothing_is_said() -> type[Design]:
    class Users(Design):
        tables = (table,)
        entities = (User,)

        @pattern("Get user")
        def user(self, user_id: str) -> Get[User]:
            return get(User, user_id=user_id)

        @pattern("Get user by e-mail address")
        def by_email(self, email: str) -> Query[User]:
            return query(User.by_email, email=email)

    return Users


@CASES.finds("KP318", "Users.user")
def a_transaction_of_one_item() -> type[Design]:
    class Users(Design):
        tables = (table,)
        entities = (User,)

        @pattern("Get user")
        def user(self, user_id: str) -> TransactGet[Any]:
            return transact_get(get(User, user_id=user_id))

    return Users


@CASES.finds("KP322", "Users.by_email")
def one_user_by_an_address_that_several_can_have() -> type[Design]:
    class Users(Design):
        tables = (table,)
        entities = (User,)

        @pattern("Get user by e-mail address", returns=1)
        def by_email(self, email: str) -> Query[User]:
            return query(User.by_email, email=email)

    return Users


@CASES.finds_nothing("KP322")
def one_user_by_an_address_that_is_guarded() -> type[Design]:
    class Guarded(Entity, table=table):
        user_id: Id
        email: Id
        primary = key("USER#{user_id}", "USER")
        by_email = table.GSI1("EMAIL#{email}")
        email_guard = unique("EMAILS#{email}")

    class Users(Design):
        tables = (table,)
        entities = (Guarded,)

        @pattern("Get user by e-mail address", returns=1)
        def by_email(self, email: str) -> Query[Guarded]:
            return query(Guarded.by_email, email=email)

        @pattern("The first user", returns=1)
        def first(self, user_id: str) -> Query[Guarded]:
            return query(Guarded.primary, user_id=user_id).limit(1)

    return Users
