"""A database of a few operations that do what the tests of the wire need."""

import threading
from collections.abc import Sequence
from functools import partial

from keyplan.engine.errors import DynamoError
from keyplan.engine.executor import Answer, Later, Outcome, Place, Request

_PLACES: dict[str, Place | None] = {"Wait": "writes", "Block": None}


class FakeDatabase:
    """`Echo` gives the request back, `Large` a large answer, `Refuse` an error, `Break` a fault, `Wait` waits.

    All but `Wait`, which is a write, are executed at once, or else in the given place. `Block` waits in the event loop.
    """

    def __init__(self, place: Place | None = None) -> None:
        self.place = place
        self.batches: list[int] = []
        self.writes: list[int] = []
        self.waiting = threading.Event()
        self.go_on = threading.Event()

    def execute(self, operation: str, request: Request, *, checked: bool = False) -> Answer:
        match operation:
            case "Echo" | "ListTables" | "GetRecords":
                return {"Operation": operation, "Request": request}
            case "Large":
                return {"Data": "x" * int(str(request["Size"]))}
            case "Refuse":
                raise DynamoError("ResourceNotFoundException", "Requested resource not found")
            case "Break":
                raise RuntimeError("a secret of the house")
            case "Unencodable":
                return {"Data": object()}
            case "Wait" | "Block":
                self.waiting.set()
                self.go_on.wait(10)
                return {"Waited": True}
        raise DynamoError("UnknownOperationException", "")

    def execute_now(self, calls: Sequence[tuple[str, Request]], *, may_write: bool = True) -> list[Outcome | None]:
        self.batches.append(len(calls))
        return [
            Later(place, partial(self._outcome, *call)) if place else self._outcome(*call)
            for call in calls
            for place in [_PLACES.get(call[0], self.place)]
        ]

    def execute_beside(self, operation: str, request: Request) -> Outcome:
        return self._outcome(operation, request)

    def execute_writes(self, writes: Sequence[Later]) -> list[Answer | DynamoError]:
        self.writes.append(len(writes))
        answers = [write.go_on() for write in writes]
        return [answer for answer in answers if not isinstance(answer, Later)]

    def _outcome(self, operation: str, request: Request) -> Outcome:
        try:
            return self.execute(operation, request)
        except DynamoError as error:
            return error
