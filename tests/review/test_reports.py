"""The forms of a report: SARIF as its schema wants it, Markdown that can be posted."""

import json
import lzma
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from keyplan.design import Design, Entity, Id, Table, accept, consumer, key
from keyplan.review import Report, Reviewed, all_rules, json_report, markdown_report, review, sarif_report, text_report

# The schema of SARIF 2.1.0 (rtm.5), as OASIS published it. OASIS says that implementations may include it without
# asking: https://github.com/oasis-tcs/sarif-spec/issues/583
SCHEMA = json.loads(lzma.decompress(Path(__file__).with_name("sarif-2.1.0.json.xz").read_bytes()))
HERE = Path(__file__).parent

notes = Table(
    "Notes", key("PK", "SK"), indexes={"GSI1": key("GSI1PK")}, stream="NEW_IMAGE", consumers=(consumer("<b>@all</b>"),)
)


class Note(Entity, table=notes, claims=("title", "text")):
    note_id: Id
    title: str
    text: str

    primary = key("NOTE#{note_id}", "NOTE")


class Notes(Design):
    tables = (notes,)
    entities = (Note,)
    accepted = (accept("KP301", "Note.text", because="nobody `reads` it"),)


@pytest.fixture(scope="module")
def report() -> Report:
    rules = [rule for rule in all_rules() if rule.code in ("KP301", "KP401", "KP501")]
    result = review(Reviewed(Notes), rules)
    known = [each for each in result.findings if each.rule.code == "KP401"]
    new = [each for each in result.findings if each not in known]
    return Report("notes:Notes", new, result.accepted, known, version="1.2.3", folder=HERE)


def results(report: Report) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(sarif_report(report))["runs"][0]["results"]
    return found


def test_sarif_is_valid(report: Report) -> None:
    log = json.loads(sarif_report(report))
    jsonschema.Draft4Validator(SCHEMA).validate(log)
    driver = log["runs"][0]["tool"]["driver"]
    assert (driver["name"], driver["version"]) == ("keyplan", "1.2.3")
    assert [rule["id"] for rule in driver["rules"]] == ["KP301", "KP401", "KP501"]
    assert "Declare a guard" in driver["rules"][0]["help"]["markdown"]


def test_the_schema_refuses_what_is_wrong(report: Report) -> None:
    log = json.loads(sarif_report(report))
    log["runs"][0]["results"][0]["level"] = "info"
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft4Validator(SCHEMA).validate(log)


def test_sarif_without_findings_is_valid() -> None:
    jsonschema.Draft4Validator(SCHEMA).validate(json.loads(sarif_report(Report("notes:Notes", []))))


def test_sarif_names_files_relative_to_the_repository(report: Report) -> None:
    places = [each["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for each in results(report)]
    assert set(places) == {"test_reports.py"}
    elsewhere = Report("notes:Notes", report.findings, folder=Path("/nowhere"))
    for each in results(elsewhere):
        assert each["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == Path(__file__).as_uri()


def test_what_is_accepted_or_known_is_suppressed(report: Report) -> None:
    suppressed = {each["ruleId"] + str(each.get("suppressions", "")) for each in results(report)}
    assert suppressed == {
        "KP301",
        "KP501",
        "KP301[{'kind': 'inSource', 'status': 'accepted', 'justification': 'nobody `reads` it'}]",
        "KP401[{'kind': 'external', 'status': 'accepted', 'justification': 'It is in the baseline.'}]",
    }


def fingerprints(report: Report) -> Iterator[str]:
    yield from (each["partialFingerprints"]["keyplan/v1"] for each in results(report))


def test_fingerprints_differ_and_stay_when_lines_move(report: Report) -> None:
    twice = Report("notes:Notes", [*report.findings, report.findings[0]])
    assert len(set(fingerprints(twice))) == len(twice.findings)
    assert set(fingerprints(report)) >= set(list(fingerprints(twice))[:-1])


def test_markdown_shows_nothing_of_a_design_as_markup(report: Report) -> None:
    text = markdown_report(report)
    assert text.startswith("## Review of notes:Notes: 1 error, 1 warning\n")
    assert "`test_reports.py:" in text
    assert '```python\ntitle_guard = unique("NOTETITLE#{title}", carries="note_id")\n```' in text
    assert "\\<b\\>\\@all\\</b\\>" in text
    assert "<details><summary>Accepted by the design: 1</summary>" in text
    assert "because nobody \\`reads\\` it" in text


def test_json_and_text_are_the_same_each_time(report: Report) -> None:
    assert json_report(report) == json_report(report)
    assert text_report(report, colors=False) == text_report(report, colors=False)
    assert "\033[" in text_report(report, colors=True)
