"""Our own tokens: the key that signs them, where it is stored, and the development issuer.

A system with its own accounts signs its access tokens with a key from its housekeeping table. With `--dev` there is
an issuer whose key is in a file on this machine: everybody who can read the file can make tokens.
"""

import os
import secrets
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import TypeVar

import jwt
import orjson
from cryptography.hazmat.primitives.asymmetric.ec import (
    SECP256R1,
    EllipticCurvePrivateKey,
    EllipticCurvePublicKey,
    generate_private_key,
)
from jwt.algorithms import ECAlgorithm
from jwt.utils import base64url_encode
from pydantic import TypeAdapter, ValidationError

from keyplan.data import AlreadyExists, Store, create, utc_now
from keyplan.design import HOUSEKEEPING, Created, Design, Entity, Id, Secret, created, get, key
from keyplan.web.identity.jwks import Algorithm
from keyplan.web.settings import IssuerSettings, Settings

D = TypeVar("D", bound=Design)

DEV_ISSUER = "urn:keyplan:dev"
"""`iss` of development tokens. It isn't a URL, so no configured issuer can have this name."""
GROUPS_CLAIM = "groups"
HOUR = timedelta(hours=1)
_OURS = frozenset({"iss", "sub", "aud", "iat", "nbf", "exp", "token_use", GROUPS_CLAIM})
_ID: TypeAdapter[str] = TypeAdapter(Id)


def is_id(value: object) -> bool:
    """Whether a subject can be an ID: a string of 1 to 128 characters without `#`."""
    try:
        _ID.validate_python(value, strict=True)
    except ValidationError:
        return False
    return True


class BadSigningKey(ValueError):
    """The stored signing key isn't valid."""


@dataclass(frozen=True)
class SigningKey:
    """A key that signs tokens (ES256). Its public half checks them."""

    private: EllipticCurvePrivateKey

    @classmethod
    def made(cls) -> "SigningKey":
        """A new key."""
        return cls(generate_private_key(SECP256R1()))

    @classmethod
    def of_json(cls, text: str | bytes) -> "SigningKey":
        """The key that `to_json` wrote."""
        try:
            jwk = orjson.loads(text)
            private = ECAlgorithm.from_jwk(jwk)
        except (jwt.PyJWTError, ValueError, TypeError, KeyError, AttributeError) as error:
            raise BadSigningKey("it isn't a JWK of an EC key") from error
        if not isinstance(private, EllipticCurvePrivateKey) or not isinstance(private.curve, SECP256R1):
            raise BadSigningKey("it isn't a private P-256 key")
        return cls(private)

    @classmethod
    def read(cls, file: Path) -> "SigningKey":
        """The key in a file. Raises FileNotFoundError if there is none yet."""
        try:
            return cls.of_json(file.read_bytes())
        except BadSigningKey as error:
            raise BadSigningKey(
                f"{file} contains no signing key: {error}. Delete the file, and a new key is created."
            ) from error

    @classmethod
    def in_file(cls, file: Path) -> "SigningKey":
        """The key in a file that only its owner can read. The first process that asks for it creates it."""
        try:
            return cls.read(file)
        except FileNotFoundError:
            _write_once(file, cls.made().to_json().encode())
        return cls.read(file)

    def to_json(self) -> str:
        """The key as a JWK, with its private half."""
        return orjson.dumps({**ECAlgorithm.to_jwk(self.private, as_dict=True), **self._marks()}).decode()

    @property
    def public_jwk(self) -> dict[str, str]:
        """The public half as a JWK, for a JWKS document."""
        return {**ECAlgorithm.to_jwk(self.private.public_key(), as_dict=True), **self._marks()}

    @cached_property
    def key_id(self) -> str:
        """The key's name: its thumbprint (RFC 7638), so it doesn't have to be stored."""
        jwk = ECAlgorithm.to_jwk(self.private.public_key(), as_dict=True)
        members = {name: jwk[name] for name in ("crv", "kty", "x", "y")}
        return base64url_encode(sha256(orjson.dumps(members)).digest()).decode()

    def _marks(self) -> dict[str, str]:
        return {"kid": self.key_id, "use": "sig", "alg": "ES256"}

    def signed(self, claims: Mapping[str, object]) -> str:
        """A token with these claims."""
        return jwt.encode(dict(claims), self.private, algorithm="ES256", headers={"kid": self.key_id})

    async def key(self, key_id: str | None, algorithm: Algorithm) -> EllipticCurvePublicKey | None:
        """The public half, if it has this ID. `TokenIdentity` checks tokens with it."""
        return self.private.public_key() if (key_id, algorithm) == (self.key_id, "ES256") else None


