"""The five systems do what they did when `tests/fixtures/unchanged` was captured, except for what is listed.

`tools/capture.py` says what is compared. Texts for people are not: `description`, `summary`, `title`, `example` and
`examples` of an OpenAPI document, and the sentences of problems. The stored items are compared with all their values.
Intended differences are in `intended_differences.py`.
"""

import json
import re
from typing import Any

import pytest

from tests.intended_differences import INTENDED, RENAMED
from tools.calls import Labels, inlined, shown_requests
from tools.capture import SYSTEMS, capture, compared_document, fixture
from tools.differences import ABSENT, Difference, Intended, differences, report, unintended

METHODS = {"get", "post", "put", "patch", "delete"}


@pytest.mark.parametrize("system", SYSTEMS)
def test_a_system_does_what_it_did(system: str) -> None:
    before = _renamed(system, fixture(system))
    asked = {name: pattern["call"] for name, pattern in before["patterns"].items()}
    found = list(differences(before, capture(system, asked)))
    left, unused = unintended(found, [entry for entry in INTENDED if entry.system == system])
    assert not left, report(left)
    assert not unused, f"these entries of INTENDED no longer apply: {unused}"


def _renamed(system: str, captured: Any) -> Any:
    """What was captured, with the IDs that were renamed since."""
    before, now = RENAMED.get(system, ("(?!)", ""))
    return json.loads(re.sub(before, now, json.dumps(captured)))


def test_every_intended_difference_names_a_system_and_says_why() -> None:
    assert [entry for entry in INTENDED if entry.system not in SYSTEMS or not entry.why.strip()] == []


@pytest.mark.parametrize("system", SYSTEMS)
def test_every_operation_is_called_and_succeeds_once(system: str) -> None:
    captured = fixture(system)
    operations = {
        (method.upper(), path)
        for path, methods in captured["openapi"]["paths"].items()
        for method in methods.keys() & METHODS
    }
    succeeded = {
        tuple(call.partition("?")[0].split(" ")[2:4])
        for call, record in captured["calls"].items()
        if record["answer"]["status"] < 300
    }
    missing = {
        (method, path)
        for method, path in operations
        if not any(method == verb and _pattern(path).fullmatch(called) for verb, called in succeeded)
    }
    assert missing == set()


def _pattern(path: str) -> re.Pattern[str]:
    return re.compile(re.sub(r"\\\{[^}]*\\\}", "[^/]+", re.escape(path)))


# How differences are found


def test_differences_are_found_where_they_are() -> None:
    before = {"a": [1, {"b": 2}], "same": None, "gone": 1, "shorter": [1, 2]}
    now = {"a": [1, {"b": 3}], "same": None, "new": True, "shorter": [1]}
    assert set(map(str, differences(before, now))) == {
        "a > 1 > b\n    before: 2\n    now:    3",
        "gone\n    before: 1\n    now:    (absent)",
        "shorter\n    before: [1, 2]\n    now:    [1]",
        "new\n    before: (absent)\n    now:    true",
    }


def test_a_number_is_not_a_truth() -> None:
    assert [each.where for each in differences({"a": 1}, {"a": True})] == ["a"]


@pytest.mark.parametrize(
    ("entry", "covered"),
    [
        (Intended("vcm", "items > table > key > Title", "why"), True),
        (Intended("vcm", "items > table > *", "why"), True),
        (Intended("vcm", "items > * > Title", "why"), True),
        (Intended("vcm", "items > table", "why"), True),
        (Intended("vcm", "items > tab", "why"), False),
        (Intended("vcm", "items > * > Name", "why"), False),
        (Intended("vcm", "items > table > key > Title", "why", now="new"), True),
        (Intended("vcm", "items > table > key > Title", "why", now="another"), False),
        (Intended("vcm", "items > table > key > Title", "why", now=ABSENT), False),
    ],
)
def test_an_entry_covers_a_place_and_what_is_below_it(entry: Intended, covered: bool) -> None:
    difference = Difference("items > table > key > Title", "old", "new")
    left, unused = unintended([difference], [entry])
    assert (left, unused) == (([], []) if covered else ([difference], [entry]))


def test_many_differences_are_reported_shortly() -> None:
    found = [Difference(f"items > {number}", "x" * 1000, None) for number in range(100)]
    shown = report([*found, Difference("openapi > paths", 1, 2)])
    assert len(shown) < 6000
    assert "... and 88 more in items\nopenapi > paths\n" in shown


# What is compared


def test_texts_for_people_are_left_out_of_a_document() -> None:
    document = {
        "info": {"title": "Blog", "version": "1"},
        "paths": {"/title": {"get": {"summary": "A title", "parameters": [{"name": "a", "in": "query"}]}}},
        "components": {"schemas": {"title": {"title": "T", "properties": {"title": {"maxLength": 9, "title": "T"}}}}},
    }
    assert compared_document(document) == {
        "info": {"version": "1"},
        "paths": {"/title": {"get": {"parameters": {"query a": {"name": "a", "in": "query"}}}}},
        "components": {"schemas": {"title": {"properties": {"title": {"maxLength": 9}}}}},
    }


def test_an_expression_has_names_and_values_in_it_and_sorted_clauses() -> None:
    request = {
        "UpdateExpression": "SET #0 = :b, #1 = if_not_exists(#1, :z) REMOVE #2",
        "ConditionExpression": "attribute_exists(#1) AND #0 = :z",
        "ExpressionAttributeNames": {"#0": "B", "#1": "A", "#2": "C"},
        "ExpressionAttributeValues": {":b": {"S": "x"}, ":z": {"N": "0"}},
        "ClientRequestToken": "random",
    }
    assert inlined({"Update": request})["Update"] == {
        "UpdateExpression": 'REMOVE C SET A = if_not_exists(A, {"N": "0"}), B = {"S": "x"}',
        "ConditionExpression": 'B = {"N": "0"} AND attribute_exists(A)',
    }


def test_batches_in_a_row_are_one() -> None:
    batches = [("batch_write_item", {"RequestItems": {"t": [{"Put": each}]}}) for each in ("b", "a")]
    assert shown_requests([*batches, ("get_item", {"Key": 1})]) == [
        {"batch_write_item": {"RequestItems": {"t": [{"Put": "a"}, {"Put": "b"}]}, "Batches": 2}},
        {"get_item": {"Key": 1}},
    ]


def test_a_label_says_where_its_text_appeared_first() -> None:
    labels = Labels({"number": r"\d+"})
    assert labels.applied_at("one", {"a": "7 of 8", "b": [b"x", "7"]}) == {
        "a": "<number 1 of one> of <number 2 of one>",
        "b": ["<bytes>", "<number 1 of one>"],
    }
    assert labels.applied_at("two", ["9", "8"]) == ["<number 1 of two>", "<number 2 of one>"]
