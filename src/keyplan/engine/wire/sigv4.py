"""AWS Signature Version 4: checks that a request is signed, and optionally that the signature is correct.

DynamoDB refuses a request without a well-formed signature, with errors that clients know. The signature itself is
verified only if an access key and its secret are given. Header names are lower-case bytes throughout.
"""

import hashlib
import hmac
import re
import time
from calendar import timegm
from collections.abc import Callable, Mapping
from email.utils import parsedate
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import parse_qsl, quote

from keyplan.engine.errors import DynamoError
from keyplan.engine.executor import Caller

ALGORITHM = "AWS4-HMAC-SHA256"
MAX_SKEW = 5 * 60
SERVICE = "dynamodb"
TERMINATOR = "aws4_request"

# The form that every SDK sends. Anything else is parsed word by word, to accept it or to say what is wrong with it.
_USUAL_FORM = re.compile(
    rb"AWS4-HMAC-SHA256 Credential=[^/,\s]+/\d{8}/[^/,\s]*/[^/,\s]+/[^/,\s]+, ?"
    rb"SignedHeaders=[^,=\s]+, ?Signature=[0-9a-f]{64}"
)
_SIGNATURE_LENGTH = 64
_PREFIXES_KEPT = 1000
_USUAL_DATE = re.compile(rb"\d{8}T\d{6}Z")
_SEPARATORS = re.compile(r"[\s,]+")
_QUERY_PARAMETERS = ("X-Amz-Algorithm", "X-Amz-Credential", "X-Amz-Signature", "X-Amz-SignedHeaders", "X-Amz-Date")
_TIME_FORMAT = "%Y%m%dT%H%M%SZ"

Headers = Mapping[bytes, bytes]


class Credentials(NamedTuple):
    """The key pair that requests must be signed with."""

    access_key: str
    secret_key: str


class _Signature(NamedTuple):
    """A signature as the client sent it, in a header or in the query string."""

    credential: str
    signed_headers: str
    signature: str
    date: str
    expires: int | None


class Authenticator:
    """Checks the signature of requests: always its form, and its value if `credentials` are given."""

    def __init__(self, credentials: Credentials | None = None, clock: Callable[[], float] = time.time) -> None:
        self._credentials = credentials
        self._clock = clock
        self._known_prefixes: set[bytes] = set()
        self._known_date = b""
        self._callers: dict[bytes, tuple[str, str]] = {}

    def check(self, method: bytes, url: bytes, headers: Headers, body: bytes) -> None:
        """Raise AWS's error for a request that isn't signed, or isn't signed correctly."""
        if self._credentials is None and url == b"/" and self._has_usual_form(headers):
            return
        query = _query_of(url)
        signature = _signature_of(query, headers)
        if self._credentials is not None:
            self._verify(self._credentials, signature, _Signed(method, url, query, headers, body))

    def caller(self, url: bytes, headers: Headers) -> Caller:
        """Return who sent a request that was checked, and the address it was sent to."""
        prefix = headers.get(b"authorization", b"")[:-_SIGNATURE_LENGTH]
        found = self._callers.get(prefix) if prefix else None
        if found is None:
            access_key, _, region, *_ = _signature_of(_query_of(url), headers).credential.split("/")
            found = access_key, region
            if len(self._callers) >= _PREFIXES_KEPT:
                self._callers.clear()
            if prefix:
                self._callers[prefix] = found
        return Caller(*found, headers.get(b"host", b"").decode("latin-1"))

    def _has_usual_form(self, headers: Headers) -> bool:
        """Whether the header has the usual form. All but the signature is the same in all requests of a client."""
        authorization = headers.get(b"authorization", b"")
        date = headers.get(b"x-amz-date", b"")
        prefix = authorization[:-_SIGNATURE_LENGTH]
        if prefix in self._known_prefixes and date == self._known_date:
            return authorization[-_SIGNATURE_LENGTH:].isalnum()
        if not _USUAL_FORM.fullmatch(authorization) or not _USUAL_DATE.fullmatch(date):
            return False
        if len(self._known_prefixes) >= _PREFIXES_KEPT:
            self._known_prefixes.clear()
        self._known_prefixes.add(prefix)
        self._known_date = date
        return True

    def _verify(self, credentials: Credentials, claim: _Signature, request: "_Signed") -> None:
        access_key, *scope = claim.credential.split("/")
        if access_key != credentials.access_key:
            raise DynamoError("UnrecognizedClientException", "The security token included in the request is invalid.")
        _check_scope(scope, claim.date)
        _check_time(claim, self._clock())
        expected = _sign(credentials.secret_key, tuple(scope), claim, request)
        if not hmac.compare_digest(expected.encode(), claim.signature.encode()):
            raise _invalid(
                "The request signature we calculated does not match the signature you provided. Check your AWS Secret "
                "Access Key and signing method. Consult the service documentation for details."
            )


