"""A review as text, JSON, SARIF and Markdown.

`report` has `Report`: what all forms show. `text`, `as_json`, `sarif` and `markdown` have a function for each form.
"""

from keyplan.review.reports.as_json import json_report
from keyplan.review.reports.markdown import markdown_report
from keyplan.review.reports.report import Report
from keyplan.review.reports.sarif import sarif_report
from keyplan.review.reports.text import text_report

__all__ = ["Report", "json_report", "markdown_report", "sarif_report", "text_report"]
