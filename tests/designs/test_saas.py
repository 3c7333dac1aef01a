"""The multi-tenant SaaS: its patterns on every kind of store, and its rules."""

from collections.abc import Iterator
from datetime import timedelta

import pytest

from keyplan.data import FloorReached, Store, UniqueViolation, create, delete, put_all, update
from keyplan.data.streams import ItemChange, StreamRunner, on
from tests.designs.saas import (
    INVITATION,
    SESSION,
    ApiKey,
    Invitation,
    Member,
    Saas,
    Session,
    Tenant,
    User,
    change_plan,
    digest,
    event,
    saas,
    sign_up,
)
from tests.designs.support import MODES, Mode, Opened, opened


def started(given: Opened[Saas]) -> Store[Saas]:
    """Three users, and a tenant on the free plan with two seats, one of them taken."""
    store = given.store
    for name in ("ann", "joe", "sue"):
        store.run(create(User(user_id=name, email=f"{name}@example.org", name=name.capitalize())))
    trial = given.clock().date() + timedelta(days=14)
    acme = Tenant(tenant_id="acme", name="Acme", domain="acme.example", trial_ends_on=trial)
    sign_up(store, acme, User(user_id="ann", email="ann@example.org", name="Ann"))
    return store


@pytest.fixture
def store() -> Iterator[Store[Saas]]:
    with opened(Saas()) as given:
        yield started(given)


def tenant(store: Store[Saas], tenant_id: str = "acme") -> Tenant:
    found = store.run(store.design.tenant(tenant_id))
    assert found is not None
    return found


@pytest.mark.parametrize("mode", MODES)
def test_every_pattern(mode: Mode) -> None:
    with opened(Saas(), mode) as given:
        store, now = started(given), given.clock()
        ask, run = store.design, store.run
        run(create(Member(tenant_id="acme", user_id="joe")))
        run(create(Invitation(tenant_id="acme", token_digest=digest("i"), email="Sue@x.org", expires=now + INVITATION)))
        run(create(Session(token_digest=digest("s"), user_id="joe", started_at=now, expires=now + SESSION)))
        api_key = run(create(ApiKey(tenant_id="acme", secret_digest=digest("k"), title="CI")))
        times = [now + timedelta(hours=n) for n in range(13)]
        run(put_all([event("acme", "login" if n % 2 else "export", at) for n, at in enumerate(times)]))

        ann = run(ask.user_by_email("ANN@example.org"))
        assert ann is not None
        assert ann.name == "Ann"
        acme = run(ask.tenant_by_domain("ACME.example"))
        assert acme is not None
        assert (acme.seats_taken, acme.seats_left, acme.admins) == (2, 0, 1)
        assert run(ask.tenants_on("free")).items == [acme]
        assert run(ask.trials_ending(now.date())).items == []
        assert run(ask.trials_ending(now.date() + timedelta(days=30))).items == [acme]
        member = run(ask.member("acme", "joe"))
        assert member is not None
        assert member.role == "member"
        assert [each.user_id for each in run(ask.members("acme")).items] == ["ann", "joe"]
        assert run(ask.tenants_of("joe")).items == [acme]
        assert run(ask.invitation(digest("i"))) is not None
        assert [each.email for each in run(ask.invitations("acme")).items] == ["Sue@x.org"]
        session = run(ask.session(digest("s")))
        assert session is not None
        assert run(ask.sessions_of("joe")).items == [session]
        assert run(ask.api_key(digest("k"))) == api_key
        assert run(ask.api_keys("acme")).items == [api_key]
        today = run(ask.events_on("acme", now).limit(5))
        assert [each.at.hour for each in today.items] == [23, 22, 21, 20, 19]
        logins = run(ask.events_of_kind("acme", "login", now, now + timedelta(hours=4))).items
        assert [each.at.hour for each in logins] == [13, 15]
        late = run(ask.events_between("acme", times[10], times[12]).limit(2))
        assert [each.at.hour for each in late.items] == [22, 23]
        rest = run(ask.events_between("acme", times[10], times[12]).limit(2).after(late.next))
        assert [each.at.hour for each in rest.items] == [0]
        assert run(ask.event_count("acme", now)) == 12
        assert run(ask.event_count("acme", now + timedelta(days=1))) == 1
        given.clock.advance(minutes=1)
        change_plan(store, tenant(store), "team", "ann")
        assert [each.action for each in run(ask.audit("acme")).items] == ["changed the plan to team", "signed up"]
        assert len(run(ask.audit_of("acme", "ann")).items) == 2
        assert tenant(store).seats_left == 18
        assert store.verify() == []


