# pyright: strict
"""# Feature flags

Flags for an environment, with exceptions for single tenants. A process reads all of them with one query, keeps them for
a few seconds, and decides without asking DynamoDB again.

Use it for switches, limits and configuration that change without a deployment.

**Not for** secrets (use a secret manager), nor for thousands of exceptions for one flag: give the tenant an attribute
instead.
"""

from collections.abc import Sequence
from zlib import crc32

from keyplan.data import Store, create, put, update
from keyplan.design import Design, Entity, Id, Query, Table, Updated, Version, collection, key, pattern, updated

flags = Table("Flags", key("PK", "SK"))


class Flag(Entity, table=flags):
    environment: Id
    name: Id
    percent: int = 0
    updated_at: Updated = updated()
    version: Version = 0

    primary = key("FLAGS#{environment}", "FLAG#{name}")


class Exemption(Entity, table=flags):
    environment: Id
    name: Id
    tenant: Id
    on: bool

    primary = key("FLAGS#{environment}", "TENANT#{tenant}#{name}")


class Flags(Design):
    tables = (flags,)
    entities = (Flag, Exemption)

    @pattern("List all flags of an environment and their exceptions")
    def everything(self, environment: str) -> Query[Flag | Exemption]:
        return collection(Flag, Exemption, environment=environment)


def is_on(known: Sequence[Flag | Exemption], name: str, tenant: str) -> bool:
    """Whether a tenant has a feature: by its own exception, or else by the share of tenants that have it."""
    for each in known:
        if isinstance(each, Exemption) and (each.name, each.tenant) == (name, tenant):
            return each.on
    percent = next((each.percent for each in known if isinstance(each, Flag) and each.name == name), 0)
    return crc32(f"{name}/{tenant}".encode()) % 100 < percent


def use(store: Store[Flags]) -> None:
    """The version keeps two operators from overwriting each other. `put` writes whether or not the item exists."""
    checkout = store.run(create(Flag(environment="prod", name="checkout-v2")))
    store.run(put(Exemption(environment="prod", name="checkout-v2", tenant="acme", on=True)))
    known = store.run(store.design.everything("prod").limit(1000)).items
    assert is_on(known, "checkout-v2", "acme")
    assert not is_on(known, "checkout-v2", "globex")

    checkout.percent = 100
    store.run(update(checkout))
    known = store.run(store.design.everything("prod").limit(1000)).items
    assert is_on(known, "checkout-v2", "globex")
