"""A CDK app in Python whose template is the CloudFormation template of a stack.

It is written with the CDK's classes for CloudFormation's own resources, not with its higher-level ones: those make
tables of another type, and choose names of their own.
"""

import json
import re
from collections.abc import Mapping
from typing import Any

from keyplan.publish.infra.cloudformation import HAS_TOPIC, TOPIC, template_of
from keyplan.publish.infra.stack import Stack

_WIDTH, _SPACE = 116, " " * 8
_CLASSES = {
    "AWS::DynamoDB::Table": "dynamodb.CfnTable",
    "AWS::CloudWatch::Alarm": "cloudwatch.CfnAlarm",
    "AWS::CloudWatch::Dashboard": "cloudwatch.CfnDashboard",
    "AWS::IAM::ManagedPolicy": "iam.CfnManagedPolicy",
}
_PARTS = {
    "AttributeDefinitions": "AttributeDefinition",
    "Dimensions": "Dimension",
    "GlobalSecondaryIndexes": "GlobalSecondaryIndex",
    "LocalSecondaryIndexes": "LocalSecondaryIndex",
    "Metrics": "MetricDataQuery",
    "SearchSchema": "SearchSchemaElement",
    "VectorIndexes": "VectorIndex",
}
"""The classes of parts whose names aren't those of the properties."""
_CAPITALS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_APP = '''#!/usr/bin/env python3
"""{description}. Written by `keyplan infra`: change the design, not this file.

    pip install aws-cdk-lib
    cdk deploy --app "python app.py"
"""

import aws_cdk as cdk
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_iam as iam
from constructs import Construct


class {name}Tables(cdk.Stack):
    """{description}."""

    def __init__(self, scope: Construct, id: str) -> None:
        # Without assets, the stack needs no bootstrapped account.
        super().__init__(scope, id, description="{description}", synthesizer=cdk.LegacyStackSynthesizer())
        self.template_options.template_format_version = "2010-09-09"
{parameters}
        cdk.CfnCondition(
            self,
            "{condition}",
            expression=cdk.Fn.condition_not(cdk.Fn.condition_equals(cdk.Fn.ref("{topic}"), "")),
        )
{resources}

app = cdk.App(analytics_reporting=False)
{name}Tables(app, "{name}Tables")
app.synth()
'''


def cdk_app_of(stack: Stack) -> str:
    """The source of the app."""
    template = template_of(stack)
    parameters = [_construct("cdk.CfnParameter", id, given) for id, given in template["Parameters"].items()]
    resources = [_resource(id, given) for id, given in template["Resources"].items()]
    outputs = [_construct("cdk.CfnOutput", id, given) for id, given in template["Outputs"].items()]
    return _APP.format(
        description=template["Description"],
        name=stack.name,
        parameters="\n".join(parameters),
        resources="\n".join([*resources, *outputs]),
        condition=HAS_TOPIC,
        topic=TOPIC,
    )


def _resource(id: str, given: Mapping[str, Any]) -> str:
    kind = _CLASSES[given["Type"]]
    if given.get("DeletionPolicy") != "Retain":
        return _construct(kind, id, given["Properties"], kind)
    variable = _snake(id)
    lines = [
        _construct(f"{variable} = {kind}", id, given["Properties"], kind),
        f"{_SPACE}{variable}.apply_removal_policy(cdk.RemovalPolicy.RETAIN)",
    ]
    if "Metadata" in given:
        lines.append(f"{_SPACE}{variable}.cfn_options.metadata = {_value(given['Metadata'], '', '', len(_SPACE))}")
    return "\n".join(lines)


def _construct(opening: str, id: str, given: Mapping[str, Any], kind: str = "") -> str:
    """A statement that makes a construct."""
    indent = len(_SPACE)
    return _SPACE + _call(opening, ["self", _quoted(id), *_arguments(given, kind, indent + 4)], indent)


def _arguments(given: Mapping[str, Any], kind: str, indent: int) -> list[str]:
    return [f"{_snake(name)}={_value(value, name, kind, indent)}" for name, value in given.items()]


def _value(value: Any, name: str, kind: str, indent: int) -> str:  # noqa: ANN401 - JSON
    """A value of a property, as source."""
    if isinstance(value, dict):
        return _function(value) or _part(value, name, kind, indent)
    if isinstance(value, list):
        return _in_lines("[", [_value(each, name, kind, indent + 4) for each in value], "]", indent)
    return _quoted(value) if isinstance(value, str) else repr(value)


def _function(value: Mapping[str, Any]) -> str | None:
    """A function of CloudFormation, if it is one."""
    match value:
        case {"Ref": "AWS::NoValue"}:
            return "cdk.Aws.NO_VALUE"
        case {"Ref": str(id)}:
            return f"cdk.Fn.ref({_quoted(id)})"
        case {"Fn::Sub": str(text)}:
            return f"cdk.Fn.sub({_quoted(text)})"
        case {"Fn::GetAtt": [id, attribute]}:
            return f"cdk.Fn.get_att({_quoted(id)}, {_quoted(attribute)})"
        case {"Fn::If": [condition, first, second]}:
            parts = ", ".join(_value(each, "", "", 0) for each in (first, second))
            return f"cdk.Token.as_list(cdk.Fn.condition_if({_quoted(condition)}, {parts}))"
    return None


def _part(value: Mapping[str, Any], name: str, kind: str, indent: int) -> str:
    """A part of a resource: an object of its class, or a mapping where CloudFormation takes any."""
    if name == "PolicyDocument" or not kind:
        pairs = [f"{_quoted(each)}: {_value(own, '', '', indent + 4)}" for each, own in value.items()]
        return _in_lines("{", pairs, "}", indent)
    made = "cdk.CfnTag" if name == "Tags" else f"{kind}.{_PARTS.get(name, name)}Property"
    return _call(made, _arguments(value, kind, indent + 4), indent)


def _call(opening: str, arguments: list[str], indent: int) -> str:
    return _in_lines(f"{opening}(", arguments, ")", indent)


def _in_lines(opening: str, parts: list[str], closing: str, indent: int) -> str:
    """Parts in one line, or each in a line of its own."""
    line = f"{opening}{', '.join(parts)}{closing}"
    if len(line) + indent < _WIDTH and "\n" not in line:
        return line
    return opening + "\n" + "".join(f"{' ' * (indent + 4)}{each},\n" for each in parts) + " " * indent + closing


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _snake(name: str) -> str:
    return _CAPITALS.sub("_", name).lower()
