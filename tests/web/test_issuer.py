"""Our own tokens: keys that several processes share, the issuer, and `keyplan token` as a user runs it."""

import asyncio
import hashlib
import json
import stat
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import jwt
import pytest
import typer
from cryptography.hazmat.primitives.asymmetric import ec
from jwt.algorithms import ECAlgorithm
from typer.testing import CliRunner, Result

from keyplan.cli.token import token as token_command
from keyplan.data import Store
from keyplan.design import HOUSEKEEPING, Design, Entity, Id, Table, get, key
from keyplan.engine import Engine
from keyplan.web.identity.issuer import (
    DEV_ISSUER,
    BadSigningKey,
    KeptSigningKey,
    SigningKey,
    TokenIssuer,
    dev_issuer,
    kept_signing_key,
)
from keyplan.web.identity.jwks import KeySet
from keyplan.web.identity.tokens import TokenIdentity
from keyplan.web.models.problems import Unauthorized
from keyplan.web.settings import Settings

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


# The key


def test_a_key_is_the_same_after_it_was_written_and_read() -> None:
    made = SigningKey.made()
    again = SigningKey.of_json(made.to_json())
    assert (again.key_id, again.public_jwk) == (made.key_id, made.public_jwk)
    assert "d" in json.loads(made.to_json())
    assert "d" not in made.public_jwk


def test_the_public_half_is_a_jwk() -> None:
    made = SigningKey.made()
    found = KeySet.of_jwks({"keys": [made.public_jwk]}).key(made.key_id, "ES256")
    assert found == made.private.public_key()


def test_the_key_id_is_the_rfc_7638_thumbprint() -> None:
    """The example in RFC 7638 is an RSA key, so this computes the thumbprint of an EC key step by step."""
    made = SigningKey.made()
    x, y = made.public_jwk["x"], made.public_jwk["y"]
    text = f'{{"crv":"P-256","kty":"EC","x":"{x}","y":"{y}"}}'
    assert jwt.utils.base64url_decode(made.key_id) == hashlib.sha256(text.encode()).digest()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "x",
        "[]",
        "null",
        "{}",
        '{"kty": "EC"}',
        json.dumps(SigningKey.made().public_jwk),
        json.dumps(ECAlgorithm.to_jwk(ec.generate_private_key(ec.SECP384R1()), as_dict=True)),
        json.dumps({**json.loads(SigningKey.made().to_json()), "d": 7}),
    ],
)
def test_an_invalid_signing_key_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(BadSigningKey):
        SigningKey.of_json(text)
    file = tmp_path / "key.json"
    file.write_text(text)
    with pytest.raises(BadSigningKey, match=r"key\.json contains no signing key"):
        SigningKey.in_file(file)
    assert file.read_text() == text, "never overwritten"


# In a file


def test_the_key_is_created_once_and_only_its_owner_can_read_it(tmp_path: Path) -> None:
    file = tmp_path / "folder" / "key.json"
    with pytest.raises(FileNotFoundError):
        SigningKey.read(file)
    made = SigningKey.in_file(file)
    assert SigningKey.in_file(file).key_id == SigningKey.read(file).key_id == made.key_id
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert list(file.parent.iterdir()) == [file]


def test_threads_share_one_key(tmp_path: Path) -> None:
    file = tmp_path / "key.json"
    start = threading.Barrier(16)

    def made() -> str:
        start.wait()
        return SigningKey.in_file(file).key_id

    with ThreadPoolExecutor(16) as pool:
        ids = {each.result() for each in [pool.submit(made) for _ in range(16)]}
    assert len(ids) == 1
    assert list(tmp_path.iterdir()) == [file]


def test_processes_share_one_key(tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from keyplan.web.identity.issuer import SigningKey;"
        "sys.stdin.read(); print(SigningKey.in_file(Path(sys.argv[1])).key_id)"
    )
    command = [sys.executable, "-c", program, str(tmp_path / "key.json")]
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    started = [subprocess.Popen(command, **pipes) for _ in range(4)]
    for each in started:
        assert each.stdin is not None
        each.stdin.close()
        each.stdin = None
    answers = {each.communicate(timeout=60)[0] for each in started}
    assert len(answers) == 1
    assert answers != {""}


