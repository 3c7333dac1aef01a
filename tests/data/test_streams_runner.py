"""The runner of a stream: at least once, in order, one at a time; failed records are retried and then set aside."""

import logging
from collections.abc import Iterator

import boto3
import pytest

from keyplan.data import DataError, RequestFailed, create, delete, put, update
from keyplan.data.streams import ItemChange, on, set_aside
from keyplan.data.streams.runner import longer_each_time
from keyplan.data.streams.shard_checkpoints import checkpoints_of
from keyplan.design import DesignError, get, query
from keyplan.engine import Engine
from tests.data.press import Article, Comment, Mark, Note, Times, marks
from tests.data.stream_bench import Bench, ManyShards, Seen, Twice, failing, run_with_pauses, see, set_stream
from tests.data.support import Failing, Killed, Mortal, failure


@pytest.fixture(params=["engine", "wire"])
def bench(request: pytest.FixtureRequest) -> Iterator[Bench]:
    """In-process, and through boto3's two clients over HTTP."""
    times = Times()
    if request.param == "engine":
        with Engine(clock=times.seconds) as engine:
            yield Bench(engine, times)
        return
    url = request.getfixturevalue("dynamodb_endpoint")
    session = boto3.Session("key", "secret", region_name="us-east-1")
    dynamodb, streams = (session.client(name, endpoint_url=url) for name in ("dynamodb", "dynamodbstreams"))
    yield Bench(dynamodb, times, streams)
    dynamodb.close()
    streams.close()


@pytest.fixture
def local() -> Iterator[Bench]:
    """In-process only, for tests that depend on the engine's clock."""
    times = Times()
    with Engine(clock=times.seconds) as engine:
        yield Bench(engine, times)


def test_every_change_is_handled_once_and_in_order(bench: Bench) -> None:
    bench.write("a", "b")
    runner = bench.runner()
    assert runner.run_once() == 2
    article = bench.store.run(get(Article, slug="a"))
    assert article is not None
    article.title = "A"
    bench.store.run(update(article))
    bench.store.run(create(Comment(slug="a", number=1)))
    assert runner.run_once() == 2
    assert runner.run_once() == 0
    assert bench.seen == [("INSERT", "a"), ("INSERT", "b"), ("MODIFY", "A")]
    assert bench.store.verify() == []


def test_another_runner_continues_where_one_stopped(bench: Bench) -> None:
    bench.write("a")
    first = bench.runner()
    first.run_once()
    first.close()
    bench.write("b")
    assert bench.runner().run_once() == 1
    assert bench.titles() == ["a", "b"]


def test_records_without_a_handler_are_skipped(bench: Bench) -> None:
    bench.write("a")
    for number in range(3):
        bench.store.run(create(Comment(slug="a", number=number)))
    runner = bench.runner()
    assert runner.run_once() == 4
    first = bench.checkpoint().sequence
    bench.store.run(create(Comment(slug="a", number=9)))
    assert runner.run_once() == 1
    assert bench.checkpoint().sequence != first


def test_only_one_of_two_runners_works(bench: Bench) -> None:
    bench.write("a")
    first, second = bench.runner(), bench.runner()
    assert first.run_once() == 1
    bench.write("b")
    assert second.run_once() == 0
    assert first.run_once() == 1
    bench.times.pass_(31)  # the first one no longer renews its lease
    bench.write("c")
    assert second.run_once() == 1
    assert first.run_once() == 0
    assert bench.titles() == ["a", "b", "c"]


def test_a_runner_that_renews_its_lease_keeps_it(bench: Bench) -> None:
    first, second = bench.runner(), bench.runner()
    first.run_once()
    for _ in range(5):
        bench.times.pass_(20)
        assert second.run_once() == 0
        first.lease.keep()
    bench.write("a")
    assert second.run_once() == 0
    assert first.run_once() == 1


def test_a_runner_that_lost_its_lease_does_not_move_the_checkpoint(bench: Bench) -> None:
    other = bench.runner()

    @on(Article, "INSERT")
    def slow(change: ItemChange[Article], seen: Seen) -> None:
        """Takes so long that the other runner takes over and does everything."""
        assert change.after is not None
        seen.append(("slow", change.after.title))
        bench.times.pass_(31)
        assert other.run_once() == 2

    bench.write("a", "b")
    late = bench.runner(slow)
    assert late.run_once() == 0
    assert bench.seen == [("slow", "a"), ("INSERT", "a"), ("INSERT", "b")]
    last = bench.checkpoint().sequence
    assert late.run_once() == 0
    assert other.run_once() == 0
    assert bench.checkpoint().sequence == last


