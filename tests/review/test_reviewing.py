"""What a review reports: findings in order, what the design accepts, and where everything is."""

from pathlib import Path

from keyplan.design import Accepted, Design, Entity, Id, Table, accept, consumer, key
from keyplan.review import Reviewed, find_rule, review

notes = Table(
    "Notes",
    key("PK", "SK"),
    indexes={"GSI1": key("GSI1PK")},
    stream="NEW_IMAGE",
    consumers=(consumer("search"),),
)


class Note(Entity, table=notes, claims=("title",)):
    note_id: Id
    title: str

    primary = key("NOTE#{note_id}", "NOTE")


def notes_that_accept(*acceptances: Accepted) -> Reviewed:
    class Notes(Design):
        tables = (notes,)
        entities = (Note,)
        accepted = acceptances

    return Reviewed(Notes)


RULES = [rule for rule in map(find_rule, ("KP301", "KP401", "KP501")) if rule]


def test_findings_come_in_order_with_file_and_line() -> None:
    findings = review(notes_that_accept(), RULES).findings
    assert [(each.severity, each.rule.code, each.place.text) for each in findings] == [
        ("error", "KP301", "Note.title"),
        ("warning", "KP401", "Notes.GSI1"),
        ("warning", "KP501", "Notes"),
    ]
    lines = Path(__file__).read_text("utf-8").splitlines()
    assert [each.place.file for each in findings] == [__file__] * 3
    assert [lines[(each.place.line or 0) - 1].strip() for each in findings] == [
        "title: str",
        'indexes={"GSI1": key("GSI1PK")},',
        "notes = Table(",
    ]


def test_a_design_accepts_a_finding_with_a_reason() -> None:
    result = review(notes_that_accept(accept("KP301", "Note.title", because="a title is only a hint")), RULES)
    assert [each.rule.code for each in result.findings] == ["KP401", "KP501"]
    assert [(each.rule.code, each.accepted) for each in result.accepted] == [("KP301", "a title is only a hint")]


def test_an_acceptance_can_name_the_rule_and_what_the_place_is_in() -> None:
    result = review(
        notes_that_accept(
            accept("claim-not-guarded", "Note", because="reason"),
            accept("KP401", "Notes", because="reason"),
            accept("KP501", "Notes", because="reason"),
        ),
        RULES,
    )
    assert result.findings == []
    assert len(result.accepted) == 3


def test_an_acceptance_that_accepts_nothing_is_a_finding() -> None:
    result = review(
        notes_that_accept(accept("KP301", "Note.note_id", because="reason"), accept("KP999", "Note", because="reason")),
        RULES,
    )
    assert [(each.rule.code, each.happens) for each in result.findings if each.rule.code >= "KP9"] == [
        ("KP901", 'accept("KP301", "Note.note_id") accepts nothing: the rule finds nothing there any more'),
        ("KP902", 'accept("KP999", "Note") names a rule that doesn\'t exist'),
    ]
    assert {each.place.file for each in result.findings} == {__file__}


def test_an_acceptance_of_what_could_not_be_judged_is_left_alone() -> None:
    """The rule is silent without a record of tests, or is about another target: then nothing is known about it."""
    acceptances = (
        accept("untested-pattern", "NotesThatAccept.notes", because="reason"),
        accept("KP604", "Notes", because="reason"),
    )
    reviewed = notes_that_accept(*acceptances)
    assert {each.rule.code for each in review(reviewed).findings} & {"KP901"} == set()
    judged = Reviewed(reviewed.design, "embedded", tested=frozenset())
    assert [each.happens for each in review(judged).findings if each.rule.code == "KP901"] == [
        'accept("untested-pattern", "NotesThatAccept.notes") accepts nothing: the rule finds nothing there any more',
        'accept("KP604", "Notes") accepts nothing: the rule finds nothing there any more',
    ]


def test_what_is_refused_at_import_can_not_be_accepted() -> None:
    (finding,) = review(notes_that_accept(accept("KP012", "Notes", because="reason")), []).findings
    assert "which can't be accepted" in finding.happens


def test_findings_from_a_severity_on() -> None:
    result = review(notes_that_accept(), RULES)
    assert len(result.at_or_above("error")) == 1
    assert len(result.at_or_above("warning")) == len(result.at_or_above("info")) == 3
