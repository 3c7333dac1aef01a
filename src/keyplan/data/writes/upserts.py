"""Upserts: changing an item by its key, or creating it.

One request is enough if nothing follows from the entity. It sets what is given and adds what is to be added. Everything
else that a new item has (defaults, the time of creation, key fields) is set only if it isn't there: `if_not_exists`.
Otherwise the item is read, and created or updated in one transaction.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from pydantic import ValidationError

from keyplan.data.codec.addresses import address_of
from keyplan.data.codec.entities import DELETING, EntityCodec, codec_of
from keyplan.data.codec.values import AttributeValue, Item
from keyplan.data.errors import AlreadyExists, ConditionFailed, ItemChanged, NotFound, PathMissing, Refused, described
from keyplan.data.expressions.conditions import attribute_not_exists, item_exists, stored_condition
from keyplan.data.expressions.evaluation import holds
from keyplan.data.expressions.expiry import is_expired, not_expired
from keyplan.data.expressions.requirements import Requirement
from keyplan.data.expressions.updates import UpdateTerm
from keyplan.data.reads.reader import Reader
from keyplan.data.steps import Steps
from keyplan.data.writes.clause_terms import attribute_after, update_term
from keyplan.data.writes.clauses import Clause
from keyplan.data.writes.family import not_being_deleted
from keyplan.data.writes.key_operations import Patch, Upsert
from keyplan.data.writes.operations import AfterWrite, Context, Create, Planned, Replacing, invalid
from keyplan.data.writes.patch_routes import Route, direct_route, exact_key_fields, shape_of
from keyplan.data.writes.patches import DirectWrite, direct_requirements, direct_write, read_patch, unstorable_result
from keyplan.data.writes.plan import Plan
from keyplan.data.writes.returning import direct_result, read_result, return_values
from keyplan.data.writes.stamps import creation_stamps
from keyplan.design import Entity, InvalidValue
from keyplan.design.entities.specs import KeyPart, KeySpec
from keyplan.design.operations.conditions import recorded

EXPIRED = "expired"
"""The constraint of the refusal for an expired item, which one request can't replace."""


def prepare_upsert(
    work: Upsert[Any, Any], reader: Reader, context: Context, *, alone: bool, again: bool
) -> Steps[Planned]:
    """An upsert as one conditional write, or as the creation or update of the item that was looked for.

    With `again`, one request wasn't enough, such as for an expired item, which is replaced.
    """
    entity = work.target.entity
    fresh = new_entity(work)
    if isinstance(fresh, Entity) and not again and (alone or work.returning is None):
        route = _direct_route(work)
        if route is not None:
            direct = DirectUpsert(work, route, fresh)
            if _stores_attributes(fresh) and not _fits_existing_only(work, fresh) and _knows_keys(direct, context):
                return direct
    item = yield from reader.stored(work.target)
    if item is None:
        return _creation(work, fresh)
    if DELETING in item:
        raise NotFound(entity.spec.name, "primary", work.target.values, None, _being_deleted(work))
    if not holds(item_exists(entity.spec), item):
        raise _another(work)
    if is_expired(codec_of(entity).ttl, item, context.now):
        return _creation(work, fresh, replaced=item)
    return read_patch(_as_patch(work), item)


def _creation(
    work: Upsert[Any, Any], fresh: Entity | PathMissing | InvalidValue, replaced: Item | None = None
) -> "ReadUpsert":
    """The creation of the item, in place of an expired one; raises the error of what only an existing one can have."""
    if not isinstance(fresh, Entity):
        raise fresh
    write = Create(fresh)
    return ReadUpsert(work, fresh, write if replaced is None else Replacing(address_of(work.target), replaced, write))


def _stores_attributes(fresh: Entity) -> bool:
    """Whether a new item has more attributes than its key: an update that sets none wouldn't create it."""
    spec, codec = fresh.spec, codec_of(type(fresh))
    if spec.type is not None or not {"created", "updated", "version"}.isdisjoint(spec.by_kind):
        return True
    others = [each for each in spec.fields.values() if each.stored not in spec.table.key_names]
    return any(
        fresh.__dict__[each.name] is not None and codec.encode_value(each.name, fresh.__dict__[each.name]) is not None
        for each in others
        if codec.has_own_attribute(each.name)
    )


def _computed(work: Upsert[Any, Any]) -> set[str]:
    """The fields whose new values depend on the existing ones."""
    return {clause.field for clause in work.clauses if not clause.replaces}


def _knows_keys(direct: "DirectUpsert", context: Context) -> bool:
    """Whether the index keys are known without reading the item.

    A computed value that a new item couldn't have in a key, such as a negative number, may fit for an existing one.
    """
    try:
        return direct.key_attributes(context) is not None
    except InvalidValue as error:
        if error.field not in _computed(direct.work):
            raise
        return False


