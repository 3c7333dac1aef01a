"""Patches: changing an item by its key, in one request if that is enough (`patch_routes` says when)."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar

from keyplan.data.codec.addresses import address
from keyplan.data.codec.entities import DELETING, codec_of, set_stored_item
from keyplan.data.codec.sizes import MAXIMUM_ITEM
from keyplan.data.codec.times import moment
from keyplan.data.codec.value_paths import validated_field, value_path
from keyplan.data.codec.values import AttributeValue, Item
from keyplan.data.errors import ConditionFailed, ItemChanged, NotFound, PathMissing, Refused
from keyplan.data.expressions.conditions import stored_condition
from keyplan.data.expressions.evaluation import holds_all, same_value
from keyplan.data.expressions.expiry import item_is_there
from keyplan.data.expressions.requirements import Requirement
from keyplan.data.expressions.updates import UpdateTerm
from keyplan.data.reads.reader import Reader
from keyplan.data.steps import Steps
from keyplan.data.writes.clause_terms import Changes, changes_of, is_kept_in_index, path_missing, update_term
from keyplan.data.writes.clauses import Clause, invalid_clause, path_text
from keyplan.data.writes.computed_limits import limit_conditions
from keyplan.data.writes.effects import effects_of
from keyplan.data.writes.family import not_being_deleted
from keyplan.data.writes.key_operations import Patch
from keyplan.data.writes.operations import AfterWrite, Context, Planned, Update, with_changes
from keyplan.data.writes.patch_routes import Route, direct_route, index_key_changes, shape_of, writes_stamps_only
from keyplan.data.writes.plan import Plan
from keyplan.data.writes.returning import direct_result, read_result, return_values
from keyplan.design import Entity, InvalidValue
from keyplan.design.operations.conditions import FieldPath, Node, recorded

OTHER_TYPE = "other-type"
"""The constraint of the refusal for a value that DynamoDB can't add to as it is stored, such as NULL."""


def prepare_patch(
    work: Patch[Any, Any], reader: Reader, context: Context, *, alone: bool, again: bool
) -> Steps[Planned]:
    """A patch as one conditional write, or as an update of the item that was read.

    Only a write that is `alone` in its request returns what DynamoDB has written. With `again`, one request wasn't
    enough.
    """
    entity = work.target.entity
    if work.quiet:
        yield from _check_stamps(work, reader, context)
        if not again and not codec_of(entity).evolves:
            return DirectPatch(work, Route((), joint_limits=False))
    elif not again and (work.returning is None or (alone and _writes(work))):
        route = direct_route(entity.spec, shape_of(work.clauses))
        if route is not None:
            return DirectPatch(work, route)
    item = yield from reader.stored(work.target)
    if item is None or DELETING in item or not holds_all(item_is_there(entity.spec, context.now), item):
        raise NotFound(entity.spec.name, "primary", work.target.values)
    return read_patch(work, item)


def _writes(work: Patch[Any, Any]) -> bool:
    """Whether it changes anything: only an update returns attributes."""
    return bool(work.clauses) or not {"updated", "version"}.isdisjoint(work.target.entity.spec.by_kind)


def read_patch(work: Patch[Any, Any], item: Item) -> "ReadPatch":
    """A patch as an update of this item."""
    before = codec_of(work.target.entity).decode(item)
    changes = changes_of(before, work.clauses)
    after = with_changes(before, changes.values)
    set_stored_item(after, item)
    as_stored = _stored_exactly(after, changes)
    write = Update(after, where=work.where, otherwise=work.otherwise, quiet=work.quiet, as_stored=as_stored)
    return ReadPatch(work, before, after, write)


def _stored_exactly(after: Entity, changes: Changes) -> dict[str, AttributeValue | None]:
    """The attributes that differ from how the fields are stored otherwise only by defaults that they leave out.

    A validator may have changed more; then the field is stored as its value.
    """
    codec = codec_of(type(after))

    def is_exact(name: str, attribute: AttributeValue | None) -> bool:
        value = after.__dict__[name]
        encoded = None if value is None else codec.encode_value(name, value)
        if attribute is None:
            return bool(value == changes.values[name])
        return encoded is not None and _is_within(attribute, encoded)

    return {name: attribute for name, attribute in changes.attributes.items() if is_exact(name, attribute)}


