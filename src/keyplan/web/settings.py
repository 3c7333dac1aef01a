"""The settings of a running Keyplan: a flag of the command line over `KEYPLAN_*` in the environment over `.env`."""

import ipaddress
from functools import cached_property
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr, model_validator

from keyplan.connection import Connection

Network = ipaddress.IPv4Network | ipaddress.IPv6Network


class IssuerSettings(BaseModel):
    """An OpenID issuer whose tokens are taken."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    issuer: str = Field(description="The issuer's address, as it stands in its tokens.")
    audience: str | None = Field(
        default=None, description="What `aud` of an access token must be, where the issuer sets it."
    )
    client_id: str | None = Field(
        default=None, description="The client: `aud` of an ID token, `client_id` of Cognito's."
    )
    client_secret: SecretStr | None = Field(default=None, description="The client's secret, where sign-in needs one.")
    groups_claim: str = Field(default="cognito:groups", description="The claim that holds the caller's groups.")
    jwks_uri: str | None = Field(default=None, description="Where its keys are; else its discovery document says it.")


class Settings(Connection):
    """All settings of `keyplan serve` and `keyplan work`."""

    host: str = Field(default="127.0.0.1", description="The address to listen on.")
    port: Annotated[int, Field(ge=0, le=65535)] = Field(default=8080, description="The port to listen on.")
    workers: Annotated[int, Field(ge=1, le=64)] = Field(default=1, description="How many processes serve.")
    base_url: str | None = Field(
        default=None, description="The address under which the world sees it, without a final slash."
    )
    systems: list[str] | None = Field(default=None, description="The systems to serve; else all.")

    dynamodb_port: Annotated[int, Field(ge=0, le=65535)] | None = Field(
        default=None, description="Answer as a DynamoDB endpoint on this port as well."
    )

    demo: bool = Field(default=False, description="Fill every system once with made-up data.")
    dev: bool = Field(default=False, description="Sign in as anybody; for this machine only.")
    dev_key: Path | None = Field(
        default=None, description="The key of the issuer for development; else beside the data."
    )
    issuers: dict[str, IssuerSettings] = Field(
        default={}, description="The OpenID issuer of each system, as JSON; `*` for those that are not named."
    )

    media_path: Path | None = Field(default=None, description="The folder of uploaded files; else beside the data.")
    media_bucket: str | None = Field(default=None, description="The S3 bucket of uploaded files, instead of a folder.")
    media_endpoint_url: str | None = Field(
        default=None, description="An endpoint that speaks S3's API, instead of AWS's."
    )

    cursor_secret: SecretStr | None = Field(default=None, description="Signs cursors; else one is made and kept.")
    body_limit: int = Field(default=1024 * 1024, ge=1, description="The longest body of a request, in bytes.")
    nesting_limit: int = Field(default=32, ge=1, le=200, description="How deep the JSON of a body may be nested.")
    request_seconds: float = Field(default=15, gt=0, description="How long a request may take.")
    rate_identity: int = Field(default=600, ge=0, description="Requests a minute of one signed-in caller; 0: no limit.")
    rate_address: int = Field(default=1200, ge=0, description="Requests a minute from one address; 0: no limit.")
    trusted_proxies: list[str] = Field(
        default=[], description="Addresses or networks of proxies whose X-Forwarded-For is believed."
    )

    work: bool = Field(default=True, description="Do background work in the serving processes, too.")
    stream_tries: int = Field(default=8, ge=1, description="How often a stream record is tried before it is set aside.")
    sweep_seconds: float = Field(default=60, gt=0, description="How often is tidied up.")
    lease_seconds: float = Field(
        default=30, ge=1, description="How long work waits for a process that is gone before another goes on with it."
    )
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        default="info", description="The least that is logged."
    )

    @model_validator(mode="after")
    def _check(self) -> "Settings":
        if self.dev and not _is_loopback(self.host):
            raise ValueError(
                f"dev lets anybody sign in as anybody, so it needs a loopback address, and not {self.host}"
            )
        try:
            _networks(self.trusted_proxies)
        except ValueError as error:
            raise ValueError(f"trusted_proxies: {error}") from error
        return self

    @cached_property
    def proxies(self) -> tuple[Network, ...]:
        """The networks whose word about addresses is taken."""
        return _networks(self.trusted_proxies)

    @property
    def dev_key_file(self) -> Path:
        """Where the development issuer's key is."""
        return self.dev_key or self.path.with_name(f"{self.path.name}.dev-key.json")

    @property
    def media_folder(self) -> Path:
        """Where uploaded files are."""
        return self.media_path or self.path.with_name(f"{self.path.name}.media")

    def issuer_of(self, system: str) -> IssuerSettings | None:
        """The issuer that a system believes."""
        return self.issuers.get(system) or self.issuers.get("*")


def _networks(addresses: list[str]) -> tuple[Network, ...]:
    return tuple(ipaddress.ip_network(each, strict=False) for each in addresses)


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
