"""How bad a finding is depends on what the design says, and on the traffic."""

import pytest

from keyplan.design import Design, Entity, Expected, Id, Query, Table, expect, key, pattern, query
from keyplan.review import Reviewed, Severity, find_rule, review

table = Table("Users", key("PK", "SK"), indexes={"GSI1": key("GSI1PK", "GSI1SK")})


def users(expected: Expected | None) -> type[Design]:
    class User(Entity, table=table, expected=expected):
        user_id: Id
        primary = key("USER#{user_id}", "USER")
        all = table.GSI1("USERS", "{user_id}")

    class Users(Design):
        tables = (table,)
        entities = (User,)

        @pattern("All users")
        def all_users(self) -> Query[User]:
            return query(User.all)

    return Users


UNKNOWN, FEW, MANY = None, expect(items=200), expect(items=40_000_000)


@pytest.mark.parametrize(
    ("expected", "rates", "severity", "words"),
    [
        (UNKNOWN, None, "info", "all user items in one partition"),
        (FEW, None, None, ""),
        (MANY, None, "warning", "40,000,000 user items in one partition"),
        (MANY, {"all_users": 3}, None, ""),
        (FEW, {"User.create": 150, "all_users": 60}, "warning", "150 writes and 60 reads a second"),
        (UNKNOWN, {"User.create": 900, "User.delete": 200}, "error", "1,100 writes and 0 reads a second"),
        (UNKNOWN, {"all_users": 7_000}, "error", "0 writes and 7,000 reads a second"),
    ],
)
def test_a_list_of_everything_is_as_bad_as_its_size_and_its_traffic(
    expected: Expected | None, rates: dict[str, float] | None, severity: Severity | None, words: str
) -> None:
    rule = find_rule("one-partition")
    assert rule is not None
    found = review(Reviewed(users(expected), rates=rates), [rule]).findings
    assert [each.severity for each in found] == ([] if severity is None else [severity])
    assert all(words in each.happens for each in found)
