"""`keyplan dynamodb`: a DynamoDB endpoint on this machine."""

import contextlib
import os
import socket
from pathlib import Path
from typing import Annotated, Literal

import typer

from keyplan.addresses import is_loopback
from keyplan.cli.opening import DEFAULT_FILE, check_s3, check_usable, credentials, fail


def dynamodb(
    host: Annotated[
        str, typer.Option(envvar="KEYPLAN_DYNAMODB_HOST", help="Address to listen on.", metavar="ADDRESS")
    ] = "127.0.0.1",
    port: Annotated[
        int,
        typer.Option(envvar="KEYPLAN_DYNAMODB_PORT", min=0, max=65535, help="Port to listen on; 0 for any free port."),
    ] = 8000,
    path: Annotated[
        Path | None,
        typer.Option(
            envvar="KEYPLAN_DYNAMODB_PATH",
            help=f"Database file. The default is {DEFAULT_FILE} in the current folder.",
        ),
    ] = None,
    memory: Annotated[
        bool,
        typer.Option(
            "--memory",
            envvar="KEYPLAN_DYNAMODB_MEMORY",
            help="Keep the data in memory only. It is lost when the endpoint stops.",
        ),
    ] = False,
    durability: Annotated[
        Literal["normal", "full"],
        typer.Option(
            envvar="KEYPLAN_DYNAMODB_DURABILITY",
            help="What an acknowledged write survives: a crash of the process (normal) or also a power failure (full).",
        ),
    ] = "normal",
    ttl_interval: Annotated[
        float,
        typer.Option(
            envvar="KEYPLAN_DYNAMODB_TTL_INTERVAL",
            min=0,
            metavar="SECONDS",
            help="How often to delete items whose time to live has expired; 0 for never.",
        ),
    ] = 60.0,
    vector_memory: Annotated[
        int | None,
        typer.Option(
            envvar="KEYPLAN_DYNAMODB_VECTOR_MEMORY",
            min=0,
            metavar="MIB",
            help="How much memory vector indexes may take. The default is an eighth of the memory, at most 2048.",
        ),
    ] = None,
    s3: Annotated[
        str | None,
        typer.Option(
            "--s3",
            envvar="KEYPLAN_DYNAMODB_S3",
            metavar="FOLDER or URL",
            help="What exports and imports use as S3: a folder, whose subfolders are the buckets, or the URL of an S3 "
            "endpoint. The default is nothing: exports and imports are refused.",
        ),
    ] = None,
    regions: Annotated[
        Literal["one", "separate"],
        typer.Option(
            envvar="KEYPLAN_DYNAMODB_REGIONS",
            help="Whether clients of all regions and accounts see the same tables (one), or each region of each "
            "account has its own (separate).",
        ),
    ] = "one",
    account: Annotated[
        list[str] | None,
        typer.Option(
            envvar="KEYPLAN_DYNAMODB_ACCOUNTS",
            metavar="KEY=ACCOUNT",
            help="Account of an access key, with 12 digits, where regions are separate. An access key with 12 digits "
            "is its own account. Can be repeated.",
        ),
    ] = None,
    access_key: Annotated[
        str | None,
        typer.Option(
            envvar="KEYPLAN_DYNAMODB_ACCESS_KEY",
            metavar="KEY",
            help="Accept only requests signed with this access key and its secret key. The default is any signature.",
        ),
    ] = None,
    secret_key_file: Annotated[
        Path | None,
        typer.Option(
            envvar="KEYPLAN_DYNAMODB_SECRET_KEY_FILE",
            metavar="FILE",
            help="File with the secret key for the access key. KEYPLAN_DYNAMODB_SECRET_KEY can have the key itself.",
        ),
    ] = None,
    allowed_host: Annotated[
        list[str] | None,
        typer.Option(
            envvar="KEYPLAN_DYNAMODB_ALLOWED_HOSTS",
            metavar="NAME",
            help="Also answer requests to this host name or address, such as a service of Docker Compose. Can be "
            "repeated. Requests to any host but this machine's loopback names and --host are refused, because a web "
            "page could send them.",
        ),
    ] = None,
    secret_key: Annotated[str | None, typer.Option(hidden=True)] = None,
) -> None:
    """Run a DynamoDB endpoint for AWS SDKs and the AWS CLI until it is stopped."""
    if memory and path is not None:
        raise typer.BadParameter("--path and --memory can't be used together.")
    if secret_key is not None:
        raise typer.BadParameter(
            "--secret-key was removed: everybody on this machine can see the command line. Use --secret-key-file FILE, "
            "or the environment variable KEYPLAN_DYNAMODB_SECRET_KEY."
        )
    accounts = _accounts(account or [], regions)
    keys = credentials(access_key, os.environ.get("KEYPLAN_DYNAMODB_SECRET_KEY"), secret_key_file)

    check_s3(s3)

    # Imported here because `keyplan --help` doesn't need it.
    import apsw

    from keyplan.engine import DamagedFile, Database
    from keyplan.engine.wire import Credentials, Server, run

    file = None if memory else path or DEFAULT_FILE
    if file is not None:
        check_usable(file)
    try:
        database = Database(
            ":memory:" if file is None else str(file),
            durability=durability,
            ttl_interval=ttl_interval or None,
            vector_memory=vector_memory,
            s3=s3 or None,
            regions=regions,
            accounts=accounts,
        )
    except (DamagedFile, apsw.Error, OSError, ValueError) as error:  # ValueError: a setting of storage/limits.py
        fail(f"Can't open {file}: {error}")
    try:
        server = Server(
            database,
            host=host,
            port=port,
            credentials=None if keys is None else Credentials(*keys),
            allowed_hosts=allowed_host or (),
            names_callers=database.regions_are_separate,
        )
        run(server, lambda: _announce(server.url, host, file, durability))
    except OSError as error:
        fail(f"Can't listen on {host}, port {port}: {_reason(error)}")
    finally:
        database.close()


def _accounts(given: list[str], regions: str) -> dict[str, str]:
    """The accounts by access key, of `--account`."""
    accounts: dict[str, str] = {}
    for pair in given:
        key, equals, number = pair.partition("=")
        if not key or not equals or len(number) != 12 or not (number.isascii() and number.isdigit()):
            raise typer.BadParameter(f"--account must be KEY=ACCOUNT, with an account of 12 digits, not {pair!r}.")
        accounts[key] = number
    if accounts and regions == "one":
        raise typer.BadParameter("--account can be used only with --regions separate.")
    return accounts


def _announce(url: str, host: str, file: Path | None, durability: str) -> None:
    where = "in memory" if file is None else f"file {file}, durability {durability}"
    with contextlib.suppress(OSError):  # standard output may be closed
        typer.echo(f"DynamoDB endpoint on {url} ({where})")
    if not is_loopback(host):
        typer.echo(
            f"Warning: {host} is not a loopback address. Anyone who can reach it over the network can use the "
            "endpoint, and connections are not encrypted.",
            err=True,
        )


def _reason(error: OSError) -> str:
    """The system's message without the event loop's wrapping; for an unknown host name, the resolver's message."""
    if error.errno is None or isinstance(error, socket.gaierror):
        return str(error.strerror or error)
    return os.strerror(error.errno)
