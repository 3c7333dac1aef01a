"""A design with streams, for the tests of stream handlers: articles, comments and handlers' notes."""

from datetime import UTC, datetime, timedelta

from keyplan.data.streams import Record
from keyplan.design import Design, Entity, Id, Ref, Table, Ttl, Version, belongs_to, key, ref
from keyplan.engine import Engine

articles = Table("Articles", key("PK", "SK"), ttl="expires", stream="NEW_AND_OLD_IMAGES")
marks = Table("Marks", key("subject", "mark"), case="camel", stream="KEYS_ONLY")
noted = Table("Noted", key("PK", "SK"))


class Article(Entity, table=articles):
    slug: Id
    title: str
    picture: bytes = b""
    pictures: frozenset[bytes] = frozenset()
    expires: Ttl | None = None
    version: Version = 0

    primary = key("ARTICLE#{slug}", "ARTICLE")


class Comment(Entity, table=articles):
    slug: Id
    number: int
    text: str = ""

    primary = key("ARTICLE#{slug}", "COMMENT#{number:06}")

    @belongs_to(on_delete="cascade")
    def article(self) -> Ref[Article]:
        return ref(Article, slug=self.slug)


class Mark(Entity, table=marks):
    """Its key contains all its fields, like a reference."""

    subject: Id
    kind: Id
    number: int

    primary = key("{subject}", "{kind}#{number:03}")


class Note(Entity, table=noted):
    """What a handler wrote for a record."""

    topic: Id
    sequence: Id
    text: str
    at: datetime | None = None

    primary = key("TOPIC#{topic}", "NOTE#{sequence}")


class Press(Design):
    tables = (articles, marks, noted)
    entities = (Article, Comment, Mark, Note)


class Times:
    """A clock for a store and an engine that only advances when a test says so."""

    def __init__(self) -> None:
        self.now = datetime(2026, 3, 1, 12, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def seconds(self) -> float:
        return self.now.timestamp()

    def pass_(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)


def records_of(engine: Engine, table: str) -> list[Record]:
    """All records of a table's stream, which has one shard."""
    arn = engine.describe_table(TableName=table)["Table"]["LatestStreamArn"]
    (shard,) = engine.describe_stream(StreamArn=arn)["StreamDescription"]["Shards"]
    iterator = engine.get_shard_iterator(StreamArn=arn, ShardId=shard["ShardId"], ShardIteratorType="TRIM_HORIZON")
    return list(engine.get_records(ShardIterator=iterator["ShardIterator"])["Records"])
