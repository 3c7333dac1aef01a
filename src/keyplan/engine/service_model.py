"""botocore's description of DynamoDB and DynamoDB Streams: operations, shapes, paginators, waiters.

The files are read directly from the installed botocore without importing it: the wire server needs the shapes but none
of botocore's code, and importing it would take a third of the server's startup time.
"""

import gzip
from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Literal, NotRequired, TypeAlias, TypedDict

import orjson

Service: TypeAlias = Literal["dynamodb", "dynamodbstreams"]
SERVICES: tuple[Service, ...] = ("dynamodb", "dynamodbstreams")

ITEM_SHAPE = "PutItemInputAttributeMap"
"""The shape of an item to be put, in all operations."""


class Reference(TypedDict):
    """A reference from one shape to another."""

    shape: str


class Shape(TypedDict):
    """One shape of the model: a structure, list, map or scalar, with its constraints."""

    type: str
    members: NotRequired[dict[str, Reference]]
    member: NotRequired[Reference]
    key: NotRequired[Reference]
    value: NotRequired[Reference]
    required: NotRequired[list[str]]
    enum: NotRequired[list[str]]
    min: NotRequired[int]
    max: NotRequired[int]
    pattern: NotRequired[str]


class Operation(TypedDict):
    """One operation of the model."""

    name: str
    input: NotRequired[Reference]
    output: NotRequired[Reference]


class Model(TypedDict):
    """A service: the content of `service-2.json`."""

    metadata: dict[str, object]
    operations: dict[str, Operation]
    shapes: dict[str, Shape]


class Pagination(TypedDict):
    """The content of `paginators-1.json`."""

    pagination: dict[str, dict[str, object]]


class Waiters(TypedDict):
    """The content of `waiters-2.json`."""

    version: int
    waiters: dict[str, dict[str, object]]


@cache
def _folder(service: Service) -> Path:
    botocore = find_spec("botocore")
    if botocore is None or not botocore.submodule_search_locations:  # pragma: no cover - botocore is a dependency
        raise ModuleNotFoundError("keyplan needs the package botocore, which is not installed")
    data = Path(botocore.submodule_search_locations[0]) / "data" / service
    return max(version for version in data.iterdir() if version.is_dir())


def _read(service: Service, name: str) -> bytes | None:
    path = _folder(service) / f"{name}.json"
    packed = path.with_name(path.name + ".gz")
    if packed.exists():
        return gzip.decompress(packed.read_bytes())
    return path.read_bytes() if path.exists() else None


@cache
def load(service: Service) -> Model:
    """Return the model of a service; it is read once per process, in a few milliseconds."""
    content = _read(service, "service-2")
    if content is None:  # pragma: no cover - it is part of every botocore
        raise FileNotFoundError(f"botocore has no model of {service} in {_folder(service)}")
    model: Model = orjson.loads(content)
    return model


@cache
def pagination(service: Service) -> Pagination:
    """Return how each operation with pages is paginated."""
    pages: Pagination = orjson.loads(_read(service, "paginators-1") or b'{"pagination":{}}')
    return pages


def waiters(service: Service) -> Waiters:
    """Return what each waiter polls. Not cached, because botocore's `WaiterModel` takes ownership of it."""
    content: Waiters = orjson.loads(_read(service, "waiters-2") or b'{"version":2,"waiters":{}}')
    return content


def service_of(operation: str) -> Service | None:
    """Return the service that has an operation of this name, or None."""
    return next((service for service in SERVICES if operation in load(service)["operations"]), None)


def operations() -> Iterator[tuple[Service, str]]:
    """Yield every operation of both services."""
    for service in SERVICES:
        for name in load(service)["operations"]:
            yield service, name
