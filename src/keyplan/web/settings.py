"""The settings of a running Keyplan: a flag of the command line over `KEYPLAN_*` in the environment over `.env`."""

import ipaddress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr, model_validator

from keyplan.addresses import is_loopback
from keyplan.connection import Connection

Network = ipaddress.IPv4Network | ipaddress.IPv6Network


@dataclass(frozen=True)
class Protects:
    """Marks a setting as a limit: `make docs` puts it into the table of docs/limits.md.

    `what` is what the limit protects, and `behind_proxy` is what to set behind a proxy, if that differs.
    """

    what: str
    behind_proxy: str = ""


class IssuerSettings(BaseModel):
    """An OpenID issuer whose tokens are accepted."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    issuer: str = Field(description="The issuer's URL, as in the `iss` claim of its tokens.")
    audience: str | None = Field(
        default=None, description="The required `aud` claim of access tokens, if the issuer sets it."
    )
    client_id: str | None = Field(
        default=None, description="The client ID: the `aud` claim of ID tokens, and Cognito's `client_id` claim."
    )
    client_secret: SecretStr | None = Field(default=None, description="The client secret, if sign-in needs one.")
    groups_claim: str = Field(default="cognito:groups", description="The claim with the caller's groups.")
    jwks_uri: str | None = Field(default=None, description="The URL of its keys. Default: from its discovery document.")


class Settings(Connection):
    """All settings of `keyplan serve` and `keyplan work`."""

    host: str = Field(default="127.0.0.1", description="The address to listen on.")
    port: Annotated[int, Field(ge=0, le=65535)] = Field(default=8080, description="The port to listen on.")
    workers: Annotated[int, Field(ge=1, le=64)] = Field(default=1, description="The number of server processes.")
    base_url: str | None = Field(default=None, description="The public URL of the server, without a trailing slash.")
    systems: list[str] | None = Field(default=None, description="The systems to serve. Default: all.")

    dynamodb_port: Annotated[int, Field(ge=0, le=65535)] | None = Field(
        default=None, description="A port for a DynamoDB endpoint on the same data."
    )
    dynamodb_host: str = Field(default="127.0.0.1", description="The address of `dynamodb_port`.")
    dynamodb_allowed_hosts: str = Field(
        default="",
        description="More host names and addresses that requests to `dynamodb_port` may be sent to, separated by "
        "spaces. Requests to any host but this machine's loopback names and `dynamodb_host` are refused.",
    )
    dynamodb_access_key: str | None = Field(
        default=None,
        description="The access key that requests to `dynamodb_port` must be signed with. Required unless both it and "
        "the server listen on this machine only.",
    )
    dynamodb_secret_key: SecretStr | None = Field(default=None, description="The secret key of the access key.")
    dynamodb_secret_key_file: Path | None = Field(
        default=None, description="A file with the secret key of the access key."
    )
    dynamodb_s3: str | None = Field(
        default=None,
        description="What exports and imports through `dynamodb_port` use as S3: a folder, whose subfolders are the "
        "buckets, or the URL of an S3 endpoint.",
    )

    monitor_host: str = Field(default="127.0.0.1", description="The address of `monitor_port`.")
    monitor_port: Annotated[int, Field(ge=0, le=65535)] | None = Field(
        default=None, description="A port of their own for `/readyz` and `/metrics`, which are then only there."
    )
    monitor_seconds: Annotated[
        float, Protects("the processor, from many requests for `/readyz` and `/metrics`", "`KEYPLAN_MONITOR_PORT`")
    ] = Field(default=1, ge=0, description="Seconds for which an answer of `/readyz` and `/metrics` is used again.")

    demo: bool = Field(default=False, description="Fill each system with demo data, once.")
    dev: bool = Field(default=False, description="Let anyone sign in as anyone, on this machine only.")
    dev_key: Path | None = Field(
        default=None, description="The file with the development issuer's key. Default: next to the data."
    )
    issuers: dict[str, IssuerSettings] = Field(
        default={}, description="The OpenID issuer of each system, as JSON. `*` is for all other systems."
    )

    media_path: Path | None = Field(
        default=None, description="The folder of uploaded files. Default: next to the data."
    )
    media_bucket: str | None = Field(default=None, description="The S3 bucket of uploaded files, instead of a folder.")
    media_endpoint_url: str | None = Field(
        default=None, description="The endpoint of an S3-compatible service, instead of AWS."
    )
    upload_pending: Annotated[int, Protects("the store of files, from one person")] = Field(
        default=5, ge=0, description="Maximum unfinished uploads of a person in a system; 0 for no limit."
    )
    upload_pending_bytes: Annotated[int, Protects("the store of files, from one person")] = Field(
        default=200 * 1024 * 1024,
        ge=0,
        description="Maximum bytes of a person's unfinished uploads in a system; 0 for no limit.",
    )
    upload_kept_bytes: Annotated[int, Protects("the store of files, from one person")] = Field(
        default=1024 * 1024 * 1024,
        ge=0,
        description="Maximum bytes of a person's kept files in a system; 0 for no limit. Editors of vcm have 20 times "
        "as much of all three.",
    )
    picture_megapixels: Annotated[
        int, Protects("memory and time, here and in browsers: a small file can be a huge picture")
    ] = Field(default=50, ge=1, le=100, description="The maximum size of an uploaded picture, in megapixels.")
    image_hosts: list[Annotated[str, Field(pattern=r"^(\*\.)?[a-z0-9-]+(\.[a-z0-9-]+)*(:[0-9]{1,5})?$")]] = Field(
        default=[],
        description="Other hosts whose pictures pages show, such as `images.example.org` or `*.example.org`. Pictures "
        "of all others are shown as links.",
    )

    cursor_secret: SecretStr | None = Field(
        default=None, description="The key that signs cursors. Default: generated and stored."
    )
    body_limit: Annotated[int, Protects("memory: a body is read whole before it is checked")] = Field(
        default=1024 * 1024, ge=1, description="The maximum size of a request body, in bytes."
    )
    nesting_limit: Annotated[int, Protects("the stack: nested JSON is read recursively")] = Field(
        default=32, ge=1, le=200, description="The maximum nesting depth of a JSON body."
    )
    request_seconds: Annotated[
        float, Protects("everybody else, from one slow request", "less than the proxy's own time limit")
    ] = Field(default=15, gt=0, description="The maximum duration of a request, in seconds.")
    rate_identity: Annotated[int, Protects("everybody else, from one busy caller")] = Field(
        default=600, ge=0, description="Maximum requests per minute of a signed-in caller; 0 for no limit."
    )
    rate_address: Annotated[
        int,
        Protects(
            "everybody else, from one busy address", "`KEYPLAN_TRUSTED_PROXIES`, or all visitors share one address"
        ),
    ] = Field(default=1200, ge=0, description="Maximum requests per minute from an address; 0 for no limit.")
    hashing_places: Annotated[
        int,
        Protects(
            "everybody else, from a burst of sign-ins; an address holds at most a quarter of the places",
            "`KEYPLAN_TRUSTED_PROXIES`, or all visitors share one quarter",
        ),
    ] = Field(
        default=32,
        ge=1,
        description="Maximum requests at a time that hash a password or wait for it; others get a 503.",
    )
    hashing_seconds: Annotated[float, Protects("people who sign in, from waiting for a long time")] = Field(
        default=2, gt=0, description="Maximum seconds that a request waits before it hashes a password."
    )
    hashing_threads: Annotated[int | None, Field(ge=1), Protects("the cores that serve everything else")] = Field(
        default=None, description="Passwords that are hashed at the same time. Default: one less than there are cores."
    )
    connections_address: Annotated[
        int,
        Protects(
            "everybody else, from one address with many connections; proxies in `KEYPLAN_TRUSTED_PROXIES` are exempt",
            "`KEYPLAN_TRUSTED_PROXIES`, or all visitors share this limit",
        ),
    ] = Field(default=256, ge=0, description="Maximum open connections from an address; 0 for no limit.")
    connections_total: Annotated[
        int, Protects("memory and open files. If the system allows fewer open files, that counts")
    ] = Field(default=4096, ge=1, description="Maximum open connections. The one that waited longest is closed.")
    header_limit: Annotated[int, Protects("memory")] = Field(
        default=64 * 1024, ge=1024, description="The maximum size of the headers of a request, in bytes."
    )
    header_seconds: Annotated[float, Protects("connections, from clients that send nothing or only half")] = Field(
        default=10, gt=0, description="Seconds to send the headers of a request."
    )
    body_seconds: Annotated[float, Protects("connections, from clients that stop sending")] = Field(
        default=10, gt=0, description="The longest pause within a body, in seconds."
    )
    body_rate: Annotated[int, Protects("connections, from clients that send or read a little at a time")] = Field(
        default=2048,
        ge=1,
        description="The lowest speed of bodies and answers, in bytes per second, beside pauses of the length above.",
    )
    stall_seconds: Annotated[float, Protects("connections, from clients that stop reading the answer")] = Field(
        default=60, gt=0, description="Seconds that a client may stop reading."
    )
    idle_seconds: Annotated[
        int, Protects("connections", "longer than the proxy keeps an idle connection, such as 75")
    ] = Field(default=5, ge=1, description="Seconds that a connection stays open between two requests.")
    trusted_proxies: list[str] = Field(
        default=[], description="Addresses or networks of proxies whose X-Forwarded-For header is trusted."
    )

    work: bool = Field(default=True, description="Also run background work in the server processes.")
    stream_tries: int = Field(default=8, ge=1, description="How often to try a stream record before it is set aside.")
    sweep_seconds: float = Field(default=60, gt=0, description="Seconds between two runs of the cleanup.")
    lease_seconds: float = Field(
        default=30, ge=1, description="Seconds until another process takes over the work of one that stopped."
    )
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        default="info", description="The lowest level that is logged."
    )
    log_format: Literal["auto", "text", "json"] = Field(
        default="auto", description="Log readable lines, or JSON. `auto`: readable lines in a terminal."
    )

    @model_validator(mode="after")
    def _check(self) -> "Settings":
        if self.dev and not is_loopback(self.host):
            raise ValueError(f"dev lets anyone sign in as anyone, so host must be a loopback address, not {self.host}")
        try:
            _networks(self.trusted_proxies)
        except ValueError as error:
            raise ValueError(f"trusted_proxies: {error}") from error
        return self

    @cached_property
    def proxies(self) -> tuple[Network, ...]:
        """The networks of trusted proxies."""
        return _networks(self.trusted_proxies)

    @property
    def dev_key_file(self) -> Path:
        """The file with the development issuer's key."""
        return self.dev_key or self.path.with_name(f"{self.path.name}.dev-key.json")

    @property
    def media_folder(self) -> Path:
        """The folder of uploaded files."""
        return self.media_path or self.path.with_name(f"{self.path.name}.media")

    def issuer_of(self, system: str) -> IssuerSettings | None:
        """The issuer that a system trusts."""
        return self.issuers.get(system) or self.issuers.get("*")


def _networks(addresses: list[str]) -> tuple[Network, ...]:
    return tuple(ipaddress.ip_network(each, strict=False) for each in addresses)
