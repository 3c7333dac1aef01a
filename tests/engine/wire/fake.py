"""A database of a few operations that do what the tests of the wire need."""

import threading
from collections.abc import Sequence

from keyplan.engine.errors import DynamoError
from keyplan.engine.executor import Answer, Request


class FakeDatabase:
    """`Echo` gives the request back, `Large` a large answer, `Refuse` an error, `Break` a fault, `Wait` waits."""

    def __init__(self) -> None:
        self.batches: list[int] = []
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
            case "Wait":
                self.waiting.set()
                self.go_on.wait(10)
                return {"Waited": True}
        raise DynamoError("UnknownOperationException", "")

    def execute_many(self, calls: Sequence[tuple[str, Request]]) -> list[Answer | DynamoError]:
        self.batches.append(len(calls))
        answers: list[Answer | DynamoError] = []
        for operation, request in calls:
            try:
                answers.append(self.execute(operation, request))
            except DynamoError as error:
                answers.append(error)
        return answers
