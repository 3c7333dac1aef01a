"""Bearer tokens: an issuer over real HTTP, real keys, and everything that can be wrong with a token."""

import asyncio
import base64
import hashlib
import hmac
import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, cast

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from fastapi import Request
from hypothesis import given
from hypothesis import strategies as st
from jwt.algorithms import ECAlgorithm, RSAAlgorithm

from keyplan.data import Store
from keyplan.design import Design, Entity, Id, Table, key
from keyplan.engine import Engine
from keyplan.web import Caller
from keyplan.web.identity import jwks
from keyplan.web.identity.issuer import SigningKey, TokenIssuer, dev_issuer
from keyplan.web.identity.jwks import Algorithm, IssuerKeys, KeySet, PublicKey, check_address, discovered, fetched_json
from keyplan.web.identity.tokens import FirstOf, NoIssuer, TokenIdentity, groups_in, identity_of
from keyplan.web.models.problems import Problem, Unauthorized, Unavailable
from keyplan.web.settings import IssuerSettings, Settings
from keyplan.web.system.access import Identity
from keyplan.web.system.running import Running, System

START = datetime(2026, 3, 1, 12, tzinfo=UTC)
PrivateKey = rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey


# Keys and tokens


@cache
def rsa_key(name: str, size: int = 2048) -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(65537, size)


@cache
def ec_key(name: str) -> ec.EllipticCurvePrivateKey:
    return ec.generate_private_key(ec.SECP256R1())


def private_key(name: str) -> PrivateKey:
    return rsa_key(name) if name.startswith("rsa") else ec_key(name)


def algorithm_of(name: str) -> str:
    return "RS256" if name.startswith("rsa") else "ES256"


def jwk(name: str, **changes: object) -> dict[str, object]:
    private = private_key(name)
    if isinstance(private, rsa.RSAPrivateKey):
        public: dict[str, object] = RSAAlgorithm.to_jwk(private.public_key(), as_dict=True)
        public.pop("key_ops", None)
    else:
        public = ECAlgorithm.to_jwk(private.public_key(), as_dict=True)
    whole = {**public, "kid": name, "use": "sig", "alg": algorithm_of(name), **changes}
    return {member: value for member, value in whole.items() if value is not None}


def claims(**changes: object) -> dict[str, object]:
    said: dict[str, object] = {
        "iss": "https://issuer.example",
        "sub": "alice",
        "aud": "shop",
        "exp": int(START.timestamp()) + 3600,
        "cognito:groups": ["admin"],
        **changes,
    }
    return {name: value for name, value in said.items() if value is not ...}


def signed(said: Mapping[str, object], name: str = "rsa-1", **header: object) -> str:
    return jwt.PyJWS().encode(
        json.dumps(said).encode(), private_key(name), algorithm=algorithm_of(name), headers={"kid": name, **header}
    )


def segment(content: object) -> str:
    raw = content if isinstance(content, bytes) else json.dumps(content).encode()
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def by_hand(header: object, said: object, sign: Callable[[bytes], bytes]) -> str:
    start = f"{segment(header)}.{segment(said)}"
    return f"{start}.{segment(sign(start.encode()))}"


class GivenKeys:
    """Keys that need no HTTP. Counts how often a key is requested."""

    def __init__(self, *names: str) -> None:
        self.set = KeySet.of_jwks({"keys": [jwk(name) for name in names]})
        self.asked = 0

    async def key(self, key_id: str | None, algorithm: Algorithm) -> PublicKey | None:
        self.asked += 1
        return self.set.key(key_id, algorithm)


class Clock:
    """A clock that only advances when a test says so."""

    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> datetime:
        return self.now

    def monotonic(self) -> float:
        return self.now.timestamp()

    def pass_(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)


def identity_for(
    names: tuple[str, ...] = ("rsa-1", "ec-1"), clock: Clock | None = None, **settings: Any
) -> TokenIdentity:
    issuer = IssuerSettings(**{"issuer": "https://issuer.example", "audience": "shop", **settings})
    return TokenIdentity(issuer, GivenKeys(*names), clock or Clock())


def request_with(*authorization: str) -> Request:
    headers = [(b"authorization", each.encode("latin-1")) for each in authorization]
    return Request({"type": "http", "method": "GET", "path": "/", "headers": headers})


def caller(identity: Identity, *authorization: str) -> Caller | None:
    return asyncio.run(identity.caller(request_with(*authorization)))


def refusal(identity: Identity, token: str) -> str:
    with pytest.raises(Unauthorized) as caught:
        caller(identity, f"Bearer {token}")
    assert caught.value.code == "bad-token"
    assert caught.value.headers == {"WWW-Authenticate": 'Bearer error="invalid_token"'}
    assert token not in caught.value.detail or not token
    return caught.value.detail