def test_an_idempotent_handler_can_get_a_record_twice(bench: Bench) -> None:
    @on(Article, "INSERT")
    def note(change: ItemChange[Article], seen: Seen) -> None:
        seen.append(("twice", change.event))
        bench.store.run(put(Note(topic="articles", sequence=change.sequence, text=change.event)))

    bench.write(*"abcde")
    runner = bench.runner(note, streams=Twice(bench.streams))
    while runner.run_once():
        pass
    assert len(bench.seen) == 10
    notes = bench.store.run(query(Note.primary, topic="articles")).items
    assert [each.text for each in notes] == list(dict.fromkeys(event for _, event in bench.seen))


def test_a_failed_record_is_retried_before_the_next(bench: Bench) -> None:
    bench.write("a", "b", "c")
    runner = bench.runner(failing("b", 2))
    assert runner.run_once() == 1
    assert runner.run_once() == 0  # it waits
    assert bench.checkpoint().tries == 1
    assert bench.checkpoint().error == "ZeroDivisionError: not b"
    run_with_pauses(bench, runner)
    assert bench.seen == [("take", "a"), ("fail", "b"), ("fail", "b"), ("take", "b"), ("take", "c")]
    assert (bench.checkpoint().tries, bench.checkpoint().trying) == (0, None)
    assert list(set_aside(bench.store)) == []


def test_attempts_are_counted_across_processes(bench: Bench) -> None:
    bench.write("a", "b")
    handler = failing("a")
    for _ in range(3):
        runner = bench.runner(handler)
        runner.run_once()
        runner.close()
    assert bench.seen == [("fail", "a")] * 3 + [("take", "b")]
    (aside,) = set_aside(bench.store)
    assert (aside.tries, aside.handler) == (3, "picky")


def test_a_record_that_always_fails_is_set_aside_and_others_continue(bench: Bench) -> None:
    bench.write("a", "b", "c")
    run_with_pauses(bench, bench.runner(failing("b")))
    assert bench.seen == [("take", "a"), *[("fail", "b")] * 3, ("take", "c")]
    (aside,) = set_aside(bench.store)
    assert (aside.entity, aside.kind, aside.handler, aside.tries) == ("Article", "INSERT", "picky", 3)
    assert (aside.table, aside.error) == ("Articles", "ZeroDivisionError: not b")
    assert aside.set_aside_at == aside.tried_at
    assert bench.store.verify() == []


def test_a_handler_that_succeeded_is_not_called_again_when_another_fails(bench: Bench) -> None:
    bench.write("a")
    run_with_pauses(bench, bench.runner(see, failing("a")))
    assert bench.seen == [("INSERT", "a"), *[("fail", "a")] * 3]

    @on(Article, "INSERT")
    def last(change: ItemChange[Article], seen: Seen) -> None:
        seen.append(("last", change.sequence))

    bench.seen.clear()
    bench.times.pass_(60)
    bench.write("b")
    run_with_pauses(bench, bench.runner(failing("b"), last))
    assert [kind for kind, _ in bench.seen] == ["fail"] * 3 + ["last"]


def test_a_record_that_crashes_the_process_is_set_aside_too(bench: Bench) -> None:
    @on(Article, "INSERT")
    def deadly(change: ItemChange[Article], seen: Seen) -> None:
        assert change.after is not None
        seen.append(("try", change.after.title))
        if change.after.title == "b":
            raise Killed

    bench.write("a", "b", "c")
    for _ in range(4):
        with pytest.raises(Killed):
            bench.runner(deadly).run_once()
        bench.times.pass_(31)
    assert bench.runner(deadly).run_once() == 2
    assert bench.seen == [("try", "a"), *[("try", "b")] * 4, ("try", "c")]
    (aside,) = set_aside(bench.store)
    assert (aside.tries, aside.error) == (3, "the process ended while the handler was running")


def test_an_unreadable_item_is_set_aside(bench: Bench) -> None:
    raw = bench.client
    raw.put_item(TableName="Articles", Item={"PK": {"S": "ARTICLE#x"}, "SK": {"S": "ARTICLE"}, "title": {"N": "1"}})
    bench.write("a")
    run_with_pauses(bench, bench.runner())
    assert bench.titles() == ["a"]
    (aside,) = set_aside(bench.store)
    assert aside.error.startswith("StoredDataError: Article.")


