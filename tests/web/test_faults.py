"""Faults of the server: callers learn nothing about the machine, and the log has everything, under the request's ID."""

import logging
from collections.abc import Callable

import httpx
import pytest

from keyplan.web.identity.admission import Admission
from keyplan.web.media import Media
from keyplan.web.media.disk import DiskObjects
from keyplan.web.server import Worker, monitoring
from keyplan.web.settings import Settings
from tests.web.library import Librarian, Library
from tests.web.library_pages import WITH_PAGES
from tests.web.page_forms import hidden_in, sign_in
from tests.web.site import site

ID = "01a1ef38-be1e-7000-8aa6-68361ca6d56b"
PATH = "/srv/secret-place/keyplan.db"


def _fail(*given: object, **named: object) -> object:
    raise PermissionError(13, "Permission denied", PATH)


Send = Callable[[httpx.Client, str], httpx.Response]
WAYS: dict[str, tuple[object, str, Send]] = {
    "API": (Library, "shelf", lambda client, url: client.get(f"{url}/api/library/shelves/{ID}")),
    "API, before the method": (Admission, "admitted", lambda client, url: client.get(f"{url}/api/library/shelves")),
    "page": (Librarian, "shelves", lambda client, url: client.get(f"{url}/library/")),
    "form": (
        Librarian,
        "create_shelf",
        lambda client, url: client.post("/shelves/new", data={**hidden_in(client, "/shelves/new"), "name": "Novels"}),
    ),
    "no page": (Admission, "admit", lambda client, url: client.get(f"{url}/library/none")),
    "file": (Media, "find", lambda client, url: client.get(f"{url}/media/library/a/{'0' * 32}.png")),
    "upload": (
        DiskObjects,
        "begin",
        lambda client, url: client.post(
            f"{url}/media/upload", data={"key": "incoming/library/x"}, files={"file": ("a.png", b"x", "image/png")}
        ),
    ),
}


def test_background_work_that_fails_is_told_to_nobody_but_the_log(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with site(WITH_PAGES, settings) as started, httpx.Client(base_url=started.url, timeout=30) as client:
        monkeypatch.setattr(Media, "sweep", _fail)
        monkeypatch.setattr(monitoring, "_write_and_read", _fail)
        worker = Worker([started.running], started.engine)
        with caplog.at_level(logging.ERROR):
            worker.run_once()
        answers = [client.get(path) for path in ("/readyz", "/metrics", "/library/", "/api/library/shelves")]
        worker.stop()
    assert [each.status_code for each in answers] == [503, 200, 200, 200]
    said = "".join(f"{each.headers} {each.text}" for each in answers)
    assert [secret for secret in ("secret-place", "Permission", "Traceback", "keyplan.db") if secret in said] == []
    assert [each for each in caplog.records if each.exc_info and PATH in str(each.exc_info[1])], "the log has it"


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("accept", ["text/html", "application/json"])
def test_no_answer_names_a_path(
    settings: Settings, way: str, accept: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    where, name, send = WAYS[way]
    with (
        site(WITH_PAGES, settings) as started,
        httpx.Client(base_url=f"{started.url}/library", timeout=30, headers={"Accept": accept}) as client,
    ):
        sign_in(client, "alice")
        monkeypatch.setattr(where, name, _fail)
        with caplog.at_level(logging.ERROR):
            answer = send(client, started.url)
    assert answer.status_code == 500
    said = f"{answer.headers} {answer.text}"
    for secret in ("secret-place", "Permission", "Traceback", "keyplan.db", "Error:"):
        assert secret not in said
    request_id = answer.headers["x-request-id"]
    assert request_id in answer.text
    logged = [each for each in caplog.records if getattr(each, "fields", {}).get("request_id") == request_id]
    assert [each for each in logged if each.exc_info and PATH in str(each.exc_info[1])], "the log has it"
