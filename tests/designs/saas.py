# pyright: strict
"""A multi-tenant SaaS: tenants with plans and seats, members, sessions, invitations, API keys, events and audit."""

from datetime import date, datetime, timedelta
from hashlib import sha256
from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from keyplan.data import Part, Store, create, update
from keyplan.design import (
    KEYS_ONLY,
    Count,
    Created,
    Design,
    Entity,
    Follow,
    Get,
    Id,
    ItemCount,
    Lookup,
    OneLine,
    Query,
    Ref,
    Refusal,
    Rewrite,
    Table,
    Ttl,
    Version,
    at_most,
    belongs_to,
    count,
    counts,
    created,
    follow,
    get,
    index,
    job,
    key,
    lookup,
    new_id,
    pattern,
    query,
    ref,
    rewrite,
    unique,
    within,
)

saas = Table(
    "Saas",
    key("PK", "SK"),
    indexes={
        "GSI1": key("GSI1PK", "GSI1SK"),
        "GSI2": key("GSI2PK", "GSI2SK"),
        "Plans": index(key("plan_key", "PK"), KEYS_ONLY),
    },
    ttl="expires",
    stream="NEW_AND_OLD_IMAGES",
)

Plan: TypeAlias = Literal["free", "team", "enterprise"]
Role: TypeAlias = Literal["admin", "member"]
Name: TypeAlias = Annotated[str, OneLine(max_length=120)]

SEATS: dict[Plan, int] = {"free": 2, "team": 20, "enterprise": 1000}
SESSION, INVITATION, EVENTS_KEPT = timedelta(hours=12), timedelta(days=7), timedelta(days=90)


def digest(secret: str) -> str:
    """What is stored of a token or an API key."""
    return sha256(secret.encode()).hexdigest()


class User(Entity, table=saas):
    """A person, who can be a member of several tenants."""

    user_id: Id = new_id("u-")
    email: str
    name: Name

    primary = key("USER#{user_id}", "USER")
    email_guard = unique("EMAIL#{email.address}", carries="user_id")


class Tenant(Entity, table=saas):
    tenant_id: Id = new_id("t-")
    name: Name
    domain: Id
    plan: Plan = "free"
    trial_ends_on: date | None = None
    seats_taken: Count = 0
    seats_left: Count = 0
    admins: Count = 0
    created_at: Created = created()
    version: Version = 0

    primary = key("TENANT#{tenant_id}", "TENANT")
    by_plan = saas.Plans("PLAN#{plan}")
    trials = saas.GSI1("TRIALS", "{trial_ends_on}#{tenant_id}")
    domain_guard = unique("DOMAIN#{domain.lower}", carries="tenant_id")


class OfTenant(Entity, table=saas, abstract=True):
    """What everything of a tenant has: its key begins with it."""

    tenant_id: Id


class Seats(OfTenant):
    """The seats that a tenant pays for."""

    bought: Annotated[int, Field(ge=1)]

    primary = key("TENANT#{tenant_id}", "SEATS")

    @belongs_to(on_delete="cascade")
    def tenant(self) -> Ref[Tenant]:
        return ref(Tenant, tenant_id=self.tenant_id)

    @counts("seats_left", floor=0, refusal=Refusal("seats-in-use", "More seats are in use. Remove members first."))
    def available(self) -> Ref[Tenant]:
        return ref(Tenant, tenant_id=self.tenant_id).adding(self.bought)


class Member(OfTenant):
    user_id: Id
    role: Role = "member"

    primary = key("TENANT#{tenant_id}", "MEMBER#{user_id}")
    by_user = saas.GSI1("USER#{user_id}", "MEMBER#{tenant_id}")

    @belongs_to(on_delete="cascade", count="seats_taken")
    def tenant(self) -> Ref[Tenant]:
        return ref(Tenant, tenant_id=self.tenant_id)

    @belongs_to(on_delete="cascade", via="by_user")
    def user(self) -> Ref[User]:
        return ref(User, user_id=self.user_id)

    @counts("seats_left", floor=0, refusal=Refusal("no-seats", "All seats are taken. Buy more, or remove a member."))
    def seat(self) -> Ref[Tenant]:
        return ref(Tenant, tenant_id=self.tenant_id).adding(-1)

    @counts("admins", floor=1, refusal=Refusal("last-admin", "A tenant needs an admin."))
    def administration(self) -> Ref[Tenant] | None:
        return ref(Tenant, tenant_id=self.tenant_id) if self.role == "admin" else None


