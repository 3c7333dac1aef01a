"""A store with a stream and its runner, handlers that fail, and clients with unusual streams."""

from typing import Any

from keyplan.data import Store, create
from keyplan.data.streams import Handler, ItemChange, StreamRunner, on
from keyplan.data.streams.shard_checkpoints import Checkpoint, checkpoints_of
from keyplan.design import Table
from keyplan.engine import Engine
from tests.data.press import Article, Press, Times, articles

Seen = list[tuple[str, str]]
"""What the handlers saw: the kind of a change, and the title of the article."""


@on(Article, "INSERT", "MODIFY", "REMOVE")
def see(change: ItemChange[Article], seen: Seen) -> None:
    article = change.after or change.before
    assert article is not None
    seen.append((change.kind, article.title))


class Bench:
    """A store with articles on an engine, both with the test's clock, and what handlers saw."""

    def __init__(self, client: Any, times: Times, streams: Any = None) -> None:
        self.times = times
        self.client = client
        self.streams = streams or client
        self.store = Store(Press(), client, clock=times, secret=b"of the tests")
        self.store.create_tables()
        self.seen: Seen = []

    def runner(self, *handlers: Handler[Seen], streams: object = None, table: Table = articles) -> StreamRunner[Seen]:
        mine = handlers or (see,)
        return StreamRunner(self.store, table, mine, self.seen, streams or self.streams, tries=3, lease_seconds=30)

    def write(self, *titles: str) -> None:
        for title in titles:
            self.store.run(create(Article(slug=title, title=title)))

    def checkpoint(self) -> Checkpoint:
        (found,) = checkpoints_of(self.store, "Articles").values()
        return found

    def titles(self) -> list[str]:
        return [title for _, title in self.seen]


class Twice:
    """A client whose stream returns every record twice."""

    def __init__(self, client: Any) -> None:
        self._client = client

    def __getattr__(self, name: str) -> Any:
        return getattr(self._client, name)

    def get_records(self, **request: Any) -> Any:
        answer = self._client.get_records(**request)
        return {**answer, "Records": [record for record in answer["Records"] for _ in range(2)]}


def failing(title: str, times: int = 10**6) -> Handler[Seen]:
    """A handler that fails this many times for an article with this title."""
    left = times

    @on(Article, "INSERT")
    def picky(change: ItemChange[Article], seen: Seen) -> None:
        nonlocal left
        assert change.after is not None
        if change.after.title == title and left > 0:
            left -= 1
            seen.append(("fail", title))
            raise ZeroDivisionError(f"not {title}")
        seen.append(("take", change.after.title))

    return picky


def run_with_pauses(bench: Bench, runner: StreamRunner[Seen], times: int = 10) -> None:
    for _ in range(times):
        runner.run_once()
        bench.times.pass_(5)


def set_stream(bench: Bench, *, enabled: bool) -> None:
    view = {"StreamViewType": "NEW_AND_OLD_IMAGES"} if enabled else {}
    bench.client.update_table(TableName="Articles", StreamSpecification={"StreamEnabled": enabled, **view})


class ManyShards:
    """A stream with several shards, one per page, as on AWS."""

    def __init__(self, engine: Engine, parents: dict[str, str | None]) -> None:
        self.parents = parents
        self.records: dict[str, list[Any]] = {shard: [] for shard in parents}
        self.closed: set[str] = set()
        self._engine = engine
        self._taken: str | None = None

    def take(self, shard: str) -> None:
        """Move everything written since the last call into a shard."""
        arn = self._engine.describe_table(TableName="Articles")["Table"]["LatestStreamArn"]
        (real,) = self._engine.describe_stream(StreamArn=arn)["StreamDescription"]["Shards"]
        kind: Any = {"ShardIteratorType": "TRIM_HORIZON"}
        if self._taken is not None:
            kind = {"ShardIteratorType": "AFTER_SEQUENCE_NUMBER", "SequenceNumber": self._taken}
        iterator = self._engine.get_shard_iterator(StreamArn=arn, ShardId=real["ShardId"], **kind)
        found = self._engine.get_records(ShardIterator=iterator["ShardIterator"])["Records"]
        self.records[shard] += found
        self._taken = found[-1]["dynamodb"]["SequenceNumber"]

    def describe_stream(self, StreamArn: str, ExclusiveStartShardId: str | None = None) -> Any:  # noqa: N803
        names = list(self.parents)
        here = names.index(ExclusiveStartShardId) + 1 if ExclusiveStartShardId else 0
        parent = self.parents[names[here]]
        shard = {"ShardId": names[here], **({"ParentShardId": parent} if parent else {})}
        more = {"LastEvaluatedShardId": names[here]} if here + 1 < len(names) else {}
        return {"StreamDescription": {"Shards": [shard], **more}}

    def get_shard_iterator(self, StreamArn: str, ShardId: str, ShardIteratorType: str, **more: str) -> Any:  # noqa: N803
        behind = 0
        if "SequenceNumber" in more:
            numbers = [record["dynamodb"]["SequenceNumber"] for record in self.records[ShardId]]
            behind = numbers.index(more["SequenceNumber"]) + 1
        return {"ShardIterator": f"{ShardId}|{behind}"}

    def get_records(self, ShardIterator: str) -> Any:  # noqa: N803
        shard, behind = ShardIterator.split("|")
        found = self.records[shard][int(behind) :][:2]
        behind_now = int(behind) + len(found)
        if shard in self.closed and behind_now == len(self.records[shard]):
            return {"Records": found}
        return {"Records": found, "NextShardIterator": f"{shard}|{behind_now}"}