# Valid tokens


@pytest.mark.parametrize("name", ["rsa-1", "ec-1"])
def test_a_token_says_who_the_caller_is(name: str) -> None:
    found = caller(identity_for(), f"Bearer {signed(claims(email='a@example.org'), name)}")
    assert found is not None
    assert (found.sub, set(found.groups), found.claims["email"]) == ("alice", {"admin"}, "a@example.org")
    with pytest.raises(TypeError):
        found.claims["sub"] = "bob"  # type: ignore[index]  # that it can not be changed is the point


def test_without_a_header_there_is_no_caller() -> None:
    assert caller(identity_for()) is None


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER"])
def test_the_scheme_is_case_insensitive(scheme: str) -> None:
    assert caller(identity_for(), f"{scheme} {signed(claims())}") is not None


@pytest.mark.parametrize(
    "changes",
    [
        {"exp": int(START.timestamp()) - 20},
        {"nbf": int(START.timestamp()) + 20},
        {"exp": START.timestamp() + 0.5},
        {"aud": ["other", "shop"]},
        {"sub": "ä" * 128},
        {"token_use": "access"},
    ],
)
def test_other_valid_tokens(changes: dict[str, object]) -> None:
    assert caller(identity_for(), f"Bearer {signed(claims(**changes))}") is not None


@pytest.mark.parametrize("kind", ["at+jwt", "application/at+jwt", "JWT"])
def test_supported_signature_algorithms(kind: str) -> None:
    assert caller(identity_for(), f"Bearer {signed(claims(), typ=kind)}") is not None


def test_a_token_without_a_key_id_is_checked_with_the_only_key() -> None:
    token = by_hand({"alg": "ES256"}, claims(), lambda text: ECAlgorithm(ECAlgorithm.SHA256).sign(text, ec_key("ec-1")))
    assert caller(identity_for(), f"Bearer {token}") is not None
    assert "issuer doesn't have its key" in refusal(identity_for(("ec-1", "ec-2")), token)


@pytest.mark.parametrize(
    ("claim", "groups"),
    [
        (["admin", "manager"], {"admin", "manager"}),
        ([], set()),
        (None, set()),
        ("", set()),
        ("admin manager", {"admin", "manager"}),
        ('["admin", "team one"]', {"admin", "team one"}),
        ("[admin manager]", {"admin", "manager"}),
        ("[admin, manager]", {"admin", "manager"}),
        ("[notadmin]", {"notadmin"}),
        ("[]", set()),
    ],
)
def test_groups_are_read_in_all_common_forms(claim: object, groups: set[str]) -> None:
    assert groups_in(claim) == groups


def test_the_name_of_the_groups_claim_can_be_set() -> None:
    found = caller(identity_for(groups_claim="roles"), f"Bearer {signed(claims(roles='a b'))}")
    assert found is not None
    assert found.groups == {"a", "b"}


# Cognito


COGNITO = {"aud": ..., "client_id": "client-1", "token_use": "access"}


def test_a_cognito_access_token_for_the_client_is_accepted() -> None:
    identity = identity_for(audience=None, client_id="client-1")
    assert caller(identity, f"Bearer {signed(claims(**COGNITO))}") is not None


@pytest.mark.parametrize(
    "changes",
    [
        {"client_id": "client-2"},
        {"client_id": ...},
        {"token_use": "id", "aud": "client-1"},
        {"token_use": "refresh", "aud": "client-1"},
        {"token_use": None},
        {"token_use": ...},
        {"aud": "client-2"},
        {"aud": None},
        {"aud": []},
    ],
)
def test_other_cognito_tokens_are_refused(changes: dict[str, object]) -> None:
    refusal(identity_for(audience=None, client_id="client-1"), signed(claims(**{**COGNITO, **changes})))


def test_without_token_use_the_client_can_be_the_audience() -> None:
    assert caller(identity_for(audience=None, client_id="c"), f"Bearer {signed(claims(aud='c'))}") is not None


def test_with_an_audience_a_token_for_the_client_alone_is_refused() -> None:
    """It would be an ID token, which tells the client who signed in and doesn't give access to the API."""
    refusal(identity_for(client_id="c"), signed(claims(aud="c")))
    assert caller(identity_for(client_id="c"), f"Bearer {signed(claims(aud=['c', 'shop']))}") is not None


def test_an_issuer_needs_an_audience_or_a_client() -> None:
    with pytest.raises(ValueError, match="needs an audience or a client_id"):
        identity_for(audience=None)


