"""Bearer tokens, checked with the keys of their issuer.

A token is valid only if everything about it is right: its signature, issuer, audience, use and times. Otherwise the
response is a 401 that says why.
"""

import binascii
import hashlib
import math
import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from secrets import compare_digest
from types import MappingProxyType
from typing import TypeVar

import orjson
from fastapi import Request
from jwt import PyJWS, PyJWTError
from starlette.concurrency import run_in_threadpool

from keyplan.data import utc_now
from keyplan.design import Design
from keyplan.web.identity.issuer import TokenIssuer, dev_issuer, is_id
from keyplan.web.identity.jwks import Algorithm, IssuerKeys, Keys, PublicKey
from keyplan.web.models.problems import Unauthorized
from keyplan.web.settings import IssuerSettings
from keyplan.web.system.access import Caller, Identity
from keyplan.web.system.running import Running

D = TypeVar("D", bound=Design)

LEEWAY_SECONDS = 30
"""The allowed difference between an issuer's clock and ours."""
_REMEMBERED = 2048
_REMEMBERED_SECONDS = 300
"""How long a checked token is cached. Its key may be withdrawn after that."""
_LONGEST_TOKEN = 16 * 1024
_TOKEN = re.compile(r"[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+")
_TYPES = ("jwt", "at+jwt", "application/at+jwt")
_SIGNATURES = PyJWS(algorithms=["RS256", "ES256"])


class OfAnotherIssuer(Unauthorized):
    """The token has another issuer, so another identity has to check it."""

    def __init__(self) -> None:
        super().__init__("bad-token", "This system doesn't trust the token's issuer.")


def _refused(why: str) -> Unauthorized:
    return Unauthorized("bad-token", f"Invalid token: {why}.")


def bearer_token(request: Request) -> str | None:
    """The bearer token of a request; None without an `Authorization` header."""
    sent = request.headers.getlist("authorization")
    if not sent:
        return None
    scheme, _, token = sent[0].partition(" ")
    if len(sent) > 1 or scheme.lower() != "bearer":
        raise Unauthorized("bad-token", "Send one Authorization header, with Bearer and a token.")
    return token.strip(" ")


class TokenIdentity:
    """Accepts the tokens of one issuer.

    `aud` of an access token must contain the audience of the settings, or the client ID if they have no audience.
    Cognito's tokens have no `aud`; their `client_id` is checked instead. ID tokens aren't accepted by an API.
    """

    def __init__(self, issuer: IssuerSettings, keys: Keys, clock: Callable[[], datetime] = utc_now) -> None:
        if not (issuer.audience or issuer.client_id):
            raise ValueError(
                f"The issuer {issuer.issuer} needs an audience or a client_id: "
                "without one, its tokens for other applications would be accepted, too."
            )
        self._issuer = issuer
        self._keys = keys
        self._clock = clock
        self._checked = _CheckedTokens()

    @classmethod
    def of(cls, issuer: TokenIssuer, audience: str) -> "TokenIdentity":
        """Accepts what our own issuer signs for this audience."""
        return cls(issuer.settings(audience), issuer.signing_key, issuer.clock)

    async def caller(self, request: Request) -> Caller | None:
        """The caller, from the bearer token of a request."""
        token = bearer_token(request)
        return None if token is None else await self.caller_of(token)

    async def caller_of(self, token: str) -> Caller:
        """The caller, from an access token."""
        moment = self._clock().timestamp()
        digest = hashlib.sha256(token.encode()).digest()
        known = self._checked.get(digest, moment)
        if known is not None:
            return known
        claims = await self._claims(token)
        _check_access(claims, self._issuer)
        caller = self._caller(claims)
        until = min(_time(claims, "exp") + LEEWAY_SECONDS, moment + _REMEMBERED_SECONDS)
        self._checked.put(digest, caller, until)
        return caller

    async def signed_in(self, id_token: str, nonce: str) -> Caller:
        """The user who signed in, from the ID token that the issuer gave to this client for this sign-in."""
        claims = await self._claims(id_token)
        _check_id(claims, self._issuer, nonce)
        return self._caller(claims)

    async def _claims(self, token: str) -> dict[str, object]:
        """The claims of a token, if its issuer signed it and it is valid now."""
        parsed = _Parsed.of(token)
        if parsed.claims.get("iss") != self._issuer.issuer:
            raise OfAnotherIssuer
        key = await self._keys.key(parsed.key_id, parsed.algorithm)
        if key is None:
            raise _refused("its issuer doesn't have its key")
        if not await run_in_threadpool(_is_signed, token, key, parsed.algorithm):
            raise _refused("its signature doesn't match")
        _check_times(parsed.claims, self._clock().timestamp())
        return parsed.claims

    def _caller(self, claims: Mapping[str, object]) -> Caller:
        sub = claims.get("sub")
        if not isinstance(sub, str) or not is_id(sub):
            raise _refused("its subject must be 1 to 128 characters without #")
        return Caller(sub, groups_in(claims.get(self._issuer.groups_claim)), MappingProxyType(claims))


class FirstOf:
    """Several identities: the first one that knows a token's issuer checks it."""

    def __init__(self, *identities: Identity) -> None:
        self._identities = identities

    async def caller(self, request: Request) -> Caller | None:
        """The caller, from the identity that knows the token's issuer."""
        for identity in self._identities:
            try:
                return await identity.caller(request)
            except OfAnotherIssuer:
                continue
        raise OfAnotherIssuer


class NoIssuer:
    """Accepts no token, because no issuer is configured."""

    async def caller(self, request: Request) -> Caller | None:
        """None; a token is refused."""
        if bearer_token(request) is None:
            return None
        raise Unauthorized("bad-token", "This system accepts no tokens, because no issuer is configured for it.")


