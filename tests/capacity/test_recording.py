"""Traffic files from the log of a running system."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import pytest
from typer.testing import CliRunner

from keyplan.apps.wavyblog.design import DESIGN
from keyplan.capacity.quantities import Rate
from keyplan.capacity.recording import RecordingError, record
from keyplan.capacity.traffic import PatternTraffic, WriteTraffic, read_traffic, traffic_of
from keyplan.cli import main
from tests.web.command import serve

NAME = DESIGN.__name__
BEGAN = datetime(2026, 11, 19, 8, tzinfo=UTC)


def line(minutes: float, *runs: dict[str, object], message: str = "request") -> str:
    at = (BEGAN + timedelta(minutes=minutes)).isoformat(timespec="milliseconds")
    return json.dumps({"time": at, "message": message, "route": "/x", "dynamodb": [], "runs": runs}) + "\n"


def run(*names: str, **more: object) -> dict[str, object]:
    return {"design": NAME, "by": list(names), **more}


def test_a_log_says_how_often_patterns_and_writes_ran() -> None:
    lines = [
        line(0, run("post", items=1), run("posts_by_user", items=20)),
        line(10, run("post", items=0), run("Post.create"), run("get", items=1)),
        line(20, run("post", items=1), run("Post.create", refused=True), run("User.update", "Post.patch")),
        line(30, run("posts_by_user", items=10), {"design": "Another", "by": ["post"], "items": 1}),
        line(60, run("post", items=1)),
        line(200, {"design": "Another", "by": ["post"], "items": 1}),
        line(300, message="stopped"),
        "INFO: a line of another program\n",
        '{"time": "2026-11-19T',
    ]
    found = record(lines, DESIGN)
    assert (found.seconds, found.requests, found.others) == (3600, 5, {"get": 1})
    assert found.traffic.requests == Rate(5, "hour")
    assert found.traffic.patterns == {
        "post": PatternTraffic(Rate(4, "hour"), 1, missing=0.25),
        "posts_by_user": PatternTraffic(Rate(2, "hour"), 15),
    }
    assert found.traffic.writes == {
        ("Post", "create"): WriteTraffic(Rate(2, "hour"), refused=0.5),
        ("User", "update"): WriteTraffic(Rate(1, "hour")),
        ("Post", "patch"): WriteTraffic(Rate(1, "hour")),
    }
    text = found.text(DESIGN)
    assert "# Recorded from 5 requests in 60 minutes." in text
    assert "# Not in this file: get, once" in text
    again = traffic_of(text, DESIGN)
    assert again.patterns.keys() == found.traffic.patterns.keys()
    assert again.writes.keys() == found.traffic.writes.keys()


def test_a_day_has_a_busiest_hour() -> None:
    lines = [line(60 * hour, run("post", items=1)) for hour in range(25)]
    lines += [line(60 * 12 + minute, run("post", items=1)) for minute in range(1, 51)]
    assert record(lines, DESIGN).traffic.peak == pytest.approx(51 / (75 / 24), rel=0.01)
    assert record(lines[:12], DESIGN).traffic.peak == 1


@pytest.mark.parametrize(
    ("lines", "problem"),
    [
        ([], "no request in the log ran a pattern"),
        ([line(0, {"design": "Another", "by": ["post"]})], "no request in the log ran a pattern"),
        ([line(0, run("post"))], "all requests of the log were at the same time"),
    ],
)
def test_a_log_without_traffic_is_refused(lines: list[str], problem: str) -> None:
    with pytest.raises(RecordingError, match=problem):
        record(lines, DESIGN)


def test_a_running_system_is_recorded_and_priced(tmp_path: Path) -> None:
    account = {"username": "ada_l", "email": "ada.lovelace@example.org", "password": "correct horse"}
    with serve(tmp_path) as server:
        made = httpx.post(f"{server.api}/register", json=account, timeout=30)
        headers = {"Authorization": f"Bearer {made.json()['access_token']}"}
        for number in range(3):
            body = {"title": f"Sunken Treasure {number}", "content": "Deep below."}
            assert httpx.post(f"{server.api}/posts", json=body, headers=headers, timeout=30).status_code == 201
        for _ in range(5):
            assert server.get("/api/wavyblog/posts/sunken-treasure-1", headers=headers).status_code == 200
        assert server.get("/api/wavyblog/posts/nowhere").status_code == 404
        assert httpx.post(f"{server.api}/register", json=account, timeout=30).status_code == 409
        server.stop()
        log = server.log
    for value in (*account.values(), "sunken", "Deep", "USER#", "POST#", "nowhere"):
        assert value not in log.read_text("utf-8")

    file = tmp_path / "recorded.yaml"
    command = ["cost", "wavyblog", "--traffic", str(file)]
    recorded = CliRunner().invoke(main, [*command, "--record", str(log)])
    assert recorded.exit_code == 0, recorded.output
    traffic = read_traffic(file, DESIGN)
    per_request = {
        name: traffic.per_second(each.rate) / traffic.requests_per_second for name, each in traffic.patterns.items()
    }
    assert traffic.writes["Post", "create"].rate.amount > 0
    assert traffic.writes["User", "create"].refused == 0.5
    assert 0 < traffic.patterns["post"].missing < 0.5
    assert per_request["post"] == pytest.approx(6 / 11, rel=0.3)
    priced = CliRunner().invoke(main, [*command, "--json"])
    assert priced.exit_code == 0, priced.output
    document = json.loads(priced.stdout)
    assert document["total"] > 0
    assert document["unmetered"] == {}
    assert {"post", "Post.create"} <= {each["name"] for each in document["lines"]}


def test_a_log_that_cannot_be_used_is_an_error(tmp_path: Path) -> None:
    log = tmp_path / "serve.log"
    log.write_text("12:00:00  200  GET  /api/wavyblog/posts\n", "utf-8")
    command = ["cost", "wavyblog", "--traffic", str(tmp_path / "t.yaml"), "--record"]
    result = CliRunner().invoke(main, [*command, str(log)])
    assert result.exit_code == 2
    assert "It takes lines of JSON: keyplan serve with KEYPLAN_LOG_FORMAT=json." in result.stderr
    missing = CliRunner().invoke(main, [*command, str(tmp_path / "no.log")])
    assert (missing.exit_code, "no.log: No such file" in missing.stderr) == (2, True)
