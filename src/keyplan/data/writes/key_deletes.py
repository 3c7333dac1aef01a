"""Deletes by key alone: one conditional request if nothing follows from the entity."""

from dataclasses import dataclass
from typing import Any, ClassVar

from keyplan.data.codec.addresses import address_of
from keyplan.data.codec.entities import DELETING, codec_of
from keyplan.data.codec.values import Item
from keyplan.data.errors import ConditionFailed, NotFound, Refused
from keyplan.data.expressions.conditions import item_exists, stored_condition
from keyplan.data.expressions.evaluation import holds
from keyplan.data.expressions.requirements import Requirement
from keyplan.data.reads.reader import Reader
from keyplan.data.steps import Steps
from keyplan.data.writes.effects import has_effects
from keyplan.data.writes.family import not_referred_to
from keyplan.data.writes.key_operations import DeleteByKey
from keyplan.data.writes.operations import AfterWrite, Context, Delete, Planned
from keyplan.data.writes.plan import Plan
from keyplan.design.operations.conditions import recorded


def prepare_delete(work: DeleteByKey[Any], reader: Reader, context: Context) -> Steps[Planned]:
    """A delete as one conditional write, or as the delete of the item that was read."""
    if not has_effects(work.target.entity.spec):
        return DirectDelete(work)
    return ReadDelete((yield from read_delete(work, reader)))


def read_delete(work: DeleteByKey[Any], reader: Reader) -> Steps[Delete[Any]]:
    """The delete of the item that was read; raises `NotFound` if there is none."""
    spec = work.target.entity.spec
    item = yield from reader.stored(work.target)
    if item is None or DELETING in item or not holds(item_exists(spec), item):
        raise NotFound(spec.name, "primary", work.target.values)
    entity = codec_of(work.target.entity).decode(item)
    return Delete(entity, where=work.where, otherwise=work.otherwise)


@dataclass(frozen=True)
class ReadDelete:
    """The delete of an item that was read."""

    was_read: ClassVar[bool] = True
    delete: Delete[Any]

    def add_to(self, plan: Plan, context: Context) -> AfterWrite:
        return self.delete.add_to(plan, context)


@dataclass(frozen=True)
class DirectDelete:
    """A delete that doesn't need to read its item. Children that would refuse it are counted in the item itself."""

    work: DeleteByKey[Any]

    def add_to(self, plan: Plan, context: Context) -> AfterWrite:
        work, entity = self.work, self.work.target.entity
        spec, codec = entity.spec, codec_of(entity)

        def refused(kind: type[Refused], constraint: str, stored: Item | None) -> Refused:
            return kind(spec.name, constraint, work.target.values, codec.decode_if_recognized(stored))

        def condition_failed(stored: Item | None) -> Refused:
            error = refused(ConditionFailed, "where", stored)
            error.refusal = work.otherwise
            return error

        exists = Requirement((item_exists(spec),), lambda stored: refused(NotFound, "primary", stored))
        children = not_referred_to(context.relations, entity, work.target.values)
        action = plan.remove(address_of(work.target), exists, *children)
        if work.where is not None:
            condition = stored_condition(recorded(entity, work.where), codec)
            action.where = Requirement((condition,), condition_failed)
        return lambda: None
