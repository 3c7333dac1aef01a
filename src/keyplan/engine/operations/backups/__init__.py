"""Backups, point-in-time recovery, and restores.

**How a table is kept as of one moment.** The design rests on the table's history (`storage/history.py`): while it is
recorded, each write also stores what its item was before. From the rows as they are now, walking the history back
leads to any earlier moment, so that neither a backup nor recovery has to stop writers or to read the table at once.

- *Point-in-time recovery* is the history alone. Turning it on copies nothing; a write costs one more row; entries from
  before the recovery period are trimmed by maintenance; turning it off frees them.
- *A backup* is a copy of the rows, as of the moment of CreateBackup. A small table is copied in that call. For a large
  one the history is recorded while maintenance copies in steps (`storage/copies.py`), first the rows as they come, then
  the history back to that moment. The backup is complete in itself: it doesn't need the table or its history later.
- *A restore* copies the rows of a backup, or those of a table back to a moment, into a new table in the same way, and
  then fills its indexes. Until then the table is CREATING: it is described, but its items can't be used.
- *A system backup*, of a table that is deleted while recovery is on, takes over the rows of the table as they are.

A restore to second T has all writes until the end of that second, so that restoring to the LatestRestorableDateTime
that was just described has everything. Work in progress is a *job* (`operations/jobs.py`): its state is a record that
each step updates in its own transaction, so that it survives the end of the process, and any process can continue it.
Histories and copies need no lock: the order of commits is the order of the history.

`on_demand` has the operations on backups, `continuous_backups` those on recovery, `restores` both restores, and
`restored_tables` makes the definition of a restored table from its source and the overrides.
"""
