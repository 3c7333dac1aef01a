"""PutResourcePolicy, GetResourcePolicy and DeleteResourcePolicy, and the policy that CreateTable attaches.

A policy is stored, checked and returned. It is not enforced: the engine knows no users.
"""

from typing import TypedDict, cast

import orjson

from keyplan.engine.errors import DynamoError, invalid_parameter
from keyplan.engine.executor import Answer
from keyplan.engine.operations.tables.policy_documents import check_document, denies_own_account
from keyplan.engine.operations.tables.resources import resource_with_arn
from keyplan.engine.storage.catalog import Table
from keyplan.engine.storage.records import delete_record, get_record, list_records, put_record
from keyplan.engine.storage.transaction import Transaction

NO_POLICY = "NO_POLICY"
"""The expected revision that says that the resource must not have a policy yet."""

_KIND = "resource_policy"


class PolicyRequest(TypedDict, total=False):
    """The members of all three requests."""

    ResourceArn: str
    Policy: str
    ExpectedRevisionId: str
    ConfirmRemoveSelfResourceAccess: bool


class _Policy(TypedDict):
    """A stored policy, under the ARN of its resource."""

    document: str
    revision: str


def put_resource_policy(transaction: Transaction, request: PolicyRequest) -> Answer:
    arn = resource_with_arn(transaction, "PutResourcePolicy", request["ResourceArn"])
    document = check_document(request["Policy"], arn)
    _check_expected(transaction, arn, request.get("ExpectedRevisionId"))
    if denies_own_account(document, arn) and not request.get("ConfirmRemoveSelfResourceAccess"):
        raise invalid_parameter(
            "Invalid policy document: The policy would not let you change it again. To attach it, set "
            "ConfirmRemoveSelfResourceAccess to true"
        )
    return {"RevisionId": attach(transaction, arn, request["Policy"])}


def get_resource_policy(transaction: Transaction, request: PolicyRequest) -> Answer:
    arn = resource_with_arn(transaction, "GetResourcePolicy", request["ResourceArn"])
    policy = _policy(transaction, arn)
    if policy is None:
        raise _no_policy(arn)
    return {"Policy": policy["document"], "RevisionId": policy["revision"]}


def delete_resource_policy(transaction: Transaction, request: PolicyRequest) -> Answer:
    """Delete a policy; the answer is empty if there was none."""
    arn = resource_with_arn(transaction, "DeleteResourcePolicy", request["ResourceArn"])
    policy, expected = _policy(transaction, arn), request.get("ExpectedRevisionId")
    if expected is not None and (policy is None or policy["revision"] != expected):
        raise _no_policy(arn, expected)
    delete_record(transaction, _KIND, arn)
    return {} if policy is None else {"RevisionId": policy["revision"]}


def attach(transaction: Transaction, arn: str, text: str) -> str:
    """Store a policy that was checked; return its revision, which stays the same if the document does."""
    before = _policy(transaction, arn)
    if before is not None and orjson.loads(before["document"]) == orjson.loads(text):
        return before["revision"]
    revision = max(int(transaction.now * 1000), int(before["revision"]) + 1 if before else 0)
    put_record(transaction, _KIND, arn, {"document": text, "revision": str(revision)})
    return str(revision)


def delete_policies(transaction: Transaction, table: Table) -> None:
    """Delete the policies of a table that is deleted, and those of its streams."""
    for arn, _ in list_records(transaction, _KIND, prefix=table.arn):
        if arn == table.arn or arn.startswith(f"{table.arn}/"):
            delete_record(transaction, _KIND, arn)


def _policy(transaction: Transaction, arn: str) -> _Policy | None:
    return cast(_Policy | None, get_record(transaction, _KIND, arn))


def _check_expected(transaction: Transaction, arn: str, expected: str | None) -> None:
    """Refuse to replace a policy that has another revision than expected."""
    if expected is None:
        return
    policy = _policy(transaction, arn)
    found = NO_POLICY if policy is None else policy["revision"]
    if found != expected:
        raise _no_policy(arn, expected)


def _no_policy(arn: str, expected: str | None = None) -> DynamoError:
    revision = "" if expected is None else f" with the expected revision ID {expected}"
    message = f"Resource-based policy not found for the provided ResourceArn: {arn}{revision}"
    return DynamoError("PolicyNotFoundException", message)