def _is_within(one: AttributeValue, other: AttributeValue) -> bool:
    """Whether two values are the same, apart from members of maps that only the other has."""
    if "M" in one and "M" in other:
        some, all_ = one["M"], other["M"]
        return some.keys() <= all_.keys() and all(_is_within(value, all_[name]) for name, value in some.items())
    if "L" in one and "L" in other:
        return len(one["L"]) == len(other["L"]) and all(map(_is_within, one["L"], other["L"]))
    return same_value(one, other)


@dataclass(frozen=True)
class ReadPatch:
    """A patch of an item that was read."""

    was_read: ClassVar[bool] = True
    work: Patch[Any, Any]
    before: Entity
    entity: Entity
    write: Planned

    def add_to(self, plan: Plan, context: Context) -> AfterWrite:
        settle = self.write.add_to(plan, context)

        def after() -> object:
            settle()
            return read_result(self.work.returning, self.work.clauses, self.before, self.entity)

        return after


def _check_stamps(work: Patch[Any, Any], reader: Reader, context: Context) -> Steps[None]:
    """Raise `InvalidValue` if a key, the envelope or an effect depends on a touched field."""
    spec = work.target.entity.spec
    refusal = InvalidValue(
        "not-a-stamp",
        spec.name,
        "touch() can't set fields that keys, the envelope or other items depend on. Use patch().",
    )
    if not writes_stamps_only(spec, shape_of(work.clauses)):
        raise refusal
    if spec.derived or spec.counters or spec.parents:
        item = yield from reader.stored(work.target)
        if item is not None and holds_all(item_is_there(spec, context.now), item):
            entity = codec_of(work.target.entity).decode(item)
            touched = with_changes(entity, changes_of(entity, work.clauses).values)
            if effects_of(entity) != effects_of(touched, item=item):
                raise refusal


class DirectWrite:
    """What a write by key does to its item, without having read it."""

    def __init__(self) -> None:
        self.sets: dict[str, AttributeValue] = {}
        self.removes: set[str] = set()
        self.adds: dict[str, int] = {}
        self.terms: list[UpdateTerm] = []
        self.limits: list[Node] = []
        """The conditions under which computed values are within their limits."""
        self.paths: list[tuple[tuple[str | int, ...], Node]] = []
        """The paths that must exist, and the condition for each."""


@dataclass(frozen=True)
class DirectPatch:
    """A patch that doesn't need to read its item."""

    work: Patch[Any, Any]
    route: Route

    def add_to(self, plan: Plan, context: Context) -> AfterWrite:
        work, entity = self.work, self.work.target.entity
        written = direct_write(work, self.route, context.now)
        spec, codec = entity.spec, codec_of(entity)

        def refused(kind: type[Refused], stored: Item | None) -> Refused:
            return kind(spec.name, "primary", work.target.values, codec.decode_if_recognized(stored))

        missing = Requirement(item_is_there(spec, context.now), lambda item: refused(NotFound, item))
        staying = not_being_deleted(context.relations, entity, work.target.values)
        key = codec.key(work.target.values)
        codec.check_size({**key, **written.sets})
        computed = direct_requirements(work, written) if written.paths or written.limits else ()
        action = plan.change(address(spec.table, key), written.sets, written.removes, missing, *staying, *computed)
        action.adds |= written.adds
        action.terms = written.terms
        action.unstorable = lambda message: unstorable_result(work, message)
        if work.where is not None:
            condition = stored_condition(recorded(entity, work.where), codec)
            action.where = Requirement((condition,), lambda item: _otherwise(work, refused(ConditionFailed, item)))
        if work.returning is None:
            return lambda: None
        action.returns = return_values(work.returning, work.clauses)
        return lambda: direct_result(work.returning, work.clauses, entity, plan.answer)


def _otherwise(work: Patch[Any, Any], error: Refused) -> Refused:
    error.refusal = work.otherwise
    return error


