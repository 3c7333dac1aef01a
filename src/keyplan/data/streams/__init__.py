"""Stream handlers: what is done when items change, told by the streams of their tables.

A handler is a function with a declaration on it; it knows nothing of who calls it:

    @on(Sponsor, "REMOVE")
    def remove_logo(change: Change[Sponsor], running: Running[Vcm]) -> None: ...

`deliver` hands one record of a stream to the handlers that want it. `StreamRunner` reads a table's stream and does so
for every record: at least once, in order within a shard, so a handler must not mind to see a record twice. How far it
came is kept in the design's housekeeping table, and a lease there makes one process among several the runner. A
record that a handler fails on is tried again, and in the end set aside (`set_aside`), where an operator can `retry`
or `discard` it while the others go on.
"""

from keyplan.data.streams.aside import HandlerFailed, SetAside, discard, retry, set_aside
from keyplan.data.streams.handlers import Change, Handler, Kind, deliver, on
from keyplan.data.streams.leases import Lease, LeaseLost
from keyplan.data.streams.records import Record, from_event
from keyplan.data.streams.runner import StreamRunner

__all__ = [
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
