"""What differs between designs, and that the steps lead from one to the other: they are carried out on an engine."""

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from enum import Enum
from random import Random
from typing import Annotated, Any, Literal

import pytest
from botocore.exceptions import ClientError
from pydantic import Field, StringConstraints

from keyplan.data import Store, create
from keyplan.design import (
    KEYS_ONLY,
    Count,
    Design,
    Entity,
    Get,
    Id,
    Query,
    Ref,
    Table,
    consumer,
    counts,
    get,
    include,
    index,
    key,
    local,
    pattern,
    query,
    ref,
    rekey,
    stored,
    unique,
    vector_index,
)
from keyplan.engine import Engine
from keyplan.publish.differences import (
    Difference,
    Differences,
    Snapshot,
    SnapshotError,
    compare,
    deployed,
    difference_report,
    read_snapshot,
    replaced,
    snapshot_json,
    snapshot_of,
)
from keyplan.publish.differences.fields import type_text
from tests.all_designs import design as any_design
from tests.all_designs import designs

STATEMENTS = {
    "CreateTable": "create_table",
    "UpdateTable": "update_table",
    "UpdateTimeToLive": "update_time_to_live",
    "UpdateContinuousBackups": "update_continuous_backups",
    "TagResource": "tag_resource",
    "UntagResource": "untag_resource",
}


def with_table(**changes: Any) -> type[Design]:
    """A design with one table, `Notes`, that has these settings."""
    settings: dict[str, Any] = {"name": "Notes", "key": key("PK", "SK")} | changes
    table = Table(**settings)

    class Note(Entity, table=table):
        id: Id
        text: str
        # The primary key has the types of the table's attributes.
        primary = key("NOTE#{id}", "NOTE") if table.range else key("{id}")

    class Notes(Design):
        tables = (table,)
        entities = (Note,)

    return Notes


def differences(before: type[Design], after: type[Design]) -> Differences:
    return compare(snapshot_of(before()), snapshot_of(after()))


def places(found: Differences) -> list[tuple[str, str, str, str]]:
    return [(each.kind, each.place, each.what, each.effect) for each in found.changes]


PLAIN: dict[str, Any] = {}
FULL: dict[str, Any] = {
    "indexes": {"ByTag": key("tag", "SK"), "ByYear": index(key("year:N"), include("text"))},
    "ttl": "gone",
    "stream": "NEW_IMAGE",
    "recovery": 7,
    "protected": True,
    "tags": {"team": "blue", "cost": "1"},
    "table_class": "STANDARD_INFREQUENT_ACCESS",
    "encryption": "AWS_MANAGED",
    "vectors": {"ByMeaning": vector_index("meaning", 4, filters=("year:N",))},
}
OTHER: dict[str, Any] = {
    "indexes": {"ByTag": index(key("tag", "year:N"), KEYS_ONLY), "ByText": key(("tag", "text"), "year:N")},
    "ttl": "until",
    "stream": "KEYS_ONLY",
    "recovery": 35,
    "protected": False,
    "tags": {"team": "green"},
    "encryption": "AWS_OWNED",
    "vectors": {"ByMeaning": vector_index("meaning", 8)},
}
PAID: dict[str, Any] = {"billing": "PROVISIONED", "capacity": (3, 4), "indexes": {"ByTag": key("tag", "SK")}}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (PLAIN, FULL),
        (FULL, OTHER),
        (OTHER, FULL),
        (FULL, PLAIN | {"recovery": False, "protected": False, "tags": {}}),
        (PLAIN, PAID),
        (PAID, PLAIN),
        (PAID, PAID | {"capacity": (5, 6)}),
        (PAID, {"indexes": {"ByTag": key("tag", "SK")}}),
        ({"indexes": {"ByTag": key("tag", "SK")}}, PAID),
    ],
)
def test_the_steps_lead_from_one_design_to_the_other(before: dict[str, Any], after: dict[str, Any]) -> None:
    assert taken(before, after) > 0