# Refusals


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"exp": int(START.timestamp()) - 30}, "expired"),
        ({"exp": ...}, "exp isn't a timestamp"),
        ({"exp": None}, "exp isn't a timestamp"),
        ({"exp": True}, "exp isn't a timestamp"),
        ({"exp": "9999999999"}, "exp isn't a timestamp"),
        ({"exp": float("nan")}, "JSON"),
        ({"exp": float("inf")}, "JSON"),
        ({"nbf": int(START.timestamp()) + 31}, "isn't valid yet"),
        ({"nbf": "0"}, "nbf isn't a timestamp"),
        ({"iss": "https://issuer.example/"}, "trust the token's issuer"),
        ({"iss": "https://other.example"}, "trust the token's issuer"),
        ({"iss": ...}, "trust the token's issuer"),
        ({"iss": ["https://issuer.example"]}, "trust the token's issuer"),
        ({"aud": "other"}, "isn't for this system"),
        ({"aud": "shopping"}, "isn't for this system"),
        ({"aud": ...}, "isn't for this system"),
        ({"aud": [["shop"]]}, "isn't for this system"),
        ({"aud": {"shop": 1}}, "isn't for this system"),
        ({"token_use": "id"}, "isn't an access token"),
        ({"sub": ...}, "subject"),
        ({"sub": ""}, "subject"),
        ({"sub": "a#b"}, "subject"),
        ({"sub": "a" * 129}, "subject"),
        ({"sub": 7}, "subject"),
        ({"sub": ["alice"]}, "subject"),
        ({"sub": "\ud800"}, "JSON"),
        ({"cognito:groups": 7}, "groups"),
        ({"cognito:groups": ["admin", 7]}, "groups"),
        ({"cognito:groups": {"admin": True}}, "groups"),
        ({"cognito:groups": "[1]"}, "groups"),
    ],
)
def test_a_token_with_a_wrong_claim_is_refused(changes: dict[str, object], why: str) -> None:
    assert why in refusal(identity_for(), signed(claims(**changes)))


@pytest.mark.parametrize(
    "authorization",
    [
        "",
        "Bearer",
        "Bearer ",
        "Bearer a",
        "Bearer a.b",
        "Bearer a.b.c",
        "Bearer ..",
        "Bearer a.b.c.d",
        "Bearer é.é.é",
        "Basic YTpi",
        f"Basic {segment({})}.{segment({})}.x",
        f"Bearer {segment([])}.{segment({})}.{segment(b'x')}",
        f"Bearer {segment({'alg': 'ES256'})}.{segment([])}.{segment(b'x')}",
        f"Bearer {segment({'alg': 'ES256'})}.{segment(b'[' * 9000)}.{segment(b'x')}",
        f"Bearer {'a' * 20_000}.a.a",
    ],
)
def test_a_malformed_token_is_refused(authorization: str) -> None:
    for identity in (identity_for(), NoIssuer()):
        with pytest.raises(Unauthorized) as caught:
            caller(identity, authorization)
        assert caught.value.code == "bad-token"


def test_two_authorization_headers_are_refused() -> None:
    with pytest.raises(Unauthorized):
        caller(identity_for(), f"Bearer {signed(claims())}", "Bearer x")


@pytest.mark.parametrize("algorithm", ["none", "None", "NONE", None, 7, "HS256", "RS512", "PS256", "ES384", "EdDSA"])
@pytest.mark.parametrize("signature", [b"", b"x" * 64])
def test_another_algorithm_is_refused(algorithm: object, signature: bytes) -> None:
    token = by_hand({"alg": algorithm, "kid": "rsa-1"}, claims(), lambda _: signature)
    assert ("RS256 or ES256" if signature else "isn't a JWT") in refusal(identity_for(), token)


@pytest.mark.parametrize("form", [PublicFormat.SubjectPublicKeyInfo, PublicFormat.PKCS1])
@pytest.mark.parametrize("encoding", [Encoding.PEM, Encoding.DER])
@pytest.mark.parametrize("algorithm", ["HS256", "RS256"])
def test_the_public_key_is_not_accepted_as_a_shared_secret(
    form: PublicFormat, encoding: Encoding, algorithm: str
) -> None:
    secret = rsa_key("rsa-1").public_key().public_bytes(encoding, form)
    header = {"alg": algorithm, "kid": "rsa-1", "typ": "JWT"}
    token = by_hand(header, claims(), lambda text: hmac.digest(secret, text, hashlib.sha256))
    refusal(identity_for(), token)


@pytest.mark.parametrize(
    ("name", "header", "why"),
    [
        ("rsa-2", {}, "issuer doesn't have its key"),
        ("rsa-2", {"kid": "rsa-1"}, "signature"),
        ("ec-1", {"kid": "rsa-1"}, "issuer doesn't have its key"),
        ("rsa-1", {"kid": "ec-1"}, "issuer doesn't have its key"),
        ("rsa-1", {"crit": ["exp"]}, "isn't supported"),
        ("rsa-1", {"typ": "logout+jwt"}, "isn't supported"),
        ("rsa-1", {"typ": "dpop+jwt"}, "isn't supported"),
    ],
)
def test_a_wrong_header_is_refused(name: str, header: dict[str, object], why: str) -> None:
    assert why in refusal(identity_for(), signed(claims(), name, **header))


