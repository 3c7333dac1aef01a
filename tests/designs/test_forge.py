"""The code-hosting service: its patterns on every kind of store, and its rules."""

from collections.abc import Iterator
from threading import Thread

import pytest

from keyplan.data import AlreadyExists, FloorReached, ParentMissing, Store, UniqueViolation, create, delete, update
from keyplan.design import get
from tests.designs.forge import (
    Comment,
    Forge,
    Issue,
    Membership,
    Organization,
    Repository,
    User,
    close_issue,
    open_issue,
    star,
)
from tests.designs.support import MODES, Mode, Opened, opened


def founded(given: Opened[Forge]) -> Store[Forge]:
    """Two users, an organization that one of them owns, and its repository."""
    store, now = given.store, given.clock()
    for name in ("ann", "joe"):
        store.run(create(User(user_id=f"u-{name}", name=name, email=f"{name}@example.org", created_at=now)))
    store.transact(
        create(Organization(org_id="o-acme", name="acme")),
        create(Membership(org_id="o-acme", user_id="u-ann", role="owner")),
    )
    store.run(create(Repository(repo_id="r-core", owner_id="o-acme", name="core")))
    return store


@pytest.fixture
def store() -> Iterator[Store[Forge]]:
    with opened(Forge()) as given:
        yield founded(given)


def repository(store: Store[Forge], repo_id: str = "r-core") -> Repository:
    found = store.run(get(Repository, repo_id=repo_id, consistent=True))
    assert found is not None
    return found


@pytest.mark.parametrize("mode", MODES)
def test_every_pattern(mode: Mode) -> None:
    with opened(Forge(), mode) as given:
        store = founded(given)
        ask, run = store.design, store.run
        store.run(create(Membership(org_id="o-acme", user_id="u-joe")))
        first = open_issue(store, "r-core", "It breaks", "u-joe", frozenset({"bug"}))
        given.clock.advance(minutes=1)
        second = open_issue(store, "r-core", "More speed", "u-ann", frozenset({"bug", "idea"}))
        first.assignee_id = "u-ann"
        run(update(first))
        run(create(Comment(repo_id="r-core", number=1, author_id="u-ann", text="Where?")))
        fork = run(create(Repository(repo_id="r-fork", owner_id="u-joe", name="core", forked_from="r-core")))
        star(store, "u-joe", "r-fork", given.clock())
        given.clock.advance(minutes=1)
        star(store, "u-joe", "r-core", given.clock())

        joe = run(ask.user_by_name("JOE"))
        assert joe is not None
        assert joe.repositories == 1
        assert run(ask.user_by_email("joe@example.org")) == joe
        acme = run(ask.organization_by_name("acme"))
        assert acme is not None
        assert (acme.owners, acme.members) == (1, 2)
        whole = run(ask.organization("o-acme")).items
        assert [type(each) for each in whole] == [Membership, Membership, Organization]
        assert run(ask.organizations_of("u-joe")).items == [acme]
        assert run(ask.repository("u-joe", "Core")) == run(get(Repository, repo_id="r-fork"))
        assert [each.repo_id for each in run(ask.repositories_of("u-joe")).items] == [fork.repo_id]
        assert [each.repo_id for each in run(ask.forks_of("r-core")).items] == ["r-fork"]
        found = run(ask.issue("r-core", 1))
        assert found is not None
        assert (found.title, found.comments) == ("It breaks", 1)
        assert [each.number for each in run(ask.issues("r-core")).items] == [2, 1]
        close_issue(store, second)
        assert [each.number for each in run(ask.open_issues("r-core")).items] == [1]
        assert [each.number for each in run(ask.labeled("r-core", "bug")).items] == [2, 1]
        assert [each.number for each in run(ask.labeled("r-core", "idea")).items] == [2]
        assert [each.number for each in run(ask.assigned_to("u-ann")).items] == [1]
        assert [each.number for each in run(ask.written_by("u-ann")).items] == [2]
        assert [each.text for each in run(ask.comments("r-core", 1)).items] == ["Where?"]
        assert [each.repo_id for each in run(ask.starred_by("u-joe")).items] == ["r-core", "r-fork"]
        assert [each.user_id for each in run(ask.stargazers("r-core")).items] == ["u-joe"]
        assert run(ask.issue_count("r-core")) == 2
        core = repository(store)
        assert (core.last_number, core.open_issues, core.stars, core.forks) == (2, 1, 1, 1)
        assert store.verify() == []


def test_users_and_organizations_share_their_names(store: Store[Forge]) -> None:
    with pytest.raises(UniqueViolation):
        store.run(create(User(name="Acme", email="x@example.org")))
    with pytest.raises(UniqueViolation):
        store.run(create(Organization(name="joe")))


def test_a_repository_can_be_renamed(store: Store[Forge]) -> None:
    core = repository(store)
    open_issue(store, "r-core", "Stays", "u-ann", frozenset())
    core = repository(store)
    core.name = "kernel"
    store.run(update(core))
    assert store.run(store.design.repository("o-acme", "core")) is None
    assert store.run(store.design.issue("r-core", 1)) is not None
    store.run(create(Repository(owner_id="o-acme", name="core")))
    assert store.verify() == []


def test_the_last_owner_stays(store: Store[Forge]) -> None:
    owner = store.run(get(Membership, org_id="o-acme", user_id="u-ann"))
    assert owner is not None
    with pytest.raises(FloorReached):
        store.run(delete(owner))
    owner.role = "member"
    with pytest.raises(FloorReached):
        store.run(update(owner))


def test_a_deleted_repository_takes_everything_with_it(store: Store[Forge]) -> None:
    issue = open_issue(store, "r-core", "It breaks", "u-ann", frozenset({"bug"}))
    store.run(create(Comment(repo_id="r-core", number=issue.number, author_id="u-ann", text="Where?")))
    star(store, "u-ann", "r-core", store.clock())
    store.run(delete(repository(store)))
    assert store.run(store.design.starred_by("u-ann")).items == []
    assert store.run(store.design.comments("r-core", 1)).items == []
    assert store.run(store.design.labeled("r-core", "bug")).items == []
    with pytest.raises(ParentMissing):
        store.run(create(Issue(repo_id="r-core", number=2, title="Late", author_id="u-ann")))
    assert store.verify() == []


def test_a_star_counts_once(store: Store[Forge]) -> None:
    mine = star(store, "u-ann", "r-core", store.clock())
    with pytest.raises(AlreadyExists):
        star(store, "u-ann", "r-core", store.clock())
    assert repository(store).stars == 1
    store.run(delete(mine))
    assert repository(store).stars == 0


def test_numbers_are_given_once_when_many_write_at_once(store: Store[Forge]) -> None:
    given: list[int] = []

    def write() -> None:
        given.append(open_issue(store, "r-core", "It breaks", "u-ann", frozenset()).number)

    threads = [Thread(target=write) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(given) == [1, 2, 3, 4]
    assert repository(store).last_number == 4
