"""Review a design: what DynamoDB would reject, what would answer wrongly, run hot, cost too much, or hurt in operation.

`review(Reviewed(MyDesign))` returns a `Review` with a list of `Finding`s. Each has its `Rule`, a severity, a `Place`
with file and line, what will happen, and what to do. This package reads declarations only: it may import `design` and
`data`, and sends no requests.

| folder or module | what it is |
| --- | --- |
| `places` | `Place`: where in a design something is, with file and line |
| `reviewed` | `Reviewed`: a design as rules see it |
| `rule`, `registry` | `Rule` and what its check yields; all rules by their codes |
| `keys`, `longest`, `counters` | what several rules ask: what keys mean, how long values can be, what adds to numbers |
| `changed_lines` | the lines that a remedy shows, which are those of the design with a change |
| `rules` | the rules, one folder for each group |
| `findings`, `accepting` | `Finding`, and what a design accepts |
| `declaring` | errors that are recorded while a design is imported |
| `reviewing` | `review`, which runs the rules |
| `baseline` | files with findings that are known |
| `tested` | the record of the patterns that tests ran |
| `reports` | a review as text, JSON, SARIF and Markdown |

A design that can't be imported is reviewed as well: `errors_recorded()` records what is refused while it is imported,
and `Reviewed(MyDesign, errors=errors)` has it, with what is left of the design.

A rule is a function in a module of `rules/<group>/`, with the decorator `rule`. Nothing is registered elsewhere:

    @rule("KP401", "one-partition", group="hot", severity="warning", title="...", needs=("expected=expect(items=...)",))
    def one_partition(reviewed: Reviewed) -> Iterator[Violation | Unjudged]:
        \"\"\"The docstring is the rule's page, in Markdown: what it is about, why it matters, what to do.\"\"\"
        for spec in reviewed.specs:
            if spec.expected is None:
                yield Unjudged(reviewed.at(spec), "expected=expect(items=...)")
            elif ...:
                yield Violation(reviewed.at(spec, key=key), "what will happen", "What to do.", "the changed lines")

- Codes: KP001 to KP199 are what is refused when a design is imported (`rules/imported` has their pages; the checks are
  in `keyplan.design`), KP2xx `rejected`, KP3xx `wrong`, KP4xx `hot`, KP5xx `operations`, KP6xx `portability`, KP9xx the
  review itself. A code is never used again: `tests/review/codes.txt` keeps all of them.
- Severities: an error breaks for sure, a warning will probably hurt, an info is worth knowing.
- A rule that isn't sure is silent. False positives are defects: a finding must be right about every design that it is
  about.
- The changed lines are written by `changed_lines`, so that they can be copied. A line that would have to be filled in
  first is left out: `tests/review/test_changed_lines.py` applies them to designs with mistakes.
- What a rule needs and the design doesn't say is an `Unjudged` with the word that is missing, which `--verbose` shows.
- A rule that judges by what isn't there (an index that no pattern reads) is declared with `whole=True`: a design with
  errors is reviewed without the parts that have them, and such a rule isn't run on it.
- Tests: `tests/review/rules/` has, for each rule, a design that triggers it and one that doesn't.
"""

from keyplan.review.baseline import Compared, InvalidBaseline, baseline_text, compared, read_baseline
from keyplan.review.declaring import errors_recorded
from keyplan.review.findings import Finding, Silence
from keyplan.review.places import Place
from keyplan.review.registry import all_rules, find_rule
from keyplan.review.reports import Report, json_report, markdown_report, sarif_report, text_report
from keyplan.review.reviewed import Reviewed, TargetName
from keyplan.review.reviewing import Review, review, review_of_errors
from keyplan.review.rule import GROUPS, SEVERITIES, Group, Rule, Severity
from keyplan.review.tested import InvalidRecord, patterns_tested

__all__ = [
    "GROUPS",
    "SEVERITIES",
    "Compared",
    "Finding",
    "Group",
    "InvalidBaseline",
    "InvalidRecord",
    "Place",
    "Report",
    "Review",
    "Reviewed",
    "Rule",
    "Severity",
    "Silence",
    "TargetName",
    "all_rules",
    "baseline_text",
    "compared",
    "errors_recorded",
    "find_rule",
    "json_report",
    "markdown_report",
    "patterns_tested",
    "read_baseline",
    "review",
    "review_of_errors",
    "sarif_report",
    "text_report",
]