def test_a_key_id_that_is_not_text_is_refused() -> None:
    token = by_hand({"alg": "RS256", "kid": 1}, claims(), lambda _: b"x")
    assert "key ID" in refusal(identity_for(), token)


def test_a_key_inside_a_token_is_ignored() -> None:
    brought = {"jwk": jwk("rsa-2"), "jku": "https://attacker.example/keys", "x5u": "https://attacker.example/cert"}
    assert "signature" in refusal(identity_for(), signed(claims(), "rsa-2", kid="rsa-1", **brought))


@given(st.sampled_from(["rsa-1", "ec-1"]), st.integers(0, 10_000), st.sampled_from([chr(n) for n in range(33, 127)]))
def test_a_token_with_an_illegal_character_is_refused(name: str, where: int, instead: str) -> None:
    token = GOOD[name]
    where %= len(token)
    if token[where] != instead:
        refusal(BELIEVING, f"{token[:where]}{instead}{token[where + 1 :]}")


@pytest.mark.parametrize("name", ["rsa-1", "ec-1"])
def test_a_signature_has_only_one_encoding(name: str) -> None:
    """The last character of a signature has unused bits."""
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    token = GOOD[name]
    for other in (f"{token[:-1]}{last}" for last in alphabet if last != token[-1]):
        refusal(BELIEVING, other)
    for other in (f"{token}=", f"{token}==", f"{token}A", token[:-1], f"{token}\n"):
        refusal(BELIEVING, other)


GOOD = {name: signed(claims(), name) for name in ("rsa-1", "ec-1")}
BELIEVING = identity_for()


# Cached tokens


def test_a_cached_token_is_not_verified_again() -> None:
    clock, keys = Clock(), GivenKeys("rsa-1")
    identity = TokenIdentity(IssuerSettings(issuer="https://issuer.example", audience="shop"), keys, clock)
    authorization = f"Bearer {signed(claims())}"
    first = caller(identity, authorization)
    assert caller(identity, authorization) is first
    assert keys.asked == 1
    clock.pass_(301)
    assert caller(identity, authorization) == first
    assert keys.asked == 2, "its key may have been revoked"


def test_a_cached_token_expires() -> None:
    clock = Clock()
    identity = identity_for(clock=clock)
    token = signed(claims(exp=int(START.timestamp()) + 100))
    assert caller(identity, f"Bearer {token}") is not None
    clock.pass_(129)
    assert caller(identity, f"Bearer {token}") is not None
    clock.pass_(1)
    assert "expired" in refusal(identity, token)


def test_a_refused_token_is_not_cached() -> None:
    clock = Clock()
    identity = identity_for(clock=clock)
    token = signed(claims(nbf=int(START.timestamp()) + 60))
    refusal(identity, token)
    clock.pass_(60)
    assert caller(identity, f"Bearer {token}") is not None


def test_the_number_of_cached_tokens_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("keyplan.web.identity.tokens._REMEMBERED", 2)
    keys = GivenKeys("ec-1")
    identity = TokenIdentity(IssuerSettings(issuer="https://issuer.example", audience="shop"), keys, Clock())
    one, two, three = (f"Bearer {signed(claims(sub=sub), 'ec-1')}" for sub in ("a", "b", "c"))
    for each in (one, two, one, three, one):
        caller(identity, each)
    assert keys.asked == 3
    caller(identity, two)
    assert keys.asked == 4, "the least recently used one was removed"


def test_a_cached_token_is_fast() -> None:
    async def seconds() -> float:
        token = signed(claims())
        identity = identity_for()
        await identity.caller_of(token)
        began = time.perf_counter()
        for _ in range(1000):
            await identity.caller_of(token)
        return (time.perf_counter() - began) / 1000

    assert asyncio.run(seconds()) < 100e-6


# ID tokens, for sign-in


def signed_in(said: Mapping[str, object], nonce: str = "n", **settings: Any) -> Caller:
    identity = identity_for(**{"client_id": "client-1", **settings})
    return asyncio.run(identity.signed_in(signed(said), nonce))


def test_an_id_token_says_who_signed_in() -> None:
    assert signed_in(claims(aud="client-1", nonce="n")).sub == "alice"
    assert signed_in(claims(aud="client-1", nonce="n", token_use="id")).groups == {"admin"}
    assert signed_in(claims(aud=["client-1", "x"], azp="client-1", nonce="n")).sub == "alice"


