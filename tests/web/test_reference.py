"""The reference page of an API: its content, what it loads, and who gets tokens from it."""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from html import unescape
from typing import Any

import httpx
import pytest

from keyplan.web.identity.tokens import NoIssuer
from keyplan.web.pages.reference import Reference, example, words
from keyplan.web.pages.rendering import marked
from keyplan.web.settings import Settings
from tests.web.library import SYSTEM
from tests.web.site import Site, site


@pytest.fixture
def started(settings: Settings) -> Iterator[Site]:
    with site(SYSTEM, settings) as running:
        yield running


def test_every_operation_parameter_schema_and_problem_is_listed(started: Site) -> None:
    page = httpx.get(f"{started.api}/docs")
    assert page.status_code == 200
    document = httpx.get(f"{started.api}/openapi.json").json()
    for path, item in document["paths"].items():
        for method, operation in item.items():
            found = re.search(
                rf'<article class="operation" id="{operation["operationId"]}".*?</article>', page.text, re.DOTALL
            )
            assert found, operation["operationId"]
            shown = unescape(found[0])
            assert f'data-method="{method.upper()}" data-path="/api/library{path}"' in shown
            for name in (each["name"] for each in operation.get("parameters", ())):
                assert f'name="{name}"' in shown
            for status in operation["responses"]:
                assert f"<strong>{status}</strong>" in shown
            assert ("requires sign-in" in shown) == ("security" in operation)
    for name in document["components"]["schemas"]:
        assert f'id="schema-{name}"' in page.text
    for link in re.findall(r'href="#([^"]+)"', page.text):
        assert f'id="{link}"' in page.text, link


def test_it_loads_nothing_from_other_hosts(started: Site) -> None:
    page = httpx.get(f"{started.api}/docs")
    assert "default-src 'self'" in page.headers["content-security-policy"]
    assert re.findall(r'(?:src|href)="(?:https?:)?//[^"]*"', page.text) == []
    assert not re.search(r"<style|style=|<script(?! type=\"module\" src=)", page.text)
    for address in re.findall(r'(?:src|href)="(/static/[^"]+)"', page.text):
        file = httpx.get(started.url + unescape(address))
        assert file.status_code == 200
        assert not re.search(r"@import|https?://(?!www\.w3\.org/)", file.text)


def test_it_is_not_part_of_the_api(started: Site) -> None:
    document = httpx.get(f"{started.api}/openapi.json").json()
    assert not [path for path in document["paths"] if "docs" in path]


def test_with_dev_it_issues_tokens(started: Site) -> None:
    answer = httpx.post(f"{started.api}/docs/token", json={"sub": "alice", "groups": "admin staff"})
    assert answer.status_code == 200
    headers = {"Authorization": f"Bearer {answer.json()['token']}"}
    assert httpx.get(f"{started.api}/gone", headers=headers).status_code == 200


@pytest.mark.parametrize("body", [{}, {"sub": ""}, {"sub": "a#b"}, {"sub": "a", "x": 1}, [], "x"], ids=json.dumps)
def test_a_token_without_a_valid_subject_is_refused(started: Site, body: object) -> None:
    answer = httpx.post(f"{started.api}/docs/token", json=body)
    assert answer.status_code == 422
    assert answer.headers["content-type"] == "application/problem+json"


@pytest.mark.parametrize(
    "headers",
    [{"Origin": "https://evil.example"}, {"Sec-Fetch-Site": "cross-site"}, {"Host": "evil.example"}],
    ids=str,
)
def test_another_site_gets_no_token(started: Site, headers: dict[str, str]) -> None:
    answer = httpx.post(f"{started.api}/docs/token", json={"sub": "alice"}, headers=headers)
    assert answer.status_code == 403


def test_without_dev_it_issues_no_tokens(settings: Settings) -> None:
    with site(SYSTEM, settings.model_copy(update={"dev": False})) as started:
        assert "Get token" not in httpx.get(f"{started.api}/docs").text
        assert httpx.post(f"{started.api}/docs/token", json={"sub": "alice"}).status_code in (404, 405)


def test_a_system_with_its_own_accounts_issues_its_own_tokens(settings: Settings) -> None:
    with site(replace(SYSTEM, identity=lambda running: NoIssuer()), settings) as started:
        assert "Get token" not in httpx.get(f"{started.api}/docs").text
        assert httpx.post(f"{started.api}/docs/token", json={"sub": "alice"}).status_code in (404, 405)


# Descriptions of schemas

SCHEMAS: dict[str, Any] = {
    "Tree": {
        "title": "A tree",
        "type": "object",
        "properties": {"name": {"type": "string"}, "children": {"type": "array", "items": {"$ref": "#/x/Tree"}}},
    }
}


@pytest.mark.parametrize(
    ("schema", "said"),
    [
        ({"type": "string"}, "string"),
        ({"type": "string", "format": "date-time"}, "date-time"),
        ({"type": "string", "minLength": 1, "maxLength": 8}, "string, at least 1 character, at most 8 characters"),
        ({"type": "integer", "minimum": 1.0, "exclusiveMaximum": 9}, "integer, at least 1, less than 9"),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, "integer or null"),
        ({"allOf": [{"$ref": "#/x/Tree"}, {"type": "object"}]}, "A tree and object"),
        ({"enum": ["a", "b"]}, '"a" or "b"'),
        ({"const": 3}, "3"),
        ({"type": "array", "items": {"$ref": "#/x/Tree"}, "maxItems": 3}, "list of A tree, at most 3 items"),
        ({"type": "object", "additionalProperties": {"type": "number"}}, "object with values of type number"),
        ({"type": "array"}, "list of any value"),
        ({"$ref": "#/x/Unknown"}, "Unknown"),
        ({}, "any value"),
    ],
)
def test_types_are_described_in_words(schema: dict[str, Any], said: str) -> None:
    assert "".join(piece.text for piece in words(schema, SCHEMAS)) == said


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"type": "string"}, "text"),
        ({"type": "string", "format": "email"}, "somebody@example.org"),
        ({"type": "string", "default": "x"}, "x"),
        ({"type": "integer", "minimum": 7}, 7),
        ({"type": "number"}, 1.5),
        ({"type": "boolean"}, False),
        ({"enum": ["b", "a"]}, "b"),
        ({"examples": ["e"]}, "e"),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, 1),
        ({"type": "array", "items": {"type": "string"}}, ["text"]),
        ({}, None),
    ],
)
def test_examples_are_made_from_schemas(schema: dict[str, Any], value: object) -> None:
    assert example(schema, SCHEMAS) == value


def test_the_example_of_a_recursive_schema_ends() -> None:
    assert json.dumps(example({"$ref": "#/x/Tree"}, SCHEMAS)).count("name") <= 6


def test_operations_are_grouped_by_tag_and_text_is_escaped() -> None:
    reference = Reference.of(
        {
            "info": {"title": "T"},
            "paths": {
                "/a-b/c": {"get": {}},
                "/x": {"get": {"tags": ["Tagged"]}},
                "/": {"get": {"responses": {"200": {}}}},
            },
        }
    )
    assert list(reference.groups) == ["A b", "Tagged", "T"]
    assert reference.groups["T"][0].answers[0].about == "OK"
    assert marked("`<a>` & `b") == "`&lt;a&gt;` &amp; `b"
    assert marked("a `<b>` c") == "a <code>&lt;b&gt;</code> c"