# In the housekeeping table


stock = Table("Stock", key("PK", "SK"))


class Thing(Entity, table=stock):
    name: Id
    primary = key("THING#{name}", "THING")


class Stock(Design):
    tables = (stock,)
    entities = (Thing,)


@pytest.fixture
def store() -> Store[Stock]:
    made = Store(Stock(), Engine())
    made.create_tables()
    return made


def test_a_system_keeps_its_key_in_its_housekeeping_table(store: Store[Stock]) -> None:
    made = kept_signing_key(store)
    assert kept_signing_key(Store(Stock(), store.client)).key_id == made.key_id
    assert kept_signing_key(store, "other").key_id != made.key_id
    kept = store.run(get(KeptSigningKey, name="access"))
    assert kept is not None
    assert made.to_json() not in repr(kept)
    assert KeptSigningKey.spec.table is HOUSEKEEPING
    assert store.verify() == []


def test_a_stored_key_does_not_expire(store: Store[Stock]) -> None:
    kept_signing_key(store)
    client: Any = store.client
    (item,) = client.scan(TableName=store.design.table_name(HOUSEKEEPING))["Items"]
    assert "expiresAt" not in item


def test_the_first_process_creates_the_stored_key(store: Store[Stock]) -> None:
    start = threading.Barrier(8)

    def kept() -> str:
        start.wait()
        return kept_signing_key(store).key_id

    with ThreadPoolExecutor(8) as pool:
        ids = {each.result() for each in [pool.submit(kept) for _ in range(8)]}
    assert len(ids) == 1


# Tokens


@pytest.fixture
def issuer() -> TokenIssuer:
    return TokenIssuer("urn:example:shop", SigningKey.made(), lambda: NOW)


def test_a_token_has_the_claims_of_an_access_token(issuer: TokenIssuer) -> None:
    token = issuer.token("shop", "alice", groups={"b", "a"}, lifetime=timedelta(minutes=5), claims={"email": "a@b.c"})
    said = jwt.decode(token, options={"verify_signature": False})
    assert said == {
        "iss": "urn:example:shop",
        "sub": "alice",
        "aud": "shop",
        "token_use": "access",
        "iat": int(NOW.timestamp()),
        "exp": int(NOW.timestamp()) + 300,
        "groups": ["a", "b"],
        "email": "a@b.c",
    }
    assert jwt.get_unverified_header(token) == {"alg": "ES256", "typ": "JWT", "kid": issuer.signing_key.key_id}


def test_our_own_tokens_are_verified_without_requests(issuer: TokenIssuer) -> None:
    identity = TokenIdentity.of(issuer, "shop")
    found = asyncio.run(identity.caller_of(issuer.token("shop", "alice", groups=["admin"], claims={"role": "x"})))
    assert (found.sub, set(found.groups), found.claims["role"]) == ("alice", {"admin"}, "x")


@pytest.mark.parametrize(
    "other",
    [
        lambda issuer: issuer.token("other", "alice"),
        lambda issuer: TokenIssuer("urn:example:other", issuer.signing_key, issuer.clock).token("shop", "alice"),
        lambda issuer: TokenIssuer(issuer.name, SigningKey.made(), issuer.clock).token("shop", "alice"),
        lambda issuer: TokenIssuer(issuer.name, issuer.signing_key, lambda: NOW - timedelta(hours=2)).token(
            "shop", "a"
        ),
    ],
    ids=["system", "issuer", "key", "time"],
)
def test_a_token_of_another_issuer_is_refused(issuer: TokenIssuer, other: Any) -> None:
    with pytest.raises(Unauthorized):
        asyncio.run(TokenIdentity.of(issuer, "shop").caller_of(other(issuer)))


