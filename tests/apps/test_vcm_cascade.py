"""Sponsor, media item, file: what is deleted with what, however it is deleted, and if the process is interrupted."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from keyplan.apps.vcm.api import SYSTEM
from keyplan.apps.vcm.design import VcmDesign
from keyplan.apps.vcm.entities import Media, Member, News, Sponsor
from keyplan.apps.vcm.upkeep import HANDLERS
from keyplan.data import create, delete, update
from keyplan.data.streams import Handler, ItemChange, set_aside
from keyplan.engine import Engine
from keyplan.web.server.application import running
from keyplan.web.server.work import Worker
from keyplan.web.system.running import Running
from tests.apps.vcm_data import text
from tests.apps.vcm_site import png, settings
from tests.data.support import Killed, Mortal

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


class Time:
    """The time of the engine and of the club."""

    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def time() -> Time:
    return Time()


@pytest.fixture
def engine(time: Time) -> Iterator[Engine]:
    with Engine(clock=lambda: time.now.timestamp()) as made:
        yield made


@pytest.fixture
def club(tmp_path: Path, engine: Engine, time: Time) -> Running[VcmDesign]:
    started = running(SYSTEM, settings(tmp_path), engine)
    started.store.clock = time
    started.store.create_tables()
    return started


def add_media(club: Running[VcmDesign], id: str) -> Media:
    file = club.media.put(png(), "image/png", under=["media"], key=id)
    media = Media(id=id, filename=file.name, s3_key=file.name, s3_bucket=club.media.bucket, url=file.name)
    return club.store.run(create(media))


def add_sponsor(club: Running[VcmDesign], id: str, logo: str | None, days: int = 1) -> Sponsor:
    return club.store.run(create(Sponsor(id=id, name=id, logo_id=logo, expiry_timestamp=NOW + timedelta(days=days))))


def work_off(club: Running[VcmDesign], engine: Engine) -> None:
    worker = Worker([club], engine)
    while worker.run_once():
        pass
    worker.stop()
    assert list(set_aside(club.store)) == []


def expire(engine: Engine, time: Time, days: int = 2) -> None:
    time.now = NOW + timedelta(days=days)
    assert engine.sweep_expired() > 0


def left(club: Running[VcmDesign], media: Media) -> tuple[int | None, bool]:
    """How often a media item is used (None if it doesn't exist), and whether its file exists."""
    found = club.store.run(club.design.media(media.id))
    return (None if found is None else found.references), club.media.exists(media.s3_key)


GONE = (None, False)


# By time to live, by hand, by replacing


def test_a_sponsor_whose_time_is_over_takes_logo_and_file_along(
    club: Running[VcmDesign], engine: Engine, time: Time
) -> None:
    logo = add_media(club, "logo")
    add_sponsor(club, "s", "logo")
    work_off(club, engine)
    assert left(club, logo) == (1, True)
    expire(engine, time)
    assert left(club, logo) == (1, True), "only the sponsor went"
    work_off(club, engine)
    assert left(club, logo) == GONE
    assert engine.scan(TableName="vcm-media-refs")["Items"] == []
    assert club.store.verify() == []


def test_a_sponsor_deleted_by_hand_takes_logo_and_file_along(club: Running[VcmDesign], engine: Engine) -> None:
    logo = add_media(club, "logo")
    sponsor = add_sponsor(club, "s", "logo")
    club.store.run(delete(sponsor))
    assert left(club, logo) == (0, True)
    work_off(club, engine)
    assert left(club, logo) == GONE
    assert club.store.verify() == []


def test_a_sponsor_deleted_in_the_table_itself_takes_logo_and_file_along(
    club: Running[VcmDesign], engine: Engine
) -> None:
    """Deleted by something that doesn't know about references, such as AWS's console."""
    logo, shared = add_media(club, "logo"), add_media(club, "shared")
    add_sponsor(club, "s", "logo")
    add_sponsor(club, "t", "shared")
    add_sponsor(club, "u", "shared")
    for id in ("s", "t"):
        engine.delete_item(TableName="vcm-sponsors", Key={"id": {"S": id}})
    work_off(club, engine)
    assert left(club, logo) == GONE
    assert left(club, shared) == (1, True)
    assert club.store.verify() == []


def test_a_sponsor_without_a_logo_takes_nothing_along(club: Running[VcmDesign], engine: Engine, time: Time) -> None:
    unused = add_media(club, "unused")
    add_sponsor(club, "s", None)
    expire(engine, time)
    work_off(club, engine)
    assert left(club, unused) == (0, True), "what nothing ever used stays until somebody deletes it"
    assert club.store.verify() == []


@pytest.mark.parametrize("by_hand", [True, False])
def test_a_logo_that_something_else_uses_stays(
    club: Running[VcmDesign], engine: Engine, time: Time, by_hand: bool
) -> None:
    """Two sponsors, an article and a member share it: it is deleted with the last of them."""
    logo = add_media(club, "logo")
    first, second = add_sponsor(club, "a", "logo", days=1), add_sponsor(club, "b", "logo", days=4)
    article = News(id="n", title="N", slug="n", content=text("x"), published_date=NOW, image_ids=["logo"])
    club.store.run(create(article))
    member = club.store.run(create(Member(id="m", name="M", avatar_id="logo")))
    steps: list[Callable[[], None]] = [
        lambda: club.store.run(delete(first)) if by_hand else expire(engine, time, 2),
        lambda: club.store.run(delete(article)),
        lambda: club.store.run(delete(second)) if by_hand else expire(engine, time, 5),
    ]
    for number, go in enumerate(steps):
        go()
        work_off(club, engine)
        assert left(club, logo) == (3 - number, True)
        assert club.store.verify() == []
    club.store.run(delete(member))
    work_off(club, engine)
    assert left(club, logo) == GONE
    assert club.store.verify() == []


def test_replacing_an_image_removes_the_old_one(club: Running[VcmDesign], engine: Engine) -> None:
    old, new, kept = (add_media(club, id) for id in ("old", "new", "kept"))
    article = News(id="n", title="N", slug="n", content=text("x"), published_date=NOW, image_ids=["old", "kept"])
    club.store.run(create(article))
    sponsor = add_sponsor(club, "s", "old")
    article.image_ids = ["kept", "new"]
    club.store.run(update(article))
    work_off(club, engine)
    assert [left(club, each) for each in (old, new, kept)] == [(1, True), (1, True), (1, True)]
    sponsor.logo_id = "new"
    club.store.run(update(sponsor))
    work_off(club, engine)
    assert [left(club, each) for each in (old, new, kept)] == [GONE, (2, True), (1, True)]
    assert club.store.verify() == []


def test_a_media_item_deleted_by_hand_takes_its_file_along(club: Running[VcmDesign], engine: Engine) -> None:
    media = add_media(club, "m")
    club.store.run(delete(media))
    work_off(club, engine)
    assert left(club, media) == GONE


def test_a_file_that_lies_elsewhere_is_not_ours_to_delete(club: Running[VcmDesign], engine: Engine) -> None:
    media = add_media(club, "m")
    elsewhere = club.store.run(
        create(Media(id="e", filename="e", s3_key=media.s3_key, s3_bucket="of somebody else", url="u"))
    )
    club.store.run(delete(elsewhere))
    work_off(club, engine)
    assert left(club, media) == (0, True)


# Twice


def wrapped(act: Callable[[Handler[Any], ItemChange[Any], Any], None]) -> tuple[Handler[Any], ...]:
    def one(handler: Handler[Any]) -> Handler[Any]:
        def called(change: ItemChange[Any], context: Any) -> None:
            act(handler, change, context)

        called.__name__ = handler.name
        return Handler(handler.entity, handler.kinds, called)

    return tuple(one(each) for each in HANDLERS)


def _busy(club: Running[VcmDesign], engine: Engine, time: Time, work: Callable[[], None]) -> list[Media]:
    """Many deletions, in all ways."""
    media = [add_media(club, f"m{number}") for number in range(6)]
    for number in range(6):
        add_sponsor(club, f"s{number}", f"m{number // 2}")
    article = News(id="n", title="N", slug="n", content=text("x"), published_date=NOW, image_ids=["m2", "m3", "m4"])
    club.store.run(create(article))
    work()
    found = club.store.run(club.design.sponsor("s0"))
    assert found is not None
    club.store.run(delete(found))
    work()
    article.image_ids = ["m5", "m4"]
    club.store.run(update(article))
    work()
    expire(engine, time)
    work()
    return media


def test_every_record_delivered_twice(club: Running[VcmDesign], engine: Engine, time: Time) -> None:
    seen: list[tuple[Handler[Any], ItemChange[Any]]] = []

    def twice(handler: Handler[Any], change: ItemChange[Any], context: Any) -> None:
        seen.append((handler, change))
        handler(change, context)
        handler(change, context)

    doubled = replace(club, system=replace(SYSTEM, handlers=wrapped(twice)))
    media = _busy(doubled, engine, time, lambda: work_off(doubled, engine))
    expected = [GONE, GONE, GONE, GONE, (1, True), (1, True)]
    assert [left(club, each) for each in media] == expected
    assert club.store.verify() == []
    # And all of them once more, much later, in the wrong order.
    for handler, change in reversed(seen):
        handler(change, club)
    assert [left(club, each) for each in media] == expected
    assert club.store.verify() == []


def test_a_late_record_does_not_hurt_what_was_brought_back(
    club: Running[VcmDesign], engine: Engine, time: Time
) -> None:
    """An import may write the same IDs again: an old stream record is about the item before it."""
    seen: list[tuple[Handler[Any], ItemChange[Any]]] = []

    def noted(handler: Handler[Any], change: ItemChange[Any], context: Any) -> None:
        seen.append((handler, change))
        handler(change, context)

    watched = replace(club, system=replace(SYSTEM, handlers=wrapped(noted)))
    logo = add_media(club, "logo")
    add_sponsor(club, "s", "logo")
    expire(engine, time)
    work_off(watched, engine)
    assert left(club, logo) == GONE
    assert len(seen) == 3
    again = add_media(club, "logo")
    assert again.s3_key == logo.s3_key
    add_sponsor(club, "s", "logo", days=9)
    for handler, change in seen:
        handler(change, club)
    assert left(club, again) == (1, True)
    assert club.store.verify() == []


# Cut off


@pytest.mark.parametrize("after", [False, True], ids=["before the call", "after it"])
def test_handlers_killed_half_way_are_finished_by_the_next_process(
    tmp_path: Path, engine: Engine, club: Running[VcmDesign], time: Time, after: bool
) -> None:
    """The process is killed at every call of the cascade, one after the other."""
    calls = 0
    while True:
        calls += 1
        time.now = NOW
        logo = add_media(club, f"logo{calls}")
        shared = add_media(club, f"shared{calls}")
        add_sponsor(club, f"a{calls}", logo.id)
        add_sponsor(club, f"b{calls}", shared.id)
        add_sponsor(club, f"c{calls}", shared.id, days=5000)
        expire(engine, time)
        mortal = running(SYSTEM, settings(tmp_path), Mortal(engine, calls, after=after))
        mortal.store.clock = time
        try:
            worker = Worker([mortal], engine)
            while worker.run_once():
                pass
            survived = True
        except Killed:
            survived = False
        time.now += timedelta(minutes=1)  # the leases of the killed process have expired
        work_off(club, engine)
        assert left(club, logo) == GONE, calls
        assert left(club, shared) == (1, True), calls
        if survived:
            break
    assert calls > 20
    assert club.store.verify() == []


def test_a_file_that_cannot_be_deleted_now_is_deleted_later(
    club: Running[VcmDesign], engine: Engine, monkeypatch: pytest.MonkeyPatch, time: Time
) -> None:
    media = add_media(club, "m")
    club.store.run(delete(media))
    deleting = club.media.delete
    failures = [OSError("no such disk")] * 2

    def failing(name: str) -> None:
        if failures:
            raise failures.pop()
        deleting(name)

    monkeypatch.setattr(club.media, "delete", failing)
    worker = Worker([club], engine)
    for _ in range(20):
        worker.run_once()
        time.now += timedelta(minutes=2)
    worker.stop()
    assert left(club, media) == GONE