def _write_once(file: Path, content: bytes) -> None:
    """Write a file that only its owner can read, completely or not at all, unless another process was faster."""
    file.parent.mkdir(parents=True, exist_ok=True)
    ours = file.with_name(f".{file.name}.{secrets.token_hex(8)}")
    try:
        with open(ours, "xb", opener=lambda path, flags: os.open(path, flags, 0o600)) as opened:
            opened.write(content)
            opened.flush()
            os.fsync(opened.fileno())
        os.link(ours, file)  # unlike a rename, it doesn't replace the file of a process that was faster
    except FileExistsError:
        pass
    finally:
        ours.unlink(missing_ok=True)


class KeptSigningKey(Entity, table=HOUSEKEEPING):
    """A signing key of a system, shared by all its processes."""

    name: Id
    jwk: Secret[str]
    created_at: Created = created()

    primary = key("SIGNINGKEY#{name}", "SIGNINGKEY")


def kept_signing_key(store: Store[D], name: str = "access") -> SigningKey:
    """The signing key in a system's housekeeping table. The first process that asks for it creates it."""
    kept = store.run(get(KeptSigningKey, name=name, consistent=True))
    if kept is None:
        fresh = KeptSigningKey(name=name, jwk=Secret(SigningKey.made().to_json()))
        try:
            kept = store.run(create(fresh))
        except AlreadyExists:
            kept = store.run(get(KeptSigningKey, name=name, consistent=True))
    if kept is None:
        raise BadSigningKey(f"the signing key {name} was deleted while it was read")
    return SigningKey.of_json(kept.jwk.get_secret_value())


@dataclass(frozen=True)
class TokenIssuer:
    """Makes access tokens, signed with our own key. `TokenIdentity.of` accepts them."""

    name: str
    signing_key: SigningKey
    clock: Callable[[], datetime] = utc_now

    def token(
        self,
        audience: str,
        sub: str,
        *,
        groups: Collection[str] = (),
        lifetime: timedelta = HOUR,
        claims: Mapping[str, object] | None = None,
    ) -> str:
        """An access token for a system. `claims` are added to those that every token has."""
        if not is_id(sub):
            raise ValueError("a subject must be 1 to 128 characters without #")
        if lifetime <= timedelta(0):
            raise ValueError("a token needs a lifetime")
        taken = _OURS.intersection(claims or ())
        if taken:
            raise ValueError(f"these claims are set by the issuer: {', '.join(sorted(taken))}")
        issued = self.clock()
        said: dict[str, object] = {
            "iss": self.name,
            "sub": sub,
            "aud": audience,
            "token_use": "access",
            "iat": int(issued.timestamp()),
            "exp": int((issued + lifetime).timestamp()),
            GROUPS_CLAIM: sorted(groups),
        }
        return self.signing_key.signed({**(claims or {}), **said})

    def settings(self, audience: str) -> IssuerSettings:
        """The settings that accept the tokens for this audience."""
        return IssuerSettings(
            issuer=self.name,
            audience=audience,
            client_id=None,
            client_secret=None,
            groups_claim=GROUPS_CLAIM,
            jwks_uri=None,
        )


def dev_issuer(settings: Settings, clock: Callable[[], datetime] = utc_now) -> TokenIssuer:
    """The development issuer. Its key is created on first use. Only with `settings.dev`."""
    if not settings.dev:
        raise ValueError("the development issuer exists with --dev only")
    return TokenIssuer(DEV_ISSUER, SigningKey.in_file(settings.dev_key_file), clock)
