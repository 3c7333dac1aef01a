"""`Idempotency-Key`: a repeated request takes effect once."""

import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import httpx
import pytest
from starlette.responses import Response

from keyplan.data import create
from keyplan.web import Caller
from keyplan.web.models.problems import InConflict
from keyplan.web.routes.once import Attempt, Keyed, carried_out_once
from tests.web.answers import problem, shelf
from tests.web.library import Librarian, NewShelf, Shelf
from tests.web.site import Site

KEY = {"Idempotency-Key": "first"}


def shelves(library: Site) -> list[str]:
    return [each["name"] for each in library.as_().get("/shelves").json()["items"]]


def test_a_repeated_request_gets_the_first_answer(library: Site) -> None:
    client = library.as_("ada")
    first = client.post("/shelves", json={"name": "Novels"}, headers=KEY)
    second = client.post("/shelves", json={"name": "Novels"}, headers=KEY)
    assert first.status_code == second.status_code == 201
    assert first.content == second.content
    assert first.headers["etag"] == second.headers["etag"]
    assert "idempotent-replayed" not in first.headers
    assert second.headers["idempotent-replayed"] == "true"
    assert shelves(library) == ["Novels"]
    assert library.running.store.verify() == []


def test_the_effect_and_its_record_are_one_transaction(library: Site) -> None:
    answer = library.as_("ada").post("/shelves", json={"name": "Novels"}, headers=KEY)
    # The claim; the transaction of shelf, guard and record; the answer.
    assert answer.headers["x-dynamodb-capacity"].startswith("calls=")
    log = library.engine.describe_table(TableName="Library-keyplan")
    assert log["Table"]["ItemCount"] >= 1


def test_the_same_key_with_another_body_is_refused(library: Site) -> None:
    client = library.as_("ada")
    client.post("/shelves", json={"name": "Novels"}, headers=KEY)
    problem(client.post("/shelves", json={"name": "Poems"}, headers=KEY), 422, "idempotency-key-reused")
    assert shelves(library) == ["Novels"]


def test_keys_belong_to_one_caller_and_one_route(library: Site) -> None:
    made = library.as_("ada").post("/shelves", json={"name": "Novels"}, headers=KEY).json()
    assert library.as_("bob").post("/shelves", json={"name": "Poems"}, headers=KEY).status_code == 201
    book = {"isbn": "1234567890", "title": "Emma"}
    path = f"/shelves/{made['shelf_id']}/books"
    assert library.as_("ada").post(path, json=book, headers=KEY).status_code == 201
    assert shelves(library) == ["Novels", "Poems"]


def test_a_refused_request_can_be_tried_again(library: Site) -> None:
    client = library.as_("ada")
    taken = shelf(client, "Novels")
    problem(client.post("/shelves", json={"name": "novels"}, headers=KEY), 409, "already-taken")
    assert client.delete(f"/shelves/{taken['shelf_id']}", headers={"If-Match": "*"}).status_code == 204
    assert client.post("/shelves", json={"name": "novels"}, headers=KEY).status_code == 201


def test_concurrent_requests_with_one_key_take_effect_once(library: Site) -> None:
    def post(_: int) -> httpx.Response:
        with httpx.Client(base_url=library.api, headers={"Authorization": f"Bearer {token}"}) as client:
            return client.post("/shelves", json={"name": "Novels"}, headers=KEY)

    token = library.token("ada")
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(post, range(24)))
    assert {answer.status_code for answer in answers} <= {201, 409}
    good = [answer.json() for answer in answers if answer.status_code == 201]
    assert good
    assert all(each == good[0] for each in good)
    for answer in answers:
        if answer.status_code == 409:
            problem(answer, 409, "request-under-way")
    assert shelves(library) == ["Novels"]


class Killed(BaseException):
    """Stands for the end of the process."""


def keyed(name: str) -> Keyed:
    return Keyed(Caller("ada"), "", "POST /shelves", "/shelves?", "first", NewShelf(name=name))


def _later(library: Site, minutes: float) -> None:
    clock = library.running.store.clock
    library.running.store.clock = lambda: clock() + timedelta(minutes=minutes)