def test_an_error_outside_of_handlers_is_raised_and_the_runner_can_continue(bench: Bench) -> None:
    bench.write("a", "b")
    streams = Failing(bench.streams, [failure("InternalServerError")], only="get_records")
    runner = bench.runner(streams=streams)
    with pytest.raises(RequestFailed, match="InternalServerError"):
        runner.run_once()
    assert runner.run_once() == 2
    bench.write("c")
    real = bench.store.client
    bench.store.client = Failing(real, [failure("ValidationException")], only="update_item")
    with pytest.raises(RequestFailed):
        runner.run_once()
    bench.store.client = real
    assert runner.run_once() == 1
    assert bench.titles() == ["a", "b", "c", "c"]


def test_a_record_that_could_not_be_set_aside_is_not_skipped(bench: Bench) -> None:
    """The write that sets it aside fails: the handler still gets it, though another record is waiting."""

    @on(Article, "INSERT")
    def last(change: ItemChange[Article], seen: Seen) -> None:
        seen.append(("last", change.keys["slug"]))  # type: ignore[arg-type]  # a text

    bench.write("a")
    real = bench.store.client
    bench.store.client = Failing(real, [failure("ValidationException")], only="transact_write_items")
    runner = bench.runner(failing("a"), last)
    with pytest.raises(RequestFailed):
        run_with_pauses(bench, runner)
    assert list(set_aside(bench.store)) == []
    run_with_pauses(bench, runner)
    assert [(each.handler, each.tries) for each in set_aside(bench.store)] == [("picky", 3)]
    assert [kind for kind, _ in bench.seen].count("last") == 1


def test_a_table_without_a_stream_is_reported(bench: Bench) -> None:
    bench.client.delete_table(TableName="Marks")
    bench.client.create_table(
        TableName="Marks",
        KeySchema=[{"AttributeName": "subject", "KeyType": "HASH"}, {"AttributeName": "mark", "KeyType": "RANGE"}],
        AttributeDefinitions=[{"AttributeName": name, "AttributeType": "S"} for name in ("subject", "mark")],
        BillingMode="PAY_PER_REQUEST",
    )

    @on(Mark, "INSERT")
    def mark(change: ItemChange[Mark], seen: Seen) -> None:
        pass

    with pytest.raises(DataError, match="Marks has no stream"):
        bench.runner(mark, table=marks).run_once()


def test_two_handlers_with_the_same_name_are_refused(bench: Bench) -> None:
    with pytest.raises(DesignError, match="picky"):
        bench.runner(failing("a"), failing("b"))


def test_it_can_be_stopped_between_two_records(bench: Bench) -> None:
    @on(Article, "INSERT")
    def stopping(change: ItemChange[Article], seen: Seen) -> None:
        assert change.after is not None
        seen.append(("take", change.after.title))
        runner.stop()

    bench.write("a", "b", "c")
    runner = bench.runner(stopping)
    assert runner.run_once() == 1
    runner.close()
    assert bench.runner().run_once() == 2
    assert bench.titles() == ["a", "b", "c"]


# What can happen to a stream over time


def test_an_expired_iterator_is_replaced(local: Bench) -> None:
    local.write("a")
    runner = local.runner()
    runner.run_once()
    local.times.pass_(1000)
    local.write("b")
    assert runner.run_once() == 1
    assert local.titles() == ["a", "b"]


def test_lost_records_are_logged(local: Bench, caplog: pytest.LogCaptureFixture) -> None:
    local.write("a")
    runner = local.runner()
    runner.run_once()
    local.write("b", "c")
    local.times.pass_(25 * 3600)
    local.write("d")
    with caplog.at_level(logging.WARNING, "keyplan.streams"):
        assert runner.run_once() == 1
    assert local.titles() == ["a", "d"]
    assert "are lost" in caplog.text
    local.write("e")
    assert local.runner().run_once() == 0
    assert runner.run_once() == 1


def test_a_long_idle_stream_loses_nothing(local: Bench, caplog: pytest.LogCaptureFixture) -> None:
    local.write("a")
    local.runner().run_once()
    local.times.pass_(25 * 3600)
    local.write("b")
    assert local.runner().run_once() == 1
    assert caplog.text == ""


