"""A process of its own with an engine on a file: `python -m tests.engine.durability.worker PATH TASK NUMBER COUNT`."""

import contextlib
import sys

from keyplan.engine import Engine
from tests.engine.durability.support import TABLE, definition


def create(engine: Engine) -> None:
    """The first worker creates the table."""
    with contextlib.suppress(engine.exceptions.ResourceInUseException):
        engine.create_table(**definition())  # type: ignore[arg-type]


def count(engine: Engine, number: int, times: int) -> None:
    """Raise a counter that all share, and one of their own in the same transaction with another item."""
    for step in range(times):
        engine.update_item(
            TableName=TABLE,
            Key={"pk": {"S": "shared"}, "sk": {"N": "0"}},
            UpdateExpression="ADD n :one",
            ExpressionAttributeValues={":one": {"N": "1"}},
        )
        if step % 5 == 0:
            engine.transact_write_items(
                TransactItems=[
                    {
                        "Update": {
                            "TableName": TABLE,
                            "Key": {"pk": {"S": "shared"}, "sk": {"N": "1"}},
                            "UpdateExpression": "ADD n :one",
                            "ExpressionAttributeValues": {":one": {"N": "1"}},
                        }
                    },
                    {
                        "Put": {
                            "TableName": TABLE,
                            "Item": {"pk": {"S": f"own-{number}"}, "sk": {"N": str(step)}, "colour": {"S": "red"}},
                        }
                    },
                ]
            )


def put(engine: Engine, number: int, times: int) -> None:
    """Items with attributes that are keys of indexes, or become such meanwhile."""
    for step in range(times):
        engine.put_item(
            TableName=TABLE,
            Item={
                "pk": {"S": f"own-{number}"},
                "sk": {"N": str(step)},
                "colour": {"S": "red" if step % 2 else "blue"},
                "weight": {"N": str(step)},
                "later": {"S": str(step % 3)},
            },
        )


def main() -> None:
    path, task, number, times = sys.argv[1:]
    with Engine(path) as engine:
        create(engine)
        print("ready", flush=True)
        sys.stdin.readline()
        {"count": count, "put": put}[task](engine, int(number), int(times))
        print("done", flush=True)


if __name__ == "__main__":
    main()
