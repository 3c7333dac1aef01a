"""Helpers that read an API's answers: problems, their pointers, and a shelf to start with."""

import httpx


def problem(response: httpx.Response, status: int, code: str) -> dict[str, object]:
    """The problem in a response, checked to have the form of all problems."""
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/problem+json"
    body: dict[str, object] = response.json()
    assert body["code"] == code
    assert body["status"] == status
    assert body["type"] == f"urn:keyplan:problem:{code}"
    assert body["title"]
    assert body["detail"]
    assert body["request_id"] == response.headers["x-request-id"]
    return body


def pointers(body: dict[str, object]) -> list[str]:
    errors = body["errors"]
    assert isinstance(errors, list)
    return [error["pointer"] for error in errors]


def shelf(client: httpx.Client, name: str = "Novels") -> dict[str, object]:
    response = client.post("/shelves", json={"name": name})
    assert response.status_code == 201, response.text
    made: dict[str, object] = response.json()
    return made
