"""Items of a table that is in use: read by Scan, slowly, and never written to.

Reading is spread over the whole table: each of a few segments gives its share of the sample, one page after another,
and no faster than a number of read units a second. Each page goes into a state file, so that a run that was interrupted
continues where it was. The file has items in it, is readable by its owner only, and is deleted at the end.
"""

import json
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from keyplan.adopt.errors import AdoptError
from keyplan.adopt.files import item_from_json, item_to_json
from keyplan.adopt.finding import SampledTable
from keyplan.adopt.model import Json
from keyplan.adopt.tables import table_of
from keyplan.data import Item

Progress: TypeAlias = Callable[[int, int], None]

SEGMENTS = 4
PAGE = 100
_LONGEST_PAUSE = 8.0
_FIRST_PAUSE = 0.2
_ATTEMPTS = 8
_THROTTLED = frozenset(
    "ProvisionedThroughputExceededException ThrottlingException RequestLimitExceeded Throttling".split()
)
_DENIED = frozenset("AccessDeniedException AccessDenied UnrecognizedClientException InvalidSignatureException".split())


@dataclass
class Source:
    """A client of DynamoDB, with how much to read of each table, and how fast."""

    client: Json
    most: int
    """Items of each table."""
    rate: float
    """Read units a second."""
    folder: Path
    """Where the state files are."""
    place: str
    """Which DynamoDB it is, in messages."""
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep

    def sampled(self, name: str, progress: Progress = lambda done, total: None) -> SampledTable:
        """A table's description, with a sample of its items. Raises `AdoptError`."""
        described = self._call("DescribeTable", self.client.describe_table, name)["Table"]
        ttl = self._call("DescribeTimeToLive", self.client.describe_time_to_live, name)["TimeToLiveDescription"]
        on = ttl.get("TimeToLiveStatus") in ("ENABLED", "ENABLING")
        table = table_of(described, ttl["AttributeName"] if on else None)
        reading = Reading.opened(self.folder / f"{name}.reading.jsonl", _identity(described))
        total = min(self.most, int(described.get("ItemCount") or self.most))
        while len(reading.items) < self.most and not reading.complete:
            self._read_page(name, reading)
            progress(min(len(reading.items), total), total)
        return SampledTable(table, reading.items[: self.most], reading.complete and len(reading.items) <= self.most)

    def _read_page(self, name: str, reading: "Reading") -> None:
        """Read the next page of the segment that was read least, and wait for as long as it is worth."""
        segment = min((s for s in range(SEGMENTS) if not reading.ended[s]), key=lambda s: reading.counts[s])
        request: dict[str, Json] = {
            "Segment": segment,
            "TotalSegments": SEGMENTS,
            "Limit": min(PAGE, max(1, self.most - len(reading.items))),
            "ReturnConsumedCapacity": "TOTAL",
        }
        if reading.next[segment] is not None:
            request["ExclusiveStartKey"] = reading.next[segment]
        began = self.clock()
        answer = self._call("Scan", self.client.scan, name, **request)
        reading.add(segment, answer["Items"], answer.get("LastEvaluatedKey"))
        units = float((answer.get("ConsumedCapacity") or {}).get("CapacityUnits", 0))
        if not reading.complete:
            self.sleep(max(0.0, units / self.rate - (self.clock() - began)))

    def _call(self, operation: str, method: Callable[..., Json], table: str, **request: Json) -> Json:
        """The answer of an operation. Waits while the table throttles; other errors become `AdoptError`."""
        pause = _FIRST_PAUSE
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                return method(TableName=table, **request)
            except Exception as error:
                code = str((getattr(error, "response", None) or {}).get("Error", {}).get("Code", ""))
                if code not in _THROTTLED or attempt == _ATTEMPTS:
                    raise self._refusal(code, operation, table, error) from error
            self.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)
        raise AssertionError

    def _refusal(self, code: str, operation: str, table: str, error: Exception) -> Exception:
        if code == "ResourceNotFoundException":
            there = ", ".join(self.names()) or "none"
            return AdoptError("no-table", table, f"{self.place} has no such table", f"Its tables are: {there}.")
        if code in _DENIED:
            return AdoptError(
                "denied",
                table,
                f"{self.place} doesn't allow {operation} ({code})",
                "Adopting needs dynamodb:DescribeTable, dynamodb:DescribeTimeToLive and dynamodb:Scan on the table.",
            )
        if code in _THROTTLED:
            return AdoptError(
                "throttled",
                table,
                f"{self.place} throttles {operation} for too long ({code})",
                "What was read is kept. Run the command again later, with a lower --rate.",
            )
        if code:
            return AdoptError("refused", table, f"{operation} was refused: {error}", "Check the client's settings.")
        return error

    def names(self) -> list[str]:
        """The names of the tables that are there, as far as they may be listed."""
        try:
            names: list[str] = self.client.list_tables()["TableNames"]
        except Exception as error:
            if getattr(error, "response", None) is None:
                raise
            return []
        return names


