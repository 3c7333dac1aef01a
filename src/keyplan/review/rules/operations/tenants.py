"""Keys and the customers whose data is in the tables."""

from collections.abc import Iterator

from keyplan.design.entities.entity_spec import EntitySpec
from keyplan.design.entities.specs import KeySpec
from keyplan.design.operations.item_reads import guard_fields
from keyplan.review.changed_lines import changed_guard, changed_key
from keyplan.review.reviewed import Reviewed
from keyplan.review.rule import Unjudged, Violation, rule

_TENANT = 'tenant_field = "..."'


def _owned(reviewed: Reviewed) -> Iterator[tuple[EntitySpec, str]]:
    """The entities whose items belong to a tenant, with the field that says to which."""
    name = reviewed.design.tenant_field
    if name is not None:
        yield from ((spec, name) for spec in reviewed.specs if name in spec.fields)


def _is_by_tenant(key: KeySpec, tenant: str) -> bool:
    """Whether a partition has items of one tenant only."""
    return any(tenant in part.fields for part in key.hash)


def _with_tenant(reviewed: Reviewed, spec: EntitySpec, key: KeySpec, tenant: str) -> str:
    """The lines that declare a key with the tenant in front of it."""
    return changed_key(reviewed, spec, key, hash=f"{tenant.upper()}#{{{tenant}}}#{key.hash[0].source}")


@rule(
    "KP511",
    "key-without-tenant",
    group="operations",
    severity="warning",
    title="A primary key that doesn't follow the tenant",
    needs=(_TENANT,),
)
def key_without_tenant(reviewed: Reviewed) -> Iterator[Violation | Unjudged]:
    """The entity's items belong to a tenant, and the tenant isn't in the hash key. Whoever knows or guesses an id can
    read the item, unless each read checks afterwards whose it is; the one that forgets it shows data of another
    customer.

    With the tenant in the hash key, a read for one tenant can't find another's items, permissions can be limited to
    keys that begin with the tenant (`dynamodb:LeadingKeys`), and a tenant's data can be exported or deleted by queries.

    Put the tenant in front: `key("TENANT#{tenant}#ORDER#{order_id}", ...)`."""
    if reviewed.design.tenant_field is None:
        yield Unjudged(reviewed.at_design(), _TENANT)
    for spec, tenant in _owned(reviewed):
        if not _is_by_tenant(spec.primary, tenant):
            yield Violation(
                reviewed.at(spec, key=spec.primary),
                f"{tenant} isn't in the hash key, so a key of one tenant can find an item of another",
                "Put the tenant into the hash key, and give it to the patterns that read it.",
                _with_tenant(reviewed, spec, spec.primary, tenant),
            )


def _finds_one(spec: EntitySpec, key: KeySpec) -> bool:
    """Whether at most one item has a hash key, because a guard keeps it unique."""
    fields = {name for part in key.hash for name in part.fields}
    return any(guard.when is None and set(guard_fields(guard)) <= fields for guard in spec.uniques)


@rule(
    "KP512",
    "index-without-tenant",
    group="operations",
    severity="warning",
    title="An index that mixes tenants",
    needs=(_TENANT,),
)
def index_without_tenant(reviewed: Reviewed) -> Iterator[Violation | Unjudged]:
    """The entity's items belong to a tenant, and are in an index whose hash key doesn't have the tenant. A query of the
    index returns items of all tenants, one after the other.

    A filter that leaves out the others is easily forgotten, and what it throws away is read and paid for. Permissions
    by `dynamodb:LeadingKeys` can't separate the tenants.

    Put the tenant into the hash key of the placement, and give it to the patterns that read it. For lists that only
    your own staff sees, accept the finding. A list of the tenants themselves, and an index in which a guarded value
    finds one item, are left alone."""
    if reviewed.design.tenant_field is None:
        yield Unjudged(reviewed.at_design(), _TENANT)
    for spec, tenant in _owned(reviewed):
        for key in spec.placements.values():
            is_one = {tenant} == set(spec.primary.fields) or _finds_one(spec, key)
            if not _is_by_tenant(key, tenant) and not is_one:
                yield Violation(
                    reviewed.at(spec, key=key),
                    f"{tenant} isn't in the hash key, so a query returns items of all tenants",
                    "Put the tenant into the hash key, and give it to the patterns that read it.",
                    _with_tenant(reviewed, spec, key, tenant),
                )


@rule(
    "KP513",
    "guard-across-tenants",
    group="operations",
    severity="info",
    title="A value that is unique among all tenants",
    needs=(_TENANT,),
)
def guard_across_tenants(reviewed: Reviewed) -> Iterator[Violation | Unjudged]:
    """The entity's items belong to a tenant, and the guard of a value doesn't have the tenant in its key. A value that
    one tenant has can't be used by another.

    For addresses with which people sign in that is often meant. For numbers of orders or names of projects it isn't: a
    refusal also tells a tenant what others have.

    Put the tenant into the guard: `unique("ORDER#{tenant}#{number}")`. If it is meant, accept the finding."""
    if reviewed.design.tenant_field is None:
        yield Unjudged(reviewed.at_design(), _TENANT)
    for spec, tenant in _owned(reviewed):
        for guard in spec.uniques:
            if tenant not in guard_fields(guard):
                yield Violation(
                    reviewed.at(spec, guard.name),
                    f"{tenant} isn't in its key, so what one tenant has can't be used by another",
                    "Put the tenant into its key, and give it to the lookups.",
                    changed_guard(spec, guard.name, f"{tenant.upper()}#{{{tenant}}}#{guard.hash_text}"),
                )