def taken(before: dict[str, Any], after: dict[str, Any]) -> int:
    """Carry out the steps from one design to the other, and check where they lead; returns how many there were."""
    one, other = with_table(**before)(), with_table(**after)()
    found = compare(snapshot_of(one), snapshot_of(other))
    with Engine(ttl_interval=None) as engine:
        Store(one, engine).create_tables()
        arn = engine.describe_table(TableName="Notes")["Table"]["TableArn"]
        for step in found.steps:
            request = json.loads(json.dumps(step.request).replace("<ARN of Notes>", arn))
            getattr(engine, STATEMENTS[step.operation])(**request)
        exists = deployed(engine, ["Notes", "Notes-keyplan"])
    assert difference_report(compare(exists, snapshot_of(other))) == "deployed and Notes are the same.\n"
    return len(found.steps)


INDEXES: list[Any] = [
    key("a"),
    key("b", "year:N"),
    index(key("year:N", "a"), KEYS_ONLY),
    index(key(("a", "b"), "c"), include("text", "x")),
    index(key("a", "SK"), include("x", "text")),
]


def any_settings(random: Random) -> dict[str, Any]:
    """Settings of a table, in any combination that DynamoDB allows."""
    some = random.choice
    paid: dict[str, Any] = {"billing": "PROVISIONED", "capacity": some([(1, 2), (3, 4)])}
    vectors = {
        name: vector_index(some(["m1", "m2"]), 4, partition=some([None, "a"]), filters=some([(), ("year:N",)]))
        for name in ("V1V", "V2V")
        if some([True, False])
    }
    return {
        "indexes": {name: some(INDEXES) for name in ("A1A", "B1B", "C1C", "D1D") if some([True, False])},
        **some([paid, {"vectors": vectors}, {}]),
        "ttl": some([None, "gone", "until"]),
        "stream": some([None, "KEYS_ONLY", "NEW_IMAGE"]),
        "recovery": some([False, True, 7]),
        "protected": some([True, False]),
        "tags": some([{}, {"a": "1"}, {"a": "2", "b": "3"}]),
        "table_class": some(["STANDARD", "STANDARD_INFREQUENT_ACCESS"]),
        "encryption": some(["AWS_OWNED", "AWS_MANAGED"]),
    }


@pytest.mark.parametrize("seed", range(40))
def test_the_steps_lead_from_any_settings_to_any_others(seed: int) -> None:
    random = Random(seed)
    taken(any_settings(random), any_settings(random))


def test_one_index_at_a_time_and_what_the_old_code_needs_goes_last() -> None:
    before = with_table(indexes={"A1A": key("a"), "B1B": key("b"), "C1C": key("c")})
    after = with_table(indexes={"C1C": key("c"), "D1D": key("d"), "E1E": key("e")})
    steps = differences(before, after).steps
    assert [(each.phase, each.does) for each in steps] == [
        ("before", "create index D1D"),
        ("before", "create index E1E"),
        ("after", "delete index A1A"),
        ("after", "delete index B1B"),
    ]
    assert all(len(each.request["GlobalSecondaryIndexUpdates"]) == 1 for each in steps)
    assert "Backfilling" in steps[0].wait


def test_indexes_make_room_for_others_where_there_would_be_too_many() -> None:
    before, after = ({"indexes": {f"I{n:02}": key(f"a{n}") for n in range(first, first + 20)}} for first in (0, 2))
    steps = differences(with_table(**before), with_table(**after)).steps
    assert [(each.phase, each.does) for each in steps] == [
        ("before", "delete index I00, since a table has at most 20"),
        ("before", "delete index I01, since a table has at most 20"),
        ("before", "create index I20"),
        ("before", "create index I21"),
    ]
    assert taken(before, after) == 4


def test_a_changed_index_is_deleted_and_created_again() -> None:
    before = with_table(indexes={"ByTag": key("tag")})
    found = differences(before, with_table(indexes={"ByTag": index(key("tag"), KEYS_ONLY)}))
    assert [each.does for each in found.steps] == ["delete index ByTag", "create index ByTag"]
    assert "Use another name" in found.changes[0].note
    reordered = with_table(indexes={"ByTag": index(key("tag"), include("a", "b"))})
    assert differences(reordered, with_table(indexes={"ByTag": index(key("tag"), include("b", "a"))})).changes == ()


