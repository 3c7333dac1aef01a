"""Failed records: an operator lists them, retries them and discards them."""

import os
from collections.abc import Iterator

import pytest

from keyplan.data import NotFound
from keyplan.data.streams import HandlerFailed, discard, retry, set_aside
from keyplan.data.streams.failed_records import record_of
from keyplan.engine import Engine
from tests.data.press import Article, Times
from tests.data.stream_office import Office, take


@pytest.fixture
def office() -> Iterator[Office]:
    times = Times()
    with Engine(clock=times.seconds) as engine:
        yield Office(engine, times)


def test_a_successful_retry(office: Office) -> None:
    aside_id = office.set_aside(Article(slug="a", title="A", picture=b"\x00\xff"))
    office.desk.works = True
    retry(office.store, aside_id, [take], office.desk)
    (change,) = office.desk.taken
    assert change.kind == "MODIFY"
    assert change.before is not None
    assert change.after is not None
    assert (change.before.picture, change.after.picture) == (b"\x00\xff", b"\x00\xff!")
    assert change.time == office.times.now
    assert list(set_aside(office.store)) == []
    with pytest.raises(NotFound, match=aside_id):
        retry(office.store, aside_id, [take], office.desk)


def test_a_retry_that_fails_again(office: Office) -> None:
    aside_id = office.set_aside(Article(slug="a", title="A"))
    office.times.pass_(100)
    with pytest.raises(HandlerFailed, match="take failed again: ConnectionError: nobody there") as failed:
        retry(office.store, aside_id, [take], office.desk)
    assert isinstance(failed.value.__cause__, ConnectionError)
    (aside,) = set_aside(office.store)
    assert aside.tries == 2
    assert aside.tried_at == office.times.now
    assert aside.set_aside_at < aside.tried_at


def test_a_handler_that_no_longer_exists(office: Office) -> None:
    aside_id = office.set_aside(Article(slug="a", title="A"))
    with pytest.raises(HandlerFailed, match="no handler take"):
        retry(office.store, aside_id, [], office.desk)
    assert [each.tries for each in set_aside(office.store)] == [1]


def test_a_record_can_be_discarded(office: Office) -> None:
    aside_id = office.set_aside(Article(slug="a", title="A"))
    discard(office.store, aside_id)
    assert list(set_aside(office.store)) == []
    with pytest.raises(NotFound):
        discard(office.store, aside_id)


def test_a_record_larger_than_an_item_is_stored_completely(office: Office) -> None:
    picture = os.urandom(390_000)  # the record contains it twice, and it can't be compressed
    aside_id = office.set_aside(Article(slug="a", title="A", picture=picture))
    (aside,) = set_aside(office.store)
    assert aside.pieces > 1
    kept = record_of(office.store, aside)["dynamodb"]
    assert (kept["OldImage"]["picture"]["B"], kept["NewImage"]["picture"]["B"]) == (picture, picture + b"!")
    office.desk.works = True
    retry(office.store, aside_id, [take], office.desk)
    assert len(office.desk.taken) == 1
    assert not {pk for pk in office.housekeeping() if pk.startswith("SETASIDE")}
