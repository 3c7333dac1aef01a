"""What every service has: finding items, lists that leave items out, and retries after conflicts."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress

import pytest

from keyplan.data import ConditionFailed, DataError, NotFound, StaleVersion, UniqueViolation, create
from keyplan.design import Refusal, taken
from keyplan.web import ANYONE, IfMatch, InConflict, Listing, Missing, Paging, Service, Stale, allow
from keyplan.web.system.running import Visit
from tests.web.library import Book, Library, Shelf
from tests.web.site import Site


@pytest.fixture
def service(library: Site) -> Service[Library]:
    for number in range(12):
        library.running.store.run(create(Shelf(name=f"{number:02}", owner="alice")))
    made: Service[Library] = library.running.service(None)
    return made


def test_find_or_none_checks_the_version(service: Service[Library]) -> None:
    shelf = service.store.run(service.design.shelves().limit(1)).items[0]
    of_it, of_none = service.design.shelf(shelf.shelf_id), service.design.shelf("unknown")
    assert service.find_or_none(of_it) == service.find_or_none(of_it, frozenset({1, 2})) == shelf
    assert service.find_or_none(of_none) is None
    for op, seen in ((of_it, frozenset({2})), (of_none, frozenset({1}))):
        with pytest.raises(Stale):
            service.find_or_none(op, seen)


def _even(shelves: Sequence[Shelf]) -> Iterator[str]:
    return (shelf.name for shelf in shelves if int(shelf.name) % 2 == 0)


def _none(shelves: Sequence[Shelf]) -> list[str]:
    return []


def _chosen(
    service: Service[Library], limit: int, shown: Callable[[Sequence[Shelf]], Iterable[str]], cursor: str | None = None
) -> Listing[str]:
    return service.chosen(service.design.shelves(), Paging(limit=limit, cursor=cursor), shown)


def test_a_page_is_filled_up_when_items_are_left_out(service: Service[Library]) -> None:
    first = _chosen(service, 4, _even)
    assert first.items == ["00", "02", "04", "06"]
    second = _chosen(service, 4, _even, first.next)
    assert (second.items, second.next) == (["08", "10"], None)


def test_a_list_is_empty_if_all_items_are_left_out(service: Service[Library]) -> None:
    assert _chosen(service, 5, _none) == Listing[str](items=[], next=None)


def test_a_list_that_leaves_out_many_items_returns_what_it_has(
    service: Service[Library], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("keyplan.web.system.service._BUDGET", 6)
    part = _chosen(service, 3, _none)
    assert part.items == []
    assert part.next is not None
    assert _chosen(service, 3, _even, part.next).items == ["06", "08", "10"]


class _Lost(Exception):
    pass


def _losing(times: int, error: Exception) -> Callable[[], str]:
    left = iter([error] * times)

    def act() -> str:
        for each in left:
            raise each
        return "done"

    return act


def test_a_lost_race_is_retried(service: Service[Library]) -> None:
    assert service.persist(_losing(3, _Lost()), StaleVersion, _Lost) == "done"


def test_after_many_tries_the_error_is_raised(service: Service[Library]) -> None:
    with pytest.raises(_Lost):
        service.persist(_losing(100, _Lost()), _Lost)


def test_another_error_is_raised_at_once(service: Service[Library]) -> None:
    act = _losing(1, ZeroDivisionError())
    with pytest.raises(ZeroDivisionError):
        service.persist(act, _Lost)
    assert act() == "done"


def test_not_found_names_the_entity_the_caller_was_looking_for(service: Service[Library]) -> None:
    with pytest.raises(Missing, match="Shelf not found"):
        service.find(service.design.shelf_by_name("none"))
    with pytest.raises(Missing, match="Book not found"):
        service.find(service.design.shelf_by_name("none"), sought=Book)


def test_a_hidden_item_is_reported_like_a_missing_one(service: Service[Library]) -> None:
    for name in ("00", "none"):
        with pytest.raises(Missing, match="Book not found"):
            service.find(service.design.shelf_by_name(name), allowed=lambda shelf: False, hidden=True, sought=Book)


def test_the_first_free_slug_is_used(service: Service[Library]) -> None:
    service.visit.writes_allowed = True

    def write(slug: str) -> Shelf:
        return service.store.run(create(Shelf(name=slug, owner="alice")))

    found = [service.with_free_slug("00", write, lambda slug: taken(Shelf.name_guard, name=slug)) for _ in range(2)]
    assert [shelf.name for shelf in found] == ["00-2", "00-3"]


def test_another_error_than_a_taken_slug_is_final(service: Service[Library]) -> None:
    service.visit.writes_allowed = True
    tried: list[str] = []

    def write(slug: str) -> Shelf:
        tried.append(slug)
        assert len(tried) < 9, "it would never end"
        return service.store.run(create(Shelf(name="00", owner="alice")))

    with pytest.raises(UniqueViolation):
        service.with_free_slug("new", write, lambda slug: taken(Shelf.name_guard, name=slug))


class _Racing(Service[Library]):
    """A service whose methods lose a few races."""

    errors: Iterator[Exception] = iter(())
    services: list[object]

    @allow(ANYONE, retry=(ConditionFailed,))
    def act(self) -> str:
        return self._tried()

    @allow(ANYONE, retry=(ConditionFailed,))
    def change(self, version: IfMatch) -> str:
        return self._tried()

    def _tried(self) -> str:
        type(self).services.append(self)
        for error in type(self).errors:
            raise error
        return "done"


@pytest.fixture
def racing(library: Site) -> Callable[..., _Racing]:
    def made(*errors: Exception) -> _Racing:
        _Racing.errors, _Racing.services = iter(errors), []
        return _Racing(library.running, library.running.store, None, Visit(library.running.store.clock()))

    return made


def _refused(kind: type[ConditionFailed | NotFound | StaleVersion], refusal: Refusal | None = None) -> Exception:
    error = kind("Shelf", "check", {})
    error.refusal = refusal
    return error


def test_a_method_is_retried_after_the_errors_it_names(racing: Callable[..., _Racing]) -> None:
    assert racing(*[_refused(ConditionFailed)] * 5).act() == "done"
    assert len(set(map(id, _Racing.services))) == 6, "each try has a new service without cached items"
    with pytest.raises(NotFound):
        racing(_refused(NotFound)).act()
    with pytest.raises(StaleVersion):
        racing(_refused(StaleVersion)).act()


def test_a_method_gives_up_after_five_more_tries(racing: Callable[..., _Racing]) -> None:
    with pytest.raises(InConflict) as given_up:
        racing(*[_refused(ConditionFailed)] * 6).act()
    assert given_up.value.code == "conflict"


def test_a_refusal_with_its_own_message_is_final(racing: Callable[..., _Racing]) -> None:
    final = _refused(ConditionFailed, Refusal("full", "It is full."))
    for errors in ([final], [_refused(ConditionFailed), final]):
        with pytest.raises(ConditionFailed) as refused:
            racing(*errors).act()
        assert refused.value is final


def test_a_stale_version_is_retried_too_if_the_caller_gave_none(racing: Callable[..., _Racing]) -> None:
    both = (_refused(ConditionFailed), _refused(StaleVersion), _refused(ConditionFailed))
    assert racing(*both).change(None) == "done"
    with pytest.raises(StaleVersion):
        racing(*both).change(frozenset({1}))


class _Guarded(Service[Library]):
    """A service with a method that fails after permission was given, and one that doesn't check it."""

    @allow(ANYONE)
    def fail(self) -> None:
        raise ZeroDivisionError

    @allow(ANYONE, also="something that is never checked")
    def forget(self) -> None:
        with suppress(ZeroDivisionError):
            self.fail()
        self.store.run(create(Shelf(name="unasked", owner="alice")))


def test_a_failed_method_leaves_no_permission_behind(library: Site) -> None:
    running = library.running
    made = running.service(None)
    service = _Guarded(running, made.store, None, made.visit)
    with pytest.raises(DataError, match="before it was decided"):
        service.forget()
