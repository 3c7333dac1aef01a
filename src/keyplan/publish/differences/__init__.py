"""What differs between two designs, or between a design and what is deployed, and how to get from one to the other.

`snapshot_of(design)` describes a design by values that can be written as JSON and read again (`snapshot_json`,
`read_snapshot`); `deployed(client, names)` describes tables that exist. `compare(before, after)` gives the
`Differences`: each `Difference` with its effect, the `Step`s that DynamoDB takes in this order, and what has to be
migrated. `difference_report` writes them as text, Markdown or JSON.

| module | what is in it |
| --- | --- |
| `snapshots` | `Snapshot` and its parts, and their JSON |
| `fields` | types, limits and defaults of fields as text |
| `requests` | what an access pattern asks for, as text |
| `deployed` | tables that exist, through a client of boto3's shape |
| `changes` | `Difference`, `Step` and `Differences` |
| `tables` | what differs between tables, and which of it can be changed in place |
| `steps` | the requests that change a table in place, in order |
| `entities` | what differs between entities and between patterns |
| `comparing` | `compare`, which puts these together |
| `report` | the differences as text, Markdown and JSON |
"""

from keyplan.publish.differences.changes import Difference, Differences, Effect, Migration, Step
from keyplan.publish.differences.comparing import compare, replaced
from keyplan.publish.differences.deployed import deployed
from keyplan.publish.differences.report import REPORTS, ReportFormat, difference_report
from keyplan.publish.differences.snapshots import Snapshot, SnapshotError, read_snapshot, snapshot_json, snapshot_of

__all__ = [
    "REPORTS",
    "Difference",
    "Differences",
    "Effect",
    "Migration",
    "ReportFormat",
    "Snapshot",
    "SnapshotError",
    "Step",
    "compare",
    "deployed",
    "difference_report",
    "read_snapshot",
    "replaced",
    "snapshot_json",
    "snapshot_of",
]
