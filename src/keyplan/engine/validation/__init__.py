"""Request validation, derived from botocore's service model and the table in `extras`.

Two things can be wrong with a request before any operation looks at it: its JSON types (a SerializationException for
the first) and its constraints (one ValidationException for all). `acceptance` says quickly that nothing is;
`serialization` and `constraints` find out what is.
"""

from collections.abc import Callable

from keyplan.engine import service_model
from keyplan.engine.errors import validation_error
from keyplan.engine.validation import extras
from keyplan.engine.validation.acceptance import Test, compile_test
from keyplan.engine.validation.constraints import Violations
from keyplan.engine.validation.serialization import read

__all__ = ["check_request"]

_tests: dict[tuple[str, bool], Test] = {}


def check_request(operation: str, request: dict[str, object], *, typed: bool = False) -> None:
    """Raise AWS's error for what is wrong with a request; an unknown operation passes.

    A request that passes holds only the members and JSON types of the model. To that end null and unknown members are
    removed from it and fractions cut off where an integer is due, as the service does; and an item to be put becomes a
    `PlainItem` where it is one. Nothing else in it is changed. Of a request that was `typed` by its caller, as
    botocore's own check does it, the attribute values are not looked at again.
    """
    test = _tests.get((operation, typed)) or _compile(operation, typed)
    if not test(request):
        _examine(operation, request)


def _input_of(operation: str) -> tuple[service_model.Model, str] | None:
    service = service_model.service_of(operation)
    if service is None:
        return None
    found = service_model.load(service)
    reference = found["operations"][operation].get("input")
    return (found, reference["shape"]) if reference else None


def _compile(operation: str, typed: bool) -> Callable[[object], bool]:
    shape = _input_of(operation)
    if shape is None:
        return lambda request: True
    test = compile_test(*shape, typed=typed)
    _tests[operation, typed] = test
    return test


def _examine(operation: str, request: dict[str, object]) -> None:
    shape = _input_of(operation)
    if shape is None:
        return
    described, name = shape
    read(described, name, request)
    if operation in extras.TABLE_OPERATIONS and "TableName" not in request:
        raise validation_error(extras.NO_TABLE_NAME)
    violations = Violations(described)
    violations.structure(name, request)
    violations.check()
