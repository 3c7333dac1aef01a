"""The body of a request: JSON, read within limits and checked strictly."""

from typing import Annotated, Any

import orjson
from pydantic import WrapValidator
from starlette.requests import Request

from keyplan.web.models.bodies import In
from keyplan.web.models.problems import BadRequest, Unprocessable


class LimitedRequest(Request):
    """A request whose JSON is read within limits."""

    async def json(self) -> Any:  # noqa: ANN401 - any JSON
        """The parsed body. Raises a problem if it isn't valid JSON."""
        if not hasattr(self, "_within_limits"):
            body = await self.body()
            try:
                value = orjson.loads(body)
            except orjson.JSONDecodeError as error:
                raise BadRequest("not-json", f"The body isn't valid JSON: {error}.") from error
            check_nesting(value, self.scope.get("keyplan.nesting", 32))
            self._within_limits = value
        return self._within_limits


def check_nesting(value: object, most: int) -> None:
    """Refuse a value that is nested too deeply."""
    level = [value]
    for _ in range(most):
        level = [
            inner
            for each in level
            if isinstance(each, dict | list)
            for inner in (each.values() if isinstance(each, dict) else each)
            if isinstance(inner, dict | list)
        ]
        if not level:
            return
    raise Unprocessable("too-deep", f"The body is nested more than {most} levels deep.")


def as_sent(model: type[In]) -> Any:  # noqa: ANN401 - a type
    """A type that reads JSON strictly: 0 isn't a boolean and "1" isn't a number, but a string can be a time."""

    def strictly(value: object, lax: object) -> In:
        return model.model_validate_json(orjson.dumps(_with_integers(value)), strict=True)

    return Annotated[model, WrapValidator(strictly)]


def _with_integers(value: object) -> object:
    """JSON with integers for whole numbers, such as 1.0: JSON has one kind of number."""
    match value:
        case float() if value.is_integer() and abs(value) < 2**53:
            return int(value)
        case list():
            return [_with_integers(each) for each in value]
        case dict():
            return {name: _with_integers(each) for name, each in value.items()}
    return value
