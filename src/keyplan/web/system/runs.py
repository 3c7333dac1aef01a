"""Which access pattern or write a call to DynamoDB is for: the store of a running system notes it. No values."""

from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, TypeVar

from keyplan.data import Refused, Store
from keyplan.design import Design, Op, Page

D = TypeVar("D", bound=Design)

_WRITES = {"DeleteByKey": "delete", "PutAll": "put", "DeleteAll": "delete", "Rewrite": "job"}
"""What writes are called whose class has another name."""


@dataclass(slots=True)
class Run:
    """What a store was asked for once: a pattern, a write, or several writes in one transaction."""

    design: str
    names: list[str]
    """The pattern (`posts_by_user`), or the entity and kind of each write (`Post.create`)."""
    is_read: bool
    items: int | None = None
    """How many items a pattern found."""
    refused: bool = False
    """Whether a rule of the design refused a write."""
    number: int | None = field(default=None, compare=False)
    """Its place among the runs of its request; set by the first call."""

    def shown(self) -> dict[str, object]:
        """For the log."""
        entry: dict[str, object] = {"design": self.design, "by": self.names}
        if self.items is not None:
            entry["items"] = self.items
        if self.refused:
            entry["refused"] = True
        return entry


current_run: ContextVar[Run | None] = ContextVar("keyplan_run", default=None)


class ObservedStore(Store[D]):
    """A store that says for whom its calls are."""

    def run(self, op: Any) -> Any:  # noqa: ANN401 - the overloads of `Store` are its signature
        """Carry out an operation and return its result."""
        made = Run(type(self.design).__name__, [name_of(op)], isinstance(op, Op))
        token = current_run.set(made)
        try:
            result = super().run(op)
        except Refused:
            made.refused = True
            raise
        finally:
            current_run.reset(token)
        if made.is_read:
            made.items = _found(result)
        return result

    def transact(self, *parts: Any, token: str | None = None) -> Any:  # noqa: ANN401 - as above
        """Write all parts in one transaction, or nothing. Returns what each part returns: for most, its entity."""
        made = Run(type(self.design).__name__, [name_of(part) for part in parts], is_read=False)
        before = current_run.set(made)
        try:
            return super().transact(*parts, token=token)
        except Refused:
            made.refused = True
            raise
        finally:
            current_run.reset(before)


def name_of(op: object) -> str:
    """The pattern that an operation is of; otherwise its entity and kind, such as `Post.create`."""
    if isinstance(op, Op) and op.pattern is not None:
        return op.pattern
    kind = type(op).__name__
    kind = _WRITES.get(kind, kind.lower())
    target = getattr(op, "target", None) or next(iter(getattr(op, "targets", ())), None)
    entity = getattr(op, "entity", None) or next(iter(getattr(op, "entities", ())), None)
    if target is not None:
        entity = getattr(target, "entity", None)
    if entity is None:
        return f"{kind} {getattr(op, 'name', '')}".rstrip()
    return f"{(entity if isinstance(entity, type) else type(entity)).__name__}.{kind}"


def _found(result: object) -> int:
    """How many items a read found. A count is one answer, whatever it counts."""
    if isinstance(result, Page):
        return len(result.items)
    if isinstance(result, list | tuple):
        return sum(each is not None for each in result)
    return int(result is not None and result is not False)
