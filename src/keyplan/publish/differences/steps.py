"""The requests that change tables in place, in the order in which DynamoDB takes them.

AWS: "UpdateTable": a request changes the throughput, or deletes an index, or creates one, and the next one waits until
the table is ACTIVE. So each is a step of its own. What new code needs comes first; what only old code needs is deleted
at last.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from keyplan.publish.descriptions import (
    attribute_definitions,
    keys_and_indexes,
    secondary_index,
    tags_of,
    throughput,
    vector_index,
)
from keyplan.publish.differences.changes import Phase, Step
from keyplan.publish.differences.tables import Pair, is_same_key, paired, same_index, same_vectors, tags_to_compare
from keyplan.publish.shapes import TableShape, elements_of

_MOST = 20
"""Global indexes of a table (AWS: "Quotas in Amazon DynamoDB"), unless AWS has raised the quota of an account."""
_ACTIVE = "until the table is ACTIVE"
_FILLED = "until the table is ACTIVE and the index isn't Backfilling: it is filled from the items meanwhile"
_HOUR = "until its status is DISABLED, which takes up to an hour"

Request = dict[str, Any]


def steps_between(before: Sequence[TableShape], after: Sequence[TableShape]) -> tuple[Step, ...]:
    """The steps from one to the other, those before the new code first."""
    pairs, _, added = paired(before, after)
    steps = [step for table in added for step in _created(table)]
    # DynamoDB can't change the key, the name or a local index: such a table is a new one.
    steps += [step for pair in pairs if not _is_new(pair) for step in _changed(pair)]
    return tuple(sorted(steps, key=lambda step: step.phase != "before"))


def _is_new(pair: Pair) -> bool:
    keys = pair.before.name, pair.before.hash, pair.before.range
    if keys != (pair.after.name, pair.after.hash, pair.after.range):
        return True
    local = [{each.name: each for each in table.indexes if each.local} for table in (pair.before, pair.after)]
    return local[0].keys() != local[1].keys() or not all(
        same_index(local[0][name], each) for name, each in local[1].items()
    )


def _created(table: TableShape) -> Iterator[Step]:
    request = keys_and_indexes(table)
    if table.stream is not None:
        request["StreamSpecification"] = {"StreamEnabled": True, "StreamViewType": table.stream}
    if table.protected is not None:
        request["DeletionProtectionEnabled"] = table.protected
    if table.table_class != "STANDARD":
        request["TableClass"] = table.table_class
    if table.encryption is not None:
        request["SSESpecification"] = _encryption(table.encryption)
    if table.tags:
        request["Tags"] = tags_of(table)
    yield Step("before", table.name, f"create table {table.name}", "CreateTable", request, _ACTIVE)
    plain = replace(table, ttl=None, recovery=None)
    yield from _time_to_live(Pair(plain, table))
    yield from _recovery(Pair(plain, table))


def _changed(pair: Pair) -> Iterator[Step]:
    if pair.after.billing == "PROVISIONED":  # such a table can't have vector indexes
        yield from _vectors(pair, "before")
    yield from _billing(pair)
    yield from _settings(pair)
    yield from _indexes(pair)
    if pair.after.billing != "PROVISIONED":
        yield from _vectors(pair, "after")
    yield from _stream(pair)
    yield from _time_to_live(pair)
    yield from _recovery(pair)
    yield from _tags(pair)


def _update(pair: Pair, does: str, request: Request, wait: str = _ACTIVE, phase: Phase = "before") -> Step:
    return Step(phase, pair.after.name, does, "UpdateTable", {"TableName": pair.after.name, **request}, wait)


def _billing(pair: Pair) -> Iterator[Step]:
    """How the table is paid, or its capacity. With a new way, all indexes that are there need a capacity, too."""
    before, after = pair.before, pair.after
    if before.billing == after.billing and before.capacity == after.capacity:
        return
    wanted = {each.name: each.capacity for each in after.indexes}
    known = {each.name: wanted.get(each.name) for each in before.indexes if not each.local}
    if before.billing != after.billing:
        known = {name: capacity or after.capacity for name, capacity in known.items()}
    updates = [
        {"Update": {"IndexName": name, **throughput(capacity)}}
        for name, capacity in known.items()
        if capacity is not None
    ]
    request: Request = {"BillingMode": after.billing, **throughput(after.capacity)}
    yield _update(pair, "change how it is paid", request | _member(_GLOBAL, updates))


def _settings(pair: Pair) -> Iterator[Step]:
    before, after = pair.before, pair.after
    if before.table_class != after.table_class:
        yield _update(pair, f"change its class to {after.table_class}", {"TableClass": after.table_class})
    if after.protected is not None and before.protected != after.protected:
        word = "turn on" if after.protected else "turn off"
        yield _update(pair, f"{word} deletion protection", {"DeletionProtectionEnabled": after.protected})
    same = (before.encryption or "AWS_OWNED") == after.encryption or is_same_key(pair)
    if after.encryption is not None and not same:
        yield _update(pair, "change how it is encrypted", {"SSESpecification": _encryption(after.encryption)})


def _member(name: str, values: list[Request]) -> Request:
    return {name: values} if values else {}


def _encryption(encryption: str) -> Request:
    if encryption == "AWS_OWNED":
        return {"Enabled": False}
    own = {} if encryption == "AWS_MANAGED" else {"KMSMasterKeyId": encryption}
    return {"Enabled": True, "SSEType": "KMS", **own}


def _indexes(pair: Pair) -> Iterator[Step]:
    old = {each.name: each for each in pair.before.indexes if not each.local}
    new = {each.name for each in pair.after.indexes if not each.local}
    gone = [name for name in old if name not in new]
    room = max(0, len(old.keys() | new) - _MOST)
    for name in gone[:room]:  # there would be too many if all of them stayed until no old code runs
        yield _delete(pair, _GLOBAL, name, "before", f", since a table has at most {_MOST}")
    for index in pair.after.indexes:
        if index.local:
            continue
        was = old.get(index.name)
        if was is not None and same_index(was, index):
            if was.capacity != index.capacity and pair.before.capacity == pair.after.capacity:
                change = {"Update": {"IndexName": index.name, **throughput(index.capacity)}}
                yield _update(pair, f"change the capacity of {index.name}", _member(_GLOBAL, [change]))
            continue
        if was is not None:
            yield _delete(pair, _GLOBAL, index.name, "before")
        keys = (*pair.after.hash, *pair.after.range, *index.hash, *index.range)
        request = {"AttributeDefinitions": attribute_definitions(keys)}
        request |= _member(_GLOBAL, [{"Create": secondary_index(index)}])
        yield _update(pair, f"create index {index.name}", request, _FILLED)
    for name in gone[room:]:
        yield _delete(pair, _GLOBAL, name, "after")


_GLOBAL, _VECTOR = "GlobalSecondaryIndexUpdates", "VectorIndexUpdates"


def _delete(pair: Pair, member: str, name: str, phase: Phase, why: str = "") -> Step:
    request = _member(member, [{"Delete": {"IndexName": name}}])
    return _update(pair, f"delete index {name}{why}", request, _ACTIVE, phase)


def _vectors(pair: Pair, deleted: Phase) -> Iterator[Step]:
    old = {each.name: each for each in pair.before.vectors}
    for index in pair.after.vectors:
        was = old.get(index.name)
        if was is not None and same_vectors(was, index):
            continue
        if was is not None:
            yield _delete(pair, _VECTOR, index.name, "before")
        keys = (*pair.after.hash, *pair.after.range, *elements_of(index))
        request = {"AttributeDefinitions": attribute_definitions(keys)}
        request |= _member(_VECTOR, [{"Create": vector_index(index)}])
        yield _update(pair, f"create vector index {index.name}", request, _FILLED)
    there = {each.name for each in pair.after.vectors}
    for name in old:
        if name not in there:
            yield _delete(pair, _VECTOR, name, deleted)


def _stream(pair: Pair) -> Iterator[Step]:
    """A stream with another view is another stream: the old one ends."""
    before, after = pair.before.stream, pair.after.stream
    if before == after:
        return
    phase: Phase = "before" if after is not None else "after"
    if before is not None:
        off = {"StreamSpecification": {"StreamEnabled": False}}
        yield _update(pair, "turn off the stream, once its readers have read all of it", off, _ACTIVE, phase)
    if after is not None:
        on = {"StreamSpecification": {"StreamEnabled": True, "StreamViewType": after}}
        yield _update(pair, f"turn on the stream with {after}", on)


def _time_to_live(pair: Pair) -> Iterator[Step]:
    """Time to live moves to another attribute by being turned off first."""
    before, after = pair.before.ttl, pair.after.ttl
    name = pair.after.name
    if before == after:
        return
    if before is not None:
        phase: Phase = "before" if after is not None else "after"
        does = f"turn off time to live by {before}"
        yield Step(phase, name, does, "UpdateTimeToLive", _ttl(name, before, on=False), _HOUR if after else "")
    if after is not None:
        does = f"turn on time to live by {after}"
        yield Step("before", name, does, "UpdateTimeToLive", _ttl(name, after, on=True))


def _ttl(name: str, attribute: str, *, on: bool) -> Mapping[str, Any]:
    return {"TableName": name, "TimeToLiveSpecification": {"Enabled": on, "AttributeName": attribute}}


def _recovery(pair: Pair) -> Iterator[Step]:
    before, after = pair.before.recovery or 0, pair.after.recovery
    if after is None or before == after:
        return
    wanted: Request = {"PointInTimeRecoveryEnabled": after > 0}
    if after:
        wanted["RecoveryPeriodInDays"] = after
    request = {"TableName": pair.after.name, "PointInTimeRecoverySpecification": wanted}
    does = f"keep {after} days for point-in-time recovery" if after else "turn off point-in-time recovery"
    yield Step("before", pair.after.name, does, "UpdateContinuousBackups", request)


def _tags(pair: Pair) -> Iterator[Step]:
    old, new = tags_to_compare(pair)
    arn = f"<ARN of {pair.after.name}>"
    if any(old.get(name) != value for name, value in new.items()):
        request: Request = {"ResourceArn": arn, "Tags": tags_of(pair.after)}
        yield Step("before", pair.after.name, "set its tags", "TagResource", request)
    gone = sorted(old.keys() - new.keys())
    if gone:
        yield Step("before", pair.after.name, "remove tags", "UntagResource", {"ResourceArn": arn, "TagKeys": gone})