@pytest.mark.parametrize("after_writing", [False, True])
def test_an_interrupted_request_is_finished_by_the_next(library: Site, after_writing: bool) -> None:
    """Killed before or after the write, and before the answer was stored."""

    def killed(service: Librarian) -> Response:
        if after_writing:
            service.create_shelf(NewShelf(name="Novels"))
        raise Killed

    def act(service: Librarian) -> Response:
        return Response(service.create_shelf(NewShelf(name="Novels")).model_dump_json())

    with pytest.raises(Killed):
        carried_out_once(library.running, keyed("Novels"), killed)
    with pytest.raises(InConflict, match="still in progress"):
        carried_out_once(library.running, keyed("Novels"), act)
    _later(library, 5)
    answer = carried_out_once(library.running, keyed("Novels"), act)
    again = carried_out_once(library.running, keyed("Novels"), act)
    assert answer.body == again.body
    assert shelves(library) == ["Novels"]
    [stored] = library.as_().get("/shelves").json()["items"]
    assert stored["shelf_id"] in bytes(answer.body).decode()
    assert library.running.store.verify() == []


def test_completed_steps_are_skipped(library: Site) -> None:
    """A request with three writes, interrupted after two of them, one of which was a second attempt at a name."""
    library.running.store.run(create(Shelf(name="taken", owner="eve")))
    cut_off = True

    def act(service: Librarian) -> Response:
        made = [service.create_shelf(NewShelf(name="one"))]
        try:
            made.append(service.create_shelf(NewShelf(name="taken")))
        except Exception:  # noqa: BLE001 - the point is what comes after
            made.append(service.create_shelf(NewShelf(name="not taken")))
        if cut_off:
            raise Killed
        made.append(service.create_shelf(NewShelf(name="three")))
        return Response(",".join(each.shelf_id for each in made))

    with pytest.raises(Killed):
        carried_out_once(library.running, keyed("many"), act)
    before = {each["name"]: each["shelf_id"] for each in library.as_().get("/shelves").json()["items"]}
    assert set(before) == {"one", "taken", "not taken"}
    cut_off = False
    _later(library, 5)
    answer = carried_out_once(library.running, keyed("many"), act)
    after = {each["name"]: each["shelf_id"] for each in library.as_().get("/shelves").json()["items"]}
    assert before.items() <= after.items()
    assert set(after) == {"one", "taken", "not taken", "three"}
    assert bytes(answer.body).decode() == f"{after['one']},{after['not taken']},{after['three']}"
    assert library.running.store.verify() == []


def test_a_request_that_was_taken_over_does_nothing(library: Site) -> None:
    """A slow request that is still running when another has taken over."""
    taken_over = threading.Event()

    def slow(service: Librarian) -> Response:
        _later(library, 5)
        carried_out_once(library.running, keyed("Novels"), quick)
        taken_over.set()
        return Response(service.create_shelf(NewShelf(name="Poems")).model_dump_json())

    def quick(service: Librarian) -> Response:
        return Response(service.create_shelf(NewShelf(name="Novels")).model_dump_json())

    with pytest.raises(InConflict, match="still in progress"):
        carried_out_once(library.running, keyed("Novels"), slow)
    assert taken_over.is_set()
    assert shelves(library) == ["Novels"]


def test_a_record_is_kept_for_a_day(library: Site) -> None:
    client = library.as_("ada")
    client.post("/shelves", json={"name": "Novels"}, headers=KEY)
    _later(library, 24 * 60 + 1)
    # By now the name is taken, so the request is executed again.
    problem(client.post("/shelves", json={"name": "Novels"}, headers=KEY), 409, "already-taken")


def test_records_contain_neither_caller_nor_key(library: Site) -> None:
    library.as_("ada").post("/shelves", json={"name": "Novels"}, headers=KEY)
    items = library.engine.scan(TableName="Library-keyplan")["Items"]
    [record] = [item for item in items if item["pk"]["S"].startswith("ONCE#")]
    assert "ada" not in record["pk"]["S"]
    assert Attempt.spec.table.ttl in record


def test_the_body_cannot_be_guessed_from_the_record() -> None:
    """A body may contain a password. Its digest includes the key, which only the caller knows."""
    given = {"caller": Caller("ada"), "address": "", "route": "POST /x", "path": "/x?", "payload": "12345678"}
    one, other = (Keyed(key=key, **given) for key in ("first", "second"))  # type: ignore[arg-type]  # as Keyed has them
    assert one.fingerprint != other.fingerprint
