"""The policies of services: who runs the system, who only reads, who reads a stream, who looks after the tables."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from keyplan.design import HOUSEKEEPING, Consumer, Design, Table
from keyplan.design.entities.entity_spec import EntitySpec
from keyplan.publish.policies.leading_keys import leading_key, template_pattern
from keyplan.publish.policies.patterns import key_target, needs_of, table_target
from keyplan.publish.policies.statements import EVERYTHING, Need, Policy, PolicyTarget, Statement, statements_for
from keyplan.publish.shapes import identifier, logical_id

_BY_KEY = (
    "BatchGetItem",
    "BatchWriteItem",
    # AWS: "Using IAM with DynamoDB transactions": the parts of a transaction need the rights of single operations.
    "ConditionCheckItem",
    "DeleteItem",
    "GetItem",
    "PutItem",
    "Query",
    "UpdateItem",
)
_QUEUE = re.compile(r"[A-Za-z0-9_-]{1,80}|arn:[\w-]+:sqs:[\w-]+:[0-9]+:[A-Za-z0-9_-]{1,80}")
"""The name of a queue, by AWS: "Amazon SQS standard queue quotas", or an ARN."""
_OF_STREAMS = ("dynamodb:DescribeStream", "dynamodb:GetRecords", "dynamodb:GetShardIterator")


@dataclass(frozen=True)
class Role:
    """A service, and what it may do."""

    name: str
    purpose: str
    policy: Policy


def roles_of(design: type[Design] | Design) -> tuple[Role, ...]:
    """The roles of all services of a design."""
    kind = design if isinstance(design, type) else type(design)
    roles = [
        Role("Service", "runs the system: all access patterns, and all writes of its entities", _service(kind)),
        Role("Reader", "runs the access patterns, and can't write", _reader(kind)),
        Role("Operator", "runs keyplan verify beside the service: reads whole tables", _operator(kind)),
    ]
    streams = [table for table in kind.tables if table.stream is not None]
    if streams:
        worker = Policy("Worker", _reading(streams))
        roles.append(Role("Worker", "runs keyplan work beside the service: reads the streams", worker))
    return (*roles, *(_consumer_role(each) for each in consumers_of(kind)))


def _service(design: type[Design]) -> Policy:
    return Policy("Service", statements_for(_service_needs(design)))


def _service_needs(design: type[Design]) -> Iterator[Need]:
    """All that the data layer can ask for with these entities. Scans only where a pattern scans."""
    tables = (*design.tables, HOUSEKEEPING)
    for table in tables:
        target = table_target(table)
        yield Need("dynamodb:DescribeTable", target)
        keys = set(_primary_keys(design, table)) if table is not HOUSEKEEPING else {None}  # others use that one too
        for action in _BY_KEY:
            for each in {None} if None in keys else keys:
                yield Need(f"dynamodb:{action}", target, each)
    for entity in design.entities:
        for key in entity.spec.placements.values():
            yield Need("dynamodb:Query", key_target(entity.spec.table, key), leading_key(key.hash, {}))
    for pattern in design.patterns.values():
        others = (need for need in needs_of(design, pattern.symbolic) if need.action in _NOT_BY_KEY)
        yield from others


_NOT_BY_KEY = ("dynamodb:Scan", "dynamodb:SearchVectors")


def _primary_keys(design: type[Design], table: Table) -> Iterator[str | None]:
    """The patterns of the partition keys of a table's items."""
    for entity in design.entities:
        spec: EntitySpec = entity.spec
        if spec.table is table:
            yield leading_key(spec.primary.hash, {})
        for guard in spec.uniques:
            if guard.table is table:
                yield template_pattern(guard.hash, {})


def _reader(design: type[Design]) -> Policy:
    """What all patterns need, without creating the secret of cursors: the service has done that."""
    needs = (need for pattern in design.patterns.values() for need in needs_of(design, pattern.symbolic))
    return Policy("Reader", statements_for(need for need in needs if need.action != "dynamodb:PutItem"))


def _operator(design: type[Design]) -> Policy:
    targets = tuple(sorted(table_target(table) for table in (*design.tables, HOUSEKEEPING)))
    return Policy("Operator", (Statement(("dynamodb:Scan",), targets),))


def _reading(tables: list[Table]) -> tuple[Statement, ...]:
    """The rights to read these streams. AWS: "Actions, resources, and condition keys for Amazon DynamoDB"."""
    streams = tuple(sorted(PolicyTarget("stream", table.name) for table in tables))
    return (Statement(_OF_STREAMS, streams), Statement(("dynamodb:ListStreams",), (EVERYTHING,)))


@dataclass(frozen=True)
class NamedConsumer:
    """A consumer of a table's stream, with a name that no other one has."""

    id: str
    table: Table
    consumer: Consumer

    @property
    def queue(self) -> str | None:
        """The name or the ARN of the queue for what it can't process; None if that goes nowhere, or somewhere else."""
        failures = self.consumer.failures
        return failures if failures is not None and _QUEUE.fullmatch(failures) else None


def consumers_of(design: type[Design]) -> Iterator[NamedConsumer]:
    """The consumers of all streams. If two have the same name, both have the name of their table in theirs."""
    every = [(table, consumer, identifier(consumer.name)) for table in design.tables for consumer in table.consumers]
    for table, consumer, id in every:
        is_alone = [other for _, _, other in every].count(id) == 1
        yield NamedConsumer(id if is_alone else f"{logical_id(table.name).removesuffix('Table')}{id}", table, consumer)


def _consumer_role(named: NamedConsumer) -> Role:
    statements = _reading([named.table])
    if named.queue is not None:
        statements += (Statement(("sqs:SendMessage",), (PolicyTarget("queue", named.queue),)),)
    name = f"{named.id}Consumer"
    purpose = f"reads the stream of {named.table.name}: {named.consumer.name}"
    return Role(name, purpose, Policy(name, statements))
