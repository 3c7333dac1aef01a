"""Makes problems from the refusals of the data layer and the design, in one place.

The sentence is the design's own (`Refusal`), or is made from the names in the design.
"""

from keyplan import data
from keyplan.design import Design, Entity, InvalidValue, Refusal, RuleKind, declared_refusal, label_of
from keyplan.web.models.problems import (
    BadRequest,
    FieldProblem,
    InConflict,
    Invalid,
    Missing,
    Problem,
    Stale,
    Unavailable,
    Unexpected,
    Unprocessable,
)


def problem_for(error: Exception, design: Design | None = None) -> Problem:
    """The problem for an error in a system with this design."""
    if isinstance(error, Problem):
        return error
    if isinstance(error, InvalidValue):
        pointer = _pointer(error, design)
        if error.is_joint:  # it has a code of its own
            return Unprocessable(error.code, error.problem, pointer=pointer)
        return Invalid([FieldProblem(pointer, error.problem, error.code)])
    if isinstance(error, data.Refused):
        return _from_rule(error, design)
    match error:
        case data.BadCursor():
            detail = "This cursor isn't valid for this list. Start without one."
            return BadRequest("bad-cursor", detail, errors=[FieldProblem("?cursor", detail, "bad-cursor")])
        case data.TooLarge():
            return Unprocessable("too-large", "This is more than can be stored at once.")
        case data.Throttled() | data.Conflict():
            return Unavailable()
    return Unexpected()


def _pointer(error: InvalidValue, design: Design | None) -> str:
    """Where the value is, by the name that callers use for the field."""
    if not error.field:
        return ""
    entity = None if design is None else design.find_entity(error.place.partition(".")[0])
    field = None if entity is None else entity.spec.fields.get(error.field)
    return f"/{field.public if field else error.field}"


def missing(entity: type[Entity]) -> Missing:
    """The problem for an entity that doesn't exist, or that the caller may not know about."""
    return Missing(detail=f"{_capital(entity.spec.noun)} not found.")


def _from_rule(error: data.Refused, design: Design | None) -> Problem:
    entity = None if design is None else design.find_entity(error.entity)
    if error.refusal is not None:
        in_general = Missing() if error.refusal.code == Missing().code else changed_meanwhile()
        return _said(error.refusal, entity, error.refusal.detail or in_general.detail)
    if design is None or entity is None:  # of the kit's own housekeeping
        return Stale() if isinstance(error, data.StaleVersion) else changed_meanwhile()
    match error:
        case data.NotFound():
            return missing(entity)
        case data.StaleVersion():
            return Stale()
        case data.ItemChanged() | data.ConditionFailed():
            return changed_meanwhile()
    rule, code, detail = _in_general(error, design, entity)
    said = declared_refusal(design.entities, entity, rule, error.constraint)
    return InConflict(code, detail) if said is None else _said(said, entity, said.detail or detail)


def _in_general(error: data.Refused, design: Design, entity: type[Entity]) -> tuple[RuleKind, str, str]:
    """The rule that refused a write, with the default code and sentence."""
    noun, other = entity.spec.noun, design.find_entity(error.constraint)
    match error:
        case data.ParentMissing():
            parents = (each.entity for each in entity.spec.parents if each.name == error.constraint and each.entity)
            parent = next((each.spec.noun for each in parents), "parent")
            return "parent-missing", "parent-missing", f"{_capital(parent)} not found."
        case data.UniqueViolation():
            return "taken", "already-taken", f"Another {noun} already uses this {_labels(entity, error)}."
        case data.AlreadyExists():
            return "exists", "already-exists", f"This {noun} already exists."
        case data.InUse():
            child = other.spec.noun if other is not None else "item"
            return "in-use", "in-use", f"Can't delete this {noun}: at least one {child} refers to it."
    return "floor", "last-one", f"The last {noun} can't be removed."


def changed_meanwhile() -> InConflict:
    """The problem for a write that lost a race, without a version from the caller."""
    return InConflict("conflict", "This was changed in the meantime. Load it again and retry.")


def _said(refusal: Refusal, entity: type[Entity] | None, detail: str) -> Problem:
    """The problem that the design names."""
    if refusal.code == Missing().code:
        return Missing(detail=detail)
    if refusal.field is None:
        return InConflict(refusal.code, detail)
    field = None if entity is None else entity.spec.fields.get(refusal.field)
    return Unprocessable(refusal.code, detail, pointer=f"/{field.public if field else refusal.field}")


def _labels(entity: type[Entity], error: data.UniqueViolation) -> str:
    """The labels of the fields whose value is already in use."""
    infos = entity.declared_fields
    labels = [label_of(name, infos[name]) for name in error.values if name in infos]
    return " and ".join(label[:1].lower() + label[1:] for label in labels) or "value"


def _capital(noun: str) -> str:
    return noun[:1].upper() + noun[1:]
