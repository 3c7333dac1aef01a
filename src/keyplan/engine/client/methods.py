"""The methods of `boto3.client("dynamodb")` and `boto3.client("dynamodbstreams")`, made from botocore's model.

Type checkers don't see this module: for them, `Engine` derives from the classes of `types-boto3-dynamodb` (see
`typed.pyi`).
"""

from collections.abc import Callable
from functools import cache, cached_property
from typing import TYPE_CHECKING, TypeAlias, cast

import orjson
from botocore import xform_name
from botocore.client import ClientMeta
from botocore.config import Config
from botocore.errorfactory import BaseClientExceptions
from botocore.exceptions import OperationNotPageableError
from botocore.hooks import HierarchicalEmitter
from botocore.paginate import Paginator
from botocore.waiter import Waiter, WaiterModel, create_waiter_with_client

from keyplan.engine import service_model
from keyplan.engine.client import exceptions
from keyplan.engine.client.exceptions import client_error, metadata
from keyplan.engine.client.params import NOT_UTF8, Arguments, Prepared, botocore_model, preparation
from keyplan.engine.client.shapes import conversion
from keyplan.engine.errors import DynamoError
from keyplan.engine.executor import Executor
from keyplan.engine.service_model import Service
from keyplan.engine.values.normal_form import NestedTooDeep

if TYPE_CHECKING:
    from botocore.client import BaseClient

Result: TypeAlias = dict[str, object]

REGION = "us-east-1"


class Methods:
    """The part of a boto3 client that doesn't depend on how requests are answered."""

    _database: Executor

    @property
    def exceptions(self) -> BaseClientExceptions:
        """The exception classes by name: `engine.exceptions.ResourceNotFoundException`."""
        return exceptions.exceptions()

    @cached_property
    def meta(self) -> ClientMeta:
        """The metadata of the client, as boto3's clients have it."""
        return ClientMeta(
            HierarchicalEmitter(),
            Config(region_name=REGION),
            f"https://dynamodb.{REGION}.amazonaws.com",
            botocore_model("dynamodb"),
            {name: operation for name, (_, operation) in _operations().items()},
            "aws",
        )

    def can_paginate(self, operation_name: str) -> bool:
        """Return whether there is a paginator for a method."""
        service, operation = _operations()[operation_name]
        return operation in service_model.pagination(service)["pagination"]

    def get_paginator(self, operation_name: str) -> "Paginator[object]":
        """Return botocore's paginator for a method of this engine."""
        if not self.can_paginate(operation_name):
            raise OperationNotPageableError(operation_name=operation_name)
        service, operation = _operations()[operation_name]
        pages = service_model.pagination(service)["pagination"][operation]
        return Paginator(getattr(self, operation_name), pages, botocore_model(service).operation_model(operation))

    @property
    def waiter_names(self) -> list[str]:
        """The names that `get_waiter` accepts."""
        return [xform_name(name) for name in service_model.waiters("dynamodb")["waiters"]]

    def get_waiter(self, waiter_name: str) -> Waiter:
        """Return botocore's waiter on the methods of this engine."""
        waiters = service_model.waiters("dynamodb")
        names = {xform_name(name): name for name in waiters["waiters"]}
        if waiter_name not in names:
            raise ValueError(f"Waiter does not exist: {waiter_name}")
        # botocore uses only what is defined here: the methods and `meta`.
        return create_waiter_with_client(names[waiter_name], WaiterModel(dict(waiters)), cast("BaseClient", self))


@cache
def _operations() -> dict[str, tuple[Service, str]]:
    """The services and operations by method name."""
    return {xform_name(operation): (service, operation) for service, operation in service_model.operations()}


@cache
def _codec(service: Service, operation: str) -> tuple[Callable[[Arguments], Prepared], Callable[[Result], Result]]:
    """The functions that make an operation's request of the arguments, and the return value of the answer."""
    output = service_model.load(service)["operations"][operation].get("output")
    return preparation(service, operation), conversion(service, output["shape"] if output else None)


def _method(service: Service, operation: str, name: str) -> Callable[..., Result]:
    prepare: Callable[[Arguments], Prepared] | None = None
    convert: Callable[[Result], Result]

    def method(self: Methods, *positional: object, **arguments: object) -> Result:
        nonlocal prepare, convert
        if prepare is None:  # compiled at the first call, because most programs use only a few operations
            prepare, convert = _codec(service, operation)
        if positional:
            raise TypeError(f"{name}() only accepts keyword arguments.")
        try:
            request, checked = prepare(arguments)
            answer = self._database.execute(operation, request, checked=checked)
            result = convert(answer) if answer else {}
        except DynamoError as error:
            raise client_error(error, operation, service) from None
        except (orjson.JSONEncodeError, UnicodeEncodeError) as error:
            # orjson raises a plain TypeError, which may also come from botocore or be a bug of ours.
            if "surrogates" not in str(error):
                raise
            # Half a surrogate pair in a string: Python allows it, UTF-8 doesn't.
            refusal = DynamoError("SerializationException", NOT_UTF8)
            raise client_error(refusal, operation, service) from None
        except RecursionError:  # in botocore's validator
            raise client_error(NestedTooDeep(), operation, service) from None
        result["ResponseMetadata"] = metadata()
        return result

    method.__name__ = name
    method.__qualname__ = f"Engine.{name}"
    method.__doc__ = f"{operation}, with the arguments and the return value of `boto3.client({service!r}).{name}`."
    return method


for _name, (_service, _operation) in _operations().items():
    setattr(Methods, _name, _method(_service, _operation, _name))
