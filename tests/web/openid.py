"""An OpenID issuer for tests: real codes, PKCE, client secrets, and ID tokens signed with RS256."""

import base64
import hashlib
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Any
from urllib.parse import urlencode

import jwt
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, generate_private_key
from jwt.algorithms import RSAAlgorithm
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from tests.web.site import served


@cache
def a_key(number: int = 0) -> RSAPrivateKey:
    """A key. Generating one is slow, so tests share a few."""
    return generate_private_key(public_exponent=65537, key_size=2048)


@dataclass
class FakeIssuer:
    """Signs in whoever `person` names, without asking."""

    url: str = ""
    client_id: str = "library-pages"
    client_secret: str | None = None
    person: dict[str, Any] = field(default_factory=lambda: {"sub": "u-1", "name": "Ursula", "groups": ["admin"]})
    wrong: dict[str, Any] = field(default_factory=dict)
    """Claims of the ID token to replace."""
    key: RSAPrivateKey = field(default_factory=a_key)
    refuses: str | None = None
    codes: dict[str, dict[str, str]] = field(default_factory=dict)
    exchanges: int = 0

    def app(self) -> Starlette:
        return Starlette(
            routes=[
                Route("/.well-known/openid-configuration", self._discovery),
                Route("/jwks", self._jwks),
                Route("/authorize", self._authorize),
                Route("/token", self._token, methods=["POST"]),
            ]
        )

    def _discovery(self, request: Request) -> Response:
        return JSONResponse(
            {
                "issuer": self.url,
                "jwks_uri": f"{self.url}/jwks",
                "authorization_endpoint": f"{self.url}/authorize",
                "token_endpoint": f"{self.url}/token",
            }
        )

    def _jwks(self, request: Request) -> Response:
        public = RSAAlgorithm.to_jwk(a_key().public_key(), as_dict=True)
        return JSONResponse({"keys": [{**public, "kid": "k1", "use": "sig", "alg": "RS256"}]})

    def _authorize(self, request: Request) -> Response:
        asked = dict(request.query_params)
        assert asked["response_type"] == "code"
        assert asked["client_id"] == self.client_id
        assert "openid" in asked["scope"].split()
        assert asked["code_challenge_method"] == "S256"
        answer = {"state": asked["state"], "iss": self.url}
        if self.refuses:
            answer["error"] = self.refuses
        else:
            code = secrets.token_urlsafe(16)
            self.codes[code] = asked
            answer["code"] = code
        return RedirectResponse(f"{asked['redirect_uri']}?{urlencode(answer)}", 302)

    async def _token(self, request: Request) -> Response:
        self.exchanges += 1
        async with request.form() as form:
            sent = {name: str(value) for name, value in form.items()}
        asked = self.codes.pop(sent.get("code", ""), None)
        if not self._knows_client(request):
            return JSONResponse({"error": "invalid_client"}, 401)
        challenge = base64.urlsafe_b64encode(hashlib.sha256(sent.get("code_verifier", "").encode()).digest())
        if (
            asked is None
            or sent.get("grant_type") != "authorization_code"
            or sent.get("redirect_uri") != asked["redirect_uri"]
            or challenge.decode().rstrip("=") != asked["code_challenge"]
        ):
            return JSONResponse({"error": "invalid_grant"}, 400)
        return JSONResponse({"id_token": self.id_token(asked["nonce"]), "access_token": "x", "token_type": "Bearer"})

    def _knows_client(self, request: Request) -> bool:
        if self.client_secret is None:
            return "authorization" not in request.headers
        pair = base64.b64encode(f"{self.client_id}:{self.client_secret}".encode()).decode()
        return request.headers.get("authorization") == f"Basic {pair}"

    def id_token(self, nonce: str) -> str:
        now = int(time.time())
        said = {"iss": self.url, "aud": self.client_id, "iat": now, "exp": now + 300, "nonce": nonce, **self.person}
        claims = {name: value for name, value in {**said, **self.wrong}.items() if value is not None}
        return jwt.encode(claims, self.key, algorithm="RS256", headers={"kid": "k1"})


@contextmanager
def fake_issuer(**options: Any) -> Iterator[FakeIssuer]:
    """An issuer that answers over HTTP until the block ends."""
    issuer = FakeIssuer(**options)
    with served(issuer.app()) as url:
        issuer.url = url
        yield issuer
