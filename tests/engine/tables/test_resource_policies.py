"""Resource-based policies of tables and streams: stored, checked and returned, but not enforced."""

import json
from typing import TYPE_CHECKING, Any

import pytest

from keyplan.engine import Engine
from tests.engine.support import Clock, make_table, refused

if TYPE_CHECKING:
    from types_boto3_dynamodb import DynamoDBClient

ARN = "arn:aws:dynamodb:us-east-1:000000000000:table/"
INVALID = "One or more parameter values were invalid: Invalid policy document: "


def statement(**changed: Any) -> dict[str, Any]:
    made = {
        "Effect": "Allow",
        "Principal": {"AWS": "arn:aws:iam::111122223333:user/ada"},
        "Action": "dynamodb:GetItem",
        "Resource": "*",
        **changed,
    }
    return {name: value for name, value in made.items() if value is not None}


def policy(*statements: dict[str, Any], **changed: Any) -> str:
    return json.dumps({"Version": "2012-10-17", "Statement": list(statements) or [statement()], **changed})


def no_policy(arn: str, revision: str | None = None) -> Any:
    expected = f" with the expected revision ID {revision}" if revision else ""
    message = f"Resource-based policy not found for the provided ResourceArn: {arn}{expected}"
    return refused(message, "PolicyNotFoundException")


def test_a_policy_is_attached_read_replaced_and_deleted(client: "DynamoDBClient") -> None:
    arn = ARN + make_table(client)
    with no_policy(arn):
        client.get_resource_policy(ResourceArn=arn)
    first = client.put_resource_policy(ResourceArn=arn, Policy=policy())["RevisionId"]
    # The same document, written differently.
    again = client.put_resource_policy(ResourceArn=arn, Policy=json.dumps(json.loads(policy()), indent=2))
    assert again["RevisionId"] == first
    found = client.get_resource_policy(ResourceArn=arn)
    assert (found["Policy"], found["RevisionId"]) == (policy(), first)
    second = client.put_resource_policy(ResourceArn=arn, Policy=policy(statement(Sid="1")))["RevisionId"]
    assert int(second) > int(first)
    assert client.delete_resource_policy(ResourceArn=arn)["RevisionId"] == second
    assert "RevisionId" not in client.delete_resource_policy(ResourceArn=arn)
    with no_policy(arn):
        client.get_resource_policy(ResourceArn=arn)


def test_a_revision_can_be_expected(client: "DynamoDBClient") -> None:
    arn = ARN + make_table(client)
    with no_policy(arn, "17"):
        client.put_resource_policy(ResourceArn=arn, Policy=policy(), ExpectedRevisionId="17")
    first = client.put_resource_policy(ResourceArn=arn, Policy=policy(), ExpectedRevisionId="NO_POLICY")["RevisionId"]
    other = policy(statement(Sid="1"))
    with no_policy(arn, "NO_POLICY"):
        client.put_resource_policy(ResourceArn=arn, Policy=other, ExpectedRevisionId="NO_POLICY")
    second = client.put_resource_policy(ResourceArn=arn, Policy=other, ExpectedRevisionId=first)["RevisionId"]
    with no_policy(arn, first):
        client.delete_resource_policy(ResourceArn=arn, ExpectedRevisionId=first)
    assert client.delete_resource_policy(ResourceArn=arn, ExpectedRevisionId=second)["RevisionId"] == second
    with no_policy(arn, second):
        client.delete_resource_policy(ResourceArn=arn, ExpectedRevisionId=second)


def test_a_table_is_created_with_a_policy(client: "DynamoDBClient") -> None:
    table = make_table(client, ResourcePolicy=policy())
    assert client.get_resource_policy(ResourceArn=ARN + table)["Policy"] == policy()
    client.delete_table(TableName=table)
    make_table(client, name=table)
    with no_policy(ARN + table):
        client.get_resource_policy(ResourceArn=ARN + table)
    with refused(INVALID + "The policy is not valid JSON"):
        make_table(client, name="wrong", ResourcePolicy="{")
    assert client.list_tables()["TableNames"] == [table]


def test_a_stream_has_a_policy_of_its_own(client: "DynamoDBClient") -> None:
    table = make_table(client, StreamSpecification={"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"})
    stream = client.describe_table(TableName=table)["Table"]["LatestStreamArn"]
    reading = policy(statement(Action=["dynamodb:GetRecords", "dynamodb:GetShardIterator", "dynamodb:DescribeStream"]))
    client.put_resource_policy(ResourceArn=stream, Policy=reading)
    assert client.get_resource_policy(ResourceArn=stream)["Policy"] == reading
    with no_policy(ARN + table):
        client.get_resource_policy(ResourceArn=ARN + table)
    with refused(INVALID + 'The following action names are invalid: "dynamodb:ListStreams"'):
        client.put_resource_policy(ResourceArn=stream, Policy=policy(statement(Action="dynamodb:ListStreams")))
    with refused(
        INVALID + 'The following action names are invalid: "dynamodb:GetRecords", "dynamodb:GetShardIterator"'
    ):
        client.put_resource_policy(
            ResourceArn=ARN + table,
            Policy=policy(statement(Action=["dynamodb:GetRecords", "dynamodb:GetShardIterator", "dynamodb:Get*"])),
        )
    client.delete_table(TableName=table)
    with refused(f"Requested resource not found: ResourcArn: {stream} not found", "ResourceNotFoundException"):
        client.get_resource_policy(ResourceArn=stream)


def test_a_policy_is_not_enforced(client: "DynamoDBClient") -> None:
    denied = statement(Effect="Deny", Principal="*", Action="dynamodb:PutItem")
    table = make_table(client, ResourcePolicy=policy(denied))
    client.put_item(TableName=table, Item={"pk": {"S": "a"}})


