# pyright: strict
"""# Multi-tenant

Many customers in one table, and no way to see another one's data: every key begins with the tenant, and a store for a
request only has patterns that take one.

Use it for software as a service with many tenants of moderate size.

**Not for** tenants that need keys, backups or regions of their own: give each a table (`Table("orders-{tenant}", ...)`
and `Design({"tenant": "acme"})`), with the same design.
"""

import pytest

from keyplan.data import Store, UniqueViolation, create
from keyplan.design import (
    Count,
    Design,
    Entity,
    Get,
    Id,
    Query,
    Ref,
    Table,
    belongs_to,
    counts,
    get,
    key,
    new_id,
    pattern,
    query,
    ref,
    unique,
)

desk = Table("Desk", key("PK", "SK"), indexes={"GSI1": key("GSI1PK", "GSI1SK")})


class Tenant(Entity, table=desk):
    tenant_id: Id
    tickets: Count = 0

    primary = key("TENANT#{tenant_id}", "TENANT")


class OfTenant(Entity, table=desk, abstract=True):
    """What everything of a tenant has: its id in the key, and that it is deleted with the tenant."""

    tenant_id: Id

    @belongs_to(on_delete="cascade")
    def tenant(self) -> Ref[Tenant]:
        return ref(Tenant, tenant_id=self.tenant_id)


class Agent(OfTenant):
    agent_id: Id = new_id()
    email: str

    primary = key("TENANT#{tenant_id}", "AGENT#{agent_id}")
    email_guard = unique("TENANT#{tenant_id}", "EMAIL#{email.address}", carries="agent_id")


class Ticket(OfTenant):
    ticket_id: Id = new_id()
    agent_id: Id
    subject: str

    primary = key("TENANT#{tenant_id}", "TICKET#{ticket_id}")
    by_agent = desk.GSI1("TENANT#{tenant_id}#AGENT#{agent_id}", "{ticket_id}")

    @counts("tickets")
    def number(self) -> Ref[Tenant]:
        return ref(Tenant, tenant_id=self.tenant_id)


class Desk(Design):
    tables = (desk,)
    entities = (Tenant, Agent, Ticket)

    @pattern("Get tenant")
    def tenant(self, tenant_id: str) -> Get[Tenant]:
        return get(Tenant, tenant_id=tenant_id)

    @pattern("List tickets of a tenant, newest first")
    def tickets(self, tenant_id: str) -> Query[Ticket]:
        return query(Ticket.primary, tenant_id=tenant_id, newest_first=True)

    @pattern("List tickets of an agent")
    def tickets_of(self, tenant_id: str, agent_id: str) -> Query[Ticket]:
        return query(Ticket.by_agent, tenant_id=tenant_id, agent_id=agent_id)


def use(store: Store[Desk]) -> None:
    """The guard is in the tenant's partition too: an address is unique within a tenant, and an IAM policy with
    `dynamodb:LeadingKeys` can restrict a role to one tenant. `delete(tenant)` deletes everything of it."""
    for tenant in ("acme", "globex"):
        store.run(create(Tenant(tenant_id=tenant)))
        ann = store.run(create(Agent(tenant_id=tenant, email="ann@example.org")))
        store.run(create(Ticket(tenant_id=tenant, agent_id=ann.agent_id, subject=f"Hello {tenant}")))
    with pytest.raises(UniqueViolation):
        store.run(create(Agent(tenant_id="acme", email="ANN@example.org")))

    (ticket,) = store.run(store.design.tickets("acme")).items
    assert ticket.subject == "Hello acme"
    assert store.run(store.design.tickets_of("globex", ticket.agent_id)).items == []
