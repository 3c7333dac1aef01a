"""Each access pattern runs with exactly the rights of its policy, and each system with those of its service."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated, Any

import pytest
from botocore.exceptions import ClientError

from keyplan.apps.wavyblog.api import SYSTEM
from keyplan.data import DataError, Store, create, delete, update
from keyplan.data.streams import ItemChange, StreamRunner, on
from keyplan.design import (
    HOUSEKEEPING,
    Design,
    Entity,
    Get,
    GuardTaken,
    Id,
    Lookup,
    Nearest,
    Op,
    OrderedList,
    Page,
    Query,
    Table,
    Ttl,
    consumer,
    get,
    include,
    index,
    key,
    lookup,
    mirror,
    nearest,
    pattern,
    query,
    taken,
    unique,
    vector,
    vector_index,
)
from keyplan.design.examples import example_arguments, example_items
from keyplan.design.operations.reading import ListOp
from keyplan.engine import Engine
from keyplan.publish.policies import (
    DENIED,
    AccessRequest,
    PermittedClient,
    Policy,
    PolicyTarget,
    Statement,
    anywhere,
    as_document,
    divided,
    is_allowed,
    policy_of,
    roles_of,
)
from keyplan.publish.policies.patterns import needs_of
from keyplan.web.server import running
from tests.all_designs import SYSTEMS, design, designs
from tests.web.site import settings_of

HERE = {"region": "us-east-1", "account": "123456789012"}
SECRET = {"pk": {"S": "SECRET"}, "sk": {"S": "cursors"}}
WRITES = ("PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem", "ConditionCheckItem")
READS = ("GetItem", "BatchGetItem", "Query", "Scan")


@contextmanager
def filled(kind: type[Design]) -> Iterator[Engine]:
    """An engine with a few items of each entity."""
    with Engine(ttl_interval=None) as engine:
        store = Store(in_environment(kind), engine)
        store.create_tables()
        for item in example_items(kind, (1, 2)):
            with suppress(DataError):  # two examples that a rule of the design doesn't allow together
                store.run(create(item))
        yield engine


def in_environment(kind: type[Design]) -> Design:
    """The design with a value for each name in table names."""
    return kind(dict.fromkeys(("env", "environment", "stage"), "test"))


def operation(kind: type[Design], name: str) -> Op[Any]:
    """A pattern with example arguments. Lists have short pages, so that cursors are made."""
    op: Op[Any] = getattr(in_environment(kind), name)(**example_arguments(kind.patterns[name], design=kind))
    return op.limit(1) if isinstance(op, ListOp) else op


def granted(policy: Policy, kind: type[Design]) -> set[tuple[str, str]]:
    """The actions that a policy allows, each with its resource."""
    arn = anywhere(in_environment(kind), **HERE)
    return {(action, arn(target)) for each in policy.statements for action in each.actions for target in each.targets}


@pytest.mark.parametrize("system", SYSTEMS)
def test_each_pattern_runs_with_its_policy_and_needs_all_of_it(system: str) -> None:
    """A pattern whose results fit on one page makes no cursor, and needs no secret for it."""
    kind = design(f"apps/{system}")
    names = in_environment(kind).table_names
    of_cursors = {f"dynamodb:{each}Item" for each in ("Get", "Put")}
    with filled(kind) as engine:
        for name in kind.patterns:
            engine.delete_item(TableName=names[HOUSEKEEPING.name], Key=SECRET)
            policy = policy_of(kind, name)
            client = PermittedClient(engine, as_document(policy, anywhere(in_environment(kind), **HERE)))
            found = Store(in_environment(kind), client).run(operation(kind, name))
            unused = granted(policy, kind) - {(each.action, each.resource) for each in client.allowed}
            assert client.denied == [], name
            if isinstance(found, Page) and found.next is None:
                assert {action for action, _ in unused} <= of_cursors, name
            else:
                assert unused == set(), name


@pytest.mark.parametrize("system", SYSTEMS)
def test_a_patterns_policy_allows_nothing_beside_it(system: str) -> None:
    """No other action on the same table or index, the same action on no other one, and no other partition."""
    kind = design(f"apps/{system}")
    arn = anywhere(in_environment(kind), **HERE)
    every = {PolicyTarget("table", table.name) for table in in_environment(kind).all_tables}
    every |= {PolicyTarget("index", table.name, index) for table in kind.tables for index in table.by_name}
    for name in kind.patterns:
        policy = policy_of(kind, name)
        allowed, document = granted(policy, kind), as_document(policy, arn)
        for target in every:
            for action in (*WRITES, *READS):
                asked = (f"dynamodb:{action}", arn(target))
                keys = {"dynamodb:LeadingKeys": ["A-KEY-THAT-NO-TEMPLATE-HAS"]}
                limited = any(
                    each.leading_keys
                    for each in policy.statements
                    if asked[0] in each.actions and target in each.targets
                )
                may = asked in allowed and not limited
                assert is_allowed(AccessRequest(*asked, keys), [document]) is may, (name, *asked)


OTHERS = [name for name in designs() if not name.startswith("apps/")]


@pytest.mark.parametrize("name", OTHERS)
def test_patterns_of_any_kind_run_with_their_policies(name: str) -> None:
    """Vector searches, aggregates, shards, large values, transactions, indexes of some attributes only."""
    kind = design(name)
    made = in_environment(kind)
    with filled(kind) as engine:
        for pattern_name in kind.patterns:
            client = PermittedClient(engine, as_document(policy_of(kind, pattern_name), anywhere(made)))
            Store(made, client).run(operation(kind, pattern_name))
            assert client.denied == [], pattern_name


notes = Table("Notes", key("PK", "SK"), indexes={"ByTag": key("tag", "SK"), "ByYear": key("year:N")})


class Note(Entity, table=notes):
    owner: Id
    note: Id
    tag: str
    year: int
    primary = key("OWNER#{owner}", "NOTE#{note}")
    by_tag = notes.ByTag("TAG#{tag}", "NOTE#{note}")
    by_year = notes.ByYear("{year}")


class Notes(Design):
    tables = (notes,)
    entities = (Note,)

    @pattern("Notes of an owner")
    def of_owner(self, owner: str) -> Query[Note]:
        return query(Note.primary, owner=owner)

    @pattern("Important notes")
    def important(self) -> Query[Note]:
        return query(Note.by_tag, tag="important")

    @pattern("Notes of a year")
    def of_year(self, year: int) -> Query[Note]:
        return query(Note.by_year, year=year)


def test_leading_keys_are_those_that_the_templates_can_have() -> None:
    of_owner = {each.targets[0].name: each.leading_keys for each in policy_of(Notes, "of_owner").statements}
    assert of_owner == {"Notes": ("OWNER#*",), HOUSEKEEPING.name: ("SECRET",)}
    by_index = {each.targets[0].index: each.leading_keys for each in service(Notes).statements}
    assert by_index["ByTag"] == ("TAG#*",)
    assert by_index["ByYear"] == ()
    important = next(each for each in policy_of(Notes, "important").statements if each.targets[0].kind == "index")
    assert important.leading_keys == ("TAG#important",)


passes = Table(
    "Passes",
    key("PK", "SK"),
    ttl="until",
    indexes={"ByDay": index(key("day"), include("until"))},
    vectors={"ByFace": vector_index("face", 2, projection=include("until"))},
)


class Ticket(Entity, table=passes):
    """A copy of a pass, found by its number alone."""

    number: Id
    owner: Id
    primary = key("TICKET#{number}", "TICKET")


class Pass(Entity, table=passes):
    owner: Id
    number: Id
    day: str
    face: Annotated[list[float] | None, vector(2)] = None
    until: Ttl
    primary = key("OWNER#{owner}", "PASS#{number}")
    by_day = passes.ByDay("{day}")
    number_guard = unique("NUMBER#{number}", carries=("owner", "number"))
    by_face = passes.nearest_by("ByFace")

    @mirror
    def ticket(self) -> Ticket:
        return Ticket(number=self.number, owner=self.owner)


class Passes(Design):
    tables = (passes,)
    entities = (Pass, Ticket)

    @pattern("Whether a number is taken")
    def number_taken(self, number: str) -> GuardTaken:
        return taken(Pass.number_guard, number=number)

    @pattern("A pass by its ticket")
    def by_ticket(self, number: str) -> Lookup[Pass]:
        return lookup(Pass.ticket, number=number)

    @pattern("Owners of a day")
    def owners_on(self, day: str) -> OrderedList[str]:
        return query(Pass.by_day, day=day).only(lambda each: each.owner)

    @pattern("Passes of a day")
    def passes_on(self, day: str) -> Query[Pass]:
        return query(Pass.by_day, day=day)

    @pattern("Faces like this one")
    def like(self, face: list[float]) -> Nearest[Pass]:
        return nearest(Pass.by_face, face)


def test_guards_mirrors_vectors_and_indexes_of_keys_run_with_their_policies() -> None:
    with Engine(ttl_interval=None) as engine:
        store = Store(Passes(), engine)
        store.create_tables()
        until = datetime.now(UTC) + timedelta(days=1)
        store.run(create(Pass(owner="ada", number="1", day="today", face=[1.0, 0.0], until=until)))
        for name, arguments, expected in (
            ("number_taken", ("1",), {"dynamodb:GetItem"}),
            ("by_ticket", ("1",), {"dynamodb:GetItem"}),
            ("owners_on", ("today",), {"dynamodb:Query"}),
            ("passes_on", ("today",), {"dynamodb:Query", "dynamodb:BatchGetItem"}),
            ("like", ([1.0, 0.0],), {"dynamodb:SearchVectors", "dynamodb:BatchGetItem"}),
        ):
            client = PermittedClient(engine, as_document(policy_of(Passes, name), anywhere(Passes())))
            found = Store(Passes(), client).run(getattr(Passes(), name)(*arguments))
            assert found, name
            asked = {each.action for each in client.allowed if not each.resource.endswith("-keyplan")}
            assert asked == expected, name


def test_an_operation_of_another_kind_is_an_error() -> None:
    with pytest.raises(TypeError, match="it isn't known what Op needs"):
        list(needs_of(Notes, Op()))


def test_what_has_a_meaning_in_policies_stands_for_itself_in_a_key() -> None:
    """AWS: "IAM policy elements: Variables and tags". After U+00FF, a policy has no characters: any may stand there."""
    prices = Table("Prices", key("PK"))

    class Price(Entity, table=prices):
        id: Id
        primary = key("A*B?C$D€#{id}")

    class Prices(Design):
        tables = (prices,)
        entities = (Price,)

        @pattern("A price")
        def price(self, id: str) -> Get[Price]:
            return get(Price, id=id)

    policy = policy_of(Prices, "price")
    assert policy.statements[0].leading_keys == ("A${*}B${?}C${$}D?#*",)
    document = as_document(policy, anywhere(Prices()))
    for key_, allowed in (("A*B?C$D€#1", True), ("AxB?C$D€#1", False), ("A*BxC$D€#1", False), ("A*B?C$D€", False)):
        request = AccessRequest(
            "dynamodb:GetItem", "arn:aws:dynamodb:a:1:table/Prices", {"dynamodb:LeadingKeys": [key_]}
        )
        assert is_allowed(request, [document]) is allowed


def service(kind: type[Design]) -> Policy:
    return next(role.policy for role in roles_of(kind) if role.name == "Service")


def denied(call: Any, **request: Any) -> str:
    with pytest.raises(ClientError) as caught:
        call(**request)
    assert caught.value.response["Error"]["Code"] == DENIED
    return caught.value.response["Error"]["Message"]


def test_a_client_refuses_what_its_policies_do_not_allow() -> None:
    with Engine(ttl_interval=None) as engine:
        Store(Notes(), engine).create_tables()
        client = PermittedClient(engine, as_document(service(Notes), anywhere(Notes(), **HERE)))
        store = Store(Notes(), client)
        note = store.run(create(Note(owner="ada", note="1", tag="important", year=1843)))
        assert [each.note for each in store.run(store.design.important()).items] == ["1"]
        note.tag = "old"
        store.run(delete(store.run(update(note))))
        other = {"PK": {"S": "SOMEBODY"}, "SK": {"S": "x"}}
        assert "dynamodb:PutItem" in denied(client.put_item, TableName="Notes", Item=other)
        assert "dynamodb:GetItem" in denied(client.get_item, TableName="Notes", Key=other)
        assert "dynamodb:Scan" in denied(client.scan, TableName="Notes")
        assert "dynamodb:DeleteTable" in denied(client.delete_table, TableName="Notes")
        in_batch = {
            "Notes": [{"PutRequest": {"Item": {**other, "PK": {"S": "OWNER#1"}}}}, {"DeleteRequest": {"Key": other}}]
        }
        assert "dynamodb:BatchWriteItem" in denied(client.batch_write_item, RequestItems=in_batch)
        together = [{"Put": {"TableName": "Notes", "Item": other}}]
        assert "dynamodb:PutItem" in denied(client.transact_write_items, TransactItems=together)
        wrong = {
            "TableName": "Notes",
            "IndexName": "ByTag",
            "KeyConditionExpression": "#tag = :tag AND begins_with(SK, :sk)",
            "ExpressionAttributeNames": {"#tag": "tag"},
            "ExpressionAttributeValues": {":tag": {"S": "OTHER#1"}, ":sk": {"S": "NOTE#"}},
        }
        assert "index/ByTag" in denied(client.query, **wrong)
        assert len(client.denied) == 7
        assert client.exceptions is engine.exceptions
        with pytest.raises(ValueError, match="isn't known what execute_statement needs"):
            client.execute_statement(Statement="SELECT * FROM Notes")


@pytest.mark.parametrize("system", SYSTEMS)
def test_a_service_runs_the_patterns_and_writes_with_its_policy(system: str) -> None:
    kind = design(f"apps/{system}")
    arn = anywhere(in_environment(kind), **HERE)
    with Engine(ttl_interval=None) as engine:
        Store(in_environment(kind), engine).create_tables()
        client = PermittedClient(engine, as_document(service(kind), arn))
        store = Store(in_environment(kind), client)
        written = []
        for item in example_items(kind, (1, 2)):
            with suppress(DataError):  # two examples that a rule of the design doesn't allow together
                written.append(store.run(create(item)))
        for name in kind.patterns:
            store.run(operation(kind, name))
        for item in reversed(written):
            with suppress(DataError):  # one that others belong to, or that went with another
                store.run(delete(item))
        assert client.denied == []
        reader = next(role.policy for role in roles_of(kind) if role.name == "Reader")
        reading = PermittedClient(engine, as_document(reader, arn))
        for name in kind.patterns:
            Store(in_environment(kind), reading).run(operation(kind, name))
        assert reading.denied == []
        some = next(iter(in_environment(kind).table_names.values()))
        denied(reading.update_item, TableName=some, Key={name: {"S": "x"} for name in kind.tables[0].key_names})


def documents(kind: type[Design], *names: str) -> list[dict[str, Any]]:
    """The policies of these services, in any region and account."""
    return [as_document(role.policy, anywhere(kind())) for role in roles_of(kind) if role.name in names]


def test_a_whole_system_runs_with_its_policy(tmp_path: Path) -> None:
    """Its demo data is made by its service, as users would."""
    kind: Any = SYSTEM
    with Engine(ttl_interval=None) as engine:
        Store(kind.design(), engine).create_tables()
        client = PermittedClient(engine, *documents(kind.design, "Service"))
        started = running(kind, settings_of(path=tmp_path / "demo.db", dev=True), client)
        if kind.prepare is not None:
            kind.prepare(started)
        kind.demo(started, lambda done, total: None)
        if kind.sweep is not None:
            kind.sweep(started)
        assert client.denied == []
        assert len(client.allowed) > 100
        with pytest.raises(DataError, match=DENIED):  # whole tables are read by the operator
            started.store.verify()
        operator = PermittedClient(engine, *documents(kind.design, "Service", "Operator"))
        store = Store(started.design, operator)
        store.repair(store.verify())
        assert operator.denied == []


events = Table("Events", key("PK"), stream="NEW_IMAGE", consumers=(consumer("search", failures="lost"),))


class Event(Entity, table=events):
    id: Id
    primary = key("EVENT#{id}")


class Events(Design):
    tables = (events,)
    entities = (Event,)


def test_a_worker_reads_streams_with_its_policy() -> None:
    seen: list[str] = []

    @on(Event, "INSERT")
    def note(change: ItemChange[Event], context: None) -> None:
        assert change.after is not None
        seen.append(change.after.id)

    with Engine(ttl_interval=None) as engine:
        Store(Events(), engine).create_tables()
        service = PermittedClient(engine, *documents(Events, "Service"))
        store = Store(Events(), service)
        store.run(create(Event(id="1")))
        worker = PermittedClient(engine, *documents(Events, "Service", "Worker"))
        StreamRunner(Store(Events(), worker), events, [note], None, worker).run_once()
        assert seen == ["1"]
        assert worker.denied == []
        reader = PermittedClient(engine, *documents(Events, "SearchConsumer"))
        (stream,) = {each.resource for each in worker.allowed if each.action == "dynamodb:GetRecords"}
        denied(service.describe_stream, StreamArn=stream)
        assert reader.describe_stream(StreamArn=stream)["StreamDescription"]["StreamArn"] == stream
        denied(reader.get_item, TableName="Events", Key={"PK": {"S": "EVENT#1"}})
        (sending,) = documents(Events, "SearchConsumer")
        queue = "arn:aws:sqs:eu-central-1:1:lost"
        assert is_allowed(AccessRequest("sqs:SendMessage", queue), [sending])
        assert not is_allowed(AccessRequest("sqs:SendMessage", queue.replace("lost", "found")), [sending])


# The evaluator, by AWS's rules


def allows(statements: list[dict[str, Any]], context: dict[str, list[str]] | None = None) -> bool:
    request = AccessRequest("dynamodb:GetItem", "arn:aws:dynamodb:eu-central-1:1:table/Notes", context or {})
    return is_allowed(request, [{"Version": "2012-10-17", "Statement": statements}])


def statement(**members: Any) -> dict[str, Any]:
    return {"Effect": "Allow", "Action": "dynamodb:GetItem", "Resource": "*"} | members


@pytest.mark.parametrize(
    ("statements", "expected"),
    [
        ([], False),
        ([statement()], True),
        ([statement(Action=["dynamodb:get*"])], True),
        ([statement(Action="dynamodb:PutItem")], False),
        ([statement(Resource="arn:aws:dynamodb:*:*:table/Notes")], True),
        ([statement(Resource="arn:aws:dynamodb:*:*:table/Not?s")], True),
        ([statement(Resource="arn:aws:dynamodb:*:*:table/Note")], False),
        ([statement(), statement(Effect="Deny")], False),
        ([statement(), statement(Effect="Deny", Action="dynamodb:PutItem")], True),
    ],
)
def test_a_denial_wins_and_without_permission_nothing_is_allowed(statements: list[Any], expected: bool) -> None:
    """AWS: "Policy evaluation logic"."""
    assert allows(statements) is expected


@pytest.mark.parametrize(
    ("operator", "wanted", "found", "expected"),
    [
        ("ForAllValues:StringEquals", ["A", "B"], ["A"], True),
        ("ForAllValues:StringEquals", ["A", "B"], ["A", "C"], False),
        ("ForAllValues:StringEquals", ["A"], None, True),
        ("ForAllValues:StringLike", ["USER#*"], ["USER#1", "USER#2"], True),
        ("ForAllValues:StringLike", ["USER#?"], ["USER#12"], False),
        ("ForAllValues:StringLike", ["a${*}c"], ["abc"], False),
        ("ForAllValues:StringLike", ["a${*}c"], ["a*c"], True),
        ("ForAllValues:StringNotLike", ["x*"], ["abc"], True),
        ("ForAllValues:StringNotLike", ["x*"], ["abc", "xyz"], False),
        ("ForAnyValue:StringEquals", ["A"], ["A", "C"], True),
        ("ForAnyValue:StringEquals", ["A"], None, False),
        ("StringEquals", "A", ["A"], True),
        ("StringEquals", "A", None, False),
        ("StringEqualsIfExists", "A", None, True),
        ("StringNotEquals", "A", None, True),
        ("Null", "true", None, True),
        ("Null", "false", None, False),
    ],
)
def test_conditions_are_evaluated_as_by_aws(
    operator: str, wanted: Any, found: list[str] | None, expected: bool
) -> None:
    """AWS: "IAM JSON policy elements: Condition operators" and "Set operators for multivalued context keys"."""
    conditions = {operator: {"dynamodb:LeadingKeys": wanted}}
    context = {} if found is None else {"dynamodb:LeadingKeys": found}
    assert allows([statement(Condition=conditions)], context) is expected


@pytest.mark.parametrize(
    "unknown", [{"NotAction": "x"}, {"Condition": {"DateGreaterThan": {"aws:CurrentTime": "2020-01-01"}}}]
)
def test_what_the_evaluator_does_not_know_is_an_error(unknown: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="isn't known"):
        allows([statement(**unknown)])


def test_a_policy_that_is_too_long_for_iam_is_divided() -> None:
    """AWS: "IAM and AWS STS quotas": a managed policy has at most 6,144 characters."""
    policy = service(design("apps/wavyblog"))
    parts = list(divided(policy, longest=600))
    assert len(parts) > 2
    assert [each.name for each in parts][:2] == ["Service", "Service2"]
    kind = design("apps/wavyblog")
    assert set().union(*(granted(each, kind) for each in parts)) == granted(policy, kind)
    assert list(divided(policy)) == [policy]
    keys = tuple(f"K{number}#*" for number in range(99))
    many = Policy("Many", (Statement(("dynamodb:GetItem",), (PolicyTarget("table", "T"),), keys),))
    pieces = [each for part in divided(many, longest=600) for each in part.statements]
    assert len(pieces) > 2
    assert [key_ for each in pieces for key_ in each.leading_keys] == list(keys)
