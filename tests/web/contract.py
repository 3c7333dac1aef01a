"""Compares a served API with its OpenAPI document: schemathesis with all phases and all checks."""

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
_BEYOND_SCHEMAS = {"value-error"}
"""Codes of rules that a schema can't state, such as a length in bytes."""

_OF_THE_TEXT = {"string-too-short", "string-pattern-mismatch"}


@dataclass
class ContractResult:
    """The results."""

    findings: list[str] = field(default_factory=list)
    statuses: Counter[int] = field(default_factory=Counter)
    operations: dict[str, Counter[int]] = field(default_factory=dict)
    """For each operation, how often each status was returned."""
    phases: set[str] = field(default_factory=set)


def check_against_document(
    site: Site,
    token: str | None = None,
    *,
    examples: int = 8,
    scenarios: int = 4,
    methods: bool = True,
    only: Sequence[str] = (),
    without: Sequence[str] = (),
) -> ContractResult:
    """Send requests that the document allows and some that it doesn't, with a token or without one.

    The requests are the same in each run, apart from values taken from earlier answers. `methods` also tries methods
    that a path doesn't have.
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
            # A change without If-Match is answered with 428 (RFC 6585), which schemathesis doesn't expect.
            "checks": {"missing_required_header": {"expected-statuses": [400, 401, 403, 422, 428]}},
        }
    )
    schema: schemathesis.BaseSchema = schemathesis.openapi.from_url(f"{site.api}/openapi.json", config=config)
    for path in without:
        schema = schema.exclude(path=path)
    if only:
        schema = schema.include(path=list(only))
    held = ContractResult()
    for event in from_schema(schema).execute():
        _note(held, event)
    return held


def _note(held: ContractResult, event: events.EngineEvent) -> None:
    match event:
        case events.ScenarioFinished():
            _note_scenario(held, event.phase.value, event.recorder)
        case events.PhaseFinished() if event.phase.is_enabled:
            held.phases.add(event.phase.name.value)
        case events.NonFatalError():
            held.findings.append(f"{event.phase} {event.label}: {event.value!r}")
        case events.FatalError():
            raise event.exception


def _note_scenario(held: ContractResult, phase: str, recorder: ScenarioRecorder) -> None:
    for case, interaction in recorder.interactions.items():
        if interaction.response is not None:
            status = interaction.response.status_code
            held.statuses[status] += 1
            held.operations.setdefault(recorder.cases[case].value.operation.label, Counter())[status] += 1
    for case, checks in recorder.checks.items():
        for check in checks:
            if check.failure_info is not None and not _is_false_alarm(recorder, case, check.name):
                held.findings.append(f"{phase} {check.name}: {_described(check.failure_info)}")


def _described(info: CheckFailureInfo) -> str:
    return f"{info.failure.operation}\n{info.failure.message}\n{info.code_sample[:2000]}"


def _is_false_alarm(recorder: ScenarioRecorder, case_id: str, check: str) -> bool:
    """Whether a failed check is a false alarm."""
    case, response = recorder.cases[case_id].value, recorder.interactions[case_id].response
    if check == "positive_data_acceptance" and response is not None:
        # schemathesis takes an empty If-Match for valid, because the header is optional, whatever its pattern says.
        return case.headers.get("If-Match") == "" or _is_refused_by_a_rule(response.json(), case.body)
    if check == "allow_header_conformance" and response is not None:
        # If a fixed path (/posts/all) also matches one with a parameter (/posts/{slug}), the methods of both are
        # allowed; and every GET also allows HEAD.
        return set(response.headers["allow"][0].split(", ")) == _methods_at(case)
    # A cookie is sent as it is, so a value with a semicolon arrives as a shorter, different value.
    cut = any(";" in str(value) for value in case.cookies.values())
    return check == "negative_data_rejection" and (cut or _is_padded(case.body))


def _methods_at(case: schemathesis.Case[Any]) -> set[str]:
    """The methods of all paths in the document that match the path of a case."""
    paths: dict[str, dict[str, object]] = case.operation.schema.raw_schema["paths"]
    fitting = (path for path in paths if re.fullmatch(re.sub(r"{\w+}", "[^/]+", path), case.formatted_path))
    found = {method.upper() for path in fitting for method in paths[path]}
    return found | {"HEAD"} if "GET" in found else found


def _is_refused_by_a_rule(problem: Mapping[str, Any], body: object) -> bool:
    """Whether well-formed values were refused by a rule that no schema can state."""
    if problem["status"] not in (412, 422):
        return bool(problem["code"] == "bad-cursor")  # no schema can state what is signed
    beyond = _BEYOND_SCHEMAS | (_OF_THE_TEXT if _is_padded(body) else set())
    return problem["code"] != "invalid" or {error["code"] for error in problem["errors"]} <= beyond


def _is_padded(body: object) -> bool:
    """Whether the body has text with spaces around it, which are stripped before validation."""
    match body:
        case str():
            return body != body.strip()
        case dict():
            return any(_is_padded(each) for each in body.values())
        case list():
            return any(_is_padded(each) for each in body)
    return False
