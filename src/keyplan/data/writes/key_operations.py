"""Writes by key alone, as plain values: `Patch`, `Upsert` and `DeleteByKey`. How they are carried out is in `patches`,
`upserts` and `key_deletes`."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeAlias, get_args, overload

from typing_extensions import TypeVar

from keyplan.data.errors import InvalidOperation, not_a_reference
from keyplan.data.writes.clauses import Clause, Clauses, recorded_clauses
from keyplan.data.writes.operations import Check, Create, Delete, Move, Update, WriteOp
from keyplan.data.writes.partial import Partial
from keyplan.design import Entity, Ref, Refusal

E = TypeVar("E", bound=Entity)
R = TypeVar("R", default=None, covariant=True)

Returning: TypeAlias = Literal["new", "updated", "old", "updated-old"]
"""What a write by key returns: the whole item after it or before it, or only the changed fields of it."""


@dataclass(frozen=True)
class Patch(WriteOp[R], Generic[E, R]):
    """A change of some fields of an item, by its key; `R` is what it returns."""

    target: Ref[E]
    clauses: tuple[Clause, ...]
    where: Callable[[E], object] | None = None
    quiet: bool = False
    """Whether it leaves the version and the time of the last change alone."""
    returning: Returning | None = None
    otherwise: Refusal | None = None
    """What callers are told if `where` doesn't hold."""


@dataclass(frozen=True)
class Upsert(WriteOp[R], Generic[E, R]):
    """A change of some fields of an item, which is created if it doesn't exist; `R` is what it returns."""

    target: Ref[E]
    clauses: tuple[Clause, ...]
    where: Callable[[E], object] | None = None
    returning: Returning | None = None
    otherwise: Refusal | None = None


@overload
def patch(
    target: Ref[E],
    change: Callable[[E], Clauses] | None = None,
    /,
    *,
    where: Callable[[E], object] | None = None,
    returning: None = None,
    refusal: Refusal | None = None,
    **values: object,
) -> Patch[E, None]: ...
@overload
def patch(
    target: Ref[E],
    change: Callable[[E], Clauses] | None = None,
    /,
    *,
    where: Callable[[E], object] | None = None,
    returning: Literal["new", "old"],
    refusal: Refusal | None = None,
    **values: object,
) -> Patch[E, E]: ...
@overload
def patch(
    target: Ref[E],
    change: Callable[[E], Clauses] | None = None,
    /,
    *,
    where: Callable[[E], object] | None = None,
    returning: Literal["updated", "updated-old"],
    refusal: Refusal | None = None,
    **values: object,
) -> Patch[E, Partial[E]]: ...
def patch(
    target: Ref[E],
    change: Callable[[E], Clauses] | None = None,
    /,
    *,
    where: Callable[[E], object] | None = None,
    returning: Returning | None = None,
    refusal: Refusal | None = None,
    **values: object,
) -> Patch[E, Any]:
    """Change fields of an item by its key, without reading it first; with `where`, only if the item meets it.

    `change` returns clauses: `lambda book: (at(book.year).add(1), at(book.size.width).set(3))`. Keywords set fields.
    Takes one request if what is given is all that is needed. If index keys, guards or other effects depend on more, the
    item is read, and the write is conditional on it. `returning` chooses what is returned: the item after the patch
    ("new") or before it ("old"), or only its changed fields ("updated", "updated-old").
    """
    clauses = _clauses(target, change, values)
    return Patch(target, clauses, where, returning=_checked_returning(returning), otherwise=refusal)


def touch(
    target: Ref[E],
    change: Callable[[E], Clauses] | None = None,
    /,
    *,
    where: Callable[[E], object] | None = None,
    **values: object,
) -> Patch[E, None]:
    """Set stamps, such as the last login: a patch that leaves the version and the time of the last change alone."""
    return Patch(target, _clauses(target, change, values), where, quiet=True)


