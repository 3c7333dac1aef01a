"""Traffic files: what they can say, what is wrong in them, and the starter."""

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from keyplan.apps.wavyblog.design import DESIGN
from keyplan.capacity.quantities import HOURS_OF_MONTH, QuantityError, Rate, parse_count, rate, share, size
from keyplan.capacity.traffic import (
    PatternTraffic,
    TableUse,
    Traffic,
    TrafficError,
    WriteTraffic,
    read_traffic,
    starter,
    traffic_of,
    traffic_schema,
    traffic_text,
)
from keyplan.capacity.traffic.model import ItemTraffic
from keyplan.design import Design
from tests.all_designs import design, designs

ROOT = Path(__file__).parent.parent.parent

FILE = """\
users: 50_000
requests: 20 per user and day
peak: 3
patterns:
  post: 0.6 per request
  posts_by_user: {rate: 2 per second, items: 20, missing: 5%, retries: 1%}
writes:
  Post:
    create: 1_000 per day
    update: {rate: 0.1 per user and day, refused: 2%, changes: [title, content]}
items:
  Post: {count: 1M, size: 3 KB, growth: 1_000 per day}
  User: 50k
tables:
  WavyBlog:
    capacity: provisioned
    utilization: 80%
    reserved: 1 year
    recovery: yes
    exports: 1 per month
"""


def test_a_file_says_how_much_there_is_to_do() -> None:
    traffic = traffic_of(FILE, DESIGN)
    assert traffic == Traffic(
        "traffic.yaml",
        users=50_000,
        requests=Rate(20, "day", each_user=True),
        peak=3,
        patterns={
            "post": PatternTraffic(Rate(0.6), line=5),
            "posts_by_user": PatternTraffic(Rate(2, "second"), items=20, missing=0.05, retries=0.01, line=6),
        },
        writes={
            ("Post", "create"): WriteTraffic(Rate(1000, "day"), line=9),
            ("Post", "update"): WriteTraffic(
                Rate(0.1, "day", each_user=True), refused=0.02, changes=("title", "content"), line=10
            ),
        },
        items={
            "Post": ItemTraffic(1_000_000, 3072, Rate(1000, "day"), line=12),
            "User": ItemTraffic(50_000, line=13),
        },
        tables={"WavyBlog": TableUse("provisioned", 0.8, "1 year", recovery=True, exports=Rate(1, "month"), line=15)},
    )
    assert traffic.requests_per_second == pytest.approx(50_000 * 20 / 86_400)
    assert traffic.per_second(Rate(0.6)) == pytest.approx(0.6 * traffic.requests_per_second)
    assert traffic.per_month(Rate(2, "second")) == 2 * 3600 * HOURS_OF_MONTH


@pytest.mark.parametrize(
    ("text", "rate_of"),
    [
        ("20 per second", Rate(20, "second")),
        ("1.5 per user and day", Rate(1.5, "day", each_user=True)),
        ("1.5 per day and user", Rate(1.5, "day", each_user=True)),
        ("3k per hour", Rate(3000, "hour")),
        ("1_000 per Month", Rate(1000, "month")),
        ("0.1 per request", Rate(0.1)),
    ],
)
def test_rates(text: str, rate_of: Rate) -> None:
    assert rate(text) == rate_of
    assert rate(str(rate_of)) == rate_of


def test_other_quantities() -> None:
    counts = [parse_count(text) for text in ("0", "50_000", "50,000", "10M", "2k")]
    assert counts == [0, 50_000, 50_000, 10_000_000, 2000]
    assert [share(text) for text in ("5%", "0.05", "100 %", "0")] == [0.05, 0.05, 1, 0]
    assert [size(text) for text in ("800 bytes", "3 KB", "0.5 MB", "12B")] == [800, 3072, 524_288, 12]
    for wrong in ("x", "-1", "1.5", "1 2"):
        with pytest.raises(QuantityError):
            parse_count(wrong)