class Invitation(OfTenant):
    """An invitation, found by its token; one for each address and tenant."""

    token_digest: Id
    email: str
    expires: Ttl

    primary = key("INVITATION#{token_digest}", "INVITATION")
    by_tenant = saas.GSI1("TENANT#{tenant_id}", "INVITATION#{email.address}")
    once = unique("TENANT#{tenant_id}", "INVITED#{email.address}")

    @belongs_to(on_delete="cascade", via="by_tenant")
    def tenant(self) -> Ref[Tenant]:
        return ref(Tenant, tenant_id=self.tenant_id)


class Session(Entity, table=saas):
    token_digest: Id
    user_id: Id
    started_at: datetime
    expires: Ttl

    primary = key("SESSION#{token_digest}", "SESSION")
    by_user = saas.GSI1("USER#{user_id}", "SESSION#{started_at}#{token_digest}")

    @belongs_to(on_delete="cascade", via="by_user")
    def user(self) -> Ref[User]:
        return ref(User, user_id=self.user_id)


class ApiKey(OfTenant):
    key_id: Id = new_id("k-")
    secret_digest: Id
    title: Name
    active: bool = True

    primary = key("TENANT#{tenant_id}", "APIKEY#{key_id}")
    secret_guard = unique("APIKEY#{secret_digest}", carries=("tenant_id", "key_id"), when="active")

    @belongs_to(on_delete="cascade")
    def tenant(self) -> Ref[Tenant]:
        return ref(Tenant, tenant_id=self.tenant_id)


class Event(OfTenant):
    """Something that happened; a partition for each tenant and day."""

    event_id: Id = new_id()
    at: datetime
    kind: Id
    expires: Ttl

    primary = key("TENANT#{tenant_id}#{at:%Y-%m-%d}", "{at}#{event_id}")
    by_kind = saas.GSI1("TENANT#{tenant_id}#KIND#{kind}", "{at}#{event_id}")


class AuditEntry(OfTenant):
    entry_id: Id = new_id()
    at: datetime
    actor_id: Id
    action: Name

    primary = key("TENANT#{tenant_id}", "AUDIT#{at}#{entry_id}")
    by_actor = saas.GSI2("TENANT#{tenant_id}#ACTOR#{actor_id}", "{at}#{entry_id}")


