"""`make attack`: attacks on a server fail, and one that succeeds is noticed."""

import pytest

from bench.attack.__main__ import ATTACKS, main
from bench.attack.target import Outcome, Target


def test_attacks_fail(capsys: pytest.CaptureFixture[str]) -> None:
    names = ["silent connections", "host header", "path traversal", "request smuggling", "deep JSON", "forged cursors"]
    assert main(names) == 0, capsys.readouterr().out
    rows = capsys.readouterr().out.splitlines()
    assert [row.split("  ")[0] for row in rows[1:-1]] == names
    assert rows[-1] == "0 of 6 attacks succeeded."


def test_an_attack_that_succeeds_is_noticed(capsys: pytest.CaptureFixture[str]) -> None:
    def succeeds(target: Target) -> Outcome:
        return Outcome(3, False, "the door was open")

    def fails(target: Target) -> Outcome:
        return Outcome(1, True, "closed")

    assert main([], {"door": succeeds, "window": fails}) == 1
    door, window, summary = capsys.readouterr().out.splitlines()[1:]
    assert "SUCCEEDED" in door
    assert "the door was open" in door
    assert "failed" in window
    assert summary == "1 of 2 attacks succeeded."


def test_unknown_attacks_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["a trick"]) == 2
    assert capsys.readouterr().err.startswith("Unknown attack: a trick. The attacks are: silent connections, ")
    assert len(ATTACKS) >= 18
