"""Finishing jobs that were interrupted.

Any process can finish a job by its journal. Two that do so at the same time slow each other down, but do no harm.
"""

from typing import Any

from keyplan.data.codec.values import Item
from keyplan.data.errors import DataError, RequestFailed
from keyplan.data.jobs.cascades import Cascades
from keyplan.data.jobs.expirations import ExpiredCleanups
from keyplan.data.jobs.journals import JOURNALS
from keyplan.data.jobs.replacements import Replacements
from keyplan.data.jobs.rewrites import Rewrites
from keyplan.data.reads.reader import Reader
from keyplan.data.steps import Steps, call
from keyplan.data.writes.operations import Context
from keyplan.design import HOUSEKEEPING


class Jobs:
    """Carries out the jobs of one design."""

    def __init__(self, reader: Reader) -> None:
        self.cascades = Cascades(reader)
        self.rewrites = Rewrites(reader, self.cascades)
        self.expirations = ExpiredCleanups(reader, self.cascades)
        self.replacements = Replacements(reader, self.cascades)

    def resume(self, context: Context) -> Steps[int]:
        """Finish all interrupted jobs; returns how many. If one is refused, the others still run."""
        request: dict[str, Any] = {
            "TableName": context.design.table_name(HOUSEKEEPING),
            "KeyConditionExpression": "pk = :jobs",
            "ExpressionAttributeValues": {":jobs": {"S": JOURNALS}},
            "ConsistentRead": True,
        }
        finished = 0
        refusal: DataError | None = None
        while True:
            answer = yield from call("query", dict(request))
            for begun in answer["Items"]:
                try:
                    yield from self._resume(begun, context.alone())
                    finished += 1
                except RequestFailed:
                    raise
                except DataError as error:
                    refusal = refusal or error
            if "LastEvaluatedKey" not in answer:
                break
            request["ExclusiveStartKey"] = answer["LastEvaluatedKey"]
        if refusal is not None:
            raise refusal
        return finished

    def _resume(self, begun: Item, context: Context) -> Steps[None]:
        match begun["kind"]["S"]:
            case "cascade":
                return self.cascades.resume(begun, context)
            case "rewrite":
                return self.rewrites.resume(begun, context)
            case "gone":
                return self.expirations.resume(begun, context)
        raise DataError(f"a job of an unknown kind was not finished: {begun['kind']['S']}")
