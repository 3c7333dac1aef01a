"""Checks of large values: what can be one, and where their parts can be."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from keyplan.design.entities.large_values import PARTS, Large
from keyplan.design.entities.specs import FieldSpec
from keyplan.design.errors import DesignError, recorded
from keyplan.design.keys.templates import Template

if TYPE_CHECKING:
    from keyplan.design.entities.entity_spec import EntitySpec

_LEAST_INLINE, _MOST_INLINE = 1_024, 350_000


def check_large(spec: "EntitySpec") -> None:
    """Refuse large values that couldn't be stored, and remember that the entity's table has parts."""
    used = _in_keys(spec)
    for field in spec.large:
        with recorded():
            _check_field(spec, field, used)
        for check in (_check_markers, _check_joint_limits, _check_table):
            with recorded():
                check(spec, field)


def _in_keys(spec: "EntitySpec") -> set[str]:
    """The fields that keys and guards depend on."""
    names = {name for key in spec.keys for name in (*key.fields, key.when)}
    for guard in spec.uniques:
        templates = [guard.hash, *((guard.range,) if guard.range is not None else ())]
        names |= {name for template in templates for name in template.fields} | {*guard.carries, guard.when}
    return {name for name in names if name is not None}


def _check_field(spec: "EntitySpec", field: FieldSpec, used: set[str]) -> None:
    place = f"{spec.name}.{field.name}"
    assert field.large is not None
    if field.annotation not in (str, bytes) or field.kind != "plain":
        raise DesignError("large-type", place, "only a text or bytes can be a large value", "Use str or bytes.")
    if field.name in used:
        raise DesignError(
            "large-key", place, "a large value can't be part of a key or a guard", "Use another field there."
        )
    if spec.table.envelope:
        raise DesignError(
            "large-envelope",
            place,
            f"the fields of {spec.table.name} are stored in the envelope {spec.table.envelope!r}",
            "Declare large values in a table without an envelope.",
        )
    if not _LEAST_INLINE <= field.large.inline <= _MOST_INLINE:
        raise DesignError(
            "large-limit",
            place,
            f"inline={field.large.inline} can't be the limit",
            f"Use {_LEAST_INLINE} to {_MOST_INLINE} bytes.",
        )


def _check_markers(spec: "EntitySpec", field: FieldSpec) -> None:
    """Refuse validators that would be called with a value that was not read."""
    place, info = f"{spec.name}.{field.name}", spec.entity.declared_fields[field.name]
    if info.metadata and not isinstance(info.metadata[-1], Large):
        raise DesignError(
            "large-order", place, "other markers come after large()", "Make large() the last marker in Annotated[...]."
        )
    validators = getattr(getattr(spec.entity, "__pydantic_decorators__", None), "field_validators", {})
    if any({field.name, "*"} & set(each.info.fields) for each in validators.values()):
        raise DesignError(
            "large-validator",
            place,
            "a validator of the class would be called with values that were not read",
            "Declare it with the type, before large(): Annotated[str, AfterValidator(...), large()].",
        )


def _check_joint_limits(spec: "EntitySpec", field: FieldSpec) -> None:
    if any(field.name in each.fields for each in spec.limits.joint):
        raise DesignError(
            "large-joint-limit",
            f"{spec.name}.{field.name}",
            "a limit on several fields would be checked with a value that was not read",
            "Limit it alone, with its type, or keep what the limit needs in another field.",
        )


def _check_table(spec: "EntitySpec", field: FieldSpec) -> None:
    assert field.large is not None
    if field.large.kept_in != "parts":
        return
    spec.table.has_parts = True
    if not spec.table.range or spec.table.range[0].type != "S":
        raise DesignError(
            "large-sort-key",
            f"{spec.name}.{field.name}",
            f"its parts need a sort key of type S, and {spec.table.name} has none",
            'Give the table a sort key, or keep the value in object storage: large(kept_in="objects").',
        )


def check_parts(specs: Sequence["EntitySpec"]) -> None:
    """Refuse items in partitions with parts whose sort keys could be those of parts, or whose lists would read them."""
    parted = [spec for spec in specs if any(f.large and f.large.kept_in == "parts" for f in spec.large)]
    for owner in parted:
        hash_ = owner.primary.hash[0].template
        for spec in specs:
            with recorded():
                if spec.table is owner.table and _may_equal(hash_, spec.primary.hash[0].template):
                    _check_apart(owner, spec.primary.place, spec.primary.range[0].template)
            for guard in spec.uniques:
                with recorded():
                    if guard.table is owner.table and _may_equal(hash_, guard.hash):
                        _check_apart(owner, f"{spec.name}.{guard.name}", guard.range)


def _may_equal(one: Template | None, other: Template | None) -> bool:
    return one is None or other is None or one.may_equal(other)


def _check_apart(owner: "EntitySpec", place: str, template: Template | None) -> None:
    """Refuse a sort key that doesn't begin with a text that sorts before those of parts."""
    first = template.parts[0] if template is not None else None
    if not isinstance(first, str) or first >= PARTS or PARTS.startswith(first):
        names = ", ".join(field.name for field in owner.large)
        raise DesignError(
            "large-parts",
            place,
            f"it can be in a partition with parts of {owner.name}.{names}, whose sort keys begin with {PARTS!r}",
            'Begin the sort key with a text that sorts before it, such as "ITEM#".',
        )
