"""Has pictures decoded by other processes, of which there is at most one for each core.

Such a process has limited memory, limited time and no access to our environment. One that takes too long is killed, and
the next picture gets a new one; otherwise it stays, since starting one takes long.
"""

import atexit
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

from keyplan.web.media.objects import Readable
from keyplan.web.models.problems import Unavailable, Unprocessable

MEGAPIXELS = 50
"""The most that a picture may have, unless the settings say otherwise."""
SECONDS = 10.0
"""How long a picture may take."""
MEMORY = 1536 * 1024 * 1024
"""The address space of a process."""
WAITING = 8
"""How many pictures may wait in a server process. More would take the threads of other requests."""
_PROGRAM = Path(__file__).with_name("decoding.py")
_PASSED_ON = ("COVERAGE_PROCESS_START", "LD_LIBRARY_PATH", "PATH", "SYSTEMROOT")
_AGAIN = "Save the picture again in another program and upload the new file."


class Decoder:
    """Decodes pictures of up to so many megapixels, several at a time."""

    def __init__(
        self,
        places: int,
        megapixels: int,
        *,
        seconds: float = SECONDS,
        memory: int = MEMORY,
        waiting: int = WAITING,
        program: Path = _PROGRAM,
    ) -> None:
        self._megapixels = megapixels
        self._seconds = seconds
        self._memory = memory
        self._program = program
        self._places = threading.BoundedSemaphore(places)
        self._allowed = threading.BoundedSemaphore(places + waiting)
        self._idle: list[subprocess.Popen[bytes]] = []
        atexit.register(self.close)

    def fault(self, received: Readable, content_type: str) -> Unprocessable | None:
        """What is wrong with a picture. Raises `Unavailable` if too many are waiting."""
        with self._place():
            code = self._decoded(received, content_type)
            if code == "stopped":  # perhaps by chance, such as for want of memory
                code = self._decoded(received, content_type)
        return None if code is None else self._said(code)

    def close(self) -> None:
        """End all processes that wait."""
        while self._idle:
            _end(self._idle.pop())

    @contextmanager
    def _place(self) -> Iterator[None]:
        if not self._allowed.acquire(blocking=False):
            raise _busy()
        try:
            if not self._places.acquire(timeout=self._seconds):
                raise _busy()
            try:
                yield
            finally:
                self._places.release()
        finally:
            self._allowed.release()

    def _process(self) -> subprocess.Popen[bytes]:
        with suppress(IndexError):
            while (process := self._idle.pop()).poll() is not None:
                _end(process)
            return process
        try:
            return subprocess.Popen(
                [sys.executable, "-I", str(self._program), str(self._memory)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env={name: os.environ[name] for name in _PASSED_ON if name in os.environ},
            )
        except OSError as error:
            raise _busy() from error

    def _decoded(self, received: Readable, content_type: str) -> str | None:
        process, late = self._process(), threading.Event()

        def stop() -> None:
            late.set()
            process.kill()

        watch = threading.Timer(self._seconds, stop)
        watch.start()
        try:
            code = self._asked(process, received, content_type)
        except OSError:  # it ended while it read
            code = "stopped"
        except BaseException:
            late.set()
            raise
        finally:
            watch.cancel()
            watch.join()
            if late.is_set():
                _end(process)
        if late.is_set():
            return "late"
        if code in ("stopped", "too-large"):  # it may have little memory left
            _end(process)
        else:
            self._idle.append(process)
        return code

    def _asked(self, process: subprocess.Popen[bytes], received: Readable, content_type: str) -> str | None:
        assert process.stdin is not None
        assert process.stdout is not None
        job = {"content_type": content_type, "size": received.size, "pixels": self._megapixels * 1_000_000}
        process.stdin.write(json.dumps(job).encode() + b"\n")
        for chunk in received.chunks():
            process.stdin.write(chunk)
        process.stdin.flush()
        answer = process.stdout.readline()
        return json.loads(answer)["fault"] if answer else "stopped"

    def _said(self, code: str) -> Unprocessable:
        match code:
            case "too-large":
                detail = (
                    f"The picture has more than {self._megapixels} megapixels. Make it smaller and upload it again."
                )
                return Unprocessable("picture-too-large", detail)
            case "too-many-frames":
                return Unprocessable("picture-too-large", "The animation is too long. Make it shorter or smaller.")
            case "goes-on":
                return Unprocessable("picture-goes-on", f"The file has more in it than a picture. {_AGAIN}")
            case "html":
                return Unprocessable("picture-has-html", f"There is HTML in the picture. {_AGAIN}")
            case "late" | "stopped":
                return Unprocessable("picture-too-complex", f"The picture takes too long to decode. {_AGAIN}")
        return Unprocessable("picture-damaged", f"The picture is damaged or incomplete. {_AGAIN}")


def _busy() -> Unavailable:
    return Unavailable("pictures-busy", "Too many pictures are being checked right now. Try again in a moment.")


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()
    for pipe in (process.stdin, process.stdout):
        with suppress(OSError):
            if pipe is not None:
                pipe.close()


@cache
def decoder_of(workers: int, megapixels: int) -> Decoder:
    """The decoder of this process, which is one of so many server processes."""
    return Decoder(max(1, (os.cpu_count() or 1) // workers), megapixels)