def _fits_existing_only(work: Upsert[Any, Any], fresh: Entity) -> bool:
    """Whether only a value that is computed from an existing one may be within its limits: the item must be read."""
    computed = _computed(work)
    broken = [error.field for error in fresh.spec.limits.broken(fresh.__dict__)] if computed else []
    return bool(broken) and computed.issuperset(broken)


def _as_patch(work: Upsert[Any, Any]) -> Patch[Any, Any]:
    return Patch(work.target, work.clauses, work.where, returning=work.returning, otherwise=work.otherwise)


def _being_deleted(work: Upsert[Any, Any]) -> str:
    return f"{described(work.target.entity.__name__, work.target.values)} is being deleted"


def _another(work: Upsert[Any, Any]) -> AlreadyExists:
    name, values = work.target.entity.__name__, work.target.values
    return AlreadyExists(
        name, "primary", values, None, f"{described(name, values)} would replace another entity's item"
    )


def new_entity(work: Upsert[Any, Any]) -> Entity | PathMissing | InvalidValue:
    """The entity that is created if there is none, or the error for a change that only an existing one can have.

    Raises `InvalidValue` if a field has neither value nor default, or a given value can't be stored.
    """
    entity = work.target.entity
    codec = codec_of(entity)
    values: dict[str, object] = dict(work.target.values)
    inside: dict[str, list[Clause]] = {}
    for clause in work.clauses:
        if clause.path == (clause.field,) and clause.verb == "set":
            values[clause.field] = clause.values[0]
        else:
            inside.setdefault(clause.field, []).append(clause)
    for name, clauses in inside.items():
        if codec.spec.fields[name].large is not None and clauses[0].verb == "set_default":
            update_term(entity, clauses[0])
            values[name] = clauses[0].values[0]
            continue
        before: AttributeValue | None = None
        if any(len(clause.path) > 1 or clause.verb == "remove" for clause in clauses):
            default = None if entity.model_fields[name].is_required() else codec.absent_value(name)
            before = None if default is None else codec.encode_value(name, default)
        try:
            after = attribute_after(entity, work.target.values, name, before, clauses, None)
        except PathMissing as error:
            return error
        if after is not None:
            values[name] = codec.decode_value(name, after)
    try:
        return entity.model_validate(values, by_name=True)  # type: ignore[no-any-return]  # an entity of any class
    except ValidationError as error:
        if missing := _missing(entity, error):
            raise missing from None
        refusal = invalid(codec.spec, error)
        if refusal.field is None or refusal.field in inside:
            return refusal
        raise refusal from None


def _missing(entity: type[Entity], error: ValidationError) -> InvalidValue | None:
    problem = error.errors(include_url=False, include_input=False, include_context=False)[0]
    if problem["type"] != "missing" or len(problem["loc"]) != 1:
        return None
    name = str(problem["loc"][0])
    sentence = "Give this field a value: it has no default, and the item may have to be created."
    return InvalidValue("required", f"{entity.__name__}.{name}", sentence, field=name)


def _direct_route(work: Upsert[Any, Any]) -> Route | None:
    """How one request does it; None if the item has to be read first. The index keys are a matter of their own."""
    spec = work.target.entity.spec
    if spec.uniques or spec.large or any(len(clause.path) > 1 for clause in work.clauses):
        return None
    # Index keys with fields that aren't given make a patch read its item; here they may be those of a new item.
    return direct_route(spec, shape_of(work.clauses), keys=False)


@dataclass(frozen=True)
class ReadUpsert:
    """The creation of an item that didn't exist when it was looked for."""

    was_read: ClassVar[bool] = True
    work: Upsert[Any, Any]
    entity: Entity
    write: Planned

    def add_to(self, plan: Plan, context: Context) -> AfterWrite:
        settle = self.write.add_to(plan, context)

        def after() -> object:
            settle()
            return read_result(self.work.returning, self.work.clauses, None, self.entity)

        return after