@pytest.mark.parametrize(
    ("text", "line", "code", "words"),
    [
        (
            "patterns:\n  user_by_mail: 1 per day",
            2,
            "unknown-pattern",
            "unknown pattern: user_by_mail. Did you mean user_by_email?",
        ),
        ("patterns:\n  post: -1 per second", 2, "negative-rate", "the rate '-1 per second' is below 0"),
        ("patterns:\n  post: 5", 2, "missing-unit", "the rate '5' has no unit. Write a rate such as 20 per second"),
        ("patterns:\n  post: 5 per user", 2, "unknown-unit", "doesn't say in which time"),
        ("patterns:\n  post: 5 per fortnight", 2, "unknown-unit", "The units are second, minute, hour"),
        ("patterns:\n  post: often", 2, "not-a-rate", "'often' isn't a rate"),
        ("patterns:\n  post:\n    items: 3", 2, "no-rate", "post has no rate"),
        ("patterns:\n  post:", 2, "no-value", "post has no value"),
        ("patterns:\n  post: 1 per day\n  post: 2 per day", 3, "twice", "post is there twice"),
        ("patterns:\n  post: {rate: 1 per day, mising: 5%}", 2, "unknown-field", "Did you mean missing?"),
        ("patterns: [post]", 1, "not-a-mapping", "patterns isn't a mapping"),
        ("pattern:\n  post: 1 per day", 1, "unknown-section", "unknown section: pattern. Did you mean patterns?"),
        ("writes:\n  Pots:\n    create: 1 per day", 2, "unknown-entity", "Did you mean Post?"),
        ("writes:\n  Post:\n    creat: 1 per day", 3, "unknown-write", "Did you mean create?"),
        ("writes:\n  Post:\n    update: {rate: 1 per day, changes: [titel]}", 3, "unknown-field", "mean title?"),
        ("items:\n  Post: many", 2, "not-a-number", "'many' isn't a whole number"),
        ("items:\n  Post: {size: 3}", 2, "not-a-size", "Write a size such as 800 bytes or 3 KB."),
        ("tables:\n  WavyBlogs:\n    recovery: yes", 2, "unknown-table", "Did you mean WavyBlog?"),
        ("tables:\n  WavyBlog:\n    reserved: 2 years", 3, "unknown-value", "mean 3 years?"),
        ("patterns:\n  post: 1 per user and day", 2, "no-users", "Add a line: users: 10_000."),
        ("patterns:\n  post: 1 per request", 2, "no-requests", "Add a line: requests: 10 per user and day."),
        ("users: 3\nrequests: 2 per request", 2, "no-requests", "requests can't be per request"),
        ("peak: 0.5", 1, "not-a-peak", "can't be below the average"),
        ("users: 3\npatterns: {post: [", 2, "not-yaml", "this isn't YAML"),
        ("- a\n- b", 1, "not-a-mapping", "the file isn't a mapping"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(text: str, line: int, code: str, words: str) -> None:
    with pytest.raises(TrafficError) as caught:
        traffic_of(text, DESIGN, "some.yaml")
    error = caught.value
    assert (error.line, error.code) == (line, code)
    assert str(error).startswith(f"some.yaml:{line}: ")
    assert str(error).endswith(f" [{code}]")
    assert words in str(error)


def test_a_file_that_is_no_text(tmp_path: Path) -> None:
    file = tmp_path / "traffic.yaml"
    file.write_bytes(b"users: 3\n# \xff\n")
    with pytest.raises(TrafficError, match=r"traffic.yaml:2: this isn't UTF-8"):
        read_traffic(file, DESIGN)


def test_an_empty_file_says_nothing() -> None:
    assert traffic_of("", DESIGN) == Traffic("traffic.yaml")


@pytest.mark.parametrize("name", designs())
def test_a_starter_is_a_traffic_file(name: str) -> None:
    kind: type[Design] = design(name)
    text = starter(kind)
    traffic = traffic_of(text, kind)
    assert traffic.patterns.keys() == kind.patterns.keys()
    jsonschema.validate(yaml.safe_load(text), traffic_schema())


def without_lines(traffic: Traffic) -> Any:
    return json.loads(json.dumps(yaml.safe_load(traffic_text(traffic))))


def test_traffic_can_be_written_as_a_file() -> None:
    traffic = traffic_of(FILE, DESIGN)
    again = traffic_of(traffic_text(traffic), DESIGN)
    assert without_lines(again) == without_lines(traffic)
    assert again.writes["Post", "update"].changes == ("title", "content")
    assert again.tables["WavyBlog"].utilization == 0.8


def test_the_schema_accepts_files_and_refuses_mistakes() -> None:
    schema = traffic_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(yaml.safe_load(FILE), schema)
    for wrong in ("patterns: {post: 5}", "patterns: {post: often}", "pattern: {}", "items: {Post: {size: 3}}"):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(yaml.safe_load(wrong), schema)


def test_the_schema_is_in_the_documentation() -> None:
    assert json.loads((ROOT / "docs" / "traffic.schema.json").read_text("utf-8")) == traffic_schema()
