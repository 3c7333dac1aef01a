"""Interruptions and concurrent calls at any point: a confirmed file exists, and no other file remains."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from itertools import count
from pathlib import Path

import pytest

from keyplan.data import Refused, Store, create
from keyplan.design import scan
from keyplan.web.media import Checked, File, Ticket
from keyplan.web.models.problems import InConflict, Missing, Unprocessable
from tests.web.media_support import (
    PURPOSE,
    SVG,
    Gallery,
    GalleryDesign,
    Killed,
    Picture,
    Tripwire,
    disk_gallery,
    png,
    served,
)


@pytest.fixture
def made(tmp_path: Path) -> Iterator[Callable[[], Gallery]]:
    """Creates galleries, each served until the test ends."""
    opened: list[tuple[AbstractContextManager[Gallery], AbstractContextManager[str]]] = []

    def make() -> Gallery:
        gallery = disk_gallery(tmp_path / str(len(opened)))
        serving = served(found := gallery.__enter__())
        serving.__enter__()
        opened.append((gallery, serving))
        return found

    yield make
    for gallery, serving in opened:
        serving.__exit__(None, None, None)
        gallery.__exit__(None, None, None)


def confirm(gallery: Gallery, wire: Tripwire, upload_id: str) -> File:
    media = gallery.other(store=wire.around(gallery.store.client), objects=wire.around(gallery.objects))
    return media.confirm(upload_id, purpose=PURPOSE)


def sweep(gallery: Gallery, wire: Tripwire) -> None:
    gallery.other(store=wire.around(gallery.store.client), objects=wire.around(gallery.objects)).sweep()


def killed_at(step: int) -> Tripwire:
    def kill() -> None:
        raise Killed

    return Tripwire(step, kill)


def check_only_kept(gallery: Gallery, *names: str) -> None:
    """After all sweeps, only these files remain."""
    gallery.sweep_all()
    assert gallery.stored() == {f"gallery/{name}" for name in names}
    assert gallery.records() == []


def test_a_killed_confirm_can_be_repeated(made: Callable[[], Gallery]) -> None:
    gallery = made()
    names = []
    for step in count(1):
        ticket, wire = gallery.sent(), killed_at(step)
        try:
            names.append(confirm(gallery, wire, ticket.upload_id).name)
        except Killed:
            names.append(gallery.media.confirm(ticket.upload_id, purpose=PURPOSE).name)
            assert gallery.media.read(names[-1]) == png()
            continue
        break
    assert step > 10
    check_only_kept(gallery, *names)


def test_a_killed_confirm_that_is_never_repeated(made: Callable[[], Gallery]) -> None:
    gallery = made()
    for step in count(1):
        wire = killed_at(step)
        try:
            name = confirm(gallery, wire, gallery.sent().upload_id).name
        except Killed:
            continue
        break
    gallery.sweep_all()
    left = gallery.stored()
    # Besides the last one, only the file that was already permanent when the process was killed, as its record says.
    assert f"gallery/{name}" in left
    assert len(left) == 2
    assert gallery.records() == []


def test_item_and_file_agree_whenever_the_process_is_killed(made: Callable[[], Gallery]) -> None:
    gallery = made()
    for step in count(1):
        wire = killed_at(step)
        ticket = gallery.sent()
        client = wire.around(gallery.store.client)
        try:
            checked = gallery.other(store=client, objects=wire.around(gallery.objects)).check(
                ticket.upload_id, purpose=PURPOSE
            )
            store = Store(GalleryDesign(), client, clock=gallery.clock)
            store.transact(create(Picture(file=checked.file.name)), *checked.keep)
        except Killed:
            continue
        break
    gallery.sweep_all()
    pictures = gallery.store.run(scan(Picture)).items
    assert len(pictures) == 2  # the last one, and one that was written just before the process was killed
    assert gallery.stored() == {f"gallery/{each.file}" for each in pictures}


def test_a_file_of_the_wrong_type_is_removed_whenever_the_process_is_killed(made: Callable[[], Gallery]) -> None:
    gallery = made()
    for step in count(1):
        ticket, wire = gallery.sent(SVG), killed_at(step)
        try:
            confirm(gallery, wire, ticket.upload_id)
        except Killed:
            with pytest.raises((Unprocessable, Missing)):
                gallery.media.confirm(ticket.upload_id, purpose=PURPOSE)
            continue
        except Unprocessable:
            break
    check_only_kept(gallery)


def test_a_killed_sweep_is_finished_by_the_next(made: Callable[[], Gallery]) -> None:
    gallery = made()
    names = []
    for second_look in (False, True):
        for step in count(1):
            names.append(gallery.media.confirm(gallery.sent().upload_id, purpose=PURPOSE).name)
            gallery.media.check(gallery.sent().upload_id, purpose=PURPOSE)
            gallery.clock.pass_(hours=2)
            if second_look:
                gallery.media.sweep()
                gallery.clock.pass_(hours=25)
            wire = killed_at(step)
            try:
                sweep(gallery, wire)
            except Killed:
                check_only_kept(gallery, *names)
                continue
            break
        assert step > 8
    check_only_kept(gallery, *names)


def test_nothing_remains_if_the_process_is_killed_while_a_ticket_is_issued(made: Callable[[], Gallery]) -> None:
    gallery = made()
    for step in count(1):
        wire = killed_at(step)
        media = gallery.other(store=wire.around(gallery.store.client), objects=wire.around(gallery.objects))
        try:
            media.ask("image/png", owner="alice", purpose=PURPOSE, max_bytes=10)
        except Killed:
            continue
        break
    check_only_kept(gallery)


def test_a_sweep_at_any_point_of_a_confirm(made: Callable[[], Gallery]) -> None:
    """Either the confirm wins and the file stays, or the confirm fails because it is too late, and nothing stays."""
    gallery = made()
    outcomes = []
    names = []
    for step in count(1):

        def act() -> None:
            gallery.clock.pass_(hours=2)
            gallery.media.sweep()

        ticket, wire = gallery.sent(), Tripwire(step, act)
        try:
            names.append(confirm(gallery, wire, ticket.upload_id).name)
            outcomes.append("kept")
        except (Missing, InConflict):
            outcomes.append("over")
        gallery.sweep_all()
        assert gallery.stored() == {f"gallery/{name}" for name in names}, step
        assert gallery.records() == []
        if wire.steps < step:
            break
    assert outcomes.count("over") > 5
    assert "kept" in outcomes[:-1]  # the sweep came after the decision


def test_a_confirm_at_any_point_of_a_sweep(made: Callable[[], Gallery]) -> None:
    """Including a confirm that started in time: it reads the upload before the sweep, and does the rest during it."""
    gallery = made()
    names = []
    for late in (False, True):
        for step in count(1):
            ticket = gallery.sent()
            checked = gallery.media.check(ticket.upload_id, purpose=PURPOSE) if late else None

            def act(ticket: Ticket = ticket, checked: Checked | None = checked) -> None:
                try:
                    if checked is None:
                        names.append(gallery.media.confirm(ticket.upload_id, purpose=PURPOSE).name)
                    else:
                        gallery.store.transact(*checked.keep)
                        names.append(checked.file.name)
                except (Refused, Missing):
                    pass

            gallery.clock.pass_(hours=2)
            wire = Tripwire(step, act)
            sweep(gallery, wire)
            gallery.sweep_all()
            assert gallery.stored() == {f"gallery/{name}" for name in names}, step
            if wire.steps < step:
                break
    assert names


def test_another_confirm_at_any_point_of_a_confirm(made: Callable[[], Gallery]) -> None:
    gallery = made()
    names = set()
    for step in count(1):
        ticket = gallery.sent()

        def act(ticket: Ticket = ticket) -> None:
            gallery.send(ticket, png(30))  # and another file was sent in the meantime
            names.add(gallery.media.confirm(ticket.upload_id, purpose=PURPOSE).name)

        wire = Tripwire(step, act)
        name = confirm(gallery, wire, ticket.upload_id).name
        data = gallery.media.read(name)
        assert data in (png(), png(30))
        assert wire.steps < step or name in names
        names.add(name)
        if wire.steps < step:
            break
    check_only_kept(gallery, *names)


def test_a_file_sent_during_a_confirm_is_never_kept(made: Callable[[], Gallery]) -> None:
    gallery = made()
    names = []
    for step in count(1):
        ticket = gallery.sent()

        def act(ticket: Ticket = ticket) -> None:
            gallery.send(ticket, SVG)

        wire = Tripwire(step, act)
        try:
            names.append(confirm(gallery, wire, ticket.upload_id).name)
            assert gallery.media.read(names[-1]) == png()
        except Unprocessable:
            pass
        if wire.steps < step:
            break
    assert len(names) > 5
    check_only_kept(gallery, *names)
