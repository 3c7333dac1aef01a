"""Templates of all formats: what tools say about them, and that they have what the design says."""

import json
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import hcl2
import pytest
import yaml
from cfnlint.config import ConfigMixIn  # type: ignore[import-untyped]
from cfnlint.decode.decode import decode_str  # type: ignore[import-untyped]
from cfnlint.runner import Runner  # type: ignore[import-untyped]

from keyplan.data import Store
from keyplan.design import Design, Entity, Id, Table, consumer, key
from keyplan.engine import Engine
from keyplan.publish.differences import deployed, snapshot_of
from keyplan.publish.infra import FORMATS, Format, InfraError, render, stack_of
from keyplan.publish.shapes import logical_id
from tests.all_designs import SYSTEMS, design
from tests.publish.every_word import Library


def kinds() -> list[str]:
    return [*(f"apps/{name}" for name in SYSTEMS), "every word"]


def kind_of(name: str) -> type[Design]:
    return Library if name == "every word" else design(name)


def text_of(kind: type[Design], format: Format) -> str:
    return render(stack_of(kind()), format).text


def template(kind: type[Design], format: Format = "cloudformation") -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load(text_of(kind, format))
    return loaded


@pytest.fixture(scope="module")
def linter() -> Runner:
    """cfn-lint with the rules of its command. Loading them takes longer than checking a template."""
    return Runner(ConfigMixIn([], regions=["us-east-1"]))


@pytest.mark.parametrize(
    ("name", "format"), [*((name, "cloudformation") for name in kinds()), ("apps/vcm", "sam"), ("every word", "sam")]
)
def test_cfn_lint_finds_nothing(name: str, format: Format, linter: Runner) -> None:
    read, errors = decode_str(text_of(kind_of(name), format))
    assert errors == []
    assert [str(each) for each in linter.validate_template(read)] == []


def test_cfn_lint_finds_mistakes(linter: Runner) -> None:
    wrong = text_of(Library, "cloudformation").replace("KeyType: RANGE", "KeyType: SORT")
    assert [each.rule.id for each in linter.validate_template(decode_str(wrong)[0])] != []


@pytest.mark.parametrize("format", FORMATS)
def test_a_format_is_always_the_same_for_the_same_design(format: Format) -> None:
    assert text_of(Library, format) == text_of(Library, format)


# What is in them


def properties(resources: Mapping[str, Any], type_: str) -> dict[str, Any]:
    return {id: each["Properties"] for id, each in resources.items() if each["Type"] == type_}


def test_a_table_has_all_that_the_design_says() -> None:
    resources = template(Library)["Resources"]
    table = resources["LibraryTable"]
    assert (table["DeletionPolicy"], table["UpdateReplacePolicy"]) == ("Retain", "Retain")
    said = table["Properties"]
    assert said["TableName"] == "Library-dev"
    assert [each["IndexName"] for each in said["GlobalSecondaryIndexes"]] == ["GSI1", "ByYear", "ByShelf"]
    by_year, by_shelf = said["GlobalSecondaryIndexes"][1:]
    assert by_year["Projection"] == {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["title", "language"]}
    assert [each["KeyType"] for each in by_shelf["KeySchema"]] == ["HASH", "HASH", "RANGE", "RANGE"]
    assert by_shelf["Projection"] == {"ProjectionType": "KEYS_ONLY"}
    assert [each["IndexName"] for each in said["LocalSecondaryIndexes"]] == ["ByTitle"]
    (vectors,) = said["VectorIndexes"]
    assert (vectors["Dimensions"], vectors["DistanceFunction"]) == (8, "COSINE")
    assert [each["SearchSchemaElementType"] for each in vectors["SearchSchema"]] == ["HASH", "INLINE_FILTER"]
    assert said["TimeToLiveSpecification"] == {"AttributeName": "expiresAt", "Enabled": True}
    assert said["StreamSpecification"] == {"StreamViewType": "NEW_AND_OLD_IMAGES"}
    assert said["PointInTimeRecoverySpecification"] == {"PointInTimeRecoveryEnabled": True, "RecoveryPeriodInDays": 7}
    assert said["DeletionProtectionEnabled"] is True
    assert said["TableClass"] == "STANDARD_INFREQUENT_ACCESS"
    assert said["SSESpecification"]["KMSMasterKeyId"].startswith("arn:aws:kms:")
    assert said["Tags"] == [{"Key": "cost-center", "Value": "7"}, {"Key": "team", "Value": "books and more"}]
    other = resources["ReadersTable"]["Properties"]
    assert other["BillingMode"] == "PROVISIONED"
    units = {"ReadCapacityUnits": 5, "WriteCapacityUnits": 7}
    assert other["ProvisionedThroughput"] == other["GlobalSecondaryIndexes"][0]["ProvisionedThroughput"] == units
    assert other["PointInTimeRecoverySpecification"] == {"PointInTimeRecoveryEnabled": False}
    assert other["DeletionProtectionEnabled"] is False
    assert other["SSESpecification"] == {"SSEEnabled": True, "SSEType": "KMS"}
    assert resources["RoomsTable"]["Properties"]["SSESpecification"] == {"SSEEnabled": False}
    assert resources["KeyplanTable"]["Properties"]["TableName"] == "Library-dev-keyplan"


