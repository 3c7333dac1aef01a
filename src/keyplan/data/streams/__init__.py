"""Stream handlers: functions that are called when items change, with the records of their tables' streams.

Knows stores, and is a public package of its own. A handler is a function with a declaration on it:

    @on(Sponsor, "REMOVE")
    def remove_logo(change: ItemChange[Sponsor], running: Running[Vcm]) -> None: ...

`StreamRunner` reads a table's stream and delivers each record at least once, in order within a shard, so a handler must
accept a record that it has seen before. Checkpoints in the design's housekeeping table say how far each shard was
handled, and a lease there lets one process among several run. A record that a handler keeps failing on is set aside:
`set_aside` lists such records, and an operator can `retry` or `discard` each while the others go on.

| module | what it is |
| --- | --- |
| `handlers` | `Handler`, a declared function, and `ItemChange`, what it gets; `deliver` calls it without a runner |
| `records` | `Record`: what the stream says about one change |
| `shards` | reading the shards of a stream |
| `runner`, `delivery` | `StreamRunner`, and the delivery of one shard |
| `shard_checkpoints` | how far each shard was handled |
| `leases` | `Lease`: one process among several does the work |
| `failed_records` | `SetAside`: a record that a handler failed on too often |
"""

from keyplan.data.streams.failed_records import HandlerFailed, SetAside, discard, retry, set_aside
from keyplan.data.streams.handlers import ChangeKind, Handler, ItemChange, deliver, on
from keyplan.data.streams.leases import Lease, LeaseLost
from keyplan.data.streams.records import Record, from_event
from keyplan.data.streams.runner import LEASE_SECONDS, StreamRunner

__all__ = [
    "LEASE_SECONDS",
    "ChangeKind",
    "Handler",
    "HandlerFailed",
    "ItemChange",
    "Lease",
    "LeaseLost",
    "Record",
    "SetAside",
    "StreamRunner",
    "deliver",
    "discard",
    "from_event",
    "on",
    "retry",
    "set_aside",
]
