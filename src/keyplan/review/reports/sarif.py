"""A review as SARIF 2.1.0, which GitHub's code scanning and editors show.

Files are relative to the folder of the repository, as GitHub asks for, and stay the same on all machines. Findings keep
their fingerprints when lines move.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

from keyplan.review.findings import Finding
from keyplan.review.reports.report import Report
from keyplan.review.rule import Rule, Severity

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_LEVELS: Mapping[Severity, str] = {"error": "error", "warning": "warning", "info": "note"}


def sarif_report(report: Report) -> str:
    """A review as SARIF."""
    every = [*report.findings, *report.accepted, *report.known]
    rules = sorted({finding.rule for finding in every}, key=lambda rule: rule.code)
    driver = {"name": "keyplan", "version": report.version, "rules": [_rule(each) for each in rules]}
    if not report.version:
        del driver["version"]
    seen: Counter[tuple[str, str]] = Counter()
    results = [_result(each, report, rules, seen) for each in report.findings]
    for each in report.accepted:
        because = {"kind": "inSource", "status": "accepted", "justification": each.accepted or ""}
        results.append({**_result(each, report, rules, seen), "suppressions": [because]})
    for each in report.known:
        in_baseline = {"kind": "external", "status": "accepted", "justification": "It is in the baseline."}
        results.append({**_result(each, report, rules, seen), "suppressions": [in_baseline]})
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    return json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2, ensure_ascii=False) + "\n"


def _rule(rule: Rule) -> dict[str, Any]:
    return {
        "id": rule.code,
        "name": rule.name,
        "shortDescription": {"text": f"{rule.title}."},
        "fullDescription": {"text": f"{rule.title}."},
        "help": {"text": rule.explanation, "markdown": rule.explanation},
        "defaultConfiguration": {"level": _LEVELS[rule.severity]},
        "properties": {"tags": [rule.group]},
    }


def _result(finding: Finding, report: Report, rules: Sequence[Rule], seen: Counter[tuple[str, str]]) -> dict[str, Any]:
    change = f"\n\n{finding.change}" if finding.change else ""
    logical = {"fullyQualifiedName": finding.place.text, "kind": _kind(finding)}
    location: dict[str, Any] = {"logicalLocations": [logical]}
    file = report.file_of(finding)
    if file is not None:
        artifact = {"uri": _uri(file)}
        location["physicalLocation"] = {"artifactLocation": artifact, "region": {"startLine": finding.place.line or 1}}
    seen[finding.identity] += 1
    return {
        "ruleId": finding.rule.code,
        "ruleIndex": rules.index(finding.rule),
        "level": _LEVELS[finding.severity],
        "message": {"text": f"{finding.place.text}: {finding.happens}. {finding.remedy}{change}"},
        "locations": [location],
        "partialFingerprints": {"keyplan/v1": _fingerprint(finding, seen[finding.identity])},
    }


def _fingerprint(finding: Finding, number: int) -> str:
    """What identifies a finding, also among several of one rule at one place."""
    return hashlib.sha256("\n".join((*finding.identity, str(number))).encode()).hexdigest()[:32]


def _uri(file: str) -> str:
    return f"file://{quote(file)}" if file.startswith("/") else quote(file)


def _kind(finding: Finding) -> str:
    place = finding.place
    return "function" if place.pattern else "member" if place.attribute else "type" if place.entity else "resource"
