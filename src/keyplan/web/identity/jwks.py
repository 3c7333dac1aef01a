"""The public keys of an OpenID issuer: found by its discovery document, kept, and asked for again within limits.

Whoever sends a token with a made-up key id makes us look whether the issuer has new keys. So however many of them
come, the issuer is asked one at a time and seldom, and nobody waits for it in a thread that others need.
"""

import asyncio
import ipaddress
import logging
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from http.client import HTTPException, HTTPResponse
from threading import Lock
from typing import IO, Literal, Protocol, TypeAlias
from urllib.error import HTTPError
from urllib.parse import urlencode, urlsplit
from urllib.request import HTTPRedirectHandler, ProxyHandler, Request, build_opener

import orjson
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, EllipticCurvePublicKey
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from jwt import PyJWTError
from jwt.algorithms import ECAlgorithm, RSAAlgorithm

from keyplan.web.models.problems import Unavailable
from keyplan.web.settings import IssuerSettings

Algorithm: TypeAlias = Literal["RS256", "ES256"]
"""How a token may be signed. Only with pairs of keys: a shared secret could be confused with a public key."""
PublicKey: TypeAlias = RSAPublicKey | EllipticCurvePublicKey

FRESH_SECONDS = 3600.0
"""For so long keys are used without asking again."""
REFRESH_SECONDS = 30.0
"""Unknown key ids make us ask at most so often."""
FIRST_SECONDS = 5.0
"""While there never were any keys, we ask more often: nobody can do anything without."""
STALE_SECONDS = 24 * 3600.0
"""For so long keys are used while the issuer does not answer. It gives no new tokens then, and old ones end."""
_LONGEST_ANSWER = 256 * 1024
_SILENCE_SECONDS = 5.0
_WHOLE_SECONDS = 10.0
_SMALLEST_RSA = 2048

_logger = logging.getLogger(__name__)


class Keys(Protocol):
    """Where the keys are that tokens are checked with."""

    async def key(self, key_id: str | None, algorithm: Algorithm) -> PublicKey | None:
        """The key of this id, for this algorithm; without an id, the only one there is for it."""
        ...


@dataclass(frozen=True)
class KeySet:
    """The keys of an issuer at one time, each good for one algorithm only."""

    keys: Mapping[tuple[str | None, Algorithm], PublicKey]

    @classmethod
    def of_jwks(cls, document: Mapping[str, object]) -> "KeySet":
        """The keys of a JWKS document that tokens may be signed with; what else is in it is passed over."""
        listed = document.get("keys")
        if not isinstance(listed, list):
            raise ValueError("the document has no list of keys")
        found: dict[tuple[str | None, Algorithm], PublicKey] = {}
        for jwk in listed:
            read = _public_key(jwk) if isinstance(jwk, dict) else None
            if read is not None:
                key_id = jwk.get("kid")
                found.setdefault((key_id if isinstance(key_id, str) else None, read[0]), read[1])
        return cls(found)

    def key(self, key_id: str | None, algorithm: Algorithm) -> PublicKey | None:
        """The key of this id, for this algorithm; without an id, the only one there is for it."""
        if key_id is not None:
            return self.keys.get((key_id, algorithm))
        fitting = [key for (_, its), key in self.keys.items() if its == algorithm]
        return fitting[0] if len(fitting) == 1 else None


def _public_key(jwk: dict[str, object]) -> tuple[Algorithm, PublicKey] | None:
    """The public half of a key for signatures, and its algorithm; None for any other kind of key."""
    operations = jwk.get("key_ops", ["verify"])
    if jwk.get("use", "sig") != "sig" or not isinstance(operations, list) or "verify" not in operations:
        return None
    try:
        match jwk:
            case {"kty": "RSA", "n": n, "e": e} if jwk.get("alg", "RS256") == "RS256":
                key = RSAAlgorithm.from_jwk({"kty": "RSA", "n": n, "e": e})
                return ("RS256", key) if isinstance(key, RSAPublicKey) and key.key_size >= _SMALLEST_RSA else None
            case {"kty": "EC", "crv": "P-256" as crv, "x": x, "y": y} if jwk.get("alg", "ES256") == "ES256":
                point = ECAlgorithm.from_jwk({"kty": "EC", "crv": crv, "x": x, "y": y})
                fits = isinstance(point, EllipticCurvePublicKey) and isinstance(point.curve, SECP256R1)
                return ("ES256", point) if fits else None  # type: ignore[return-value]  # `fits` looked
    except (PyJWTError, ValueError, TypeError):
        _logger.warning("can't read a key of an issuer", exc_info=True)
    return None