def _identity(described: Mapping[str, Json]) -> dict[str, Json]:
    """What makes a table the same one, with the same keys, as before."""
    keys = [described["KeySchema"], *(each["KeySchema"] for each in described.get("GlobalSecondaryIndexes") or ())]
    return {
        "table": described["TableName"],
        "id": described.get("TableId") or str(described.get("CreationDateTime", "")),
        "keys": json.dumps(keys, sort_keys=True),
    }


@dataclass
class Reading:
    """What was read of a table so far, in memory and in a file."""

    file: Path
    items: list[Item] = field(default_factory=list)
    next: list[Item | None] = field(default_factory=lambda: [None] * SEGMENTS)
    ended: list[bool] = field(default_factory=lambda: [False] * SEGMENTS)
    counts: list[int] = field(default_factory=lambda: [0] * SEGMENTS)

    @property
    def complete(self) -> bool:
        """Whether all segments were read to their ends."""
        return all(self.ended)

    @classmethod
    def opened(cls, file: Path, identity: Mapping[str, Json]) -> "Reading":
        """What an earlier run read of the same table, if any. Raises `AdoptError` if the table has changed since."""
        reading = cls(file)
        if not file.exists():
            file.parent.mkdir(parents=True, exist_ok=True)
            with open(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as new:
                new.write(json.dumps(identity) + "\n")
            return reading
        kept = file.read_bytes()
        whole = kept[: kept.rfind(b"\n") + 1]  # a line without an end was being written
        if len(whole) < len(kept):
            os.truncate(file, len(whole))
        head, *pages = whole.decode().split("\n")
        remedy = f"Delete {file} to begin again."
        try:
            same = json.loads(head) == identity
        except ValueError:
            raise AdoptError("bad-state", str(file), "it isn't the state of a run of this command", remedy) from None
        if not same:
            raise AdoptError("table-changed", str(file), "the table has changed since its items were read", remedy)
        for number, line in enumerate(pages[:-1], start=2):
            try:
                page = json.loads(line)
                items = [item_from_json(item) for item in page["items"]]
                last = None if page["next"] is None else item_from_json(page["next"])
                reading._take(page["segment"], items, last)
            except (ValueError, KeyError, TypeError, IndexError) as error:
                raise AdoptError("bad-state", f"{file}, line {number}", f"it can't be read: {error}", remedy) from None
        return reading

    def add(self, segment: int, items: list[Item], last: Item | None) -> None:
        """Keep a page, in memory and in the file."""
        page = {
            "segment": segment,
            "items": [item_to_json(item) for item in items],
            "next": None if last is None else item_to_json(last),
        }
        with self.file.open("a", encoding="utf-8") as file:
            file.write(json.dumps(page) + "\n")
        self._take(segment, items, last)

    def _take(self, segment: int, items: list[Item], last: Item | None) -> None:
        self.items += items
        self.next[segment], self.ended[segment] = last, last is None
        self.counts[segment] += len(items)
