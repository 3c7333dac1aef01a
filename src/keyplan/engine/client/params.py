"""Checks the arguments of a call and makes a request of them, as boto3 does before it sends one.

For nearly every call, the operation's reader does both in one walk, and the database has nothing more to check.
Anything unusual (a wrong type, a missing member, an illegal value, but also a tuple or a datetime) is left to
botocore's own validator and serializer, and then checked by the database like a request from the wire. So what is
refused, and with which message, is botocore's decision. An idempotency token that boto3 would generate is left out:
it would never be sent a second time.
"""

from collections.abc import Callable
from functools import cache
from typing import Any, TypeAlias, cast

import orjson
from botocore.exceptions import ParamValidationError
from botocore.model import ServiceModel, StructureShape
from botocore.serialize import JSONSerializer
from botocore.validate import ParamValidator

from keyplan.engine import service_model
from keyplan.engine.errors import DynamoError
from keyplan.engine.executor import Request
from keyplan.engine.service_model import Service
from keyplan.engine.validation.readers import ARGUMENTS, NOT_READ, compile_reader

Arguments: TypeAlias = dict[str, object]
Prepared: TypeAlias = tuple[Request, bool]
"""A request, and whether it was checked completely."""

NOT_UTF8 = "Invalid UTF-8 in a string value"

# The last two: half a surrogate pair, which a Python string can hold.
_NOT_READ = (*NOT_READ, UnicodeEncodeError, orjson.JSONEncodeError)


@cache
def botocore_model(service: Service) -> ServiceModel:
    """Return botocore's own object for the model."""
    return ServiceModel(cast("dict[str, object]", service_model.load(service)), service_name=service)


def preparation(service: Service, operation: str) -> Callable[[Arguments], Prepared]:
    """Return the function that makes an operation's request of a call's arguments; it raises ParamValidationError."""
    model = service_model.load(service)
    reference = model["operations"][operation].get("input")
    if reference is None:  # pragma: no cover - every operation has an input today
        return lambda arguments: (arguments, False)
    read: Callable[[Arguments], Any] = compile_reader(model, reference["shape"], ARGUMENTS)

    def prepare(arguments: Arguments) -> Prepared:
        try:
            return read(arguments), True
        except _NOT_READ:
            return _as_botocore_sends_it(service, operation, arguments), False

    return prepare


def _as_botocore_sends_it(service: Service, operation: str, arguments: Arguments) -> Request:
    described = botocore_model(service).operation_model(operation)
    # Only operations with an input shape get here.
    report = ParamValidator().validate(arguments, cast(StructureShape, described.input_shape))
    if report.has_errors():
        raise ParamValidationError(report=report.generate_report())
    body = JSONSerializer().serialize_to_request(arguments, described)["body"]
    try:
        return cast(Request, orjson.loads(body))
    except orjson.JSONDecodeError:  # half a surrogate pair, which JSON can write but UTF-8 can't
        raise DynamoError("SerializationException", NOT_UTF8) from None