def test_a_recreated_stream_is_read_after_the_old_one(local: Bench) -> None:
    local.write("a")
    runner = local.runner()
    runner.run_once()
    local.write("b")
    set_stream(local, enabled=False)
    local.times.pass_(1)
    set_stream(local, enabled=True)
    local.write("c")
    runner.close()
    runner = local.runner()
    for _ in range(3):
        runner.run_once()
    assert local.titles() == ["a", "b", "c"]
    old, new = sorted(checkpoints_of(local.store, "Articles").values(), key=lambda each: each.label)
    assert (old.closed, new.closed) == (True, False)
    assert old.expires_at is not None
    local.times.pass_(25 * 3600)
    local.write("d")
    assert runner.run_once() == 1  # the old stream no longer exists
    assert len(checkpoints_of(local.store, "Articles")) == 1


def test_when_a_stream_ends_the_runner_follows_the_next_one(local: Bench) -> None:
    runner = local.runner()
    local.write("a")
    runner.run_once()
    set_stream(local, enabled=False)
    runner.run_once()
    assert local.checkpoint().closed
    local.times.pass_(1)
    set_stream(local, enabled=True)
    local.write("b")
    local.times.pass_(60)
    runner.run_once()
    assert local.titles() == ["a", "b"]


def test_parent_shards_come_before_their_children(local: Bench) -> None:
    streams = ManyShards(local.client, {"child-1": "parent", "child-2": "parent", "parent": "long gone", "other": None})
    for shard, titles in {"parent": "abc", "child-1": "de", "child-2": "fg", "other": "xyz"}.items():
        local.write(*titles)
        streams.take(shard)
    runner = local.runner(streams=streams)
    for _ in range(5):
        runner.run_once()
    assert set(local.titles()) == set("abcxyz")  # the parent may still get records
    streams.closed.add("parent")
    runner.close()
    runner = local.runner(streams=streams)
    for _ in range(5):
        runner.run_once()
    order = local.titles()
    assert [title for title in order if title in "abcde"] == list("abcde")
    assert [title for title in order if title in "abcfg"] == list("abcfg")
    assert sorted(order) == sorted("abcdefgxyz")
    assert {each.shard for each in checkpoints_of(local.store, "Articles").values() if each.closed} == {"parent"}


def test_a_failing_shard_does_not_block_others(local: Bench) -> None:
    streams = ManyShards(local.client, {"one": None, "two": None})
    for shard, titles in {"one": "abc", "two": "xyz"}.items():
        local.write(*titles)
        streams.take(shard)
    runner = local.runner(failing("a", 1), streams=streams)
    for _ in range(3):
        runner.run_once()
    assert local.seen == [("fail", "a"), ("take", "x"), ("take", "y"), ("take", "z")]


def test_a_shard_that_no_longer_exists_is_forgotten(local: Bench, caplog: pytest.LogCaptureFixture) -> None:
    streams = ManyShards(local.client, {"one": None, "two": None})
    for shard, titles in {"one": "a", "two": "x"}.items():
        local.write(*titles)
        streams.take(shard)
    runner = local.runner(streams=streams)
    runner.run_once()
    del streams.parents["one"]
    local.times.pass_(31)
    runner.run_once()
    assert {each.shard for each in checkpoints_of(local.store, "Articles").values()} == {"two"}
    assert "shard one" in caplog.text


def test_pauses_grow_up_to_a_minute() -> None:
    pauses: list[float] = [longer_each_time(tries) for tries in range(1, 12)]
    assert pauses == sorted(pauses)
    assert (pauses[0], pauses[-1]) == (0.5, 60)


def test_no_record_is_lost_if_the_runner_is_killed_at_any_call() -> None:
    """The runner dies before or after each of its twelve calls; the next one delivers the rest, in order."""
    for after in (False, True):
        for step in range(12):
            _killed_at(step, after=after)


def _killed_at(step: int, *, after: bool) -> None:
    times = Times()
    with Engine(clock=times.seconds) as engine:
        bench = Bench(engine, times)
        bench.write("a", "b", "c")
        bench.store.run(delete(Article(slug="b", title="b", version=1)))
        bench.store.client = Mortal(engine, step, after=after)
        with pytest.raises(Killed):
            bench.runner(streams=bench.store.client).run_once()
        bench.store.client = engine
        times.pass_(31)
        runner = bench.runner()
        while runner.run_once():
            pass
        first = list(dict.fromkeys(bench.seen))
        assert first == [("INSERT", "a"), ("INSERT", "b"), ("INSERT", "c"), ("REMOVE", "b")], (step, after)
        # Only a record that was handled and not yet noted comes again.
        assert len(bench.seen) - len(first) <= 1
