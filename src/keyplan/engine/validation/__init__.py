"""Request validation, derived from botocore's service model and the table in `extras`.

Two things can be wrong with a request before its operation runs: its JSON types (a SerializationException for the
first wrong one) and its constraints (one ValidationException for all). `readers` reads nearly every request in one
walk; for the rest, `serialization` and `constraints` find out what is wrong, and `wording` knows how the operation says
it. It knows values, the service model and errors.

The main function is `check_request`; the main type is `Reader`.
"""

from typing import cast

from keyplan.engine import service_model
from keyplan.engine.errors import validation_error
from keyplan.engine.executor import Request
from keyplan.engine.validation import extras
from keyplan.engine.validation.constraints import Violations
from keyplan.engine.validation.readers import JSON, NOT_READ, Reader, compile_reader
from keyplan.engine.validation.serialization import convert_request
from keyplan.engine.validation.wording import wording_of

__all__ = ["check_request"]

_readers: dict[str, Reader] = {}


def check_request(operation: str, request: Request) -> Request:
    """Return a request as the operations expect it; raise AWS's error if something is wrong with it.

    The result has only members of the model, with correct JSON types. Attribute values are in normal form, unless the
    operation has to refuse one. A request that can't be read quickly is changed in place, as the service does: null
    and unknown members are removed, and fractions are truncated in place of integers. An unknown operation is not
    checked.
    """
    read = _readers.get(operation) or _compile(operation)
    try:
        return cast(Request, read(request))
    except NOT_READ:
        return _examine(operation, request)


def _input_of(operation: str) -> tuple[service_model.Model, str] | None:
    service = service_model.service_of(operation)
    if service is None:
        return None
    found = service_model.load(service)
    reference = found["operations"][operation].get("input")
    return (found, reference["shape"]) if reference else None


def _compile(operation: str) -> Reader:
    shape = _input_of(operation)
    if shape is None:
        return lambda request: request
    _readers[operation] = read = compile_reader(*shape, JSON)
    return read


def _examine(operation: str, request: Request) -> Request:
    shape = _input_of(operation)
    assert shape is not None  # only an operation with an input has a reader
    described, name = shape
    converted = convert_request(described, name, request)
    if operation in extras.TABLE_OPERATIONS and "TableName" not in converted:
        raise validation_error(extras.NO_TABLE_NAME)
    required, message = extras.EMPTY.get(operation, ("", ""))
    if converted.get(required) == {}:
        raise validation_error(message)
    violations = Violations(described, wording_of(operation))
    violations.structure(name, converted)
    violations.check()
    return converted
