"""Signatures, made by botocore's own signers."""

import calendar
import hashlib
import time
from urllib.parse import urlsplit

import pytest
from botocore.auth import SigV4Auth, SigV4QueryAuth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials as BotoCredentials

from keyplan.engine.errors import DynamoError
from keyplan.engine.wire.sigv4 import Authenticator, Credentials
from tests.engine.wire.client import SIGNED

KEYS = Credentials("AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY")
BODY = '{"TableName":"ä"}'.encode()


class Presigner(SigV4QueryAuth):
    """botocore presigns requests whose body it moved to the query; DynamoDB's JSON is signed as a body."""

    def payload(self, request: AWSRequest) -> str:
        return hashlib.sha256(BODY).hexdigest()


def signed(
    keys: Credentials = KEYS,
    *,
    token: str | None = None,
    query: bool = False,
    service: str = "dynamodb",
    region: str = "eu-west-1",
) -> tuple[bytes, dict[bytes, bytes]]:
    """URL and headers of a request that botocore signed."""
    headers = {
        "Host": "localhost:8000",
        "Content-Type": "application/x-amz-json-1.0",
        "X-Amz-Target": "DynamoDB_20120810.GetItem",
        "X-Odd": "  two   spaces ",
    }
    request = AWSRequest("POST", "http://localhost:8000/", headers, b"" if query else BODY)
    signer = Presigner if query else SigV4Auth
    signer(BotoCredentials(*keys, token), service, region).add_auth(request)
    parts = urlsplit(str(request.url))
    url = "/" + (f"?{parts.query}" if parts.query else "")
    return url.encode(), {name.lower().encode(): value.encode() for name, value in request.headers.items()}


def refusal(
    url: bytes, headers: dict[bytes, bytes], *, keys: Credentials | None = KEYS, body: bytes = BODY, ahead: float = 0
) -> tuple[str, str]:
    with pytest.raises(DynamoError) as caught:
        Authenticator(keys, lambda: time.time() + ahead).check(b"POST", url, headers, body)
    assert caught.value.status == 400
    return caught.value.code, caught.value.message


@pytest.mark.parametrize("query", [False, True], ids=["header", "query"])
@pytest.mark.parametrize("token", [None, "session/token+=="])
@pytest.mark.parametrize("keys", [None, KEYS], ids=["form", "value"])
def test_what_botocore_signs_is_accepted(keys: Credentials | None, token: str | None, query: bool) -> None:
    authenticator = Authenticator(keys)
    for _ in range(3):
        authenticator.check(b"POST", *signed(token=token, query=query), BODY)


@pytest.mark.parametrize("query", [False, True], ids=["header", "query"])
def test_a_wrong_secret_or_a_changed_request_is_refused(query: bool) -> None:
    url, headers = signed(query=query)
    mismatch = (
        "InvalidSignatureException",
        (
            "The request signature we calculated does not match the signature you provided. Check your AWS Secret "
            "Access Key and signing method. Consult the service documentation for details."
        ),
    )
    assert refusal(*signed(Credentials(KEYS.access_key, "wrong"), query=query)) == mismatch
    assert refusal(url, headers, body=b"{}") == mismatch
    assert refusal(url, {**headers, b"host": b"elsewhere"}) == mismatch


def test_without_credentials_the_value_is_not_looked_at() -> None:
    url, headers = signed(Credentials("someone", "else"))
    Authenticator().check(b"POST", url, headers, b"changed")


def test_an_unknown_access_key_is_refused() -> None:
    assert refusal(*signed(Credentials("SOMEONE", KEYS.secret_key))) == (
        "UnrecognizedClientException",
        "The security token included in the request is invalid.",
    )


def test_an_old_signature_is_refused() -> None:
    url, headers = signed()
    code, message = refusal(url, headers, ahead=301)
    assert code == "InvalidSignatureException"
    assert message.startswith(f"Signature expired: {headers[b'x-amz-date'].decode()} is now earlier than ")
    assert message.endswith("Z - 5 min.)")


def test_a_signature_from_the_future_is_refused() -> None:
    url, headers = signed()
    code, message = refusal(url, headers, ahead=-302)
    assert code == "InvalidSignatureException"
    assert message.startswith(f"Signature not yet current: {headers[b'x-amz-date'].decode()} is still later than ")
    assert message.endswith("Z + 5 min.)")


def test_a_presigned_request_lasts_as_long_as_it_says() -> None:
    url, headers = signed(query=True)
    Authenticator(KEYS, lambda: time.time() + 3500).check(b"POST", url, headers, BODY)
    assert refusal(url, headers, ahead=3700)[0] == "InvalidSignatureException"


