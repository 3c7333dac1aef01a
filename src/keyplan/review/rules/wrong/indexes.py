"""What is missing from an index, and what shouldn't be in it."""

from collections.abc import Iterator

from pydantic import Secret, SecretBytes, SecretStr

from keyplan.design.entities.entity_spec import EntitySpec
from keyplan.design.entities.specs import KeySpec
from keyplan.design.keys.templates import Slot
from keyplan.design.operations.queries import Query, Scan
from keyplan.design.tables.attributes import Projection
from keyplan.design.tables.tables import Index
from keyplan.design.values.storable import classes_in
from keyplan.review.changed_lines import annotated, slot_text, with_projection, with_slot
from keyplan.review.keys import first_sorting, key_by_chance, keys_in, sort_slots
from keyplan.review.reviewed import Reviewed
from keyplan.review.rule import Violation, rule

_MOST_IN_PROJECTION = 20


@rule(
    "KP312",
    "nullable-index-key",
    group="wrong",
    severity="info",
    title="A sort key of an index that can have no value",
)
def nullable_index_key(reviewed: Reviewed) -> Iterator[Violation]:
    """The only list of an entity is sorted by a field that needn't have a value, and items without one aren't in it.

    DynamoDB puts only those items into an index that have all its key attributes, and refuses null there. So an article
    without a date is in no list, though it can still be read by its key. That is right if only some items belong there
    (open tickets, trials), and wrong if all do.

    To have all of them in the list, require the field, or give it a text for None: `{published_at|9999}`. If only some
    belong there, `when=` says so; or accept the finding.
    """
    for spec, key in reviewed.keys_read:
        required = [name for part in key.hash for name in part.fields if not spec.fields[name].optional]
        if key.index is None or key.when is not None or not required or reviewed.errors:
            continue
        for slot in dict.fromkeys(sort_slots(key)):
            if spec.fields[slot.field].optional and not slot.absent and not _is_listed_without(reviewed, spec, slot):
                yield Violation(
                    reviewed.at(spec, key=key),
                    f"items without {slot.field} aren't in the index {key.index.name}, and so in no list of it",
                    "Require the field, or give it a text for None.",
                    with_slot(reviewed, spec, key, slot, f"{slot_text(slot)[:-1]}|9999}}"),
                )
    for spec in reviewed.specs:
        for field, index in _stray(spec):
            yield Violation(
                reviewed.at(spec, field),
                f"it is stored as a key attribute of the index {index.name}, where it must never be null or empty",
                "Leave the attribute out where there is no value, as Keyplan does, or store it under another name.",
            )


def _is_listed_without(reviewed: Reviewed, spec: EntitySpec, slot: Slot) -> bool:
    """Whether another pattern lists items of the entity, also those without a value in this field."""
    for _, op in reviewed.reads:
        if isinstance(op, Scan) and op.entity is spec.entity:
            return True
        if isinstance(op, Query) and spec.entity in op.entities and first_sorting(op) is not None:
            keys = [op.key] if spec is op.entities[0].spec else [key for key in spec.keys if key.index is op.key.index]
            if not any(slot.field in key.fields for key in keys):
                return True
    return False


def _stray(spec: EntitySpec) -> Iterator[tuple[str, Index]]:
    """The optional fields with the name of an index key, of entities that aren't in the index."""
    for index in spec.table.by_name.values():
        names = {attribute.name for attribute in index.attributes} - set(spec.table.key_names)
        if keys_in(spec, index):
            continue  # its items are in the index
        for field in spec.fields.values():
            if field.optional and field.stored in names - spec.key_attributes.keys():
                yield field.name, index


@rule(
    "KP323",
    "in-index-by-chance",
    group="wrong",
    severity="warning",
    title="Items that are in an index without being placed there",
)
def in_index_by_chance(reviewed: Reviewed) -> Iterator[Violation]:
    """An entity has fields that are stored under the names of all key attributes of an index, and no placement in it.

    DynamoDB puts every item into an index that has its key attributes, whether it was meant or not. Each write of them
    is a second write then, and lists of other entities in that index read these items as well: four participations
    for each match. Programs without this design get them in the list, and count them.

    Store one of the fields under another name (`stored("day")`), so that the items aren't in the index. If they are
    meant to be there, say so with a placement.
    """
    for spec in (each for each in reviewed.specs if not each.broken):
        for index in spec.table.by_name.values():
            key = key_by_chance(spec, index)
            if key is not None:
                names = [part.attribute.name for part in key.parts if part not in spec.primary.parts]
                yield Violation(
                    reviewed.at(spec),
                    f"its items have {' and '.join(names)}, so that they are in the index {index.name}",
                    "Store one of these under another name, or declare the placement.",
                    _under_another_name(spec, names),
                )


def _under_another_name(spec: EntitySpec, names: list[str]) -> str:
    """The line that stores a field under a name that no index has."""
    field = next((each for each in spec.fields.values() if each.stored in names and each.kind == "plain"), None)
    if field is None:
        return ""
    return annotated(spec, field.name, f'stored("{spec.name[0].lower()}{spec.name[1:]}{field.stored.capitalize()}")')


@rule(
    "KP321",
    "secret-in-index",
    group="wrong",
    severity="warning",
    title="A secret that is copied into an index",
)
def secret_in_index(reviewed: Reviewed) -> Iterator[Violation]:
    """An index has a copy of a field that is declared as a secret.

    An index with all attributes also has password hashes and keys. Whoever may query it, for a list of users, reads
    them, and IAM can't allow the list without them as easily as with a projection. Backups, exports and streams of the
    table have them anyway, but an index is what most people and programs get access to.

    Project only what the lists show: `index(key(...), include("name", "role"))`. What a list needs beyond that, Keyplan
    gets from the table.
    """
    for spec in reviewed.specs:
        secrets = [name for name, info in spec.entity.declared_fields.items() if _is_secret(info.annotation)]
        for name in secrets:
            for key in spec.placements.values():
                if key.index is not None and _has(spec, key, key.index, name):
                    yield Violation(
                        reviewed.at(spec, key=key),
                        f"the index {key.index.name} has a copy of {name}",
                        "Project only what is read from the index.",
                        _without_secrets(reviewed, key.index),
                    )


def _without_secrets(reviewed: Reviewed, index: Index) -> str:
    """The line that declares an index with all that its items have but secrets; "" if they have too much for that."""
    specs = [spec for spec, _ in reviewed.placed_in(index)]
    fields = [(spec, field) for spec in specs for field in spec.fields.values()]
    keys = {attribute.name for attribute in (*specs[0].table.hash, *specs[0].table.range, *index.attributes)}
    names = {
        field.stored: None
        for spec, field in fields
        if field.stored not in keys and not _is_secret(spec.entity.declared_fields[field.name].annotation)
    }
    more = {name: None for name in (specs[0].table.type_attribute, specs[0].table.ttl) if name and name not in keys}
    projected = tuple(names | more)
    is_possible = specs[0].table.envelope is None and 1 <= len(projected) <= _MOST_IN_PROJECTION
    return with_projection(index, Projection("INCLUDE", projected)) if is_possible else ""


def _is_secret(annotation: object) -> bool:
    return any(issubclass(each, Secret | SecretStr | SecretBytes) for each in classes_in(annotation))


def _has(spec: EntitySpec, key: KeySpec, index: Index, field: str) -> bool:
    envelope = spec.table.envelope
    stored = spec.fields[field].stored if envelope is None or spec.fields[field].on_top else envelope
    return stored not in spec.not_in(index) and field not in key.fields
