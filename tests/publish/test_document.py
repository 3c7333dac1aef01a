"""The document of a design: it is complete, and what it shows is what the store sends."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

from keyplan.data import Store
from keyplan.design import Design
from keyplan.design.examples import example_arguments
from keyplan.engine import Engine
from keyplan.publish.document import document_json, document_of, markdown, page
from tests.all_designs import SYSTEMS, design, designs
from tests.publish.documents import document

APPS = [f"apps/{name}" for name in SYSTEMS]


@pytest.mark.parametrize("name", designs())
def test_every_design_can_be_written_down(name: str) -> None:
    """Every entity, guard, index and pattern is in every form, and every pattern has its requests."""
    kind, found = design(name), document(name)
    entities = [entity.__name__ for entity in kind.entities]
    guards = [f"{entity.__name__}.{unique.name}" for entity in kind.entities for unique in entity.spec.uniques]
    assert sorted(each.name for each in found.items) == sorted([*entities, *guards])
    assert [each.name for each in found.patterns] == list(kind.patterns)
    assert [each.name for each in found.patterns if not each.requests] == []
    assert [each.name for each in found.patterns if each.cost is None and name in APPS] == []
    indexes = [f"{table.name}.{each}" for table in kind.tables for each in (*table.by_name, *table.vectors_by_name)]
    assert [f"{table.name}.{index.name}" for table in found.tables for index in table.indexes] == indexes
    assert [each.name for each in found.items if each.example is None and "entity" in each.kind] == []
    assert len(found.departures) == len(kind.departures)
    texts = (markdown(found), page(found), document_json(found))
    for each in (*entities, *guards, *(key.template for item in found.items for _, keys in item.keys for key in keys)):
        for text in texts[:2]:
            assert each.replace("|", "\\|") in text or each in text
    assert json.loads(texts[2])["patterns"][0]["requests"] if kind.patterns else True


@pytest.mark.parametrize("name", APPS)
def test_the_requests_are_those_that_the_store_sends(name: str) -> None:
    """What a store without a client would send first is what is shown first."""
    kind = design(name)
    store = Store(kind(), None, secret=b"example")
    for each in document(name).patterns:
        arguments = example_arguments(kind.patterns[each.name], design=kind)
        first = [(sent.operation, sent.request) for sent in each.requests]
        expected = _without_now(store.requests(getattr(store.design, each.name)(**arguments)))
        assert _without_now(first)[: len(expected)] == expected


def _without_now(requests: list[tuple[str, Any]]) -> list[tuple[str, Any]]:
    """Requests without the time of the filter that leaves out what has expired."""
    return [
        (operation, {name: each for name, each in request.items() if not request.get("FilterExpression")})
        for operation, request in requests
    ]


class Heard:
    """A client that keeps the requests."""

    def __init__(self) -> None:
        self.heard: list[tuple[str, Any]] = []

    def __getattr__(self, operation: str) -> Callable[..., None]:
        return lambda **request: self.heard.append((operation, request))


@pytest.mark.parametrize("name", APPS)
def test_boto3_gets_the_requests(name: str) -> None:
    """The code for boto3 is Python, and sends the requests."""
    for each in document(name).patterns:
        client = Heard()
        exec(each.example.boto3, {"dynamodb": client})
        assert client.heard == [(sent.operation, sent.request) for sent in each.requests]


_CLI = """
import json, shlex, sys
from awscli.clidriver import create_clidriver

class Stop(BaseException):
    pass

def stop(params, **_):
    raise Stop(params)

driver = create_clidriver()
driver.session.register("before-parameter-build.dynamodb", stop)
parsed = []
for command in json.load(sys.stdin):
    program, *arguments = shlex.split(command)
    try:
        sys.exit(f"{command} ended with {driver.main(arguments)}")
    except Stop as stopped:
        parsed.append([program, arguments[1], stopped.args[0]])