@pytest.mark.parametrize(
    ("before", "after", "what"),
    [
        ({"name": "Notes-{env=a}"}, {"name": "Notes-{env=b}"}, "name"),
        ({"key": key("PK", "SK")}, {"key": key("PK")}, "key"),
        ({"key": key("PK", "SK")}, {"key": key("PK", "SK:N")}, "key"),
        ({"indexes": {"ByTag": local("tag")}}, {}, ""),
        ({}, {"indexes": {"ByTag": local("tag")}}, ""),
        ({"indexes": {"ByTag": local("tag")}}, {"indexes": {"ByTag": local("text")}}, ""),
        ({"indexes": {"ByTag": local("tag")}}, {"indexes": {"ByTag": key("PK", "tag")}}, "kind"),
    ],
)
def test_what_needs_another_table_has_no_steps(before: dict[str, Any], after: dict[str, Any], what: str) -> None:
    one, other = shapes(before), shapes(after)
    (change,) = replaced(one.tables[:1], other.tables[:1])
    assert (change.what, change.effect) == (what, "copy")
    assert [each for each in compare(one, other).steps if each.table.startswith("Notes-") is False] == []


def shapes(settings: dict[str, Any]) -> Snapshot:
    """A design with only the table, whatever its key is."""
    said: dict[str, Any] = {"name": "Notes", "key": key("PK", "SK")} | settings

    class Notes(Design):
        tables = (Table(**said),)

    return snapshot_of(Notes())


def test_a_table_is_created_with_all_that_the_design_says(engine: Engine) -> None:
    wanted = snapshot_of(with_table(**FULL)())
    for step in compare(Snapshot("nothing", ()), wanted).steps:
        getattr(engine, STATEMENTS[step.operation])(**step.request)
    exists = deployed(engine, ["Notes", "Notes-keyplan"])
    assert compare(exists, wanted).changes == ()
    assert compare(exists, wanted).steps == ()


def test_readers_of_a_stream_are_compared() -> None:
    one, other = ({"stream": "KEYS_ONLY", "consumers": (consumer(name),)} for name in ("search", "mail"))
    (change,) = compare(shapes(one), shapes(other)).changes
    assert (change.what, change.before, change.after) == ("readers of the stream", "search", "mail")


def test_tables_that_come_and_go() -> None:
    found = compare(shapes({}), shapes({"name": "Papers", "indexes": {"ByTag": key("tag")}, "ttl": "gone"}))
    assert [(each.kind, each.place) for each in found.changes][:3] == [
        ("added", "table Papers"),
        ("added", "index Papers.ByTag"),
        ("removed", "table Notes"),
    ]
    assert [each.operation for each in found.steps] == ["CreateTable", "UpdateTimeToLive"]
    assert "not deleted" in found.changes[2].note


# Deployed tables


@pytest.fixture
def engine() -> Iterator[Engine]:
    with Engine(ttl_interval=None) as each:
        yield each


def test_only_what_the_design_says_is_compared_with_what_exists(engine: Engine) -> None:
    Store(with_table(**FULL)(), engine).create_tables()
    silent = {name: FULL[name] for name in ("indexes", "vectors", "ttl", "stream", "table_class")}
    exists, design = deployed(engine, ["Notes", "Notes-keyplan"]), snapshot_of(with_table(**silent)())
    assert compare(exists, design).changes == ()
    assert compare(design, exists).changes == ()
    tagged = snapshot_of(with_table(**FULL | {"tags": {"team": "red"}})())
    assert [each.what for each in compare(exists, tagged).changes] == ["tags"]
    (change,) = compare(tagged, exists).changes
    assert (change.before, change.after) == ("team=red", "team=blue")
    assert compare(tagged, exists).steps == ()


def test_what_was_changed_by_hand_is_found(engine: Engine) -> None:
    design = with_table(indexes={"ByTag": key("tag")}, ttl="gone")()
    Store(design, engine).create_tables()
    engine.update_table(TableName="Notes", GlobalSecondaryIndexUpdates=[{"Delete": {"IndexName": "ByTag"}}])
    engine.update_time_to_live(TableName="Notes", TimeToLiveSpecification={"Enabled": False, "AttributeName": "gone"})
    found = compare(deployed(engine, ["Notes", "Notes-keyplan"], "the file"), snapshot_of(design))
    assert places(found) == [
        ("added", "index Notes.ByTag", "", "in place"),
        ("changed", "table Notes", "time to live", "in place"),
    ]
    assert [each.operation for each in found.steps] == ["UpdateTable", "UpdateTimeToLive"]
    assert "the file -> Notes: 2 differences" in difference_report(found)


