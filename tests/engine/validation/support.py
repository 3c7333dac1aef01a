"""Helpers for the tests of validation."""

from typing import Any

import pytest

from keyplan.engine.errors import DynamoError
from keyplan.engine.validation import check_request


def refusal(operation: str, request: dict[str, Any], code: str = "ValidationException") -> str:
    """The message of the error that a request is refused with."""
    with pytest.raises(DynamoError) as caught:
        check_request(operation, request)
    assert (caught.value.code, caught.value.status) == (code, 400)
    return caught.value.message