def test_every_member_takes_a_seat(store: Store[Saas]) -> None:
    store.run(create(Member(tenant_id="acme", user_id="joe")))
    with pytest.raises(FloorReached) as refused:
        store.run(create(Member(tenant_id="acme", user_id="sue")))
    assert refused.value.constraint == "seat"
    change_plan(store, tenant(store), "team", "ann")
    store.run(create(Member(tenant_id="acme", user_id="sue")))
    assert (tenant(store).seats_taken, tenant(store).seats_left) == (3, 17)


def test_a_plan_with_too_few_seats_is_refused_with_its_audit(store: Store[Saas]) -> None:
    change_plan(store, tenant(store), "team", "ann")
    for name in ("joe", "sue"):
        store.run(create(Member(tenant_id="acme", user_id=name)))
    with pytest.raises(FloorReached):
        change_plan(store, tenant(store), "free", "ann")
    assert tenant(store).plan == "team"
    assert len(store.run(store.design.audit("acme")).items) == 2


def test_the_last_admin_stays(store: Store[Saas]) -> None:
    admin = store.run(store.design.member("acme", "ann"))
    assert admin is not None
    with pytest.raises(FloorReached):
        store.run(delete(admin))


def test_an_api_key_that_is_switched_off_is_not_found(store: Store[Saas]) -> None:
    api_key = store.run(create(ApiKey(tenant_id="acme", secret_digest=digest("k"), title="CI")))
    api_key.active = False
    store.run(update(api_key))
    assert store.run(store.design.api_key(digest("k"))) is None


def test_an_address_is_invited_once(store: Store[Saas]) -> None:
    expires = store.clock() + INVITATION
    store.run(create(Invitation(tenant_id="acme", token_digest="1", email="new@example.org", expires=expires)))
    with pytest.raises(UniqueViolation):
        store.run(create(Invitation(tenant_id="acme", token_digest="2", email="New@example.org", expires=expires)))


def test_a_deleted_tenant_takes_everything_with_it_but_its_users(store: Store[Saas]) -> None:
    store.run(create(ApiKey(tenant_id="acme", secret_digest=digest("k"), title="CI")))
    store.run(
        create(
            Invitation(tenant_id="acme", token_digest="1", email="n@example.org", expires=store.clock() + INVITATION)
        )
    )
    store.run(delete(tenant(store)))
    assert store.run(store.design.tenant("acme")) is None
    assert store.run(store.design.api_key(digest("k"))) is None
    assert store.run(store.design.invitation("1")) is None
    assert store.run(store.design.tenants_of("ann")).items == []
    assert store.run(store.design.user_by_email("ann@example.org")) is not None
    assert store.verify() == []


def test_the_free_plan_ends_by_a_job(store: Store[Saas]) -> None:
    assert store.run(store.design.end_free_plan()) == 1
    assert tenant(store).plan == "team"
    assert store.run(store.design.tenants_on("free")).items == []


@pytest.mark.parametrize("mode", MODES)
def test_changes_arrive_at_a_handler(mode: Mode) -> None:
    welcomed: list[str] = []

    @on(Member, "INSERT")
    def welcome(change: ItemChange[Member], context: None) -> None:
        assert change.after is not None
        welcomed.append(change.after.user_id)

    with opened(Saas(), mode) as given:
        store = started(given)
        store.run(create(Member(tenant_id="acme", user_id="joe")))
        runner = StreamRunner(store, saas, [welcome], None, given.streams)
        runner.run_once()
        runner.close()
    assert welcomed == ["ann", "joe"]


def test_what_has_expired_is_gone(store: Store[Saas]) -> None:
    now = store.clock()
    store.run(create(Session(token_digest=digest("s"), user_id="ann", started_at=now, expires=now + SESSION)))
    invitation = Invitation(tenant_id="acme", token_digest="1", email="new@example.org", expires=now + INVITATION)
    store.run(create(invitation))
    later = Store(store.design, store.client, clock=lambda: now + INVITATION + timedelta(minutes=1))
    assert later.run(later.design.session(digest("s"))) is None
    assert later.run(later.design.sessions_of("ann")).items == []
    assert later.run(later.design.invitations("acme")).items == []
    again = Invitation(tenant_id="acme", token_digest="1", email="new@example.org", expires=now + 2 * INVITATION)
    later.run(create(again))  # replaces the expired one and its claim on the address
    assert later.run(later.design.invitation("1")) is not None
    assert later.verify() == []