@pytest.mark.parametrize(
    ("sub", "options", "why"),
    [
        ("", {}, "subject"),
        ("a#b", {}, "subject"),
        ("a" * 129, {}, "subject"),
        ("alice", {"lifetime": timedelta(0)}, "lifetime"),
        ("alice", {"claims": {"exp": 9999999999}}, "set by the issuer: exp"),
        ("alice", {"claims": {"sub": "bob", "groups": []}}, "set by the issuer: groups, sub"),
    ],
)
def test_a_token_with_invalid_claims_is_not_issued(
    issuer: TokenIssuer, sub: str, options: dict[str, Any], why: str
) -> None:
    with pytest.raises(ValueError, match=why):
        issuer.token("shop", sub, **options)


def test_the_development_issuer_requires_dev(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="--dev"):
        dev_issuer(Settings(path=tmp_path / "data.db"))
    assert list(tmp_path.iterdir()) == []
    made = dev_issuer(Settings(path=tmp_path / "data.db", dev=True))
    assert (made.name, list(tmp_path.iterdir())) == (DEV_ISSUER, [tmp_path / "data.db.dev-key.json"])


# The command


def run(*arguments: str) -> Result:
    app = typer.Typer()
    app.command()(token_command)
    return CliRunner().invoke(app, arguments)


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in which `keyplan serve --dev` has run."""
    monkeypatch.chdir(tmp_path)
    SigningKey.in_file(Settings().dev_key_file)
    return tmp_path


def test_the_command_prints_only_the_token(data: Path) -> None:
    result = run("--sub", "alice", "--group", "admin", "--group", "staff", "--system", "vcm", "--claim", "email=a=b@c")
    assert (result.exit_code, result.stderr) == (0, "")
    identity = TokenIdentity.of(dev_issuer(Settings(dev=True)), "vcm")
    found = asyncio.run(identity.caller_of(result.stdout.removesuffix("\n")))
    assert (found.sub, set(found.groups), found.claims["email"]) == ("alice", {"admin", "staff"}, "a=b@c")


def test_the_command_takes_a_lifetime_and_a_file(data: Path) -> None:
    SigningKey.in_file(data / "other.db.dev-key.json")
    result = run("--sub", "alice", "--system", "vcm", "--hours", "2.5", "--path", "other.db")
    said = jwt.decode(result.stdout.strip(), options={"verify_signature": False})
    assert said["exp"] - said["iat"] == 9000
    kid = jwt.get_unverified_header(result.stdout.strip())["kid"]
    assert kid == SigningKey.read(data / "other.db.dev-key.json").key_id


def test_the_command_uses_the_key_from_the_settings(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEYPLAN_DEV_KEY", str(data / "named.json"))
    assert run("--sub", "alice", "--system", "vcm").exit_code == 1
    SigningKey.in_file(data / "named.json")
    assert run("--sub", "alice", "--system", "vcm").exit_code == 0


def test_without_a_key_the_command_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    result = run("--sub", "alice", "--system", "vcm")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "keyplan serve --dev" in result.stderr
    assert list(tmp_path.iterdir()) == [], "only the server creates a key"


def test_the_command_reports_a_damaged_key(data: Path) -> None:
    (data / "keyplan.db.dev-key.json").write_text("{}")
    result = run("--sub", "alice", "--system", "vcm")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "contains no signing key" in result.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ["--sub", "alice", "--system", "nowhere"],
        ["--sub", "alice"],
        ["--system", "vcm"],
        ["--sub", "a#b", "--system", "vcm"],
        ["--sub", "", "--system", "vcm"],
        ["--sub", "alice", "--system", "vcm", "--hours", "0"],
        ["--sub", "alice", "--system", "vcm", "--hours", "nan"],
        ["--sub", "alice", "--system", "vcm", "--claim", "email"],
        ["--sub", "alice", "--system", "vcm", "--claim", "=x"],
        ["--sub", "alice", "--system", "vcm", "--claim", "exp=9"],
    ],
)
def test_invalid_arguments_are_refused(data: Path, arguments: list[str]) -> None:
    result = run(*arguments)
    assert (result.exit_code, result.stdout) == (2, "")