def test_alarms_watch_tables_indexes_and_readers_of_streams() -> None:
    alarms = properties(template(Library)["Resources"], "AWS::CloudWatch::Alarm")
    throttles = alarms["LibraryIndexByYearThrottles"]["Metrics"]
    assert {each["MetricStat"]["Metric"]["MetricName"] for each in throttles if "MetricStat" in each} == {
        *("ReadThrottleEvents", "WriteThrottleEvents")
    }
    assert [each["Name"] for each in throttles[0]["MetricStat"]["Metric"]["Dimensions"]] == [
        *("TableName", "GlobalSecondaryIndexName")
    ]
    assert "LibraryIndexByTitleThrottles" not in alarms  # a local index is throttled with its table
    assert "TableName = 'Library-dev'" in alarms["LibrarySystemErrors"]["Metrics"][0]["Expression"]
    age = alarms["SearchIndexIteratorAge"]
    assert (age["Namespace"], age["MetricName"]) == ("AWS/Lambda", "IteratorAge")
    assert age["Dimensions"] == [{"Name": "FunctionName", "Value": {"Ref": "SearchIndexFunction"}}]
    assert {"MailIteratorAge", "StatisticsIteratorAge"} <= alarms.keys()


def test_policies_name_the_resources_of_the_template() -> None:
    resources = template(Library)["Resources"]
    policies = properties(resources, "AWS::IAM::ManagedPolicy")
    assert policies.keys() == {
        *("ServicePolicy", "ReaderPolicy", "OperatorPolicy", "WorkerPolicy"),
        *("SearchIndexConsumerPolicy", "MailConsumerPolicy", "StatisticsConsumerPolicy"),
    }
    search = policies["SearchIndexConsumerPolicy"]["PolicyDocument"]["Statement"]
    assert {"Fn::GetAtt": ["LibraryTable", "StreamArn"]} in [each["Resource"][0] for each in search]
    (queue,) = [each["Resource"][0] for each in search if each["Action"] == ["sqs:SendMessage"]]
    assert queue["Fn::Sub"].endswith(":search-index-failures")
    named = [each for policy in policies.values() for each in policy["PolicyDocument"]["Statement"]]
    assert {"Fn::Sub": "${LibraryTable.Arn}/index/ByYear"} in [target for each in named for target in each["Resource"]]


