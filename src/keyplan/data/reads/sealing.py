"""Positions in lists as cursors of a design, with a secret that all processes on its tables share."""

import secrets
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import datetime
from typing import Any

from keyplan.data.codec.values import Item
from keyplan.data.reads.cursors import FROZEN, Cursors
from keyplan.data.reads.list_requests import Source, arguments_of, name_of
from keyplan.data.steps import ClientFailure, Steps, call
from keyplan.design import HOUSEKEEPING, Design
from keyplan.design.operations.queries import Follow, Merge, Query

SECRETS = "SECRET"


class Sealer:
    """Makes cursors of positions in the lists of one design, and opens them."""

    def __init__(self, design: Design, secret: bytes | None) -> None:
        self._design = design
        self._known_cursors = None if secret is None else Cursors(secret)

    def cursors(self) -> Steps[Cursors]:
        """Cursors with the given secret, or with the one in the design's housekeeping table."""
        if self._known_cursors is None:
            self._known_cursors = Cursors((yield from self._kept_secret()))
        return self._known_cursors

    def _kept_secret(self) -> Steps[bytes]:
        """The secret that all processes on these tables share; the first that needs it creates it."""
        table = self._design.table_name(HOUSEKEEPING)
        key: Item = {"pk": {"S": SECRETS}, "sk": {"S": "cursors"}}
        while True:
            answer = yield from call("get_item", {"TableName": table, "Key": key, "ConsistentRead": True})
            if "Item" in answer:
                return bytes(answer["Item"]["secret"]["B"])
            item = {**key, "secret": {"B": secrets.token_bytes(32)}}
            try:
                yield from call(
                    "put_item", {"TableName": table, "Item": item, "ConditionExpression": "attribute_not_exists(pk)"}
                )
            except ClientFailure as failure:
                if failure.code != "ConditionalCheckFailedException":
                    raise

    def open(self, op: Source | Merge[Any]) -> Steps[tuple[Any, Any]]:
        """The position in the operation's cursor, and the operation with the `now` of its first page."""
        assert op.cursor is not None
        cursors = yield from self.cursors()
        position, moment = cursors.open(self._subject(op), arguments_of(op), op.cursor)
        return position, self._frozen(op, moment)

    def seal(self, op: Source | Merge[Any], position: object) -> Steps[str]:
        """The cursor of a position."""
        cursors = yield from self.cursors()
        return cursors.seal(self._subject(op), arguments_of(op), position)

    def seal_all(self, op: Source, positions: Iterable[Item | None]) -> Steps[list[str | None]]:
        """The cursors of positions; None for None."""
        cursors = yield from self.cursors()
        subject, arguments = self._subject(op), arguments_of(op)
        return [None if each is None else cursors.seal(subject, arguments, each) for each in positions]

    def _subject(self, op: Source | Merge[Any]) -> str:
        return f"{type(self._design).__name__}.{op.pattern or name_of(op)}"

    def _frozen(self, op: Source | Merge[Any], moment: datetime | None) -> Source | Merge[Any]:
        """The operation with the `now` of its first page."""
        if moment is None or op.pattern is None or FROZEN not in op.arguments:
            return op
        built: Callable[..., Any] = getattr(self._design, op.pattern)
        first: Any = built(**{**op.arguments, FROZEN: moment})
        source: Any = first.source if isinstance(first, Follow) else first
        if isinstance(op, Merge):
            return replace(op, queries=source.queries, order=source.order, arguments=first.arguments)
        if isinstance(op, Query):
            values = {"values": source.values, "bound": source.bound}
            return op.changed(filter=source.filter, arguments=first.arguments, **values)
        return op.changed(filter=source.filter, arguments=first.arguments)
