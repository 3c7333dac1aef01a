"""The public keys of an OpenID issuer: found through its discovery document, cached, and fetched again within limits.

A token with an unknown key ID makes us check whether the issuer has new keys, and anybody can send one. So there is
only one fetch at a time, with a pause between fetches, and no request waits for it in a thread that others need.
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
"""How a token may be signed. Only key pairs are allowed: a shared secret could be confused with a public key."""
PublicKey: TypeAlias = RSAPublicKey | EllipticCurvePublicKey

FRESH_SECONDS = 3600.0
"""How long keys are used without fetching them again."""
REFRESH_SECONDS = 30.0
"""The shortest time between two fetches because of unknown key IDs."""
FIRST_SECONDS = 5.0
"""The shortest time between fetches before the first success: until then, no token can be checked."""
STALE_SECONDS = 24 * 3600.0
"""How long keys are used while the issuer doesn't respond. It issues no new tokens then, and old ones expire."""
_LONGEST_ANSWER = 256 * 1024
_SILENCE_SECONDS = 5.0
_WHOLE_SECONDS = 10.0
_SMALLEST_RSA = 2048

_logger = logging.getLogger(__name__)


class Keys(Protocol):
    """A source of the keys that tokens are checked with."""

    async def key(self, key_id: str | None, algorithm: Algorithm) -> PublicKey | None:
        """The key with this ID for this algorithm; without an ID, the only key for the algorithm."""
        ...


@dataclass(frozen=True)
class KeySet:
    """The keys of an issuer at one time, each for one algorithm only."""

    keys: Mapping[tuple[str | None, Algorithm], PublicKey]

    @classmethod
    def of_jwks(cls, document: Mapping[str, object]) -> "KeySet":
        """The keys of a JWKS document that may sign tokens. Everything else in it is ignored."""
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
        """The key with this ID for this algorithm; without an ID, the only key for the algorithm."""
        if key_id is not None:
            return self.keys.get((key_id, algorithm))
        fitting = [key for (_, its), key in self.keys.items() if its == algorithm]
        return fitting[0] if len(fitting) == 1 else None


def _public_key(jwk: dict[str, object]) -> tuple[Algorithm, PublicKey] | None:
    """The public half of a signature key, and its algorithm; None for any other kind of key."""
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
                return ("ES256", point) if fits else None  # type: ignore[return-value]  # `fits` checked it
    except (PyJWTError, ValueError, TypeError):
        _logger.warning("can't read a key of an issuer", exc_info=True)
    return None


class IssuerKeys:
    """The keys of an issuer, fetched over HTTP when they are needed.

    They are cached for an hour. An unknown key ID fetches them again, at most every 30 seconds. While the issuer
    doesn't respond, cached keys are used for up to a day; without any, `Unavailable` is raised.
    """

    def __init__(self, issuer: IssuerSettings, *, clock: Callable[[], float] = time.monotonic) -> None:
        check_address(issuer.jwks_uri or issuer.issuer)
        self._issuer = issuer
        self._clock = clock
        self._lock = Lock()
        # A separate thread: fetches run one after the other, and a slow issuer blocks no thread that serves requests.
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="keyplan-keys")
        self._fetching: Future[None] | None = None
        self._asked_at = float("-inf")
        self._read_at = float("-inf")
        self._set: KeySet | None = None

    async def key(self, key_id: str | None, algorithm: Algorithm) -> PublicKey | None:
        """The key with this ID for this algorithm; None if the issuer has none."""
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
        """Wait for the fetch in progress, or for a new one if it is due."""
        fetching = self._begun()
        if fetching is not None:
            # Shielded: a cancelled request must not cancel the fetch for others that wait for it.
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
    """The discovery document of an OpenID issuer. Blocks. Raises OSError, HTTPException or ValueError."""
    document = fetched_json(f"{issuer.removesuffix('/')}/.well-known/openid-configuration")
    if document.get("issuer") != issuer:
        raise ValueError(f"the discovery document belongs to the issuer {document.get('issuer')!r}")
    return document


def check_address(address: str) -> None:
    """Raise a ValueError for a URL whose response anybody on the network could forge."""
    parts = urlsplit(address)
    if not parts.hostname or not (parts.scheme == "https" or (parts.scheme == "http" and _is_here(parts.hostname))):
        raise ValueError(f"{address} isn't an https address (http is accepted for this machine only)")


def _is_here(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class _NoRedirects(HTTPRedirectHandler):
    """Refuses redirects: only the issuer itself may say where its documents are."""

    def redirect_request(
        self, req: Request, fp: IO[bytes], code: int, msg: str, headers: object, newurl: str
    ) -> Request | None:
        raise HTTPError(req.full_url, code, f"it redirects to {newurl}", None, fp)  # type: ignore[arg-type]  # no headers


def fetched_json(
    address: str, *, form: Mapping[str, str] | None = None, headers: Mapping[str, str] | None = None
) -> dict[str, object]:
    """The JSON object at a URL of an issuer; with a form, the response to posting it.

    Blocks, within limits of size and time. Raises OSError (HTTPError for an error status), HTTPException or
    ValueError.
    """
    check_address(address)
    request = Request(
        address,
        data=None if form is None else urlencode(form).encode(),
        headers={"Accept": "application/json", "User-Agent": "keyplan", **(headers or {})},
    )
    # A proxy can't reach servers on this machine.
    direct = [ProxyHandler({})] if _is_here(urlsplit(address).hostname or "") else []
    try:
        with build_opener(_NoRedirects, *direct).open(request, timeout=_SILENCE_SECONDS) as response:
            document = orjson.loads(_read(response))
    except HTTPError as error:
        error.close()  # it keeps the connection open
        raise
    if not isinstance(document, dict):
        raise ValueError(f"{address} isn't a JSON object")
    return document


def _read(response: HTTPResponse) -> bytes:
    """The body, unless it is too long or too slow. The socket's timeout covers each part only."""
    until = time.monotonic() + _WHOLE_SECONDS
    body = bytearray()
    while part := response.read1(65536):
        body += part
        if len(body) > _LONGEST_ANSWER:
            raise ValueError(f"its response is longer than {_LONGEST_ANSWER} bytes")
        if time.monotonic() > until:
            raise TimeoutError(f"it hasn't responded within {_WHOLE_SECONDS:.0f} seconds")
    return bytes(body)