def direct_write(work: Patch[Any, Any], route: Route, now: datetime) -> DirectWrite:
    """What a patch writes; raises `InvalidValue` for values that can't be stored or are over their limits."""
    entity = work.target.entity
    spec, codec = entity.spec, codec_of(entity)
    written = DirectWrite()
    given: dict[str, object] = {}
    for clause in work.clauses:
        name = clause.field
        if clause.verb != "set" or len(clause.path) > 1:
            _add_clause(written, entity, clause)
            if clause.replaces:
                given[name] = codec.absent_value(name)
            continue
        value = given[name] = validated_field(entity, name, clause.values[0])
        spec.limits.check_changed({name: value}, {name})
        if codec.has_own_attribute(name):
            encoded = None if value is None else codec.encode_value(name, value)
            if encoded is None:
                written.removes.add(spec.fields[name].stored)
            else:
                written.sets[spec.fields[name].stored] = encoded
    if not work.quiet:
        if updated := spec.by_kind.get("updated"):
            given[updated.name] = moment(now, spec.table.times)
            written.sets[updated.stored] = codec.encode_value(updated.name, given[updated.name]) or {"NULL": True}
        if version := spec.by_kind.get("version"):
            written.adds[version.stored] = 1
    if route.key_parts or route.joint_limits:
        values = {**work.target.values, **given}
        if route.joint_limits:
            spec.limits.check_changed(values, given.keys())
        sets, removes = index_key_changes(entity, route, values)
        written.sets |= sets
        written.removes |= removes
    return written


def _add_clause(written: DirectWrite, entity: type[Entity], clause: Clause) -> None:
    """Add a clause that isn't a plain value of a field."""
    term = update_term(entity, clause)
    if len(term.names) == 1 and term.form == "remove":
        codec, name = codec_of(entity), clause.field
        default = codec.absent_value(name) if is_kept_in_index(codec, name, None) else None
        if codec.has_own_attribute(name):
            encoded = None if default is None else codec.encode_value(name, default)
            if encoded is None:
                written.removes.add(str(term.names[0]))
            else:
                written.sets[str(term.names[0])] = encoded
        return
    written.terms.append(term)
    if len(term.names) > 1:
        # The value around it must exist. DynamoDB would append what is set behind the end of a list.
        needed = term.names if isinstance(term.names[-1], int) else term.names[:-1]
        written.paths.append((clause.path, Node("attribute_exists", (FieldPath(needed),))))
    if clause.verb not in ("set", "remove", "set_default"):
        written.limits += limit_conditions(value_path(entity, clause.path).type, term)


def direct_requirements(work: Patch[Any, Any], written: DirectWrite) -> list[Requirement]:
    """What a direct patch requires of its item, for its paths and for the limits of computed values."""
    codec = codec_of(work.target.entity)
    required = [
        Requirement(
            (condition,),
            lambda item, path=path: path_missing(  # type: ignore[misc]  # bound now
                work.target.entity, work.target.values, path, codec.decode_if_recognized(item)
            ),
        )
        for path, condition in written.paths
    ]
    if written.limits:
        required.append(Requirement(tuple(written.limits), lambda item: _over_limit(work, item)))
    return required


def _over_limit(work: Patch[Any, Any], item: Item | None) -> Refused | InvalidValue:
    """The error for a computed value that is over its limits: what the same change of the stored entity raises."""
    entity = codec_of(work.target.entity).decode_if_recognized(item)
    try:
        if entity is not None:
            changed = with_changes(entity, changes_of(entity, work.clauses).values)
            entity.spec.limits.check_changed(changed.__dict__, {clause.field for clause in work.clauses})
            return ItemChanged(entity.spec.name, OTHER_TYPE, work.target.values)
    except (InvalidValue, PathMissing) as error:
        return error
    computed = next(clause for clause in work.clauses if not clause.replaces)
    place = f"{work.target.entity.__name__}.{path_text(computed.path)}"
    return InvalidValue("over-limit", place, "The result would be over a limit.", field=computed.field)


def unstorable_result(work: Patch[Any, Any], message: str) -> Refused | InvalidValue | None:
    """The error for a result that DynamoDB can't store, by its message; None if that is about something else."""
    if not work.clauses:
        return None
    if "document path" in message:  # somebody else stored NULL, or another type, where the value around it should be
        inside = next((clause for clause in work.clauses if len(clause.path) > 1), work.clauses[0])
        return path_missing(work.target.entity, work.target.values, inside.path, None)
    if "incorrect data type" in message:  # of a stored value; NULL counts as absent, and is read as such
        return ItemChanged(work.target.entity.spec.name, OTHER_TYPE, work.target.values)
    if "maximum allowed size" in message:
        code, problem = "item-too-large", f"The item would have more than {MAXIMUM_ITEM} bytes. Shorten it first."
    elif any(text in message for text in ("significant digits", "Number overflow", "Number underflow")):
        code, problem = "number-range", "The result can't be stored: it has more than 38 digits or is out of range."
    else:
        return None
    computed = next((clause for clause in work.clauses if not clause.replaces), work.clauses[0])
    return invalid_clause(work.target.entity.spec, code, computed.path, problem)
