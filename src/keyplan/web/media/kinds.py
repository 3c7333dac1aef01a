"""The real type of a file, by its bytes.

Only pictures are recognized, and no types that a browser would run, such as SVG or HTML.
"""

import struct
from collections.abc import Callable, Collection
from dataclasses import dataclass

HEAD_BYTES = 64
"""The length of a file's beginning that is enough to tell its type."""


@dataclass(frozen=True)
class Kind:
    """A type of file that is accepted."""

    title: str
    """What people call it."""
    content_type: str
    extension: str
    recognises: Callable[[bytes, int], bool]
    """Whether a file with this beginning and of this size is one."""


def _is_jpeg(head: bytes, size: int) -> bool:
    """The start of an image, and after it a marker of a segment or frame."""
    return head[:3] == b"\xff\xd8\xff" and len(head) > 3 and 0xC0 <= head[3] <= 0xFE


def _is_png(head: bytes, size: int) -> bool:
    """The signature, and a header with a width and a height."""
    if head[:16] != b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" or len(head) < 24:
        return False
    width, height = struct.unpack(">II", head[16:24])
    return bool(width and height)


def _is_gif(head: bytes, size: int) -> bool:
    return head[:6] in (b"GIF87a", b"GIF89a") and size > 13


def _is_webp(head: bytes, size: int) -> bool:
    """A RIFF file states its length; one that is shorter was cut off."""
    if head[:4] != b"RIFF" or head[8:12] != b"WEBP" or head[12:16] not in (b"VP8 ", b"VP8L", b"VP8X"):
        return False
    (length,) = struct.unpack("<I", head[4:8])
    return bool(length + 8 <= size)


KINDS = (
    Kind("JPEG", "image/jpeg", "jpg", _is_jpeg),
    Kind("PNG", "image/png", "png", _is_png),
    Kind("GIF", "image/gif", "gif", _is_gif),
    Kind("WebP", "image/webp", "webp", _is_webp),
)
BY_TYPE = {kind.content_type: kind for kind in KINDS}
BY_EXTENSION = {kind.extension: kind for kind in KINDS}
IMAGES = tuple(BY_TYPE)
"""The content types of all pictures that are accepted."""


def kind_of(head: bytes, size: int) -> Kind | None:
    """The type of a file, by its first `HEAD_BYTES` bytes and its size; None for a type that isn't accepted."""
    return next((kind for kind in KINDS if kind.recognises(head, size)), None)


def not_supported(types: Collection[str]) -> str:
    """The message about a file that has none of these types."""
    *others, last = [kind.title for kind in KINDS if kind.content_type in types]
    listed = f"{', '.join(others)} or {last}" if others else last
    return f"This file type isn't supported. Upload {listed}."
