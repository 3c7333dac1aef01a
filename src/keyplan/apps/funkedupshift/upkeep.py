"""What funkedupshift cleans up by itself: files that nothing refers to."""

from contextlib import suppress

from keyplan.apps.funkedupshift.design import FunkedUpShiftDesign
from keyplan.data import Refused, delete
from keyplan.web import Running


def sweep_files(running: Running[FunkedUpShiftDesign]) -> None:
    """Delete the files of avatars that were replaced or removed."""
    for leftover in running.store.each(running.design.leftover_files()):
        running.media.delete(leftover.file)
        with suppress(Refused):  # another process was faster
            running.store.run(delete(leftover))
