"""A review as JSON. What is documented in docs/review.md stays as it is; members may be added."""

import json

from keyplan.review.findings import Finding
from keyplan.review.reports.report import Report, relative


def json_report(report: Report) -> str:
    """A review as JSON."""
    summary: dict[str, int] = {
        **{str(severity): count for severity, count in report.counts().items()},
        "accepted": len(report.accepted),
        "known": len(report.known),
        "gone": len(report.gone),
    }
    content = {
        "version": 1,
        "design": report.design,
        "target": report.target,
        "summary": summary,
        "findings": [_finding(each, report) for each in report.findings],
        "accepted": [{**_finding(each, report), "because": each.accepted} for each in report.accepted],
        "known": [_finding(each, report) for each in report.known],
        "gone": [{"rule": rule, "place": place} for rule, place in report.gone],
        "unjudged": [
            {"rule": each.rule.code, "name": each.rule.name, "place": each.place.text, "needs": each.word}
            for each in report.silences
        ],
    }
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


def _finding(finding: Finding, report: Report) -> dict[str, object]:
    place = finding.place
    return {
        "rule": finding.rule.code,
        "name": finding.rule.name,
        "group": finding.rule.group,
        "severity": finding.severity,
        "place": place.text,
        "file": relative(place.file, report.folder) if place.file else None,
        "line": place.line,
        "table": place.table,
        "entity": place.entity,
        "attribute": place.attribute,
        "index": place.index,
        "pattern": place.pattern,
        "happens": finding.happens,
        "remedy": finding.remedy,
        "change": finding.change or None,
    }