def test_sam_has_a_function_for_each_reader_with_its_own_rights() -> None:
    resources = template(Library, "sam")["Resources"]
    functions = properties(resources, "AWS::Serverless::Function")
    assert functions.keys() == {"SearchIndexFunction", "MailFunction", "StatisticsFunction"}
    search = functions["SearchIndexFunction"]
    event = search["Events"]["Stream"]["Properties"]
    assert event["Stream"] == {"Fn::GetAtt": ["LibraryTable", "StreamArn"]}
    assert event["FunctionResponseTypes"] == ["ReportBatchItemFailures"]
    assert event["DestinationConfig"]["OnFailure"]["Destination"] == {"Fn::GetAtt": ["SearchIndexFailuresQueue", "Arn"]}
    assert functions["MailFunction"]["Events"]["Stream"]["Properties"]["DestinationConfig"]["OnFailure"] == {
        "Type": "SQS",
        "Destination": "arn:aws:sqs:us-east-1:111122223333:mail-failures",
    }
    assert "DestinationConfig" not in functions["StatisticsFunction"]["Events"]["Stream"]["Properties"]
    actions = [action for each in search["Policies"][0]["Statement"] for action in each["Action"]]
    assert "sqs:SendMessage" in actions
    assert not any(action.endswith("PutItem") for action in actions)
    assert "SearchIndexConsumerPolicy" not in resources


@pytest.mark.parametrize("name", kinds())
def test_a_dashboard_has_four_graphs_for_each_table(name: str) -> None:
    resources = template(kind_of(name))["Resources"]
    (dashboard,) = properties(resources, "AWS::CloudWatch::Dashboard").values()
    widgets = json.loads(dashboard["DashboardBody"]["Fn::Sub"])["widgets"]
    assert len(widgets) == 4 * len(properties(resources, "AWS::DynamoDB::Table"))
    places = {(each["x"], each["y"]) for each in widgets}
    assert len(places) == len(widgets)
    assert all(each["properties"]["region"] == "${AWS::Region}" for each in widgets)


def test_the_parameters_say_where_alarms_go_and_what_reads_streams() -> None:
    parameters = template(Library)["Parameters"]
    assert parameters.keys() == {"AlarmTopicArn", "SearchIndexFunction", "MailFunction", "StatisticsFunction"}
    assert template(Library, "sam")["Parameters"].keys() == {"AlarmTopicArn"}


def test_what_a_format_cannot_express_is_said() -> None:
    stack = stack_of(Library())
    notes = {format: " ".join(render(stack, format).notes) for format in FORMATS}
    assert "no vector indexes yet, so ByMeaning of Library-dev is left out" in notes["terraform"]
    assert all("us-east-1, eu-central-1" in each for format, each in notes.items() if format != "iam")
    assert "Terraform deletes the table, unless it is protected" in notes["terraform"]
    assert "search-index/app.py" in notes["sam"]
    assert "Auto scaling isn't part of the template" in notes["cloudformation"]
    assert "The policy of Library-dev's key" in notes["cdk"]
    assert notes["iam"] == ""


def test_failures_that_do_not_go_to_a_queue_are_said() -> None:
    class Notes(Design):
        tables = (
            Table(
                "notes",
                key("id"),
                stream="KEYS_ONLY",
                consumers=(consumer("mail", failures="the inbox of operations"), consumer("search", failures="lost")),
            ),
        )

    made = render(stack_of(Notes()), "sam")
    assert "What 'mail' can't process goes to 'the inbox of operations', which isn't a queue of SQS" in made.notes[0]
    resources = yaml.safe_load(made.text)["Resources"]
    assert list(properties(resources, "AWS::SQS::Queue")) == ["LostQueue"]
    assert "inbox" not in made.text


# Names


def test_names_in_a_template_come_from_declared_names_alone() -> None:
    assert logical_id("{table=WavyBlog}") == logical_id("WavyBlog") == "WavyBlogTable"
    assert logical_id("3fc-{env=dev}-app") == logical_id("3fc-{env}-app") == "T3fcAppTable"
    assert logical_id("{name}") == "NameTable"
    ids = {
        stage: [id for id, each in template_in(stage).items() if each["Type"] == "AWS::DynamoDB::Table"]
        for stage in ("dev", "prod")
    }
    assert ids["dev"] == ids["prod"] == ["LibraryTable", "ReadersTable", "RoomsTable", "KeyplanTable"]


def template_in(stage: str) -> dict[str, Any]:
    text = render(stack_of(Library({"stage": stage})), "cloudformation").text
    resources: dict[str, Any] = yaml.safe_load(text)["Resources"]
    assert resources["LibraryTable"]["Properties"]["TableName"] == f"Library-{stage}"
    return resources


