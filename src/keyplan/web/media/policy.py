"""Signed policies for forms, as in S3: what may be sent, up to which size and until when.

A form contains the policy and its signature, so the receiver needs only the secret to check it. Refusals use S3's
wording.
"""

import base64
import binascii
import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import orjson

from keyplan.web.models.problems import Forbidden

_POLICY = "policy"
_SIGNATURE = "x-keyplan-signature"


@dataclass(frozen=True)
class Allowed:
    """What may be sent with a signed form."""

    key: str
    least: int
    most: int


def signed_fields(secret: bytes, key: str, content_type: str, most: int, expires_at: datetime) -> dict[str, str]:
    """The fields of a form for sending one file."""
    exact = {"key": key, "Content-Type": content_type}
    conditions: list[object] = [{name: value} for name, value in exact.items()]
    conditions.append(["content-length-range", 1, most])
    policy = base64.b64encode(orjson.dumps({"expiration": expires_at.isoformat(), "conditions": conditions}))
    return {**exact, _POLICY: policy.decode(), _SIGNATURE: _signature(secret, policy)}


def allowed_by(secret: bytes, fields: Mapping[str, str], now: datetime) -> Allowed:
    """What the fields of a form allow. Refuses a policy that isn't ours, has expired, or doesn't match the fields."""
    policy = fields.get(_POLICY, "").encode()
    given = fields.get(_SIGNATURE, "").encode()
    if not hmac.compare_digest(given, _signature(secret, policy).encode()):
        raise Forbidden("signature-does-not-match", "The form's signature isn't valid.")
    document = _document(policy)
    if datetime.fromisoformat(document["expiration"]) <= now:
        raise Forbidden("policy-expired", "Invalid according to policy: the policy expired. Start a new upload.")
    exact: dict[str, str] = {}
    least = most = 0
    for condition in document["conditions"]:
        if isinstance(condition, dict):
            exact |= condition
        else:
            _, least, most = condition
    extra = sorted(fields.keys() - exact.keys() - {_POLICY, _SIGNATURE})
    if extra:
        raise Forbidden("access-denied", f"Invalid according to policy: extra input fields: {', '.join(extra)}.")
    for name, value in exact.items():
        if fields.get(name) != value:
            raise Forbidden("access-denied", f"Invalid according to policy: {name} must be {value}.")
    return Allowed(exact["key"], least, most)


def _signature(secret: bytes, policy: bytes) -> str:
    return hmac.new(secret, b"upload policy\n" + policy, hashlib.sha256).hexdigest()


def _document(policy: bytes) -> dict[str, Any]:
    """The policy, if we signed it."""
    try:
        document: dict[str, Any] = orjson.loads(base64.b64decode(policy, validate=True))
    except (binascii.Error, orjson.JSONDecodeError) as error:
        raise Forbidden("access-denied", "The policy can't be read.") from error
    return document
