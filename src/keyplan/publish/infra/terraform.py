"""The Terraform configuration of a stack, for the provider `hashicorp/aws`.

Arguments are those of its documentation: "aws_dynamodb_table", "aws_cloudwatch_metric_alarm",
"aws_cloudwatch_dashboard" and "aws_iam_policy". Keys of global indexes are `key_schema` blocks, which keys of several
attributes need; they work since release 6.37.0 of the provider.
"""

import re
from collections.abc import Iterator
from typing import Any

from keyplan.publish.descriptions import key_schema
from keyplan.publish.infra.cloudformation import TOPIC, policy_description, sum_of
from keyplan.publish.infra.hcl import Block, Encoded, Expression, text_of
from keyplan.publish.infra.monitoring import Alarm, FunctionName, Metric, dashboard_body
from keyplan.publish.infra.stack import PolicyResource, Stack
from keyplan.publish.policies import PolicyTarget, as_document
from keyplan.publish.shapes import IndexShape, TableShape

PROVIDER = ">= 6.37.0"
_CAPITALS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_TABLE = "aws_dynamodb_table"
_REGION = Expression("data.aws_region.current.region")


def terraform_of(stack: Stack) -> str:
    """The configuration."""
    blocks = [
        _settings(),
        Block("data", ("aws_region", "current")),
        Block("data", ("aws_caller_identity", "current")),
        Block("data", ("aws_partition", "current")),
        *_variables(stack),
        *(_table(table) for table in stack.tables),
        *(_alarm(alarm) for alarm in stack.alarms),
        _dashboard(stack),
        *(_policy(stack, each) for each in stack.policies),
        *(_output(each) for each in stack.policies),
    ]
    heading = f"# Tables of {stack.name}, written by `keyplan infra`: change the design, not this file.\n\n"
    return heading + text_of(blocks)


def label(id: str) -> str:
    """A name of a template, as Terraform writes names: `WavyBlogTable` becomes `wavy_blog_table`."""
    return _CAPITALS.sub("_", id).lower()


def _settings() -> Block:
    aws = {"source": "hashicorp/aws", "version": PROVIDER}
    return Block("terraform", blocks=(Block("required_providers", arguments=(("aws", aws),)),))


def _variables(stack: Stack) -> Iterator[Block]:
    yield _variable(TOPIC, "ARN of the SNS topic that alarms go to, or empty.", "")
    for reader in stack.readers:
        table = stack.table(reader.table).name
        yield _variable(f"{reader.id}Function", f"Name of the Lambda function that reads the stream of {table}.")


def _variable(id: str, description: str, default: str | None = None) -> Block:
    given = () if default is None else (("default", default),)
    arguments: tuple[tuple[str, Any], ...] = (("description", description), ("type", Expression("string")), *given)
    return Block("variable", (label(id),), arguments)


# Tables


def _table(table: TableShape) -> Block:
    arguments: list[tuple[str, Any]] = [
        ("name", table.name),
        ("billing_mode", table.billing),
        *_capacity(table.capacity),
        ("hash_key", table.hash[0].name),
        *((("range_key", table.range[0].name),) if table.range else ()),
        *((("stream_enabled", True), ("stream_view_type", table.stream)) if table.stream else ()),
        *((("deletion_protection_enabled", table.protected),) if table.protected is not None else ()),
        *((("table_class", table.table_class),) if table.table_class != "STANDARD" else ()),
        *((("tags", dict(table.tags)),) if table.tags else ()),
    ]
    return Block("resource", (_TABLE, label(table.id)), tuple(arguments), tuple(_table_blocks(table)))


def _capacity(capacity: tuple[int, int] | None) -> tuple[tuple[str, Any], ...]:
    return () if capacity is None else (("read_capacity", capacity[0]), ("write_capacity", capacity[1]))


def _table_blocks(table: TableShape) -> Iterator[Block]:
    in_vectors = {each for index in table.vectors for each in (index.partition, *index.filters)}
    keys = {each for index in table.indexes for each in (*index.hash, *index.range)} | {*table.hash, *table.range}
    for attribute in table.attributes:
        if attribute in keys or attribute not in in_vectors:  # the provider wants no attribute without an index
            yield Block("attribute", arguments=(("name", attribute.name), ("type", attribute.type)))
    for index in table.indexes:
        yield _local_index(index) if index.local else _global_index(index)
    if table.ttl is not None:
        yield Block("ttl", arguments=(("attribute_name", table.ttl), ("enabled", True)))
    if table.recovery is not None:
        days = (("recovery_period_in_days", table.recovery),) if table.recovery else ()
        yield Block("point_in_time_recovery", arguments=(("enabled", table.recovery > 0), *days))
    if table.encryption is not None:
        own = (("kms_key_arn", table.encryption),) if table.encryption.startswith("arn:") else ()
        yield Block("server_side_encryption", arguments=(("enabled", table.encryption != "AWS_OWNED"), *own))
    yield Block("lifecycle", arguments=(("prevent_destroy", True),))


