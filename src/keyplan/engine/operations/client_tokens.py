"""Client tokens of exports, imports and bulk operations: the same request again has the same answer for eight hours."""

import hashlib
from typing import TypedDict, cast
from uuid import uuid4

import orjson

from keyplan.engine.errors import DynamoError
from keyplan.engine.executor import Request
from keyplan.engine.storage.records import Record, delete_record, get_record, list_records, put_record
from keyplan.engine.storage.transaction import Transaction

TOKEN = "client_token"
SECONDS = 8 * 3600.0


class _Used(TypedDict):
    arn: str
    fingerprint: str
    expires: float


def with_token(request: Request) -> Request:
    """Return a request that has a token: SDKs make one if the caller doesn't."""
    return request if "ClientToken" in request else {**request, "ClientToken": str(uuid4())}


def earlier_arn(transaction: Transaction, operation: str, request: Request, conflict: str) -> str | None:
    """Return what an earlier request with this token has started; refuse a different request with the same token."""
    used = cast(_Used | None, get_record(transaction, TOKEN, _name(transaction, operation, request)))
    if used is None or used["expires"] <= transaction.now:
        return None
    if used["fingerprint"] != _fingerprint(request):
        raise DynamoError(
            conflict,
            "The client token was used before, with other parameters. Use another token for a new request.",
        )
    return used["arn"]


def remember(transaction: Transaction, operation: str, request: Request, arn: str) -> None:
    used: _Used = {"arn": arn, "fingerprint": _fingerprint(request), "expires": transaction.now + SECONDS}
    put_record(transaction, TOKEN, _name(transaction, operation, request), cast(Record, used))


def forget_expired(transaction: Transaction) -> None:
    for name, used in list_records(transaction, TOKEN):
        if cast(_Used, used)["expires"] <= transaction.now:
            delete_record(transaction, TOKEN, name)


def _name(transaction: Transaction, operation: str, request: Request) -> str:
    scope = transaction.catalog.scope
    return f"{scope.account}/{scope.region}/{operation}:{request['ClientToken']}"


def _fingerprint(request: Request) -> str:
    return hashlib.sha256(orjson.dumps(request, option=orjson.OPT_SORT_KEYS)).hexdigest()