def test_two_tables_of_one_name_are_refused() -> None:
    one, other = Table("my-notes", key("id")), Table("my_notes", key("id"))

    class Note(Entity, table=one):
        id: Id
        primary = key("{id}")

    class Notes(Design):
        tables = (one, other)
        entities = (Note,)

    with pytest.raises(InfraError, match="my-notes, my_notes would all be called MyNotesTable"):
        stack_of(Notes())


def test_two_tables_of_one_name_in_an_environment_are_refused() -> None:
    class Notes(Design):
        tables = (Table("{a}-notes", key("id")), Table("x-{b}", key("id")))

    with pytest.raises(InfraError, match="Two tables have the name x-notes"):
        stack_of(Notes({"a": "x", "b": "notes"}))


def test_two_indexes_of_one_name_are_refused() -> None:
    class Notes(Design):
        tables = (Table("notes", key("id"), indexes={"by-tag": key("tag"), "by_tag": key("text")}),)

    with pytest.raises(InfraError, match="2 resources would be called NotesIndexByTagThrottles"):
        stack_of(Notes())


def test_names_that_are_unique_in_an_account_have_those_of_tables() -> None:
    """Two environments of a design can be deployed beside each other."""
    named = ("alarm_name", "dashboard_name", "queue_name")
    lines = {
        stage: {
            line
            for line in render(stack_of(Library({"stage": stage})), "terraform").text.splitlines()
            if line.strip().startswith(named) and "readers" not in line and "rooms" not in line
        }
        for stage in ("dev", "prod")
    }
    assert lines["dev"]
    assert lines["dev"].isdisjoint(lines["prod"])


# Terraform

_KEYED = {"name", "hash_key", "range_key", "projection_type", "non_key_attributes", "read_capacity", "write_capacity"}
ARGUMENTS: dict[str, set[str]] = {
    # Terraform's AWS provider, "Resource: aws_dynamodb_table".
    "aws_dynamodb_table": {
        *("name", "billing_mode", "hash_key", "range_key", "read_capacity", "write_capacity", "stream_enabled"),
        *("stream_view_type", "deletion_protection_enabled", "table_class", "tags", "attribute", "ttl"),
        *("global_secondary_index", "local_secondary_index", "point_in_time_recovery", "server_side_encryption"),
        "lifecycle",
    },
    "aws_dynamodb_table.attribute": {"name", "type"},
    "aws_dynamodb_table.ttl": {"attribute_name", "enabled"},
    "aws_dynamodb_table.global_secondary_index": _KEYED - {"hash_key", "range_key"} | {"key_schema"},
    "aws_dynamodb_table.global_secondary_index.key_schema": {"attribute_name", "key_type"},
    "aws_dynamodb_table.local_secondary_index": {"name", "range_key", "projection_type", "non_key_attributes"},
    "aws_dynamodb_table.point_in_time_recovery": {"enabled", "recovery_period_in_days"},
    "aws_dynamodb_table.server_side_encryption": {"enabled", "kms_key_arn"},
    "aws_dynamodb_table.lifecycle": {"prevent_destroy"},
    # "Resource: aws_cloudwatch_metric_alarm".
    "aws_cloudwatch_metric_alarm": {
        *("alarm_name", "alarm_description", "comparison_operator", "threshold", "evaluation_periods"),
        *("treat_missing_data", "alarm_actions", "namespace", "metric_name", "dimensions", "statistic", "period"),
        "metric_query",
    },
    "aws_cloudwatch_metric_alarm.metric_query": {"id", "expression", "label", "period", "return_data", "metric"},
    "aws_cloudwatch_metric_alarm.metric_query.metric": {"namespace", "metric_name", "dimensions", "period", "stat"},
    # "Resource: aws_cloudwatch_dashboard" and "Resource: aws_iam_policy".
    "aws_cloudwatch_dashboard": {"dashboard_name", "dashboard_body"},
    "aws_iam_policy": {"name_prefix", "description", "policy"},
}
"""The arguments of the provider's documentation that are used."""
VALUES = ("tags", "dimensions")
"""Arguments that are mappings, not blocks."""