def _global_index(index: IndexShape) -> Block:
    keys = (
        Block("key_schema", arguments=(("attribute_name", each["AttributeName"]), ("key_type", each["KeyType"])))
        for each in key_schema(index.hash, index.range)
    )
    arguments = (("name", index.name), *_projection(index), *_capacity(index.capacity))
    return Block("global_secondary_index", arguments=arguments, blocks=tuple(keys))


def _local_index(index: IndexShape) -> Block:
    arguments = (("name", index.name), ("range_key", index.range[0].name), *_projection(index))
    return Block("local_secondary_index", arguments=arguments)


def _projection(index: IndexShape) -> tuple[tuple[str, Any], ...]:
    held = index.projection.attributes
    return (("projection_type", index.projection.type), *((("non_key_attributes", list(held)),) if held else ()))


# Alarms and the dashboard


def _alarm(alarm: Alarm) -> Block:
    topic = f"var.{label(TOPIC)}"
    shared: tuple[tuple[str, Any], ...] = (
        ("alarm_name", alarm.name),
        ("alarm_description", alarm.purpose),
        ("comparison_operator", "GreaterThanThreshold"),
        ("threshold", alarm.above),
        ("evaluation_periods", alarm.periods),
        ("treat_missing_data", "notBreaching"),
        ("alarm_actions", Expression(f'{topic} == "" ? [] : [{topic}]')),
    )
    labels = ("aws_cloudwatch_metric_alarm", label(alarm.id))
    if isinstance(alarm.watched, str):
        query = (("id", "total"), ("expression", alarm.watched), ("period", 60), ("return_data", True))
        return Block("resource", labels, shared, (Block("metric_query", arguments=query),))
    if len(alarm.watched) == 1:
        (metric,) = alarm.watched
        return Block("resource", labels, (*shared, *_metric(metric), ("statistic", metric.statistic), ("period", 60)))
    queries = [
        Block(
            "metric_query",
            arguments=(("id", f"m{number}"), ("return_data", False)),
            blocks=(Block("metric", arguments=(*_metric(each), ("period", 60), ("stat", each.statistic))),),
        )
        for number, each in enumerate(alarm.watched, start=1)
    ]
    total = (("id", "total"), ("expression", sum_of(len(queries))), ("label", "total"), ("return_data", True))
    return Block("resource", labels, shared, (*queries, Block("metric_query", arguments=total)))


def _metric(metric: Metric) -> tuple[tuple[str, Any], ...]:
    dimensions = {
        name: Expression(f"var.{label(value.reader + 'Function')}") if isinstance(value, FunctionName) else value
        for name, value in metric.dimensions
    }
    return (("namespace", metric.namespace), ("metric_name", metric.name), ("dimensions", dimensions))


def _dashboard(stack: Stack) -> Block:
    name = Expression(f'"{stack.dashboard.name}-${{{_REGION.text}}}"')
    body = Encoded(dashboard_body(stack.dashboard, _REGION))
    arguments = (("dashboard_name", name), ("dashboard_body", body))
    return Block("resource", ("aws_cloudwatch_dashboard", label(stack.dashboard.id)), arguments)


# Policies


def _policy(stack: Stack, resource: PolicyResource) -> Block:
    document = as_document(resource.policy, lambda target: arn_of(stack, target))
    arguments = (
        ("name_prefix", f"{stack.name}-{resource.policy.name}-"[:100]),
        ("description", policy_description(stack, resource)),
        ("policy", Encoded(document)),
    )
    return Block("resource", ("aws_iam_policy", label(resource.id)), arguments)


def _output(resource: PolicyResource) -> Block:
    arn = Expression(f"aws_iam_policy.{label(resource.id)}.arn")
    return Block("output", (label(f"{resource.id}Arn"),), (("description", resource.purpose), ("value", arn)))


def arn_of(stack: Stack, target: PolicyTarget) -> object:
    """The ARN of what a statement is about."""
    if target.kind == "all":
        return "*"
    if target.kind == "queue":
        if target.name.startswith("arn:"):
            return target.name
        parts = (
            "aws_partition.current.partition",
            "aws_region.current.region",
            "aws_caller_identity.current.account_id",
        )
        partition, region, account = (f"${{data.{each}}}" for each in parts)
        return Expression(f'"arn:{partition}:sqs:{region}:{account}:{target.name}"')
    table = f"{_TABLE}.{label(stack.id_of(target.name))}"
    if target.kind == "index":
        return Expression(f'"${{{table}.arn}}/index/{target.index}"')
    return Expression(f"{table}.{'stream_arn' if target.kind == 'stream' else 'arn'}")