class Saas(Design):
    tables = (saas,)
    entities = (User, Tenant, Seats, Member, Invitation, Session, ApiKey, Event, AuditEntry)

    @pattern("Get user by e-mail address")
    def user_by_email(self, email: str) -> Lookup[User]:
        return lookup(User.email_guard, email=email)

    @pattern("Get tenant")
    def tenant(self, tenant_id: str) -> Get[Tenant]:
        return get(Tenant, tenant_id=tenant_id, consistent=True)

    @pattern("Get tenant by its domain")
    def tenant_by_domain(self, domain: str) -> Lookup[Tenant]:
        return lookup(Tenant.domain_guard, domain=domain)

    @pattern("List tenants on a plan")
    def tenants_on(self, plan: Plan) -> Query[Tenant]:
        return query(Tenant.by_plan, plan=plan)

    @pattern("List tenants whose trial ends until a day, first to end first")
    def trials_ending(self, day: date) -> Query[Tenant]:
        return query(Tenant.trials, trial_ends_on=at_most(day))

    @pattern("Get member of a tenant")
    def member(self, tenant_id: str, user_id: str) -> Get[Member]:
        return get(Member, tenant_id=tenant_id, user_id=user_id)

    @pattern("List members of a tenant")
    def members(self, tenant_id: str) -> Query[Member]:
        return query(Member.primary, tenant_id=tenant_id)

    @pattern("List tenants of a user")
    def tenants_of(self, user_id: str) -> Follow[Tenant]:
        members = query(Member.by_user, user_id=user_id)
        return follow(members, lambda member: ref(Tenant, tenant_id=member.tenant_id), Tenant)

    @pattern("Get invitation by its token")
    def invitation(self, token_digest: str) -> Get[Invitation]:
        return get(Invitation, token_digest=token_digest)

    @pattern("List invitations of a tenant")
    def invitations(self, tenant_id: str) -> Query[Invitation]:
        return query(Invitation.by_tenant, tenant_id=tenant_id)

    @pattern("Get session by its token")
    def session(self, token_digest: str) -> Get[Session]:
        return get(Session, token_digest=token_digest)

    @pattern("List sessions of a user")
    def sessions_of(self, user_id: str) -> Query[Session]:
        return query(Session.by_user, user_id=user_id)

    @pattern("Get active API key by its secret")
    def api_key(self, secret_digest: str) -> Lookup[ApiKey]:
        return lookup(ApiKey.secret_guard, secret_digest=secret_digest)

    @pattern("List API keys of a tenant")
    def api_keys(self, tenant_id: str) -> Query[ApiKey]:
        return query(ApiKey.primary, tenant_id=tenant_id)

    @pattern("List events of a tenant on a day, newest first")
    def events_on(self, tenant_id: str, day: datetime) -> Query[Event]:
        return query(Event.primary, tenant_id=tenant_id, at=day, newest_first=True)

    @pattern("List events of a tenant in a time, also over several days")
    def events_between(self, tenant_id: str, start: datetime, end: datetime) -> Query[Event]:
        return query(Event.primary, tenant_id=tenant_id, at=within(start, end))

    @pattern("List events of a kind in a time")
    def events_of_kind(self, tenant_id: str, kind: str, start: datetime, end: datetime) -> Query[Event]:
        return query(Event.by_kind, tenant_id=tenant_id, kind=kind, at=within(start, end))

    @pattern("Count the events of a tenant on a day")
    def event_count(self, tenant_id: str, day: datetime) -> ItemCount:
        return count(query(Event.primary, tenant_id=tenant_id, at=day))

    @pattern("List the audit log of a tenant, newest first")
    def audit(self, tenant_id: str) -> Query[AuditEntry]:
        return query(AuditEntry.primary, tenant_id=tenant_id, newest_first=True)

    @pattern("List what an actor did, newest first")
    def audit_of(self, tenant_id: str, actor_id: str) -> Query[AuditEntry]:
        return query(AuditEntry.by_actor, tenant_id=tenant_id, actor_id=actor_id, newest_first=True)

    @job
    def end_free_plan(self) -> Rewrite[Tenant]:
        """Move all tenants of the free plan to the team plan."""
        return rewrite(query(Tenant.by_plan, plan="free"), lambda tenant: setattr(tenant, "plan", "team"))


def audited(store: Store[Saas], tenant_id: str, actor_id: str, action: str, *parts: Part) -> None:
    """Write the parts and an entry of the audit log, in one transaction."""
    entry = AuditEntry(tenant_id=tenant_id, at=store.clock(), actor_id=actor_id, action=action)
    store.transact(*parts, create(entry))


def sign_up(store: Store[Saas], tenant: Tenant, user: User) -> None:
    """A new tenant with its seats and its first admin."""
    seats = Seats(tenant_id=tenant.tenant_id, bought=SEATS[tenant.plan])
    admin = Member(tenant_id=tenant.tenant_id, user_id=user.user_id, role="admin")
    parts = (create(tenant), create(seats), create(admin))
    audited(store, tenant.tenant_id, user.user_id, "signed up", *parts)


def change_plan(store: Store[Saas], tenant: Tenant, plan: Plan, actor_id: str) -> None:
    """Change the plan and the seats; refused if more members are there than it has seats."""
    seats = store.run(get(Seats, tenant_id=tenant.tenant_id, consistent=True))
    if seats is None:
        raise LookupError("the tenant has no seats")
    tenant.plan, seats.bought = plan, SEATS[plan]
    audited(store, tenant.tenant_id, actor_id, f"changed the plan to {plan}", update(tenant), update(seats))


def event(tenant_id: str, kind: str, at: datetime) -> Event:
    """An event. It is deleted some time after it happened."""
    return Event(tenant_id=tenant_id, kind=kind, at=at, expires=at + EVENTS_KEPT)
