"""The OpenAPI document of a system matches what the system does."""

from typing import Any

import pytest

from keyplan.web.server.application import api_of
from tests.web.site import Site


@pytest.fixture
def document(library: Site) -> dict[str, Any]:
    return api_of(library.running).openapi()


def operation(document: dict[str, Any], verb: str, path: str) -> dict[str, Any]:
    found: dict[str, Any] = document["paths"][path][verb]
    return found


def parameter(document: dict[str, Any], verb: str, path: str, name: str) -> dict[str, Any]:
    return next(each for each in operation(document, verb, path)["parameters"] if each["name"] == name)


def test_every_answer_has_a_request_id(document: dict[str, Any]) -> None:
    named = {"$ref": "#/components/headers/X-Request-Id"}
    for path in document["paths"].values():
        for each in path.values():
            assert all(answer["headers"]["X-Request-Id"] == named for answer in each["responses"].values())


def test_headers_are_documented_where_they_are_sent(library: Site, document: dict[str, Any]) -> None:
    def promised(verb: str, path: str, status: int) -> set[str]:
        return set(operation(document, verb, path)["responses"][str(status)]["headers"]) - {"X-Request-Id"}

    assert promised("get", "/shelves", 200) == {"Link"}
    assert promised("get", "/shelves/{shelf_id}", 200) == {"ETag"}
    assert promised("get", "/shelves/{shelf_id}", 304) == {"ETag"}
    assert promised("post", "/shelves", 201) == {"ETag", "Idempotent-Replayed"}
    assert promised("delete", "/shelves/{shelf_id}", 204) == set()
    assert promised("post", "/shelves", 401) == {"WWW-Authenticate"}
    assert promised("post", "/shelves", 429) == promised("post", "/shelves", 503) == {"Retry-After"}
    made = library.as_("ada").post("/shelves", json={"name": "A"})
    known = library.as_().get(f"/shelves/{made.json()['shelf_id']}", headers={"If-None-Match": made.headers["etag"]})
    assert (known.status_code, known.headers["etag"], known.content) == (304, made.headers["etag"], b"")


def test_if_match_is_documented_where_it_is_required(document: dict[str, Any]) -> None:
    needed = parameter(document, "patch", "/shelves/{shelf_id}", "If-Match")
    optional = parameter(document, "post", "/shelves/{shelf_id}/books", "If-Match")
    assert (needed["required"], optional["required"]) == (True, False)
    answers = operation(document, "patch", "/shelves/{shelf_id}")["responses"].keys()
    assert {"412", "428"} <= answers
    answers = operation(document, "post", "/shelves/{shelf_id}/books")["responses"].keys()
    assert "412" in answers
    assert "428" not in answers


def test_an_optional_parameter_is_left_out_and_not_null(document: dict[str, Any]) -> None:
    operations = [each for path in document["paths"].values() for each in path.values()]
    schemas = [each["schema"] for found in operations for each in found.get("parameters", ())]
    assert {each["type"] for each in schemas} == {"string", "integer"}
    cursor = parameter(document, "get", "/shelves", "cursor")
    assert (cursor["schema"]["type"], cursor["schema"]["maxLength"]) == ("string", 4096)
    key = parameter(document, "post", "/shelves", "Idempotency-Key")
    assert (key["schema"]["minLength"], key["schema"]["maxLength"], key["required"]) == (1, 255, False)


def test_403_is_documented_only_where_it_can_happen(document: dict[str, Any]) -> None:
    assert "403" not in operation(document, "get", "/shelves")["responses"]
    assert "403" in operation(document, "get", "/gone")["responses"]
    assert "security" not in operation(document, "get", "/shelves")