@dataclass(frozen=True)
class DirectUpsert:
    """An upsert that doesn't need to read its item. If that has expired, it is tried again as one that reads it."""

    work: Upsert[Any, Any]
    route: Route
    fresh: Entity

    def key_attributes(self, context: Context) -> DirectWrite | None:
        """The index key attributes to write; None if one of them depends on what isn't known."""
        entity = self.work.target.entity
        values = {**self.fresh.__dict__, **creation_stamps(self.fresh, context.now)}
        given = {clause.field for clause in self.work.clauses if clause.replaces}
        changed = {clause.field for clause in self.work.clauses}
        if stamp := entity.spec.by_kind.get("updated"):
            given, changed = given | {stamp.name}, changed | {stamp.name}
        written = DirectWrite()
        for placement in entity.spec.placements.values():
            if not _place(written, codec_of(entity), placement, values, given | exact_key_fields(entity.spec), changed):
                return None
        return written

    def add_to(self, plan: Plan, context: Context) -> AfterWrite:
        work, entity = self.work, self.work.target.entity
        spec, codec = entity.spec, codec_of(entity)
        whole = self.fresh.model_copy(update=creation_stamps(self.fresh, context.now))
        spec.limits.check(whole.__dict__)
        new_item = codec.encode(whole)
        written = direct_write(_as_patch(work), Route((), self.route.joint_limits), context.now)
        keys = self.key_attributes(context)
        assert keys is not None
        written.sets |= keys.sets
        written.removes |= keys.removes
        written.terms += keys.terms
        if spec.type is not None and spec.table.type_attribute is not None:
            written.sets[spec.table.type_attribute] = {"S": spec.type}
        written.terms += _defaults(codec, new_item, written)
        action = plan.change(
            address_of(work.target), written.sets, written.removes, *self._requirements(context, written)
        )
        action.adds |= written.adds
        action.terms = written.terms
        action.unstorable = lambda message: unstorable_result(_as_patch(work), message)
        if work.returning is None:
            return lambda: None
        action.returns = return_values(work.returning, work.clauses, may_be_new=True)
        return lambda: direct_result(work.returning, work.clauses, entity, plan.answer, may_be_new=True)

    def _requirements(self, context: Context, written: DirectWrite) -> list[Requirement]:
        work, entity = self.work, self.work.target.entity
        spec, codec = entity.spec, codec_of(entity)
        is_new = attribute_not_exists(spec.table.hash[0].name)
        required = [*not_being_deleted(context.relations, entity, work.target.values)]
        if spec.identified_by_type:
            required.append(Requirement((is_new | item_exists(spec),), lambda item: _another(work)))
        if codec.ttl is not None:
            lives = is_new | not_expired(codec.ttl, context.now)
            required.append(Requirement((lives,), lambda item: ItemChanged(spec.name, EXPIRED, work.target.values)))
        required += direct_requirements(_as_patch(work), written)

        def failed(item: Item | None) -> Refused:
            error = ConditionFailed(spec.name, "primary", work.target.values, codec.decode_if_recognized(item))
            error.refusal = work.otherwise
            return error

        if work.where is not None:
            condition = stored_condition(recorded(entity, work.where), codec)
            required.append(Requirement((is_new | condition,), failed))
        return required


def _defaults(codec: EntityCodec[Any], new_item: Item, written: DirectWrite) -> list[UpdateTerm]:
    """What a new item has besides what is written anyway."""
    spec = codec.spec
    done = {*written.sets, *written.removes, *written.adds, *(term.names[0] for term in written.terms)}
    own = {spec.fields[name].stored for name in spec.fields if codec.has_own_attribute(name)}
    names = [name for name in new_item if name in own and name not in done and name not in spec.table.key_names]
    return [UpdateTerm("default", (name,), (new_item[name],)) for name in names]


def _place(
    written: DirectWrite,
    codec: EntityCodec[Any],
    placement: KeySpec,
    values: Mapping[str, object],
    known: set[str],
    changed: set[str],
) -> bool:
    """Add the key attributes of an index; returns whether they are known for a new item and for an existing one."""
    spec, stays = codec.spec, codec.keys.stores_field
    fields = {*placement.fields, *((placement.when,) if placement.when else ())}
    parts = [part for part in placement.parts if part.attribute.name not in spec.table.key_names]
    made = [part for part in parts if not stays(part)]
    placed = codec.keys.placement(placement, values)
    unknown = fields - known
    if not all(
        _write_known(written, part, placed, unknown, changed) for part in parts if part.template and stays(part)
    ):
        return False
    if made and unknown and any(name == placement.when or spec.fields[name].optional for name in fields):
        # An existing item may be in the index or not. That stays so if nothing changes, and if a new one isn't in it.
        return fields.isdisjoint(changed) and not any(part.attribute.name in placed for part in made)
    return all(_write_known(written, part, placed, unknown, changed) for part in made)


def _write_known(written: DirectWrite, part: KeyPart, placed: Item, unknown: set[str], changed: set[str]) -> bool:
    """Add a key attribute; returns whether it is known for a new item and for an existing one."""
    name = part.attribute.name
    if unknown.isdisjoint(part.fields):
        _write_part(written, part, placed)
    elif not changed.isdisjoint(part.fields):
        return False
    elif name in placed and all(term.names != (name,) for term in written.terms):  # indexes may share an attribute
        written.terms.append(UpdateTerm("default", (name,), (placed[name],)))
    return True


def _write_part(written: DirectWrite, part: KeyPart, placed: Item) -> None:
    name = part.attribute.name
    if name in placed:
        written.sets[name] = placed[name]
    else:
        written.removes.add(name)