def test_tables_that_do_not_exist_are_to_be_created(engine: Engine) -> None:
    found = compare(deployed(engine, ["Notes"]), snapshot_of(with_table()()))
    assert [each.operation for each in found.steps][:1] == ["CreateTable"]


# Entities and patterns

Tag = Annotated[str, StringConstraints(max_length=20)]


def club(version: int) -> type[Design]:
    """A design of members in three versions, each a step further."""
    members = Table("Members", key("PK", "SK"), indexes={"GSI1": key("GSI1PK", "GSI1SK"), "ByYear": key("year:N")})

    class Team(Entity, table=members):
        name: Id
        size: Count = 0
        primary = key("TEAM#{name}", "TEAM")

    class First(Entity, table=members):
        id: Id
        email: str
        team: str
        tags: list[Tag] = Field(default=[])
        year: int = 2000
        nickname: str | None = None
        status: Literal["new", "old"] = "new"
        primary = key("MEMBER#{id}", "MEMBER")
        by_team = members.GSI1("TEAM#{team}", "{id}")

    class Second(Entity, table=members):
        id: Id
        email: Annotated[str, StringConstraints(max_length=100), stored("mail")]
        team: str
        tags: list[Annotated[str, StringConstraints(max_length=10)]] = Field(default=[], max_length=5)
        year: Annotated[int, Field(ge=1900)] = 2001
        nickname: str
        status: Literal["new", "old", "gone"] = "new"
        since: datetime
        primary = key("MEMBER#{id}", "MEMBER")
        by_team = members.GSI1("TEAM#{team}", "{email}#{id}")
        by_year = members.ByYear("{year}")
        email_guard = unique("EMAIL#{email.lower}", carries="id")

        @counts("size")
        def in_team(self) -> Ref[Team]:
            return ref(Team, name=self.team)

    kind: Any = First if version == 1 else Second
    kind.__name__ = kind.spec.name = "Member"

    class Club(Design):
        tables = (members,)
        entities = (Team, kind)

        @pattern("A member" if version == 1 else "A member by ID")
        def member(self, id: str) -> Get[Any]:
            return get(kind, id=id, consistent=version == 2)

        @pattern("Members of a team")
        def of_team(self, team: str) -> Query[Any]:
            return query(kind.by_team, team=team, newest_first=version == 2)

    return Club


def test_entities_and_patterns_are_compared_as_a_reviewer_reads_them() -> None:
    found = {(each.place, each.what): each for each in differences(club(1), club(2)).changes}
    effects = {where: (each.kind, each.effect) for where, each in found.items()}
    assert effects == {
        ("key Member.by_team", ""): ("changed", "rekey"),
        ("key Member.by_year", ""): ("added", "code"),  # items have the year already
        ("field Member.email", "attribute"): ("changed", "rewrite"),
        ("field Member.email", "limits"): ("changed", "code"),
        ("field Member.tags", "limits"): ("changed", "code"),
        ("field Member.year", "default"): ("changed", "code"),
        ("field Member.year", "limits"): ("changed", "code"),
        ("field Member.nickname", "requirement"): ("changed", "backfill"),
        ("field Member.status", "type"): ("changed", "code"),  # a new value: what is stored stays as it is
        ("field Member.since", ""): ("added", "backfill"),
        ("rule Member.email_guard", ""): ("added", "repair"),
        ("rule Member.in_team", ""): ("added", "repair"),
        ("pattern member", "wording"): ("changed", "code"),
        ("pattern member", "requests"): ("changed", "code"),
        ("pattern of_team", "requests"): ("changed", "code"),
    }
    keys = found["key Member.by_team", ""]
    assert (keys.before, keys.after) == ("GSI1: TEAM#{team}, {id}", "GSI1: TEAM#{team}, {email}#{id}")
    limits = found["field Member.tags", "limits"]
    assert (limits.before, limits.after) == ("each max_length=20", "max_length=5, each max_length=10")
    assert found["field Member.status", "type"].after == "'new' | 'old' | 'gone'"
    back = {(each.place, each.what): each for each in differences(club(2), club(1)).changes}
    fewer = back["field Member.status", "type"]
    assert (fewer.effect, "other values can't be read" in fewer.note) == ("rewrite", True)
    requests = found["pattern of_team", "requests"]
    assert requests.after == "Query MembersTable.GSI1, where GSI1PK = ?, backward, limit 50"
    assert found["rule Member.email_guard", ""].after == "guard EMAIL#{email.lower}, carries id"