def test_the_scope_must_be_ours() -> None:
    assert refusal(*signed(service="execute-api")) == (
        "InvalidSignatureException",
        "Credential should be scoped to correct service: 'dynamodb'. ",
    )
    url, headers = signed()
    today = time.strftime("%Y%m%d", time.gmtime(calendar.timegm(time.gmtime())))
    headers[b"authorization"] = headers[b"authorization"].replace(today.encode(), b"20200101", 1)
    assert "Date in Credential scope does not match" in refusal(url, headers)[1]


def test_signed_headers_must_be_there() -> None:
    url, headers = signed()
    del headers[b"x-amz-target"]
    assert refusal(url, headers) == (
        "IncompleteSignatureException",
        "'x-amz-target' is named as a SignedHeader, but it does not exist in the HTTP request.",
    )
    url, headers = signed()
    headers[b"authorization"] = headers[b"authorization"].replace(b"host;", b"")
    assert "'Host' or ':authority' must be a 'SignedHeader'" in refusal(url, headers)[1]


def form_refusal(url: bytes = b"/", **changed: bytes | None) -> tuple[str, str]:
    """The error for a request whose headers were changed; None takes one away."""
    headers = {name.lower().encode(): value.encode() for name, value in SIGNED.items()}
    for name, value in changed.items():
        headers.pop(name.replace("_", "-").encode(), None)
        if value is not None:
            headers[name.replace("_", "-").encode()] = value
    return refusal(url, headers, keys=None)


@pytest.mark.parametrize("value", [None, b"", b"Basic dTpw", b"Bearer x", b"\xff\xfe"])
def test_an_unsigned_request_misses_its_token(value: bytes | None) -> None:
    assert form_refusal(authorization=value) == (
        "MissingAuthenticationTokenException",
        "Request is missing Authentication Token",
    )


def test_what_is_missing_is_named() -> None:
    assert form_refusal(authorization=b"AWS4-HMAC-SHA256", x_amz_date=None) == (
        "IncompleteSignatureException",
        (
            "Authorization header requires 'Credential' parameter. Authorization header requires 'Signature' "
            "parameter. Authorization header requires 'SignedHeaders' parameter. Authorization header requires "
            "existence of either a 'X-Amz-Date' or a 'Date' header. Authorization=AWS4-HMAC-SHA256"
        ),
    )
    assert form_refusal(authorization=b"AWS4-HMAC-SHA256 Credential=a/b/c/d/e, SignedHeaders=host") == (
        "IncompleteSignatureException",
        (
            "Authorization header requires 'Signature' parameter. "
            "Authorization=AWS4-HMAC-SHA256 Credential=a/b/c/d/e, SignedHeaders=host"
        ),
    )


def test_what_is_malformed_is_named() -> None:
    assert form_refusal(authorization=b"AWS4-HMAC-SHA256 Credential=a /b/c/d/e, Signature=x") == (
        "IncompleteSignatureException",
        (
            "'/b/c/d/e' not a valid key=value pair (missing equal-sign) in Authorization header: "
            "'AWS4-HMAC-SHA256 Credential=a /b/c/d/e, Signature=x'."
        ),
    )
    assert "got 'a/b'" in form_refusal(authorization=b"AWS4-HMAC-SHA256 Credential=a/b,SignedHeaders=x,Signature=y")[1]
    assert form_refusal(x_amz_date=b"yesterday") == (
        "IncompleteSignatureException",
        "Date must be in ISO-8601 'basic format'. Got 'yesterday'. See http://en.wikipedia.org/wiki/ISO_8601",
    )


def test_an_odd_but_complete_header_is_accepted() -> None:
    headers = {
        b"authorization": b"AWS4-HMAC-SHA256  Signature=abc,SignedHeaders=host,  Credential=a/20260101//dynamodb/x",
        b"date": b"Fri, 02 Jan 2026 03:04:05 GMT",
    }
    Authenticator().check(b"POST", b"/", headers, b"")


def test_the_query_form_is_checked_too() -> None:
    assert form_refusal(b"/?X-Amz-Algorithm=AWS4-HMAC-SHA256", authorization=None, x_amz_date=None) == (
        "IncompleteSignatureException",
        (
            "AWS query-string parameters must include 'X-Amz-Credential'. AWS query-string parameters must include "
            "'X-Amz-Signature'. AWS query-string parameters must include 'X-Amz-SignedHeaders'. AWS query-string "
            "parameters must include 'X-Amz-Date'. Re-examine the query-string parameters."
        ),
    )
    assert form_refusal(b"/?X-Amz-Algorithm=AWS4-HMAC-SHA256")[0] == "InvalidSignatureException"
