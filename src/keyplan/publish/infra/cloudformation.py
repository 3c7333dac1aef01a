"""The CloudFormation template of a stack, as a value.

Its properties are those of AWS: "AWS::DynamoDB::Table", "AWS::CloudWatch::Alarm", "AWS::CloudWatch::Dashboard" and
"AWS::IAM::ManagedPolicy" of the CloudFormation Template Reference Guide.
"""

import json
import re
from collections.abc import Callable, Iterable
from typing import Any

from keyplan.design.tables.attributes import KeyAttribute
from keyplan.publish.descriptions import keys_and_indexes, tags_of
from keyplan.publish.infra.monitoring import Alarm, FunctionName, Metric, dashboard_body
from keyplan.publish.infra.stack import PolicyResource, Stack
from keyplan.publish.policies import PolicyTarget, as_document
from keyplan.publish.shapes import TableShape, elements_of

Value = Any
"""JSON."""
Resource = dict[str, Any]

TOPIC, HAS_TOPIC = "AlarmTopicArn", "HasAlarmTopic"
_RETAIN = {"DeletionPolicy": "Retain", "UpdateReplacePolicy": "Retain"}


def template_of(stack: Stack) -> Resource:
    """The template."""
    return {
        "AWSTemplateFormatVersion": "2010-09-09",
        "Description": description_of(stack),
        "Parameters": parameters_of(stack),
        "Conditions": {HAS_TOPIC: {"Fn::Not": [{"Fn::Equals": [{"Ref": TOPIC}, ""]}]}},
        "Resources": resources_of(stack, lambda name: {"Ref": f"{name.reader}Function"}),
        "Outputs": outputs_of(stack),
    }


def description_of(stack: Stack) -> str:
    return f"Tables of {stack.name}"


def parameters_of(stack: Stack, *, functions: bool = True) -> Resource:
    """The parameters: where alarms go, and the functions that read streams, if they are deployed elsewhere."""
    parameters: Resource = {
        TOPIC: {"Type": "String", "Default": "", "Description": "ARN of the SNS topic that alarms go to, or empty."}
    }
    for reader in stack.readers if functions else ():
        parameters[f"{reader.id}Function"] = {
            "Type": "String",
            "Description": f"Name of the Lambda function that reads the stream of {stack.table(reader.table).name}.",
        }
    return parameters


def resources_of(stack: Stack, function: Callable[[FunctionName], Value]) -> Resource:
    """The tables, alarms, the dashboard and the policies, by their ids."""
    dashboard = stack.dashboard
    return {
        **{table.id: table_resource(table) for table in stack.tables},
        **{alarm.id: alarm_resource(alarm, function) for alarm in stack.alarms},
        dashboard.id: {
            "Type": "AWS::CloudWatch::Dashboard",
            "Properties": {
                "DashboardName": {"Fn::Sub": f"{dashboard.name}-${{AWS::Region}}"},
                "DashboardBody": {"Fn::Sub": _json(dashboard_body(dashboard, "${AWS::Region}"))},
            },
        },
        **{each.id: policy_resource(stack, each) for each in stack.policies},
    }


def outputs_of(stack: Stack) -> Resource:
    """The ARN of each policy, for the roles of services."""
    return {f"{each.id}Arn": {"Description": each.purpose, "Value": {"Ref": each.id}} for each in stack.policies}


def _json(value: Value) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


# Tables


def table_resource(table: TableShape) -> Resource:
    """A table. It is retained when the stack is deleted, and when a change would replace it."""
    metadata = {"Metadata": _UNKNOWN_ATTRIBUTES} if set(_searched(table)) - set(_keys(table)) else {}
    return {"Type": "AWS::DynamoDB::Table", **_RETAIN, **metadata, "Properties": table_properties(table)}


_UNKNOWN_ATTRIBUTES = {"cfn-lint": {"config": {"ignore_checks": ["E3039"]}}}
"""cfn-lint doesn't know that attributes of vector indexes are defined too, without being in a key."""


def _searched(table: TableShape) -> Iterable[KeyAttribute]:
    return (each for index in table.vectors for each in elements_of(index))


def _keys(table: TableShape) -> Iterable[KeyAttribute]:
    yield from (*table.hash, *table.range)
    for index in table.indexes:
        yield from (*index.hash, *index.range)


def table_properties(table: TableShape) -> Resource:
    properties = keys_and_indexes(table)
    if table.ttl is not None:
        properties["TimeToLiveSpecification"] = {"AttributeName": table.ttl, "Enabled": True}
    if table.stream is not None:
        properties["StreamSpecification"] = {"StreamViewType": table.stream}
    return properties | _settings(table)