print(json.dumps(parsed))
"""
"""Runs commands of the AWS CLI up to where they are sent, in a process of its own: the CLI brings its own models."""


def test_the_aws_cli_sends_the_requests() -> None:
    patterns = [each for name in APPS for each in document(name).patterns]
    commands = [line for each in patterns for line in each.example.cli.replace("\\\n", " ").splitlines()]
    variables = {"AWS_ACCESS_KEY_ID": "any", "AWS_SECRET_ACCESS_KEY": "any", "AWS_DEFAULT_REGION": "us-east-1"}
    result = subprocess.run(
        [sys.executable, "-c", _CLI],
        input=json.dumps(commands),
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    sent = [request for each in patterns for request in each.requests]
    expected = [["aws", request.operation.replace("_", "-"), request.request] for request in sent]
    assert json.loads(result.stdout) == expected


@pytest.mark.parametrize("name", APPS)
def test_every_item_that_a_write_touches_is_named(name: str) -> None:
    for together in document(name).together:
        verbs = [write.name.partition(" ")[0] for write in together.writes]
        assert {"create", "delete"} <= set(verbs)
        for write in together.writes:
            assert write.cost is not None
            assert [touched.key for touched in write.touched if not touched.what] == []


def test_a_write_shows_what_changes_with_it() -> None:
    (post,) = (each for each in document("apps/wavyblog").together if each.entity == "Post")
    created = post.writes[0]
    assert created.name == "create Post"
    assert [(each.action, each.what) for each in created.touched] == [
        ("Put", "the Post itself"),
        ("Put", "guard slug_guard"),
        ("Update", "User, parent (author)"),
        ("Update", "Category, parent (in_category)"),
    ]
    assert [each.change for each in created.touched[2:]] == ["ADD PostCount 1", "ADD PostCount 1"]
    assert created.touched[0].condition == "attribute_not_exists(PK)"
    assert [(each.kind, each.name) for each in post.effects] == [
        ("guard", "slug_guard"),
        ("parent", "author"),
        ("parent", "in_category"),
    ]


def test_a_pattern_is_shown_in_dynamodbs_words() -> None:
    found = {each.name: each for each in document("apps/wavyblog").patterns}
    assert found["posts_by_user"].key_condition == (
        'GSI1PK = "POSTS_BY_USER#{username}" AND begins_with(GSI1SK, "POST#")'
    )
    assert found["posts_by_user"].order == "newest first"
    assert found["posts_by_category_for"].filter == "IsPublished = true OR AuthorID = {username}"
    assert found["user_by_email"].key_condition.splitlines() == [
        'PK = "USEREMAIL#{email.address}" AND SK = "USEREMAIL#{email.address}"',
        'then PK = "USER#{username}" AND SK = "METADATA#{username}"',
    ]
    assert [sent.action for sent in found["user_by_email"].requests] == ["GetItem", "GetItem"]


def test_limits_are_shown_in_words() -> None:
    (post,) = (each for each in document("apps/hacktracker").items if each.name == "Player")
    found = {each.name: each for each in post.attributes}
    assert found["firstName"].limits == "1 to 30 characters, one line"
    assert found["playerNumber"].limits == "0 to 99"
    assert found["status"].limits == "one of `active`, `inactive`, `sub`"
    assert found["status"].type == "String"
    assert found["positions"].type == "List of String"
    assert found["PK"].limits == "`TEAM#{team_id}`"
    assert found["GSI4SK"].about == "sort key of GSI4"


@pytest.mark.parametrize("name", APPS)
def test_a_document_is_the_same_each_time(name: str) -> None:
    kind: type[Design] = design(name)
    with Engine() as one, Engine() as other:
        assert document_json(document_of(kind(), one)) == document_json(document_of(kind(), other))


def test_without_a_review_there_are_no_findings() -> None:
    with Engine() as engine:
        found = document_of(design("designs/shop")(), engine)
    assert found.remarks is None
    assert "## Findings" not in markdown(found)
    assert "| Cost |" not in markdown(found)