def test_designs_with_nothing_in_common() -> None:
    one, other = (any_design(f"apps/{name}")() for name in ("hacktracker", "wavyblog"))
    found = compare(snapshot_of(one), snapshot_of(other))
    seen = set(places(found))
    assert {
        ("added", "entity Post", "", "code"),
        ("removed", "entity Team", "", "code"),
        ("changed", "entity User", "table", "rewrite"),
        ("changed", "entity User", "type", "rewrite"),
        ("changed", "entity User", "layout", "rewrite"),
        ("changed", "entity User", "primary key", "rewrite"),
        ("removed", "key User.all", "", "code"),
        ("added", "key User.by_type", "", "rekey"),
        ("removed", "field User.phone_number", "", "code"),
        ("added", "field User.password_hash", "", "backfill"),
        ("added", "pattern posts", "", "code"),
        ("removed", "pattern teams", "", "code"),
        ("changed", "pattern user", "parameters", "code"),
    } <= seen
    back = places(compare(snapshot_of(other), snapshot_of(one)))
    turned = {"added": "removed", "removed": "added", "changed": "changed"}
    kinds = ("entity", "key", "field", "rule", "pattern")
    assert {(turned[kind], place, what) for kind, place, what, _ in seen if place.startswith(kinds)} == {
        (kind, place, what) for kind, place, what, _ in back if place.startswith(kinds)
    }
    markdown = difference_report(found, "markdown")
    assert "### In place, before the new code" in markdown
    assert "   ```json" in markdown
    assert "- **rewrite** " in markdown
    assert difference_report(compare(snapshot_of(one), snapshot_of(one)), "markdown").endswith("are the same.\n")


class Color(Enum):
    RED, BLUE = "red", "blue"


def test_types_and_joint_limits_are_compared_as_text() -> None:
    assert type_text(Color) == "Color('red', 'blue')"
    assert type_text(dict[str, Color | None]) == "dict[str, Color('red', 'blue') | None]"
    assert type_text(tuple[int, ...]) == "tuple[int, ...]"
    assert type_text("Later") == "Later"
    snapshot = snapshot_of(club(1)())
    assert snapshot.entities is not None
    limited = {name: replace(each, joint_limits=("a and b",)) for name, each in snapshot.entities.items()}
    found = compare(snapshot, replace(snapshot, entities=limited))
    assert {each.what for each in found.changes} == {"limits on several fields"}


def test_a_capacity_that_was_changed_by_hand_is_found(engine: Engine) -> None:
    design = with_table(**PAID)()
    Store(design, engine).create_tables()
    units: Any = {"ReadCapacityUnits": 9, "WriteCapacityUnits": 9}
    change: Any = [{"Update": {"IndexName": "ByTag", "ProvisionedThroughput": units}}]
    engine.update_table(TableName="Notes", GlobalSecondaryIndexUpdates=change)
    found = compare(deployed(engine, ["Notes", "Notes-keyplan"]), snapshot_of(design))
    assert places(found) == [("changed", "index Notes.ByTag", "capacity", "in place")]
    for step in found.steps:
        getattr(engine, STATEMENTS[step.operation])(**step.request)
    assert compare(deployed(engine, ["Notes", "Notes-keyplan"]), snapshot_of(design)).changes == ()


class Lacking:
    """A client that lacks operations, or refuses them."""

    def __init__(self, engine: Engine, code: str, *names: str) -> None:
        self.engine, self.code, self.names = engine, code, names

    def __getattr__(self, operation: str) -> Any:
        def refuse(**request: Any) -> Any:
            raise ClientError({"Error": {"Code": self.code, "Message": operation}}, operation)

        return refuse if operation in self.names else getattr(self.engine, operation)