def identity_of(running: Running[D]) -> Identity:
    """The identities that a system accepts: the configured issuer, and with `dev` the development issuer."""
    name, clock = running.system.name, running.store.clock
    trusted: list[Identity] = []
    if running.settings.dev:
        trusted.append(TokenIdentity.of(dev_issuer(running.settings, clock), name))
    configured = running.settings.issuer_of(name)
    if configured is not None:
        trusted.append(TokenIdentity(configured, IssuerKeys(configured), clock))
    if not trusted:
        return NoIssuer()
    return trusted[0] if len(trusted) == 1 else FirstOf(*trusted)


# Reading a token


@dataclass(frozen=True)
class _Parsed:
    """The content of a token that hasn't been checked yet."""

    key_id: str | None
    algorithm: Algorithm
    claims: dict[str, object]

    @classmethod
    def of(cls, token: str) -> "_Parsed":
        if len(token) > _LONGEST_TOKEN or not _TOKEN.fullmatch(token):
            raise _refused("it isn't a JWT")
        header, claims, signature = token.split(".")
        _decoded(signature)
        return cls(*_header(_object(header)), _object(claims))


def _header(header: dict[str, object]) -> tuple[str | None, Algorithm]:
    algorithm, key_id, kind = header.get("alg"), header.get("kid"), header.get("typ", "JWT")
    if algorithm != "RS256" and algorithm != "ES256":
        raise _refused("it isn't signed with RS256 or ES256")
    if key_id is not None and not isinstance(key_id, str):
        raise _refused("its key ID isn't a string")
    if "crit" in header or not isinstance(kind, str) or kind.lower() not in _TYPES:
        raise _refused("its type or an extension isn't supported")
    return key_id, algorithm


def _object(segment: str) -> dict[str, object]:
    try:
        value = orjson.loads(_decoded(segment))
    except orjson.JSONDecodeError as error:
        raise _refused("it doesn't contain JSON") from error
    if not isinstance(value, dict):
        raise _refused("it doesn't contain JSON objects")
    return value


def _decoded(segment: str) -> bytes:
    """The bytes of a segment in canonical base64, so that there is only one token for a signature."""
    try:
        content = urlsafe_b64decode(segment + "=" * (-len(segment) % 4))
    except binascii.Error as error:
        raise _refused("it isn't a JWT") from error
    if urlsafe_b64encode(content).rstrip(b"=") != segment.encode():
        raise _refused("it isn't a JWT")
    return content


def _is_signed(token: str, key: PublicKey, algorithm: Algorithm) -> bool:
    try:
        _SIGNATURES.decode(token, key, algorithms=[algorithm])
    except PyJWTError:
        return False
    return True


# Required claims


def _time(claims: Mapping[str, object], name: str) -> float:
    value = claims.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise _refused(f"its {name} isn't a timestamp")
    return value


def _check_times(claims: Mapping[str, object], moment: float) -> None:
    if _time(claims, "exp") + LEEWAY_SECONDS <= moment:
        raise _refused("it has expired")
    if "nbf" in claims and _time(claims, "nbf") - LEEWAY_SECONDS > moment:
        raise _refused("it isn't valid yet")


def _check_access(claims: Mapping[str, object], issuer: IssuerSettings) -> None:
    if claims.get("token_use", "access") != "access":
        raise _refused("it isn't an access token")
    if "aud" in claims:
        fits = (issuer.audience or issuer.client_id) in _audiences(claims)
    else:  # as in Cognito's tokens
        mine = issuer.client_id is not None and claims.get("client_id") == issuer.client_id
        fits = mine and claims.get("token_use") == "access"
    if not fits:
        raise _refused("it isn't for this system")


def _check_id(claims: Mapping[str, object], issuer: IssuerSettings, nonce: str) -> None:
    if claims.get("token_use", "id") != "id":
        raise _refused("it isn't an ID token")
    audiences = _audiences(claims)
    party = claims.get("azp", issuer.client_id if len(audiences) == 1 else None)
    if issuer.client_id is None or issuer.client_id not in audiences or party != issuer.client_id:
        raise _refused("it isn't for this client")
    said = claims.get("nonce")
    if not nonce or not isinstance(said, str) or not compare_digest(said.encode(), nonce.encode()):
        raise _refused("it belongs to another sign-in")


def _audiences(claims: Mapping[str, object]) -> list[object]:
    said = claims.get("aud")
    return said if isinstance(said, list) else [said]


def groups_in(claim: object) -> frozenset[str]:
    """The groups in a claim: a list, a JSON list in a string, a list in brackets `[a b]`, or words."""
    found = claim
    if isinstance(found, str):
        found = _groups_in_text(found.strip())
    if found is None:
        return frozenset()
    if not isinstance(found, list) or not all(isinstance(each, str) for each in found):
        raise _refused("its groups aren't a list of strings")
    return frozenset(found)


def _groups_in_text(text: str) -> object:
    if not text.startswith("["):
        return text.split()
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        # AWS's API Gateway writes lists like this.
        return re.split(r"[\s,]+", text[1:-1].strip(" ,")) if text.endswith("]") else None


class _CheckedTokens:
    """A cache of the callers of checked tokens, by the tokens' digests. The least recently used are dropped."""

    def __init__(self) -> None:
        self._callers: OrderedDict[bytes, tuple[Caller, float]] = OrderedDict()

    def get(self, digest: bytes, moment: float) -> Caller | None:
        known = self._callers.pop(digest, None)
        if known is None or known[1] <= moment:
            return None
        self._callers[digest] = known
        return known[0]

    def put(self, digest: bytes, caller: Caller, until: float) -> None:
        self._callers[digest] = caller, until
        while len(self._callers) > _REMEMBERED:
            self._callers.popitem(last=False)
