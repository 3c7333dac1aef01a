"""What is checked when a file is opened, before anything in it is read or written."""

from pathlib import Path

import apsw

from keyplan.engine.storage.damage import check_end, check_log
from keyplan.engine.storage.file_upgrade import check_format
from keyplan.engine.storage.log_binding import check_binding


def check_file(connection: apsw.Connection, path: Path) -> bool:
    """Refuse damage that SQLite doesn't detect by itself, before anything is read or written.

    Returns whether the file has today's format.
    """
    current = check_format(path, connection.pragma("user_version"))

    def accepted_frames() -> int:
        return connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_NOOP)[0]

    check_log(path, accepted_frames)
    current = check_binding(path, connection, current=current) and current
    check_end(path, accepted_frames())
    return current