@pytest.mark.parametrize(
    "changes",
    [
        {"nonce": "m"},
        {"nonce": ...},
        {"nonce": 7},
        {"aud": "client-2"},
        {"aud": ...},
        {"aud": ["client-1", "client-2"]},
        {"azp": "client-2"},
        {"token_use": "access"},
        {"exp": 0},
        {"sub": "a#b"},
    ],
)
def test_an_invalid_id_token_is_refused(changes: dict[str, object]) -> None:
    with pytest.raises(Unauthorized):
        signed_in(claims(**{"aud": "client-1", "nonce": "n", **changes}))


def test_an_id_token_needs_a_client_and_a_nonce() -> None:
    with pytest.raises(Unauthorized):
        signed_in(claims(aud="shop", nonce="n"), client_id=None)
    with pytest.raises(Unauthorized):
        signed_in(claims(aud="client-1", nonce=""), nonce="")


# An issuer over HTTP


class HttpIssuer:
    """A small OpenID issuer with discovery and keys. Counts its requests."""

    def __init__(self) -> None:
        self.keys: list[object] = [jwk("rsa-1"), jwk("ec-1")]
        self.fetched: Counter[str] = Counter()
        self.posted = b""
        self.most_at_once = 0
        self._at_once = 0
        self.delay = 0.0
        self.answers: dict[str, Callable[[BaseHTTPRequestHandler], None]] = {}
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self.document: dict[str, object] = {"issuer": self.url, "jwks_uri": f"{self.url}/keys"}

    @contextmanager
    def serving(self) -> Iterator["HttpIssuer"]:
        thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        try:
            yield self
        finally:
            self._server.shutdown()
            thread.join()
            self._server.server_close()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        issuer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                issuer._answer(self)

            def do_POST(self) -> None:
                issuer.posted = self.rfile.read(int(self.headers["Content-Length"]))
                issuer._answer(self)

            def log_message(self, format: str, *args: object) -> None:
                pass

        return Handler

    def _answer(self, handler: BaseHTTPRequestHandler) -> None:
        self.fetched[handler.path] += 1
        self._at_once += 1
        self.most_at_once = max(self.most_at_once, self._at_once)
        time.sleep(self.delay)
        self._at_once -= 1  # before the answer is sent: the client may send its next request before this thread ends
        try:
            if handler.path in self.answers:
                self.answers[handler.path](handler)
            elif handler.path == "/keys":
                send(handler, {"keys": self.keys})
            elif handler.path == "/.well-known/openid-configuration":
                send(handler, self.document)
            else:
                send(handler, {}, 404)
        except OSError:
            pass  # the client has disconnected

    def is_down(self) -> None:
        self.answers["/keys"] = lambda handler: send(handler, {}, 503)

    def is_up(self) -> None:
        self.answers.clear()

    def settings(self, **changes: Any) -> IssuerSettings:
        return IssuerSettings(**{"issuer": self.url, "audience": "shop", **changes})

    def token(self, name: str = "rsa-1", **changes: Any) -> str:
        return signed(claims(**{"iss": self.url, **changes}), name)


def send(handler: BaseHTTPRequestHandler, document: object, status: int = 200, **headers: str) -> None:
    content = document if isinstance(document, bytes) else json.dumps(document).encode()
    handler.send_response(status)
    for name, value in headers.items():
        handler.send_header(name, value)
    handler.send_header("Content-Length", str(len(content)))
    handler.end_headers()
    handler.wfile.write(content)


@pytest.fixture
def issuer() -> Iterator[HttpIssuer]:
    with HttpIssuer().serving() as serving:
        yield serving


@pytest.fixture
def clock() -> Clock:
    return Clock()


def identity_at(at: HttpIssuer, clock: Clock, **settings: Any) -> TokenIdentity:
    its = at.settings(**settings)
    return TokenIdentity(its, IssuerKeys(its, clock=clock.monotonic), clock)


@pytest.mark.parametrize("name", ["rsa-1", "ec-1"])
def test_keys_are_found_by_discovery(issuer: HttpIssuer, clock: Clock, name: str) -> None:
    assert caller(identity_at(issuer, clock), f"Bearer {issuer.token(name)}") is not None
    assert issuer.fetched == {"/.well-known/openid-configuration": 1, "/keys": 1}


def test_the_settings_can_name_the_address_of_the_keys(issuer: HttpIssuer, clock: Clock) -> None:
    identity = identity_at(issuer, clock, issuer="https://issuer.example", jwks_uri=f"{issuer.url}/keys")
    assert caller(identity, f"Bearer {signed(claims())}") is not None
    assert issuer.fetched == {"/keys": 1}


def test_keys_are_kept_for_an_hour(issuer: HttpIssuer, clock: Clock) -> None:
    identity = identity_at(issuer, clock)
    for sub in ("a", "b", "c"):
        caller(identity, f"Bearer {issuer.token(sub=sub)}")
    clock.pass_(3599)
    caller(identity, f"Bearer {issuer.token(sub='d')}")
    assert issuer.fetched["/keys"] == 1
    clock.pass_(1)
    caller(identity, f"Bearer {issuer.token(sub='e')}")
    assert issuer.fetched["/keys"] == 2


