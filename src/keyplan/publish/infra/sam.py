"""The SAM template of a stack: its CloudFormation template, and a function for each reader of a stream.

The function's properties are those of AWS: "AWS::Serverless::Function" and its "DynamoDB" event source of the SAM
specification. What the handler does is up to the code in the folder that `CodeUri` names; docs/streams.md has an
example.
"""

import re
from typing import Any

from keyplan.publish.infra.cloudformation import (
    HAS_TOPIC,
    TOPIC,
    Resource,
    arn_of,
    description_of,
    outputs_of,
    parameters_of,
    resources_of,
)
from keyplan.publish.infra.stack import Reader, Stack
from keyplan.publish.policies import as_document
from keyplan.publish.shapes import identifier

_TRIES = 8
_BATCH = 100
_TIMEOUT = 60
_KEPT = 14 * 24 * 3600
"""Seconds that a record that can't be processed is kept in its queue; the most that SQS allows."""
_RUNTIME = "python3.13"


def sam_template_of(stack: Stack) -> Resource:
    """The template."""
    policies = {each.id for each in stack.policies if each.policy.name.endswith("Consumer")}
    resources = resources_of(stack, lambda name: {"Ref": f"{name.reader}Function"})
    outputs = outputs_of(stack)
    for id in policies:  # a function has its policy in its own role
        del resources[id], outputs[f"{id}Arn"]
    for reader in stack.readers:
        resources |= _function(stack, reader)
    return {
        "AWSTemplateFormatVersion": "2010-09-09",
        "Transform": "AWS::Serverless-2016-10-31",
        "Description": description_of(stack),
        "Parameters": parameters_of(stack, functions=False),
        "Conditions": {HAS_TOPIC: {"Fn::Not": [{"Fn::Equals": [{"Ref": TOPIC}, ""]}]}},
        "Resources": resources,
        "Outputs": outputs,
    }


def _function(stack: Stack, reader: Reader) -> Resource:
    """The function of a reader, with the queue for what it can't process."""
    event: dict[str, Any] = {
        "Stream": {"Fn::GetAtt": [reader.table, "StreamArn"]},
        "StartingPosition": "TRIM_HORIZON",
        "BatchSize": _BATCH,
        "BisectBatchOnFunctionError": True,
        "MaximumRetryAttempts": _TRIES,
        "FunctionResponseTypes": ["ReportBatchItemFailures"],
    }
    made: Resource = {}
    if reader.failures is not None:
        queue = f"{identifier(reader.failures)}Queue"
        destination: Any = reader.failures
        if not reader.failures.startswith("arn:"):
            destination = {"Fn::GetAtt": [queue, "Arn"]}
            made[queue] = {
                "Type": "AWS::SQS::Queue",
                "DeletionPolicy": "Retain",
                "UpdateReplacePolicy": "Retain",
                "Properties": {"QueueName": reader.failures, "MessageRetentionPeriod": _KEPT},
            }
        event["DestinationConfig"] = {"OnFailure": {"Type": "SQS", "Destination": destination}}
    properties = {
        "Description": f"Reads the stream of {stack.table(reader.table).name}: {reader.name}",
        "Runtime": _RUNTIME,
        "Handler": "app.lambda_handler",
        "CodeUri": f"{folder_of(reader)}/",
        "Timeout": _TIMEOUT,
        "Policies": [_rights(stack, reader)],
        "Events": {"Stream": {"Type": "DynamoDB", "Properties": event}},
    }
    return {**made, f"{reader.id}Function": {"Type": "AWS::Serverless::Function", "Properties": properties}}


def _rights(stack: Stack, reader: Reader) -> Resource:
    policy = next(each.policy for each in stack.policies if each.policy.name == f"{reader.id}Consumer")
    return as_document(policy, lambda target: arn_of(stack, target))


def folder_of(reader: Reader) -> str:
    """The folder of a reader's code: `search-index` for `search index`."""
    return "-".join(re.findall(r"[a-z0-9]+", reader.name.lower())) or "reader"