class IssuerKeys:
    """The keys of an issuer, read over HTTP when they are needed.

    Kept for an hour. An unknown key id has them read again, at most every 30 seconds. While the issuer does not
    answer, the keys that are there stay good for a day; where there never were any, that is an `Unavailable`.
    """

    def __init__(self, issuer: IssuerSettings, *, clock: Callable[[], float] = time.monotonic) -> None:
        check_address(issuer.jwks_uri or issuer.issuer)
        self._issuer = issuer
        self._clock = clock
        self._lock = Lock()
        # One thread of its own: fetches come one after the other, and a slow issuer takes no thread from requests.
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="keyplan-keys")
        self._fetching: Future[None] | None = None
        self._asked_at = float("-inf")
        self._read_at = float("-inf")
        self._set: KeySet | None = None

    async def key(self, key_id: str | None, algorithm: Algorithm) -> PublicKey | None:
        """The key of this id, for this algorithm; None where the issuer has none."""
        if self._set is None or self._clock() - self._read_at >= FRESH_SECONDS:
            await self._refresh()
        found = self._usable().key(key_id, algorithm)
        if found is None:
            await self._refresh()
            found = self._usable().key(key_id, algorithm)
        return found

    def _usable(self) -> KeySet:
        if self._set is None or self._clock() - self._read_at >= STALE_SECONDS:
            raise Unavailable(
                "issuer-unavailable", "Tokens can't be checked right now: the issuer's keys can't be read."
            )
        return self._set

    async def _refresh(self) -> None:
        """Wait for the fetch that is under way, or for a new one, where it is time for one."""
        fetching = self._begun()
        if fetching is not None:
            # Shielded: a request that is given up must not take the fetch from those that wait for it, too.
            await asyncio.shield(asyncio.wrap_future(fetching))

    def _begun(self) -> Future[None] | None:
        with self._lock:
            if self._fetching is not None and not self._fetching.done():
                return self._fetching
            now = self._clock()
            if now - self._asked_at < (FIRST_SECONDS if self._set is None else REFRESH_SECONDS):
                return None
            self._asked_at = now
            self._fetching = self._thread.submit(self._fetch)
            return self._fetching

    def _fetch(self) -> None:
        try:
            address = self._issuer.jwks_uri or _jwks_uri(self._issuer.issuer)
            self._set = KeySet.of_jwks(fetched_json(address))
            self._read_at = self._clock()
        except (OSError, HTTPException, ValueError) as error:
            _logger.warning("can't read the keys of %s: %s", self._issuer.issuer, error)


def _jwks_uri(issuer: str) -> str:
    address = discovered(issuer).get("jwks_uri")
    if not isinstance(address, str):
        raise ValueError("the discovery document names no jwks_uri")
    return address


def discovered(issuer: str) -> dict[str, object]:
    """The discovery document of an OpenID issuer. It blocks; raises OSError, HTTPException or ValueError."""
    document = fetched_json(f"{issuer.removesuffix('/')}/.well-known/openid-configuration")
    if document.get("issuer") != issuer:
        raise ValueError(f"the discovery document belongs to the issuer {document.get('issuer')!r}")
    return document


def check_address(address: str) -> None:
    """Refuse, with a ValueError, an address that anybody on the way could answer for."""
    parts = urlsplit(address)
    if not parts.hostname or not (parts.scheme == "https" or (parts.scheme == "http" and _is_here(parts.hostname))):
        raise ValueError(f"{address} isn't an https address (http is accepted for this machine only)")


def _is_here(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class _NoRedirects(HTTPRedirectHandler):
    """An issuer says where its things are; nobody else may say that they are elsewhere."""

    def redirect_request(
        self, req: Request, fp: IO[bytes], code: int, msg: str, headers: object, newurl: str
    ) -> Request | None:
        raise HTTPError(req.full_url, code, f"it redirects to {newurl}", None, fp)  # type: ignore[arg-type]  # none needed


def fetched_json(
    address: str, *, form: Mapping[str, str] | None = None, headers: Mapping[str, str] | None = None
) -> dict[str, object]:
    """The JSON object at an address of an issuer; with a form, what it answers when that is posted.

    It blocks, within limits of size and time. Raises OSError (HTTPError for a status that is no success),
    HTTPException or ValueError.
    """
    check_address(address)
    request = Request(
        address,
        data=None if form is None else urlencode(form).encode(),
        headers={"Accept": "application/json", "User-Agent": "keyplan", **(headers or {})},
    )
    # A proxy for the way out can not reach what is on this machine.
    direct = [ProxyHandler({})] if _is_here(urlsplit(address).hostname or "") else []
    try:
        with build_opener(_NoRedirects, *direct).open(request, timeout=_SILENCE_SECONDS) as response:
            document = orjson.loads(_read(response))
    except HTTPError as error:
        error.close()  # it holds the connection
        raise
    if not isinstance(document, dict):
        raise ValueError(f"{address} isn't a JSON object")
    return document


def _read(response: HTTPResponse) -> bytes:
    """The body, unless it is too long or comes too slowly: the socket's time limit is only for each part."""
    until = time.monotonic() + _WHOLE_SECONDS
    body = bytearray()
    while part := response.read1(65536):
        body += part
        if len(body) > _LONGEST_ANSWER:
            raise ValueError(f"its response is longer than {_LONGEST_ANSWER} bytes")
        if time.monotonic() > until:
            raise TimeoutError(f"it hasn't responded within {_WHOLE_SECONDS:.0f} seconds")
    return bytes(body)