def test_new_keys_are_found_and_old_ones_removed(issuer: HttpIssuer, clock: Clock) -> None:
    identity = identity_at(issuer, clock)
    assert caller(identity, f"Bearer {issuer.token()}") is not None
    issuer.keys = [jwk("rsa-1"), jwk("rsa-2")]
    clock.pass_(30)
    assert caller(identity, f"Bearer {issuer.token('rsa-2')}") is not None
    assert caller(identity, f"Bearer {issuer.token('rsa-1', sub='bob')}") is not None
    issuer.keys = [jwk("rsa-2")]
    clock.pass_(3600)
    exp = int(clock().timestamp()) + 60
    assert caller(identity, f"Bearer {issuer.token('rsa-2', exp=exp)}") is not None
    assert "issuer doesn't have its key" in refusal(identity, issuer.token("rsa-1", exp=exp))


async def outcomes(identity: Identity, tokens: list[str]) -> Counter[str]:
    async def outcome(token: str) -> str:
        try:
            await identity.caller(request_with(f"Bearer {token}"))
        except Problem as problem:
            return problem.code
        return "good"

    return Counter(await asyncio.gather(*map(outcome, tokens)))


def test_made_up_key_ids_rarely_cause_a_request_to_the_issuer(issuer: HttpIssuer, clock: Clock) -> None:
    identity = identity_at(issuer, clock)
    issuer.delay = 0.05
    made_up = [signed(claims(iss=issuer.url), kid=f"made-up-{n}") for n in range(50)]
    assert asyncio.run(outcomes(identity, [*made_up, issuer.token()])) == {"bad-token": 50, "good": 1}
    assert issuer.fetched["/keys"] == 1
    clock.pass_(29)
    assert asyncio.run(outcomes(identity, made_up)) == {"bad-token": 50}
    assert issuer.fetched["/keys"] == 1
    clock.pass_(1)
    assert asyncio.run(outcomes(identity, made_up)) == {"bad-token": 50}
    assert issuer.fetched["/keys"] == 2
    assert issuer.most_at_once == 1


def test_concurrent_requests_for_a_new_key_share_one_fetch(issuer: HttpIssuer, clock: Clock) -> None:
    identity = identity_at(issuer, clock)
    caller(identity, f"Bearer {issuer.token()}")
    clock.pass_(30)
    issuer.keys, issuer.delay = [jwk("ec-2")], 0.05
    tokens = [issuer.token("ec-2", sub=f"user-{n}") for n in range(50)]
    assert asyncio.run(outcomes(identity, tokens)) == {"good": 50}
    assert issuer.fetched["/keys"] == 2


def test_a_canceled_request_does_not_cancel_the_fetch_for_others(issuer: HttpIssuer, clock: Clock) -> None:
    identity = identity_at(issuer, clock)
    issuer.delay = 0.1

    async def one_of_two() -> Caller | None:
        first = asyncio.create_task(identity.caller_of(issuer.token()))
        second = asyncio.create_task(identity.caller_of(issuer.token()))
        await asyncio.sleep(0.05)
        first.cancel()
        return await second

    assert asyncio.run(one_of_two()) is not None
    assert issuer.fetched["/keys"] == 1


def test_the_event_loop_keeps_running_while_keys_are_fetched(issuer: HttpIssuer, clock: Clock) -> None:
    identity = identity_at(issuer, clock)
    issuer.delay = 0.1

    async def turns() -> int:
        checking = asyncio.create_task(identity.caller_of(issuer.token()))
        count = 0
        while not checking.done():
            await asyncio.sleep(0.005)
            count += 1
        return count

    assert asyncio.run(turns()) >= 5


def test_keys_stay_valid_for_a_day_while_the_issuer_is_down(issuer: HttpIssuer, clock: Clock) -> None:
    identity = identity_at(issuer, clock)
    exp = int(START.timestamp()) + 7 * 24 * 3600
    assert caller(identity, f"Bearer {issuer.token(exp=exp)}") is not None
    issuer.is_down()
    clock.pass_(4000)
    assert caller(identity, f"Bearer {issuer.token(exp=exp, sub='b')}") is not None
    assert caller(identity, f"Bearer {issuer.token(exp=exp, sub='c')}") is not None
    assert issuer.fetched["/keys"] == 2, "not fetched for each token"
    assert "issuer doesn't have its key" in refusal(identity, issuer.token("ec-2", exp=exp))
    clock.pass_(24 * 3600)
    with pytest.raises(Unavailable):
        caller(identity, f"Bearer {issuer.token(exp=exp, sub='d')}")
    issuer.is_up()
    clock.pass_(30)
    assert caller(identity, f"Bearer {issuer.token(exp=exp, sub='d')}") is not None