def test_what_a_dynamodb_lacks_is_not_known_of_its_tables(engine: Engine) -> None:
    Store(with_table(**FULL)(), engine).create_tables()
    lacks = ("describe_continuous_backups", "list_tags_of_resource")
    client = Lacking(engine, "UnknownOperationException", *lacks)
    (table,) = deployed(client, ["Notes"]).tables
    assert (table.recovery, table.tags, table.ttl) == (None, (), "gone")
    for operation in ("describe_table", "list_tags_of_resource"):
        with pytest.raises(ClientError):
            deployed(Lacking(engine, "AccessDeniedException", operation), ["Notes"])


def test_a_migration_says_what_to_do() -> None:
    text = difference_report(differences(club(1), club(2)))
    assert "rekey: key Member.by_team\n      `store.run(rekey(Member))` gives the items the index keys" in text
    assert "backfill: field Member.nickname, field Member.since\n" in text
    assert "repair: rule Member.email_guard, rule Member.in_team\n      `keyplan verify --repair`" in text


def test_rekey_is_what_a_changed_placement_needs(engine: Engine) -> None:
    """The migration that is named leads to items that the new design verifies."""
    table = Table("Books", key("PK"), indexes={"GSI1": key("GSI1PK", "GSI1SK")})

    def books(template: str) -> tuple[Any, Any]:
        class Book(Entity, table=table):
            isbn: Id
            title: str
            primary = key("BOOK#{isbn}")
            listed = table.GSI1("BOOKS", template)

        class Books(Design):
            tables = (table,)
            entities = (Book,)

        return Books, Book

    (before, book), (after, same) = books("{isbn}"), books("{title}#{isbn}")
    assert places(differences(before, after)) == [("changed", "key Book.listed", "", "rekey")]
    old = Store(before(), engine)
    old.create_tables()
    old.run(create(book(isbn="1", title="Notes")))
    new = Store(after(), engine)
    assert [each.kind for each in new.verify()] == ["stale-index-key"]
    assert new.run(rekey(same)) == 1
    assert new.verify() == []


# Snapshots and reports


@pytest.mark.parametrize("name", designs())
def test_a_snapshot_of_any_design_can_be_written_and_read(name: str) -> None:
    kind = any_design(name)
    made = kind({name: name for name in ("env", "environment", "stage", "dynamo_table_name")})
    snapshot = snapshot_of(made)
    text = snapshot_json(snapshot)
    assert read_snapshot(text) == snapshot
    assert snapshot_json(read_snapshot(text)) == text
    assert " at 0x" not in text
    assert compare(snapshot, read_snapshot(text)).changes == ()
    assert snapshot.patterns is not None
    assert [name for name, each in snapshot.patterns.items() if not each.requests] == []


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{", "it isn't JSON"),
        ("[]", "it isn't a snapshot"),
        ('{"tables": []}', "it has format None"),
        ('{"format": 2, "tables": []}', "it has format 2"),
        ('{"format": 1, "name": "x", "tables": [{"id": "T"}]}', "tables.0.name"),
    ],
)
def test_a_text_that_is_no_snapshot_is_refused(text: str, problem: str) -> None:
    with pytest.raises(SnapshotError, match=problem):
        read_snapshot(text)


def test_a_report_as_json_has_all_of_it() -> None:
    found = differences(with_table(), with_table(indexes={"ByTag": key("tag")}))
    values = json.loads(difference_report(found, "json"))
    assert values["same"] is False
    assert values["changes"][0]["place"] == "index Notes.ByTag"
    assert values["steps"][0]["operation"] == "UpdateTable"
    assert values["steps"][0]["request"] == found.steps[0].request
    migrations = json.loads(difference_report(differences(club(1), club(2)), "json"))["migrations"]
    assert {each["effect"] for each in migrations} == {"rekey", "rewrite", "backfill", "repair"}


def test_markdown_is_a_table_that_nothing_in_it_breaks() -> None:
    odd = Difference("changed", "field A.b", "limits", "pattern='a|b`c'", "<script>", "code")
    lines = difference_report(Differences("A", "B", (odd,), ()), "markdown").splitlines()
    row = next(line for line in lines if line.startswith("| changed"))
    assert row.replace("\\|", "").count("|") == 6
    assert "`` pattern='a\\|b`c' ``" in row


def test_an_order_of_changes_that_does_not_depend_on_the_order_of_declaration() -> None:
    snapshot = snapshot_of(club(1)())
    turned = replace(snapshot, tables=tuple(reversed(snapshot.tables)))
    assert compare(snapshot, turned).changes == ()