def test_losing_access_has_to_be_confirmed(client: "DynamoDBClient") -> None:
    arn = ARN + make_table(client)
    for principal, action, resource in (
        ("*", "dynamodb:*", "*"),
        ({"AWS": "000000000000"}, "dynamodb:PutResourcePolicy", arn),
        ({"AWS": ["arn:aws:iam::000000000000:root"]}, ["dynamodb:DeleteResourcePolicy"], [ARN + "*"]),
    ):
        denied = policy(statement(Effect="Deny", Principal=principal, Action=action, Resource=resource))
        with refused(
            INVALID + "The policy would not let you change it again. To attach it, set ConfirmRemoveSelfResourceAccess "
            "to true"
        ):
            client.put_resource_policy(ResourceArn=arn, Policy=denied)
        client.put_resource_policy(ResourceArn=arn, Policy=denied, ConfirmRemoveSelfResourceAccess=True)
    for harmless in (
        statement(Effect="Deny", Principal="*", Action="dynamodb:GetItem"),
        statement(Effect="Deny", Principal={"AWS": "111122223333"}, Action="dynamodb:*"),
        statement(Effect="Deny", Principal="*", Action="dynamodb:*", Resource=f"{arn}/index/*"),
    ):
        client.put_resource_policy(ResourceArn=arn, Policy=policy(harmless))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("no policy", "The policy is not valid JSON"),
        ("[]", "The policy must be a JSON object"),
        (policy(Id="a", Other="b"), "The policy has an unknown element: Other"),
        (policy(Version="2020-01-01"), "The Version of the policy must be 2012-10-17 or 2008-10-17"),
        (json.dumps({"Version": "2012-10-17"}), "The policy has no Statement"),
        (json.dumps({"Statement": ["x"]}), "A Statement must be a JSON object"),
        (policy(statement(Actions="x")), "A Statement has an unknown element: Actions"),
        (policy(statement(Effect="allow")), "The Effect of a Statement must be Allow or Deny"),
        (policy(statement(Principal=None)), "A Statement needs either Principal or NotPrincipal"),
        (policy(statement(NotAction="dynamodb:Scan")), "A Statement needs either Action or NotAction"),
        (policy(statement(Resource=None)), "A Statement needs either Resource or NotResource"),
        (policy(statement(Action=[1])), "Action must be a string or a list of strings"),
        (
            policy(statement(Action=["dynamodb:GetAll", "s3:GetObject", "dynamodb:ListTables"])),
            'The following action names are invalid: "dynamodb:GetAll", "s3:GetObject", "dynamodb:ListTables"',
        ),
        (policy(Id="x" * 20_480), "The policy has more than the 20480 bytes that are allowed"),
    ],
)
def test_what_is_no_policy(client: "DynamoDBClient", text: str, problem: str) -> None:
    arn = ARN + make_table(client)
    with refused(INVALID + problem):
        client.put_resource_policy(ResourceArn=arn, Policy=text)


@pytest.mark.parametrize("principal", ["ada", {}, {"User": "ada"}, {"AWS": 1}])
def test_what_is_no_principal(client: "DynamoDBClient", principal: object) -> None:
    arn = ARN + make_table(client)
    with refused("One or more parameter values were invalid: Invalid principal in policy document."):
        client.put_resource_policy(ResourceArn=arn, Policy=policy(statement(Principal=principal)))


def test_other_forms_of_policies(client: "DynamoDBClient") -> None:
    arn = ARN + make_table(client)
    for text in (
        json.dumps({"Statement": statement(Action="*")}),
        policy(statement(Action=None, NotAction="dynamodb:DeleteTable", Principal=None, NotPrincipal={"AWS": "*"})),
        policy(statement(Principal={"Service": ["replication.dynamodb.amazonaws.com"]}, Action="DynamoDB:put*")),
        policy(statement(Condition={"Bool": {"aws:SecureTransport": "true"}}, Action="dynamodb:PartiQLSelect")),
        policy(statement(Resource=None, NotResource=f"{arn}/index/*", Action="dynamodb:ConditionCheckItem")),
    ):
        client.put_resource_policy(ResourceArn=arn, Policy=text)
        assert client.get_resource_policy(ResourceArn=arn)["Policy"] == text


def test_what_has_no_policies(client: "DynamoDBClient") -> None:
    table = make_table(client)
    for arn, problem, code in (
        (ARN + "missing", "Requested resource not found: ResourcArn: {} not found", "ResourceNotFoundException"),
        (
            f"{ARN}{table}/stream/2020",
            "Requested resource not found: ResourcArn: {} not found",
            "ResourceNotFoundException",
        ),
        (
            f"{ARN}{table}/index/gsi",
            "Invalid TableArn: Invalid ResourceArn provided as input {}",
            "ValidationException",
        ),
        (
            f"arn:aws:dynamodb:us-east-1:111122223333:table/{table}",
            (
                "User: arn:aws:iam::000000000000:root is not authorized to perform: dynamodb:PutResourcePolicy on "
                "resource: {}"
            ),
            "AccessDeniedException",
        ),
    ):
        with refused(problem.format(arn), code):
            client.put_resource_policy(ResourceArn=arn, Policy=policy())


def test_a_revision_is_a_time_and_grows(timed: Engine, clock: Clock) -> None:
    arn = ARN + make_table(timed)
    revisions = [
        timed.put_resource_policy(ResourceArn=arn, Policy=policy(statement(Sid=str(number))))["RevisionId"]
        for number in range(3)
    ]
    first = int(clock.now * 1000)
    assert revisions == [str(first), str(first + 1), str(first + 2)]
