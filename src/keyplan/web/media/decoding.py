"""Decodes pictures, in a process of its own that can be killed. It imports nothing of Keyplan, so that it starts fast.

It reads jobs from its standard input: a line of JSON (`content_type`, `size` and `pixels`, the most that a picture may
have), then the file. For each it writes a line of JSON with the `fault` of the picture, or null. `decoder.py` runs it.
"""

import json
import re
import signal
import struct
import sys
import warnings
from io import BytesIO
from typing import BinaryIO

from PIL import Image, UnidentifiedImageError

FRAMES = 1_000
"""The most frames of an animation."""
ALL_FRAMES = 10
"""All frames of an animation may have this many times the pixels of a picture."""
_FORMATS = {"image/jpeg": "JPEG", "image/png": "PNG", "image/gif": "GIF", "image/webp": "WEBP"}
_HTML = re.compile(rb"<(?:!doctype\s+html|html[\s>]|body[\s>]|script[\s>/]|iframe[\s>/]|\?php)", re.IGNORECASE)
"""What makes a browser or a server take a file for something else. Too long to occur by chance."""


class Fault(Exception):
    """Why a picture is refused; its argument is a code."""


def check(data: bytes, content_type: str, pixels: int) -> None:
    """Refuse bytes that aren't exactly one picture of this type, with all of its frames."""
    if _HTML.search(data):
        raise Fault("html")
    try:
        end = _ENDS[content_type](data)
    except (IndexError, struct.error) as error:
        raise Fault("damaged") from error
    if end > len(data):
        raise Fault("damaged")
    if data[end:].strip(b"\0"):
        raise Fault("goes-on")
    with warnings.catch_warnings():
        warnings.simplefilter("error", Image.DecompressionBombWarning)
        Image.MAX_IMAGE_PIXELS = pixels
        try:
            _decode(data, _FORMATS[content_type], pixels)
        except (Image.DecompressionBombWarning, Image.DecompressionBombError, MemoryError) as error:
            raise Fault("too-large") from error
        except UnidentifiedImageError as error:
            raise Fault("damaged") from error
        except (OSError, SyntaxError, ValueError, EOFError, TypeError, IndexError, KeyError, struct.error) as error:
            raise Fault("damaged") from error  # all that Pillow raises for bytes that it can't read


def _decode(data: bytes, kind: str, pixels: int) -> None:
    """Decode every frame."""
    with Image.open(BytesIO(data), formats=[kind]) as picture:
        width, height = picture.size
        if width * height > pixels:
            raise Fault("too-large")
        frames: int = getattr(picture, "n_frames", 1)
        if frames > FRAMES or frames * width * height > ALL_FRAMES * pixels:
            raise Fault("too-many-frames")
        for number in range(frames):
            picture.seek(number)
            picture.load()


# Where a picture ends


def _end_of_png(data: bytes) -> int:
    at = 8
    while True:
        length: int = struct.unpack_from(">I", data, at)[0]
        kind = data[at + 4 : at + 8]
        at += 12 + length
        if kind == b"IEND":
            return at


def _end_of_gif(data: bytes) -> int:
    def after_blocks(at: int) -> int:
        while data[at]:
            at += 1 + data[at]
        return at + 1

    def after_colors(at: int, flags: int) -> int:
        return at + (3 << (flags & 7) + 1 if flags & 0x80 else 0)

    at = after_colors(13, data[10])
    while data[at] != 0x3B:
        if data[at] == 0x21:
            at = after_blocks(at + 2)
        elif data[at] == 0x2C:
            at = after_blocks(after_colors(at + 10, data[at + 9]) + 1)
        else:
            raise Fault("damaged")
    return at + 1


def _end_of_webp(data: bytes) -> int:
    length: int = struct.unpack_from("<I", data, 4)[0]
    return 8 + length


def _end_of_jpeg(data: bytes) -> int:
    """The end of the last of several pictures: cameras put one in front of others, such as the map of a bright one."""
    at = _end_of_one_jpeg(data, 0)
    while (more := data.find(b"\xff\xd8\xff", at)) >= 0 and not data[at:more].strip(b"\0"):
        at = _end_of_one_jpeg(data, more)
    return at


_marker_in_scan = re.compile(rb"\xff[^\x00\xff\xd0-\xd7]").search


def _end_of_one_jpeg(data: bytes, at: int) -> int:
    at += 2
    while True:
        if data[at] != 0xFF:
            raise Fault("damaged")
        while data[at] == 0xFF:
            at += 1
        marker = data[at]
        at += 1
        if marker == 0xD9:
            return at
        (length,) = struct.unpack_from(">H", data, at)
        at += length
        if marker == 0xDA:
            found = _marker_in_scan(data, at)
            if found is None:
                raise Fault("damaged")
            at = found.start()


_ENDS = {"image/jpeg": _end_of_jpeg, "image/png": _end_of_png, "image/gif": _end_of_gif, "image/webp": _end_of_webp}


# The process


def _limit_memory(size: int) -> None:
    try:
        import resource
    except ImportError:  # on Windows, where only the time is limited
        return
    resource.setrlimit(resource.RLIMIT_AS, (size, size))


def serve(jobs: BinaryIO, answers: BinaryIO) -> None:
    """Answer jobs until there are no more."""
    while line := jobs.readline():
        job = json.loads(line)
        fault = None
        try:
            data = jobs.read(job["size"])
            check(data, job["content_type"], job["pixels"])
        except Fault as refused:
            fault = str(refused)
        except MemoryError:
            fault = "too-large"
        answers.write(json.dumps({"fault": fault}).encode() + b"\n")
        answers.flush()


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the server ends it
    _limit_memory(int(sys.argv[1]))
    serve(sys.stdin.buffer, sys.stdout.buffer)
