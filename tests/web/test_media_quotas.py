"""How much a person may upload and keep."""

import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from keyplan.design import get
from keyplan.web.media import File, Media, Quota, Ticket
from keyplan.web.media.quotas import CONFIRM_WITHIN, MB, UploadUse, owner_id
from keyplan.web.media.uploads import SEND_WITHIN
from keyplan.web.models.problems import InConflict, Unprocessable
from tests.web.media_support import HTML, PURPOSE, Gallery, disk_gallery, png, served

QUOTA = Quota(3, 1000, 2000)


@pytest.fixture
def gallery(tmp_path: Path) -> Iterator[Gallery]:
    with disk_gallery(tmp_path) as gallery, served(gallery) as gallery.url:
        gallery.media.quota = QUOTA
        yield gallery


def refusal(gallery: Gallery, owner: str = "alice", max_bytes: int = 100) -> str:
    with pytest.raises(InConflict) as refused:
        gallery.ask(owner=owner, max_bytes=max_bytes)
    assert (refused.value.status, refused.value.code) == (409, "upload-quota")
    return refused.value.detail


def kept(gallery: Gallery, size: int) -> File:
    """A kept file of exactly this size."""
    data = png(size - len(png(1)) + 1)
    assert len(data) == size
    return confirmed(gallery, gallery.sent(data, max_bytes=size))


def confirmed(gallery: Gallery, ticket: Ticket) -> File:
    return gallery.media.confirm(ticket.upload_id, purpose=PURPOSE)


def kept_bytes(gallery: Gallery) -> int:
    use = gallery.store.run(get(UploadUse, owner=owner_id("alice"), consistent=True))
    assert use is not None
    return use.kept_bytes


def test_only_so_many_uploads_may_be_unfinished(gallery: Gallery) -> None:
    tickets = [gallery.ask(max_bytes=100) for _ in range(3)]
    assert refusal(gallery) == ("You have 3 unfinished uploads. Finish one of them, or try again in 15 minutes.")
    gallery.ask(owner="bob", max_bytes=100)  # it is the quota of a person
    gallery.send(tickets[0], png())
    confirmed(gallery, tickets[0])
    gallery.ask(max_bytes=100)
    refusal(gallery)


def test_they_may_have_so_many_bytes(gallery: Gallery) -> None:
    gallery.ask(max_bytes=600)
    assert refusal(gallery, max_bytes=401).startswith("Your unfinished uploads may have up to ")
    gallery.ask(max_bytes=400)
    assert refusal(gallery, owner="bob", max_bytes=1001).startswith("The file is larger than ")


def test_an_upload_that_expired_or_was_refused_no_longer_counts(gallery: Gallery) -> None:
    bad = gallery.sent(HTML, max_bytes=100)
    for _ in range(2):
        gallery.ask(max_bytes=100)
    refusal(gallery)
    with pytest.raises(Unprocessable):
        confirmed(gallery, bad)
    gallery.ask(max_bytes=100)
    refusal(gallery)
    gallery.clock.pass_(seconds=(SEND_WITHIN + CONFIRM_WITHIN).total_seconds())
    for _ in range(3):
        gallery.ask(max_bytes=100)
    refusal(gallery)


def test_an_upload_for_which_nothing_was_sent_counts_only_while_its_form_can_be_used(gallery: Gallery) -> None:
    started = gallery.sent(png(), max_bytes=100)
    for _ in range(2):
        gallery.ask(max_bytes=100)
    gallery.clock.pass_(seconds=SEND_WITHIN.total_seconds() - 30)
    assert refusal(gallery).endswith("Finish one of them, or try again in 1 minute.")
    gallery.clock.pass_(seconds=30)
    for _ in range(2):
        gallery.ask(max_bytes=100)
    assert refusal(gallery).startswith("You have 3 unfinished uploads."), "the one that was sent still counts"
    confirmed(gallery, started)
    gallery.ask(max_bytes=100)


def test_kept_files_have_so_many_bytes_until_they_are_deleted(gallery: Gallery) -> None:
    files = [kept(gallery, 900), kept(gallery, 900)]
    assert kept_bytes(gallery) == 1800
    assert refusal(gallery, max_bytes=201).endswith("Delete pictures that you no longer need, and try again.")
    gallery.ask(max_bytes=200)
    refusal(gallery, max_bytes=1)  # what is unfinished will be kept
    for _ in range(2):
        gallery.media.delete(files[0].name)
    assert kept_bytes(gallery) == 900
    gallery.ask(max_bytes=800)


def test_a_file_counts_with_its_own_size_and_once(gallery: Gallery) -> None:
    ticket = gallery.sent(png(), max_bytes=900)
    for _ in range(2):
        confirmed(gallery, ticket)
    assert kept_bytes(gallery) == len(png())
    gallery.sweep_all()
    assert kept_bytes(gallery) == len(png())


def test_files_of_the_server_and_old_ones_belong_to_nobody(gallery: Gallery) -> None:
    file = gallery.media.put(png(), "image/png")
    gallery.media.delete(file.name)
    assert not gallery.media.exists(file.name)


def test_a_service_may_give_more(gallery: Gallery) -> None:
    for _ in range(6):
        gallery.ask(max_bytes=100, quota=QUOTA.times(2))
    with pytest.raises(InConflict):
        gallery.ask(max_bytes=100, quota=QUOTA.times(2))


def test_no_limit(gallery: Gallery) -> None:
    for _ in range(10):
        gallery.ask(max_bytes=10**12, quota=Quota(0, 0, 0))


def test_it_holds_if_several_processes_ask_at_once(gallery: Gallery) -> None:
    """80 requests for 10 MB each, as fast as they can be sent."""
    gallery.media.quota = Quota()
    made: list[Ticket] = []
    refused: list[str] = []

    def ask(media: Media) -> None:
        for _ in range(10):
            try:
                made.append(media.ask("image/png", owner="eve", purpose=PURPOSE, max_bytes=10 * MB))
            except InConflict as error:
                refused.append(error.code)

    others = [Media("gallery", gallery.objects, gallery.store, secret=gallery.secret) for _ in range(8)]
    threads = [threading.Thread(target=ask, args=[media]) for media in others]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(made), set(refused), len(refused)) == (5, {"upload-quota"}, 75)


def test_the_amounts_are_readable() -> None:
    use = UploadUse(owner="a", kept_bytes=990 * MB)
    with pytest.raises(InConflict, match=r"Your pictures use 990 MB of 1 GB\."):
        Quota().check(use, 50 * MB, datetime.now(UTC))