@overload
def upsert(
    target: Ref[E],
    change: Callable[[E], Clauses] | None = None,
    /,
    *,
    where: Callable[[E], object] | None = None,
    returning: None = None,
    refusal: Refusal | None = None,
    **values: object,
) -> Upsert[E, None]: ...
@overload
def upsert(
    target: Ref[E],
    change: Callable[[E], Clauses] | None = None,
    /,
    *,
    where: Callable[[E], object] | None = None,
    returning: Literal["new"],
    refusal: Refusal | None = None,
    **values: object,
) -> Upsert[E, E]: ...
@overload
def upsert(
    target: Ref[E],
    change: Callable[[E], Clauses] | None = None,
    /,
    *,
    where: Callable[[E], object] | None = None,
    returning: Literal["old"],
    refusal: Refusal | None = None,
    **values: object,
) -> Upsert[E, E | None]: ...
@overload
def upsert(
    target: Ref[E],
    change: Callable[[E], Clauses] | None = None,
    /,
    *,
    where: Callable[[E], object] | None = None,
    returning: Literal["updated"],
    refusal: Refusal | None = None,
    **values: object,
) -> Upsert[E, Partial[E]]: ...
@overload
def upsert(
    target: Ref[E],
    change: Callable[[E], Clauses] | None = None,
    /,
    *,
    where: Callable[[E], object] | None = None,
    returning: Literal["updated-old"],
    refusal: Refusal | None = None,
    **values: object,
) -> Upsert[E, Partial[E] | None]: ...
def upsert(
    target: Ref[E],
    change: Callable[[E], Clauses] | None = None,
    /,
    *,
    where: Callable[[E], object] | None = None,
    returning: Returning | None = None,
    refusal: Refusal | None = None,
    **values: object,
) -> Upsert[E, Any]:
    """Change fields of an item by its key, or create it: the other fields of a new item have their defaults.

    Takes one request if nothing follows from the entity. Otherwise the item is read, and created or updated in one
    transaction, which is tried again if somebody else does the same. With `where`, an existing item is changed only if
    it meets the condition. `returning` is that of `patch`; an item that didn't exist before is None.
    """
    return Upsert(target, _clauses(target, change, values), where, _checked_returning(returning), refusal)


def _clauses(target: Ref[E], change: Callable[[E], Clauses] | None, values: Mapping[str, object]) -> tuple[Clause, ...]:
    if not isinstance(target, Ref):
        raise not_a_reference(target)
    return recorded_clauses(target.entity, change, values)


def _checked_returning(returning: Returning | None) -> Returning | None:
    if returning is not None and returning not in get_args(Returning):
        choices = ", ".join(get_args(Returning))
        raise InvalidOperation(f"returning can't be {returning!r}. Use one of: {choices}")
    return returning


@dataclass(frozen=True)
class DeleteByKey(WriteOp[None], Generic[E]):
    """The deletion of an item and its effects, by its key."""

    target: Ref[E]
    where: Callable[[E], object] | None = None
    otherwise: Refusal | None = None


@overload
def delete(
    target: Ref[E], *, where: Callable[[E], object] | None = None, refusal: Refusal | None = None
) -> DeleteByKey[E]: ...
@overload
def delete(target: E, *, where: Callable[[E], object] | None = None, refusal: Refusal | None = None) -> Delete[E]: ...
def delete(
    target: E | Ref[E], *, where: Callable[[E], object] | None = None, refusal: Refusal | None = None
) -> Delete[E] | DeleteByKey[E]:
    """Delete an item and its effects; with `where`, only if the stored item meets it.

    An entity that was read is deleted only if it hasn't changed since; `ref(...)` names the item by its key alone.
    `refusal` is what callers of a system are told if the condition isn't met.
    """
    if isinstance(target, Ref):
        return DeleteByKey(target, where, refusal)
    return Delete(target, where=where, otherwise=refusal)


KeyWrite: TypeAlias = Patch[Any, Any] | Upsert[Any, Any] | DeleteByKey[Any]
"""A write by key alone, for which the item may have to be read first."""

PARTS = (Create, Update, Delete, Move, Check, Patch, Upsert, DeleteByKey)
"""What `transact` accepts."""