def test_without_any_keys_the_issuer_is_unavailable(issuer: HttpIssuer, clock: Clock) -> None:
    identity = identity_at(issuer, clock)
    issuer.is_down()
    tokens = [issuer.token(sub=f"user-{n}") for n in range(50)]
    assert asyncio.run(outcomes(identity, tokens)) == {"issuer-unavailable": 50}
    assert issuer.fetched["/keys"] == 1
    issuer.is_up()
    clock.pass_(5)
    assert asyncio.run(outcomes(identity, tokens)) == {"good": 50}


def test_an_unreachable_issuer(clock: Clock) -> None:
    with HttpIssuer().serving() as gone:
        identity, token = identity_at(gone, clock), gone.token()
    with pytest.raises(Unavailable, match="keys can't be read"):
        caller(identity, f"Bearer {token}")


def in_pieces(handler: BaseHTTPRequestHandler) -> None:
    handler.send_response(200)
    handler.end_headers()
    for _ in range(100):
        handler.wfile.write(b" ")
        time.sleep(0.02)


@pytest.mark.parametrize(
    "answer",
    [
        lambda handler: send(handler, b"<html>"),
        lambda handler: send(handler, [jwk("rsa-1")]),
        lambda handler: send(handler, {"keys": {"rsa-1": jwk("rsa-1")}}),
        lambda handler: send(handler, {}),
        lambda handler: send(handler, {"keys": [jwk("rsa-1")], "more": "x" * 300_000}),
        lambda handler: send(handler, b"", 302, Location="/elsewhere"),
        lambda handler: send(handler, {"keys": [jwk("rsa-1")]}, 404),
        lambda handler: handler.wfile.write(b"not HTTP at all\r\n\r\n"),
        lambda handler: time.sleep(1),
        in_pieces,
    ],
    ids=["html", "list", "object", "empty", "long", "elsewhere", "missing", "garbage", "silent", "slow"],
)
def test_an_invalid_answer_from_the_issuer(
    issuer: HttpIssuer, clock: Clock, monkeypatch: pytest.MonkeyPatch, answer: Callable[[BaseHTTPRequestHandler], None]
) -> None:
    monkeypatch.setattr(jwks, "_SILENCE_SECONDS", 0.2)
    monkeypatch.setattr(jwks, "_WHOLE_SECONDS", 0.3)
    issuer.answers["/keys"] = answer
    issuer.answers["/elsewhere"] = lambda handler: send(handler, {"keys": [jwk("rsa-1")]})
    began = time.monotonic()
    with pytest.raises(Unavailable):
        caller(identity_at(issuer, clock), f"Bearer {issuer.token()}")
    assert time.monotonic() - began < 1.5
    assert "/elsewhere" not in issuer.fetched


@pytest.mark.parametrize(
    "document",
    [
        {"issuer": "https://other.example"},
        {"issuer": None},
        {"jwks_uri": 7},
        {"jwks_uri": "http://issuer.example/keys"},
    ],
)
def test_an_invalid_discovery_document(issuer: HttpIssuer, clock: Clock, document: dict[str, object]) -> None:
    issuer.document |= document
    with pytest.raises(Unavailable):
        caller(identity_at(issuer, clock), f"Bearer {issuer.token()}")
    assert issuer.fetched["/keys"] == 0


@pytest.mark.parametrize(
    "address",
    ["http://issuer.example", "ftp://127.0.0.1/x", "file:///etc/passwd", "urn:keyplan:dev", "https://", "issuer", ""],
)
def test_an_insecure_issuer_address_is_refused(address: str) -> None:
    with pytest.raises(ValueError, match="https"):
        IssuerKeys(IssuerSettings(issuer=address, audience="shop"))
    with pytest.raises(ValueError, match="https"):
        fetched_json(address)


@pytest.mark.parametrize("address", ["https://a.example", "http://localhost:1/a", "http://127.0.0.1", "http://[::1]:8"])
def test_secure_issuer_addresses(address: str) -> None:
    check_address(address)


def test_sign_in_requires_endpoints_of_the_issuer(issuer: HttpIssuer) -> None:
    issuer.document["token_endpoint"] = f"{issuer.url}/token"
    issuer.answers["/token"] = lambda handler: send(handler, {"kind": handler.headers["Authorization"]})
    document = discovered(issuer.url)
    answer = fetched_json(str(document["token_endpoint"]), form={"code": "a b"}, headers={"Authorization": "Basic x"})
    assert (answer, issuer.posted) == ({"kind": "Basic x"}, b"code=a+b")


# Which of an issuer's keys are used


