"""Tables in use are read slowly, and a run that was interrupted continues; nothing is ever written."""

import json
from pathlib import Path
from typing import Any

import pytest

from keyplan.adopt import AdoptError, Source
from keyplan.engine import Engine

MOST = 1_000


class Watched:
    """A client that notes its calls, and fails when it is told to."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.calls: list[str] = []
        self.units = 0.0
        self.failing: list[str | None] = []
        """The codes of the errors of the next scans; None: none."""

    def __getattr__(self, name: str) -> Any:
        def call(**request: Any) -> Any:
            self.calls.append(name)
            code = self.failing.pop(0) if name == "scan" and self.failing else None
            if code is not None:
                raise self.engine.exceptions.ClientError({"Error": {"Code": code, "Message": "no"}}, name)
            answer = getattr(self.engine, name)(**request)
            self.units += answer.get("ConsumedCapacity", {}).get("CapacityUnits", 0)
            return answer

        return call


@pytest.fixture
def client(dynamodb: Engine) -> Watched:
    dynamodb.create_table(
        TableName="Notes",
        AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
        KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
        BillingMode="PAY_PER_REQUEST",
    )
    for number in range(600):
        item: Any = {"id": {"S": f"note-{number}"}, "photo": {"B": bytes([number % 256])}, "text": {"S": "x" * 900}}
        dynamodb.put_item(TableName="Notes", Item=item)
    return Watched(dynamodb)


class Time:
    """A clock that only moves while somebody sleeps."""

    def __init__(self) -> None:
        self.now = 0.0

    def sleep(self, seconds: float) -> None:
        self.now += seconds

    def __call__(self) -> float:
        return self.now


def source(client: Watched, folder: Path, *, most: int = MOST, rate: float = 1e9, time: Time | None = None) -> Source:
    clock = time or Time()
    return Source(client, most, rate, folder, "the engine", clock, clock.sleep)


def test_all_items_are_read_and_nothing_else_is_called(client: Watched, tmp_path: Path) -> None:
    found = source(client, tmp_path).sampled("Notes")
    assert {item["id"]["S"] for item in found.items} == {f"note-{number}" for number in range(600)}
    assert set(client.calls) == {"describe_table", "describe_time_to_live", "scan"}


def test_a_sample_is_from_all_parts_of_the_table(client: Watched, tmp_path: Path) -> None:
    found = source(client, tmp_path, most=200).sampled("Notes")
    assert len(found.items) == 200
    assert client.calls.count("scan") >= 2


def test_reading_is_as_slow_as_it_is_told_to_be(client: Watched, tmp_path: Path) -> None:
    time = Time()
    source(client, tmp_path, rate=5, time=time).sampled("Notes")
    assert client.units > 50
    assert time.now >= 0.8 * client.units / 5


def test_an_interrupted_run_continues_where_it_was(client: Watched, tmp_path: Path) -> None:
    client.failing = [None, None, None, "InternalServerError"]
    with pytest.raises(AdoptError, match="refused"):
        source(client, tmp_path).sampled("Notes")
    before = client.calls.count("scan")
    (state,) = tmp_path.iterdir()
    assert state.stat().st_mode & 0o777 == 0o600
    with state.open("a") as file:
        file.write('{"segment": 1, "items": [')  # a line that was being written
    found = source(client, tmp_path).sampled("Notes")
    assert sorted(item["id"]["S"] for item in found.items) == sorted(f"note-{number}" for number in range(600))
    assert client.calls.count("scan") - before < before + 8, "the pages of the first run aren't read again"
    assert {bytes(item["photo"]["B"]) for item in found.items} == {bytes([each]) for each in range(256)}


def test_a_table_that_changed_meanwhile_is_noticed(client: Watched, tmp_path: Path) -> None:
    client.failing = [None, "InternalServerError"]
    with pytest.raises(AdoptError):
        source(client, tmp_path).sampled("Notes")
    (state,) = tmp_path.iterdir()
    head, *pages = state.read_text().splitlines()
    other = json.loads(head) | {"id": "another table of this name"}
    state.write_text("\n".join([json.dumps(other), *pages]) + "\n")
    with pytest.raises(AdoptError, match=r"has changed .* Delete .*Notes\.reading\.jsonl to begin again"):
        source(client, tmp_path).sampled("Notes")


def test_throttling_is_waited_for(client: Watched, tmp_path: Path) -> None:
    time = Time()
    client.failing = ["ProvisionedThroughputExceededException"] * 3
    assert len(source(client, tmp_path, time=time).sampled("Notes").items) == 600
    assert time.now > 1
    client.failing = ["ThrottlingException"] * 100
    (tmp_path / "Notes.reading.jsonl").unlink()
    with pytest.raises(AdoptError, match=r"What was read is kept\. .* lower --rate"):
        source(client, tmp_path).sampled("Notes")


def test_what_is_not_allowed_is_named(client: Watched, tmp_path: Path) -> None:
    client.failing = ["AccessDeniedException"]
    with pytest.raises(AdoptError, match="dynamodb:Scan"):
        source(client, tmp_path).sampled("Notes")
    with pytest.raises(AdoptError, match=r"no such table\. Its tables are: Notes"):
        source(client, tmp_path).sampled("Note")