@cache
def parsed(name: str) -> dict[str, Any]:
    loaded: dict[str, Any] = hcl2.loads(text_of(kind_of(name), "terraform"))
    return loaded


def unquoted(text: str) -> str:
    return text.strip('"')


def resources_of(name: str) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for each in parsed(name)["resource"]:
        for type_, named in each.items():
            for label, body in named.items():
                yield unquoted(type_), unquoted(label), body


def unknown_arguments(place: str, body: Mapping[str, Any]) -> Iterator[str]:
    known = ARGUMENTS.get(place, set())
    for name, value in body.items():
        if name.startswith("__"):  # what the parser adds
            continue
        if name not in known:
            yield f"{place}.{name}"
        for block in value if isinstance(value, list) else ():
            if isinstance(block, dict):
                yield from unknown_arguments(f"{place}.{name}", block)


@pytest.mark.parametrize("name", kinds())
def test_terraform_is_parsed_and_has_only_known_arguments(name: str) -> None:
    found = list(resources_of(name))
    assert {type_ for type_, _, _ in found} <= ARGUMENTS.keys()
    assert [unknown for type_, _, body in found for unknown in unknown_arguments(type_, body)] == []


def test_an_unknown_argument_is_found() -> None:
    assert list(unknown_arguments("aws_dynamodb_table", {"name": "x", "nmae": "y", "ttl": [{"on": True}]})) == [
        *("aws_dynamodb_table.nmae", "aws_dynamodb_table.ttl.on")
    ]


@pytest.mark.parametrize("name", kinds())
def test_terraform_has_the_tables_of_the_other_template(name: str) -> None:
    """Vector indexes excepted, which the provider doesn't have."""
    kind = kind_of(name)
    tables = properties(template(kind)["Resources"], "AWS::DynamoDB::Table")
    made = {unquoted(body["name"]): body for type_, _, body in resources_of(name) if type_ == "aws_dynamodb_table"}
    assert made.keys() == {each["TableName"] for each in tables.values()}
    for said in tables.values():
        body = made[said["TableName"]]
        keys = [each["AttributeName"] for each in said["KeySchema"]]
        assert [unquoted(body[each]) for each in ("hash_key", "range_key") if each in body] == keys
        indexes = {
            unquoted(each["name"]): [unquoted(part["attribute_name"]) for part in each["key_schema"]]
            for each in body.get("global_secondary_index", ())
        }
        assert indexes == {
            each["IndexName"]: [part["AttributeName"] for part in each["KeySchema"]]
            for each in said.get("GlobalSecondaryIndexes", ())
        }
        used = {*keys, *(name for each in indexes.values() for name in each)}
        used |= {unquoted(each["range_key"]) for each in body.get("local_secondary_index", ())}
        assert {unquoted(each["name"]) for each in body["attribute"]} == used
        assert body["lifecycle"][0]["prevent_destroy"] is True


@pytest.mark.skipif(shutil.which("terraform") is None, reason="NOT TESTED: terraform isn't installed")
@pytest.mark.parametrize("name", ["apps/wavyblog", "every word"])
def test_terraform_formats_it_the_same(name: str, tmp_path: Path) -> None:
    """`terraform fmt` parses a file, and says how it would write it."""
    text = text_of(kind_of(name), "terraform")
    done = subprocess.run(
        ["terraform", "fmt", "-no-color", "-"], input=text, capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == text


# The same as what the store creates


@pytest.mark.parametrize("name", kinds())
def test_the_engine_makes_the_same_tables(name: str) -> None:
    """A template's tables are those that `create_tables` makes: same keys, indexes and settings."""
    made = kind_of(name)()
    with Engine(ttl_interval=None) as engine:
        Store(made, engine).create_tables()
        found = {each.name: each for each in deployed(engine, made.table_names.values()).tables}
        for table in snapshot_of(made).tables:
            same = found[table.name]
            assert (same.hash, same.range, same.ttl, same.stream) == (table.hash, table.range, table.ttl, table.stream)
            assert {each.name: each for each in same.indexes} == {each.name: each for each in table.indexes}
            assert {each.name for each in same.vectors} == {each.name for each in table.vectors}
