"""What makes a legal resource-based policy: its JSON, its statements, and the actions that they name."""

from fnmatch import fnmatchcase
from typing import TypeAlias, cast

import orjson

from keyplan.engine import service_model
from keyplan.engine.errors import DynamoError, invalid_parameter
from keyplan.engine.storage.scopes import scope_of

MAXIMUM_BYTES = 20 * 1024
VERSIONS = ("2012-10-17", "2008-10-17")
STREAM_ACTIONS = frozenset({"DescribeStream", "GetRecords", "GetShardIterator"})
PARTIQL_ACTIONS = frozenset({"PartiQLDelete", "PartiQLInsert", "PartiQLSelect", "PartiQLUpdate"})
WITHOUT_OPERATION = frozenset({"ConditionCheckItem", "CreateTableReplica", "DeleteTableReplica", "GetAbacStatus"})
"""Actions on a table that aren't operations of the API."""

Document: TypeAlias = dict[str, object]
Statement: TypeAlias = dict[str, object]

_PREFIX = "dynamodb:"
_STREAM_ARN = ":table/*/stream/*"
_STATEMENT_MEMBERS = frozenset(
    {"Sid", "Effect", "Principal", "NotPrincipal", "Action", "NotAction", "Resource", "NotResource", "Condition"}
)
_CHANGES_POLICIES = ("PutResourcePolicy", "DeleteResourcePolicy")


def check_document(text: str, arn: str) -> Document:
    """Return the policy in a text, for the table or stream with this ARN; refuse what AWS doesn't accept."""
    if len(text.encode()) > MAXIMUM_BYTES:
        raise _invalid(f"The policy has more than the {MAXIMUM_BYTES} bytes that are allowed")
    try:
        document = orjson.loads(text)
    except orjson.JSONDecodeError:
        raise _invalid("The policy is not valid JSON") from None
    if not isinstance(document, dict):
        raise _invalid("The policy must be a JSON object")
    for member in document:
        if member not in ("Version", "Id", "Statement"):
            raise _invalid(f"The policy has an unknown element: {member}")
    if document.get("Version", VERSIONS[0]) not in VERSIONS:
        raise _invalid(f"The Version of the policy must be {' or '.join(VERSIONS)}")
    statements = _statements(document)
    if not statements:
        raise _invalid("The policy has no Statement")
    for statement in statements:
        _check_statement(statement)
    _check_actions(statements, arn)
    return document


def _statements(document: Document) -> list[Statement]:
    return cast(list[Statement], _list(document.get("Statement", [])))


def _list(value: object) -> list[object]:
    """One value or several, as policies write them."""
    return value if isinstance(value, list) else [value]


def _check_statement(statement: Statement) -> None:
    if not isinstance(statement, dict):
        raise _invalid("A Statement must be a JSON object")
    for member in statement:
        if member not in _STATEMENT_MEMBERS:
            raise _invalid(f"A Statement has an unknown element: {member}")
    if statement.get("Effect") not in ("Allow", "Deny"):
        raise _invalid("The Effect of a Statement must be Allow or Deny")
    for member in ("Principal", "Action", "Resource"):
        if (member in statement) == (f"Not{member}" in statement):
            raise _invalid(f"A Statement needs either {member} or Not{member}")
    for member in ("Action", "NotAction", "Resource", "NotResource"):
        if not all(isinstance(value, str) and value for value in _list(statement.get(member, "*"))):
            raise _invalid(f"{member} must be a string or a list of strings")
    _check_principal(statement.get("Principal", statement.get("NotPrincipal")))


def _check_principal(principal: object) -> None:
    if principal == "*":
        return
    kinds = {"AWS", "Service", "Federated", "CanonicalUser"}
    if not isinstance(principal, dict) or not principal or not principal.keys() <= kinds:
        raise invalid_parameter("Invalid principal in policy document.")
    for values in principal.values():
        if not all(isinstance(value, str) and value for value in _list(values)):
            raise invalid_parameter("Invalid principal in policy document.")


def _check_actions(statements: list[Statement], arn: str) -> None:
    """Refuse actions that the kind of resource doesn't have; wildcards are allowed."""
    legal = _legal_actions(arn)
    named = [
        str(action)
        for statement in statements
        for member in ("Action", "NotAction")
        for action in _list(statement.get(member, []))
    ]
    wrong = [action for action in named if action != "*" and not any(_matches(action, name) for name in legal)]
    if wrong:
        names = ", ".join(f'"{name}"' for name in dict.fromkeys(wrong))
        raise _invalid(f"The following action names are invalid: {names}")


def _legal_actions(arn: str) -> frozenset[str]:
    if fnmatchcase(arn, f"*{_STREAM_ARN}"):
        return STREAM_ACTIONS | frozenset({"PutResourcePolicy", "GetResourcePolicy", "DeleteResourcePolicy"})
    return _table_actions() | PARTIQL_ACTIONS | WITHOUT_OPERATION


def _table_actions() -> frozenset[str]:
    """The operations that name a table, or the tables of their items."""
    model = service_model.load("dynamodb")
    members = {"TableName", "TableArn", "SourceTableName", "SourceTableArn", "ResourceArn", "RequestItems"}
    named = {
        name
        for name, operation in model["operations"].items()
        if "input" in operation and members & model["shapes"][operation["input"]["shape"]].get("members", {}).keys()
    }
    # Transactions are allowed by the actions of their parts; a table that doesn't exist yet has no policy.
    return frozenset(named - {"CreateTable", "ImportTable", "ListBackups", "ListExports", "ListImports"})


def _matches(action: str, name: str) -> bool:
    """Whether an action of a policy, which may have wildcards, includes the one with this name."""
    return fnmatchcase((_PREFIX + name).lower(), action.lower())


def denies_own_account(document: Document, arn: str) -> bool:
    """Whether a policy keeps its own account from changing it again."""
    for statement in _statements(document):
        actions, resources = (_list(statement.get(member, [])) for member in ("Action", "Resource"))
        if (
            statement["Effect"] == "Deny"
            and "Condition" not in statement
            and _names_account(statement.get("Principal"), scope_of(arn).account)
            and any(fnmatchcase(arn, str(resource)) for resource in resources)
            and any(action == "*" or _matches(str(action), name) for action in actions for name in _CHANGES_POLICIES)
        ):
            return True
    return False


def _names_account(principal: object, account: str) -> bool:
    accounts = principal.get("AWS", []) if isinstance(principal, dict) else principal or []
    return not {"*", account, f"arn:aws:iam::{account}:root"}.isdisjoint(map(str, _list(accounts)))


def _invalid(problem: str) -> DynamoError:
    return invalid_parameter(f"Invalid policy document: {problem}")
