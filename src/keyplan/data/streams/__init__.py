"""Stream handlers: functions that are called when items change, with the records of their tables' streams.

Knows all of `keyplan.data`, and is a public package of its own. A handler is a function with a declaration on it:

    @on(Sponsor, "REMOVE")
    def remove_logo(change: Change[Sponsor], running: Running[Vcm]) -> None: ...

`StreamRunner` reads a table's stream and delivers each record at least once, in order within a shard, so a handler must
accept a record that it has seen before. Checkpoints in the design's housekeeping table say how far each shard was
handled, and a lease there lets one process among several run. A record that a handler keeps failing on is set aside:
`set_aside` lists such records, and an operator can `retry` or `discard` each while the others go on.

Main types: `Handler` (a declared function), `Change` (what it is called with), `Record` (what the stream holds),
`StreamRunner`, `Lease`, `SetAside` (a record that was set aside). `deliver` calls handlers with one record, without a
runner.
"""

from keyplan.data.streams.failed_records import HandlerFailed, SetAside, discard, retry, set_aside
from keyplan.data.streams.handlers import Change, Handler, Kind, deliver, on
from keyplan.data.streams.leases import Lease, LeaseLost
from keyplan.data.streams.records import Record, from_event
from keyplan.data.streams.runner import LEASE_SECONDS, StreamRunner

__all__ = [
    "LEASE_SECONDS",
    "Change",
    "Handler",
    "HandlerFailed",
    "Kind",
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
