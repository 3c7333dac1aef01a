# pyright: strict
"""# Write sharding

More than 1000 writes a second to one partition key: a list of all orders by time, votes for one candidate. The key gets
a number that is computed from the item, which spreads the writes over several partitions. Reads ask all of them and
merge.

Use it when a single key takes more than about 1000 writes or 3000 reads a second. A partition can't give more.

**Not for** anything less: every list costs one query for each shard.
"""

from datetime import date, datetime
from zlib import crc32

from keyplan.data import Store, create
from keyplan.design import Design, Entity, Id, Merge, Table, key, merge, new_id, pattern, query

polls = Table("Polls", key("PK", "SK"), indexes={"ByDay": key("day_shard", "at_key")})

SHARDS = 4


class Vote(Entity, table=polls):
    vote_id: Id = new_id()
    choice: Id
    day: date
    at: datetime
    shard: int

    primary = key("VOTE#{vote_id}", "VOTE")
    by_day = polls.ByDay("{day}#{shard:02}", "{at}#{vote_id}")


def shard_of(value: str) -> int:
    """The shard of a value: the same in every process and every release."""
    return crc32(value.encode()) % SHARDS


class Polls(Design):
    tables = (polls,)
    entities = (Vote,)

    @pattern("List votes of a day in order, over all shards")
    def votes_on(self, day: date) -> Merge[Vote]:
        shards = [query(Vote.by_day, day=day, shard=shard) for shard in range(SHARDS)]
        return merge(shards, lambda vote: (vote.at, vote.vote_id))


def use(store: Store[Polls]) -> None:
    """`merge` reads a page of each shard and returns the first items of all, with one cursor."""
    now = store.clock()
    for voter in range(6):
        vote_id = f"v{voter}"
        vote = Vote(vote_id=vote_id, choice="yes", day=now.date(), at=now, shard=shard_of(vote_id))
        store.run(create(vote))

    page = store.run(store.design.votes_on(now.date()).limit(4))
    rest = store.run(store.design.votes_on(now.date()).limit(4).after(page.next))
    assert [vote.vote_id for vote in [*page.items, *rest.items]] == [f"v{n}" for n in range(6)]
