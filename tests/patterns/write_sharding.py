# pyright: strict
"""# Write sharding

More than 1000 writes a second to one partition key: a list of all orders by time, votes for one candidate. The key gets
a shard, a number that is computed from the item's id and spreads the writes over several partitions. Reads ask all of
them and merge.

Use it when a single key takes more than about 1000 writes or 3000 reads a second. A partition can't give more.

**Not for** anything less: every list costs one query for each shard.

To change the number of shards later, see [Computed keys](../data.md#computed-keys).
"""

from datetime import datetime, timedelta

from keyplan.data import Store, create
from keyplan.design import Design, Entity, Id, Query, Table, key, new_id, pattern, query, within

polls = Table("Polls", key("PK", "SK"), indexes={"ByDay": key("day_shard", "at_key")})


class Vote(Entity, table=polls):
    vote_id: Id = new_id()
    choice: Id
    at: datetime

    primary = key("VOTE#{vote_id}", "VOTE")
    by_day = polls.ByDay("{at:%Y-%m-%d}#{shard(vote_id, 4)}", "{at}#{vote_id}")


class Polls(Design):
    tables = (polls,)
    entities = (Vote,)

    @pattern("List votes of a day in order, over all shards")
    def votes_on(self, day: datetime) -> Query[Vote]:
        return query(Vote.by_day, at=day)

    @pattern("List votes of some days, newest first")
    def votes_between(self, first: datetime, last: datetime) -> Query[Vote]:
        return query(Vote.by_day, at=within(first, last), newest_first=True)


def use(store: Store[Polls]) -> None:
    """A page has the first items of all shards, and one cursor, which is the place of its last item."""
    now = store.clock()
    for voter in range(6):
        store.run(create(Vote(vote_id=f"v{voter}", choice="yes", at=now)))

    page = store.run(store.design.votes_on(now).limit(4))
    rest = store.run(store.design.votes_on(now).limit(4).after(page.next))
    assert [vote.vote_id for vote in [*page.items, *rest.items]] == [f"v{n}" for n in range(6)]
    newest = store.run(store.design.votes_between(now - timedelta(days=2), now).limit(1))
    assert [vote.vote_id for vote in newest.items] == ["v5"]