def test_keys_that_are_not_for_signatures_are_ignored() -> None:
    listed = [
        jwk("rsa-1", kid="enc", use="enc", alg=None),
        jwk("rsa-1", kid="encrypts", use=None, key_ops=["encrypt"]),
        jwk("rsa-1", kid="rs512", alg="RS512"),
        jwk("rsa-1", kid="broken", n="!"),
        jwk("rsa-1", kid="numbers", n=7),
        {**RSAAlgorithm.to_jwk(rsa_key("small", 1024).public_key(), as_dict=True), "kid": "small"},
        {"kty": "oct", "k": "c2VjcmV0", "kid": "secret", "alg": "HS256"},
        {"kty": "OKP", "crv": "Ed25519", "x": "x", "kid": "okp"},
        jwk("ec-1", kid="p384", crv="P-384"),
        jwk("ec-1", kid="off-the-curve", x=jwk("ec-2")["x"]),
        "rsa-1",
        None,
        jwk("rsa-1", kid="good", use=None, alg=None),
        jwk("ec-1", kid="good too", key_ops=["verify"]),
    ]
    assert set(KeySet.of_jwks({"keys": listed}).keys) == {("good", "RS256"), ("good too", "ES256")}


def test_only_the_public_half_of_a_leaked_private_key_is_used() -> None:
    whole = {**ECAlgorithm.to_jwk(ec_key("ec-1"), as_dict=True), "kid": "a"}
    found = KeySet.of_jwks({"keys": [whole]}).key("a", "ES256")
    assert isinstance(found, ec.EllipticCurvePublicKey)


# Which issuers a system trusts


things = Table("Things", key("PK", "SK"))


class Thing(Entity, table=things):
    name: Id
    primary = key("THING#{name}", "THING")


class Things(Design):
    tables = (things,)
    entities = (Thing,)


def identity_with(folder: Path, clock: Clock, name: str = "shop", **settings: Any) -> Identity:
    system = System(name, "Things", "", Things, cast("Any", None))
    store = Store(Things(), Engine(), clock=clock)
    held = Settings(path=folder / "data.db", **settings)
    running = Running(system, held, store, cast("Any", None), cast("Any", None), identity_of)
    return identity_of(running)


def dev_token(folder: Path, clock: Clock, audience: str = "shop") -> str:
    return dev_issuer(Settings(path=folder / "data.db", dev=True), clock).token(audience, "dave", groups=["staff"])


def test_with_dev_the_development_issuer_is_trusted(tmp_path: Path, clock: Clock) -> None:
    identity = identity_with(tmp_path, clock, dev=True)
    found = caller(identity, f"Bearer {dev_token(tmp_path, clock)}")
    assert found is not None
    assert (found.sub, set(found.groups)) == ("dave", {"staff"})
    assert "isn't for this system" in refusal(identity, dev_token(tmp_path, clock, "other"))


def test_with_dev_the_configured_issuer_is_trusted_too(tmp_path: Path, clock: Clock, issuer: HttpIssuer) -> None:
    issuers = {"*": issuer.settings().model_dump()}
    identity = identity_with(tmp_path, clock, dev=True, issuers=issuers)
    assert caller(identity) is None
    assert caller(identity, f"Bearer {dev_token(tmp_path, clock)}") is not None
    assert caller(identity, f"Bearer {issuer.token()}") is not None
    assert "expired" in refusal(identity, issuer.token(exp=0)), "the error comes from the token's own issuer"
    assert "trust the token's issuer" in refusal(identity, issuer.token(iss="https://other.example"))
    clock.pass_(7200)
    late = TokenIssuer("urn:keyplan:dev", SigningKey.made(), clock).token("shop", "eve")
    assert "issuer doesn't have its key" in refusal(identity, late)


def test_without_dev_only_the_configured_issuer_is_trusted(tmp_path: Path, clock: Clock, issuer: HttpIssuer) -> None:
    issuers = {"shop": issuer.settings().model_dump()}
    identity = identity_with(tmp_path, clock, issuers=issuers)
    assert caller(identity, f"Bearer {issuer.token()}") is not None
    assert "trust the token's issuer" in refusal(identity, dev_token(tmp_path, clock))
    other = identity_with(tmp_path, clock, "other", issuers=issuers)
    assert "no issuer is configured" in refusal(other, issuer.token())


def test_without_any_issuer_every_token_is_refused(tmp_path: Path, clock: Clock) -> None:
    identity = identity_with(tmp_path, clock)
    assert caller(identity) is None
    assert "no issuer is configured" in refusal(identity, dev_token(tmp_path, clock))
    assert list(tmp_path.glob("*")) != [], "the key exists, but is not trusted"


def test_an_empty_list_of_identities_has_no_caller() -> None:
    with pytest.raises(Unauthorized):
        caller(FirstOf(), "Bearer x")
