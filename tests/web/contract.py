"""What a served API does, held against its OpenAPI document: schemathesis in all its phases, with all its checks."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import schemathesis
from schemathesis.config import SchemathesisConfig
from schemathesis.engine import events, from_schema
from schemathesis.engine.recorder import CheckFailureInfo, ScenarioRecorder

from tests.web.site import Site

PHASES = {"examples", "coverage", "fuzzing", "stateful"}
_BEYOND_SCHEMAS = {"bad-cursor", "value-error"}
"""What no schema can say: that a cursor is signed, and what a function decides (a length in bytes)."""

_OF_THE_TEXT = {"string-too-short", "string-pattern-mismatch"}


@dataclass
class Held:
    """What came of it."""

    findings: list[str] = field(default_factory=list)
    statuses: Counter[int] = field(default_factory=Counter)
    operations: dict[str, Counter[int]] = field(default_factory=dict)
    """How often which operation was answered how."""
    phases: set[str] = field(default_factory=set)


def held_against_its_document(
    site: Site,
    token: str | None = None,
    *,
    examples: int = 8,
    scenarios: int = 4,
    methods: bool = True,
    only: Sequence[str] = (),
    without: Sequence[str] = (),
) -> Held:
    """Send what the document allows and what it does not, as somebody with a token or as a visitor.

    The same requests each time, but for what the answers before have brought. `methods`: also those that no path has.
    """
    config = SchemathesisConfig.from_dict(
        {
            "seed": 1848,
            "base-url": site.api,
            "headers": {"Authorization": f"Bearer {token}"} if token else {},
            "continue-on-failure": True,
            "generation": {"max-examples": examples, "no-shrink": True, "database": "none"},
            "phases": {
                "coverage": {} if methods else {"unexpected-methods": []},
                "stateful": {"max-steps": 4, "generation": {"max-examples": scenarios}},
            },
            # A change without If-Match is 428 (RFC 6585), which schemathesis does not expect.
            "checks": {"missing_required_header": {"expected-statuses": [400, 401, 403, 422, 428]}},
        }
    )
    schema: schemathesis.BaseSchema = schemathesis.openapi.from_url(f"{site.api}/openapi.json", config=config)
    for path in without:
        schema = schema.exclude(path=path)
    if only:
        schema = schema.include(path=list(only))
    held = Held()
    for event in from_schema(schema).execute():
        _note(held, event)
    return held


def _note(held: Held, event: events.EngineEvent) -> None:
    match event:
        case events.ScenarioFinished():
            _note_scenario(held, event.phase.value, event.recorder)
        case events.PhaseFinished() if event.phase.is_enabled:
            held.phases.add(event.phase.name.value)
        case events.NonFatalError():
            held.findings.append(f"{event.phase} {event.label}: {event.value!r}")
        case events.FatalError():
            raise event.exception


def _note_scenario(held: Held, phase: str, recorder: ScenarioRecorder) -> None:
    for case, interaction in recorder.interactions.items():
        if interaction.response is not None:
            status = interaction.response.status_code
            held.statuses[status] += 1
            held.operations.setdefault(recorder.cases[case].value.operation.label, Counter())[status] += 1
    for case, checks in recorder.checks.items():
        for check in checks:
            if check.failure_info is not None and not _is_fine(recorder, case, check.name):
                held.findings.append(f"{phase} {check.name}: {_told(check.failure_info)}")


def _told(info: CheckFailureInfo) -> str:
    return f"{info.failure.operation}\n{info.failure.message}\n{info.code_sample[:2000]}"


def _is_fine(recorder: ScenarioRecorder, case_id: str, check: str) -> bool:
    """Whether a check is mistaken."""
    case, response = recorder.cases[case_id].value, recorder.interactions[case_id].response
    if check == "positive_data_acceptance" and response is not None:
        # Sent as a good value of a header that may be left out, whatever the pattern of the header says.
        return case.headers.get("If-Match") == "" or _is_a_rule(response.json(), case.body)
    if check == "allow_header_conformance" and response is not None:
        # Where a fixed path (/posts/all) is also one with a parameter (/posts/{slug}), both say what can be done there;
        # and whatever can be read answers HEAD.
        return set(response.headers["allow"][0].split(", ")) == _methods_at(case)
    # A cookie is sent as it is: with a semicolon in it, it is a shorter cookie and another one.
    cut = any(";" in str(value) for value in case.cookies.values())
    return check == "negative_data_rejection" and (cut or _is_padded(case.body))


def _methods_at(case: schemathesis.Case[Any]) -> set[str]:
    """What can be done at the path of a case, by all paths of the document that it fits."""
    paths: dict[str, dict[str, object]] = case.operation.schema.raw_schema["paths"]
    fitting = (path for path in paths if re.fullmatch(re.sub(r"{\w+}", "[^/]+", path), case.formatted_path))
    found = {method.upper() for path in fitting for method in paths[path]}
    return found | {"HEAD"} if "GET" in found else found


def _is_a_rule(problem: Mapping[str, Any], body: object) -> bool:
    """Whether values of the right form were refused for what they stand for, which no schema can say."""
    if problem["status"] not in (412, 422):
        return False
    beyond = _BEYOND_SCHEMAS | (_OF_THE_TEXT if _is_padded(body) else set())
    return problem["code"] != "invalid" or {error["code"] for error in problem["errors"]} <= beyond


def _is_padded(body: object) -> bool:
    """Whether there is a text with space around it, which is taken away before the text is looked at."""
    match body:
        case str():
            return body != body.strip()
        case dict():
            return any(_is_padded(each) for each in body.values())
        case list():
            return any(_is_padded(each) for each in body)
    return False