class _Signed(NamedTuple):
    """The parts of a request that a signature covers."""

    method: bytes
    url: bytes
    query: list[tuple[str, str]]
    headers: Headers
    body: bytes


def _invalid(message: str) -> DynamoError:
    return DynamoError("InvalidSignatureException", message)


def _incomplete(message: str) -> DynamoError:
    return DynamoError("IncompleteSignatureException", message)


def _query_of(url: bytes) -> list[tuple[str, str]]:
    _, _, query = url.decode("latin-1").partition("?")
    return parse_qsl(query, keep_blank_values=True) if query else []


def _signature_of(query: list[tuple[str, str]], headers: Headers) -> _Signature:
    """Read the signature from the header or the query string; refuse one that is incomplete."""
    authorization = headers.get(b"authorization", b"").decode("utf-8", "replace")
    parameters = dict(query)
    in_query = any(name in parameters for name in _QUERY_PARAMETERS)
    if in_query and authorization:
        raise _invalid("Found both 'X-Amz-Algorithm' as a query-string param and 'Authorization' as HTTP header.")
    if in_query:
        return _from_query(parameters)
    if not authorization.startswith("AWS4-"):
        raise DynamoError("MissingAuthenticationTokenException", "Request is missing Authentication Token")
    return _from_header(authorization, headers)


def _from_header(authorization: str, headers: Headers) -> _Signature:
    parts: dict[str, str] = {}
    for word in filter(None, _SEPARATORS.split(authorization)[1:]):
        name, equals, value = word.partition("=")
        if not equals:
            raise _incomplete(
                f"'{word}' not a valid key=value pair (missing equal-sign) in Authorization header: '{authorization}'."
            )
        parts[name] = value
    date = _text(headers, b"x-amz-date") or _text(headers, b"date")
    missing = [
        f"Authorization header requires '{name}' parameter. "
        for name in ("Credential", "Signature", "SignedHeaders")
        if not parts.get(name)
    ]
    if not date:
        missing.append("Authorization header requires existence of either a 'X-Amz-Date' or a 'Date' header. ")
    if missing:
        raise _incomplete("".join(missing) + f"Authorization={authorization}")
    return _checked(_Signature(parts["Credential"], parts["SignedHeaders"], parts["Signature"], _basic(date), None))


def _from_query(parameters: Mapping[str, str]) -> _Signature:
    missing = [name for name in _QUERY_PARAMETERS if not parameters.get(name)]
    if missing:
        raise _incomplete(
            "".join(f"AWS query-string parameters must include '{name}'. " for name in missing)
            + "Re-examine the query-string parameters."
        )
    expires = parameters.get("X-Amz-Expires", "")
    return _checked(
        _Signature(
            parameters["X-Amz-Credential"],
            parameters["X-Amz-SignedHeaders"],
            parameters["X-Amz-Signature"],
            _basic(parameters["X-Amz-Date"]),
            int(expires) if expires.isdecimal() and len(expires) < 10 else None,
        )
    )


def _checked(claim: _Signature) -> _Signature:
    if claim.credential.count("/") != 4:
        raise _incomplete(
            "Credential must have exactly 5 slash-delimited elements, e.g. keyid/date/region/service/term, "
            f"got '{claim.credential}'"
        )
    return claim


