"""Values that DynamoDB doesn't store."""

from collections.abc import Iterator, Mapping
from decimal import Decimal

from pydantic import BaseModel

from keyplan.design.entities.entity_spec import EntitySpec
from keyplan.design.values.storable import classes_in
from keyplan.review.reviewed import Reviewed
from keyplan.review.rule import Violation, rule

MOST_DIGITS, DEEPEST = 38, 32
"""AWS, "Constraints in Amazon DynamoDB": the digits of a number, and the levels of nested lists and maps."""


@rule(
    "KP210",
    "number-too-precise",
    group="rejected",
    severity="warning",
    title="A number with more digits than DynamoDB stores",
)
def number_too_precise(reviewed: Reviewed) -> Iterator[Violation]:
    """A number can have 38 significant digits. The limits of the field accept more, so a value that your forms and API
    accept can't be stored: DynamoDB refuses it, and doesn't round.

    Whole numbers of any length are common in cryptography and in money of some chains (78 digits for 256 bits).

    Lower the limit: `Field(max_digits=38)`. Store longer numbers as text; in a key, with a width."""
    for spec in reviewed.specs:
        for name in spec.fields:
            digits = _digits(spec, name)
            if digits > MOST_DIGITS:
                yield Violation(
                    reviewed.at(spec, name),
                    f"its limits accept numbers of {digits} digits, and DynamoDB stores {MOST_DIGITS}",
                    "Lower the limit, or store it as text.",
                )


def _digits(spec: EntitySpec, name: str) -> int:
    """How many significant digits a number can surely have by its declared limits."""
    field, marks = spec.fields[name], spec.entity.declared_fields[name].metadata
    if field.annotation is Decimal:
        declared = [digits for mark in marks if isinstance(digits := getattr(mark, "max_digits", None), int)]
        most = min(declared, default=0)
        return most if most and not any(spec.limits.broken({name: Decimal("9" * most)})) else 0
    if field.annotation is int:
        ends = [end for mark in marks for way in ("le", "lt") if isinstance(end := getattr(mark, way, None), int)]
        number = min(ends) - 1 if ends else 0
        trailing_zeros_hide_nothing = len(str(abs(number)).rstrip("0"))
        return trailing_zeros_hide_nothing if not any(spec.limits.broken({name: number})) else 0
    return 0


@rule(
    "KP211",
    "nested-without-end",
    group="rejected",
    severity="warning",
    title="A model that contains itself",
)
def nested_without_end(reviewed: Reviewed) -> Iterator[Violation]:
    """The field has a model that contains itself, directly or through others, such as a comment with its answers. Lists
    and maps can be nested in 32 levels; a deeper value is refused.

    Each model is a map, and each list around it is one more level, so answers to answers end after 15 or so. The whole
    tree is also one item, which is read and written as a whole, and can have 400 KB.

    Store the parts as items of their own, in one partition, with the parent's id; or limit the depth in the model."""
    for spec in reviewed.specs:
        for name, info in spec.entity.declared_fields.items():
            found = next((each for each in _models(info.annotation) if _contains(each, each)), None)
            if found is not None:
                yield Violation(
                    reviewed.at(spec, name),
                    f"{found.__name__} contains itself without an end, and values can be nested in {DEEPEST} levels",
                    "Store the parts as items of their own, or limit the depth.",
                )


def _models(annotation: object) -> list[type[BaseModel]]:
    return [each for each in classes_in(annotation) if issubclass(each, BaseModel)]


def _contains(model: type[BaseModel], wanted: type[BaseModel], seen: Mapping[type, None] | None = None) -> bool:
    """Whether a model has a field in which the wanted one can be."""
    known = {**(seen or {}), model: None}
    for inner in (each for info in model.model_fields.values() for each in _models(info.annotation)):
        if inner is wanted or (inner not in known and _contains(inner, wanted, known)):
            return True
    return False
