"""Designs that answer wrongly, and designs that don't."""

from keyplan.design import Design, Entity, Id, Table, key, unique
from tests.review.rules.cases import Cases

CASES = Cases()
table = Table("Things", key("PK", "SK"))


@CASES.finds("KP301", "User.email", "User.org")
def users_whose_email_is_only_claimed_to_be_unique() -> type[Design]:
    class User(Entity, table=table, claims=("email", ("org", "number"))):
        user_id: Id
        email: str
        org: Id
        number: Id
        active: bool = True

        primary = key("USER#{user_id}", "USER")
        email_guard = unique("EMAIL#{email.address}", when="active")

    class Users(Design):
        tables = (table,)
        entities = (User,)

    return Users


@CASES.finds_nothing("KP301")
def users_whose_email_is_guarded() -> type[Design]:
    class User(Entity, table=table, claims=("email", "user_id", ("org", "email"))):
        user_id: Id
        email: str
        org: Id

        primary = key("USER#{user_id}", "USER")
        email_guard = unique("EMAIL#{email.address}")

    class Users(Design):
        tables = (table,)
        entities = (User,)

    return Users


@CASES.cannot_judge("KP301", "User")
def users_of_whom_nothing_is_claimed() -> type[Design]:
    class User(Entity, table=table):
        user_id: Id
        primary = key("USER#{user_id}", "USER")

    class Users(Design):
        tables = (table,)
        entities = (User,)

    return Users