def _text(headers: Headers, name: bytes) -> str:
    return headers.get(name, b"").decode("latin-1").strip()


def _basic(date: str) -> str:
    """The date in the form of the string to sign; a `Date` header may have HTTP's form."""
    if _USUAL_DATE.fullmatch(date.encode("utf-8", "replace")) and _seconds(date) is not None:
        return date
    parsed = parsedate(date)
    if parsed is None:
        raise _incomplete(
            f"Date must be in ISO-8601 'basic format'. Got '{date}'. See http://en.wikipedia.org/wiki/ISO_8601"
        )
    return time.strftime(_TIME_FORMAT, parsed)


def _seconds(date: str) -> float | None:
    try:
        return timegm(time.strptime(date, _TIME_FORMAT))
    except ValueError:
        return None


def _check_scope(scope: list[str], date: str) -> None:
    day, _, service, terminator = scope
    if service != SERVICE:
        raise _invalid(f"Credential should be scoped to correct service: '{SERVICE}'. ")
    if terminator != TERMINATOR:
        raise _invalid(f"Credential should be scoped with a valid terminator: '{TERMINATOR}', not '{terminator}'.")
    if day != date[:8]:
        raise _invalid(
            "Date in Credential scope does not match YYYYMMDD from ISO-8601 version of date from HTTP: "
            f"'{day}' != '{date[:8]}', from '{date}'."
        )


def _check_time(claim: _Signature, now: float) -> None:
    signed = _seconds(claim.date) or 0.0
    lifetime = MAX_SKEW if claim.expires is None else claim.expires
    if signed < now - lifetime:
        oldest, today = _stamp(now - lifetime), _stamp(now)
        raise _invalid(
            f"Signature expired: {claim.date} is now earlier than {oldest} ({today} - {lifetime // 60} min.)"
        )
    if signed > now + MAX_SKEW:
        newest, today = _stamp(now + MAX_SKEW), _stamp(now)
        raise _invalid(
            f"Signature not yet current: {claim.date} is still later than {newest} ({today} + {MAX_SKEW // 60} min.)"
        )


def _stamp(seconds: float) -> str:
    return time.strftime(_TIME_FORMAT, time.gmtime(seconds))


def _sign(secret_key: str, scope: tuple[str, ...], claim: _Signature, request: _Signed) -> str:
    canonical = _canonical_request(claim.signed_headers, request)
    text = "\n".join((ALGORITHM, claim.date, "/".join(scope), hashlib.sha256(canonical).hexdigest()))
    return hmac.new(_signing_key(secret_key, scope), text.encode(), hashlib.sha256).hexdigest()


@lru_cache(maxsize=64)
def _signing_key(secret_key: str, scope: tuple[str, ...]) -> bytes:
    key = ("AWS4" + secret_key).encode()
    for part in scope:
        key = hmac.new(key, part.encode(), hashlib.sha256).digest()
    return key


def _canonical_request(signed_headers: str, request: _Signed) -> bytes:
    names = signed_headers.lower().split(";")
    if "host" not in names:
        raise _invalid("'Host' or ':authority' must be a 'SignedHeader' in the AWS Authorization.")
    lines = []
    for name in names:
        value = request.headers.get(name.encode())
        if value is None:
            raise _incomplete(f"'{name}' is named as a SignedHeader, but it does not exist in the HTTP request.")
        lines.append(name.encode() + b":" + b" ".join(value.split()))
    path = request.url.partition(b"?")[0]
    query = sorted(
        (quote(name, safe="-_.~"), quote(value, safe="-_.~"))
        for name, value in request.query
        if name != "X-Amz-Signature"
    )
    return b"\n".join(
        (
            request.method,
            path,
            "&".join(f"{name}={value}" for name, value in query).encode(),
            b"\n".join(lines) + b"\n",
            signed_headers.encode(),
            hashlib.sha256(request.body).hexdigest().encode(),
        )
    )