def _settings(table: TableShape) -> Resource:
    """What the design says about the table's operation; AWS's default where it says nothing."""
    properties: Resource = {}
    if table.recovery is not None:
        on = {"PointInTimeRecoveryEnabled": table.recovery > 0}
        days = {"RecoveryPeriodInDays": table.recovery} if table.recovery else {}
        properties["PointInTimeRecoverySpecification"] = on | days
    if table.protected is not None:
        properties["DeletionProtectionEnabled"] = table.protected
    if table.encryption is not None:
        properties["SSESpecification"] = _encryption(table.encryption)
    if table.table_class != "STANDARD":
        properties["TableClass"] = table.table_class
    if table.tags:
        properties["Tags"] = tags_of(table)
    return properties


def _encryption(encryption: str) -> Resource:
    if encryption == "AWS_OWNED":
        return {"SSEEnabled": False}
    own = {} if encryption == "AWS_MANAGED" else {"KMSMasterKeyId": encryption}
    return {"SSEEnabled": True, "SSEType": "KMS", **own}


# Alarms


def alarm_resource(alarm: Alarm, function: Callable[[FunctionName], Value]) -> Resource:
    """An alarm. Without requests there are no metrics, which isn't a reason to raise it."""
    properties = {
        "AlarmDescription": alarm.purpose,
        **_watched(alarm, function),
        "ComparisonOperator": "GreaterThanThreshold",
        "Threshold": alarm.above,
        "EvaluationPeriods": alarm.periods,
        "TreatMissingData": "notBreaching",
        "AlarmActions": {"Fn::If": [HAS_TOPIC, [{"Ref": TOPIC}], {"Ref": "AWS::NoValue"}]},
    }
    return {"Type": "AWS::CloudWatch::Alarm", "Properties": properties}


def _watched(alarm: Alarm, function: Callable[[FunctionName], Value]) -> Resource:
    if isinstance(alarm.watched, str):
        query = {"Id": "total", "Expression": alarm.watched, "Period": 60, "ReturnData": True}
        return {"Metrics": [query]}
    if len(alarm.watched) == 1:
        (metric,) = alarm.watched
        return {**_metric(metric, function), "Statistic": metric.statistic, "Period": 60}
    stats = [
        {
            "Id": f"m{number}",
            "MetricStat": {"Metric": _metric(each, function), "Period": 60, "Stat": each.statistic},
            "ReturnData": False,
        }
        for number, each in enumerate(alarm.watched, start=1)
    ]
    total = {"Id": "total", "Expression": sum_of(len(alarm.watched)), "Label": "total", "ReturnData": True}
    return {"Metrics": [*stats, total]}


def sum_of(count: int) -> str:
    """The sum of metrics `m1` to `mN`, of which some may have no data."""
    return f"SUM([{', '.join(f'FILL(m{number}, 0)' for number in range(1, count + 1))}])"


def _metric(metric: Metric, function: Callable[[FunctionName], Value]) -> Resource:
    dimensions = [
        {"Name": name, "Value": function(value) if isinstance(value, FunctionName) else value}
        for name, value in metric.dimensions
    ]
    return {"Namespace": metric.namespace, "MetricName": metric.name, "Dimensions": dimensions}


# Policies


def policy_resource(stack: Stack, resource: PolicyResource) -> Resource:
    document = as_document(resource.policy, lambda target: arn_of(stack, target))
    properties = {"Description": policy_description(stack, resource), "PolicyDocument": document}
    return {"Type": "AWS::IAM::ManagedPolicy", "Properties": properties}


def policy_description(stack: Stack, resource: PolicyResource) -> str:
    """What a policy is for, in characters that IAM allows there."""
    return re.sub(r"[^\t\n\r -~\u00a1-\u00ff]", "?", f"{stack.name}: {resource.purpose}")[:1000]


def arn_of(stack: Stack, target: PolicyTarget) -> Value:
    """The ARN of what a statement is about."""
    if target.kind == "all":
        return "*"
    if target.kind == "queue":
        name = target.name
        return (
            name
            if name.startswith("arn:")
            else {"Fn::Sub": f"arn:${{AWS::Partition}}:sqs:${{AWS::Region}}:${{AWS::AccountId}}:{name}"}
        )
    id = stack.id_of(target.name)
    if target.kind == "index":
        return {"Fn::Sub": f"${{{id}.Arn}}/index/{target.index}"}
    return {"Fn::GetAtt": [id, "StreamArn" if target.kind == "stream" else "Arn"]}
