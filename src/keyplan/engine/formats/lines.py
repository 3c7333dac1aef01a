"""Compressed files line by line, within limits on the length of a line and on what comes out of a file."""

import gzip
import zlib
from collections.abc import Iterator
from typing import IO, BinaryIO, Literal, TypeAlias, cast

Compression: TypeAlias = Literal["NONE", "GZIP", "ZSTD"]

LONGEST_LINE = 4 * 1024 * 1024
"""Ten times the largest item."""
LARGEST_FILE = 16 * 1024**3
"""Bytes after decompression; a small file can be made to become almost any size."""
_CHUNK = 64 * 1024
_ZSTANDARD_CHUNK = 512
"""Some hundred bytes of Zstandard can become 16 MB at once."""


class BadRecord(Exception):
    """A record of a file is not an item."""


class BadFile(Exception):
    """The rest of a file can't be read."""


def missing_package(compression: str) -> str | None:
    """Return what to install for a compression, or None if nothing is missing."""
    if compression != "ZSTD":
        return None
    try:
        import zstandard  # noqa: F401
    except ImportError:
        return "InputCompressionType ZSTD needs the package zstandard: pip install 'keyplan[zstd]'"
    return None


def opened(file: BinaryIO, compression: Compression) -> IO[bytes]:
    """Return a file's decompressed content."""
    if compression == "GZIP":
        return cast(IO[bytes], gzip.GzipFile(fileobj=file))
    if compression == "ZSTD":
        return cast(IO[bytes], _ZstandardFile(file))
    return file


class _ZstandardFile:
    """The content of a file of Zstandard frames. The package's own reader takes the end of a cut file for its end."""

    def __init__(self, file: BinaryIO) -> None:
        import zstandard

        self._file = file
        self._decompressor = zstandard.ZstdDecompressor()
        self._frame = self._decompressor.decompressobj()
        self._rest = b""
        self._inside = False

    def read(self, _: int) -> bytes:
        """Return the next part, which is empty only at the end."""
        content = b""
        while not content:
            chunk = self._rest or self._file.read(_ZSTANDARD_CHUNK)
            self._rest = b""
            if not chunk:
                if self._inside:
                    raise EOFError("Compressed file ended before the end-of-stream marker was reached")
                return b""
            content = self._frame.decompress(chunk)
            self._inside = not self._frame.eof
            if self._frame.eof:
                self._rest = self._frame.unused_data
                self._frame = self._decompressor.decompressobj()
        return content


class Lines:
    """The lines of a file, without their ends. A line that is too long comes out as None."""

    def __init__(self, file: BinaryIO, compression: Compression) -> None:
        self._file = opened(file, compression)
        self.bytes = 0
        """The number of bytes that were read, after decompression."""

    def __iter__(self) -> Iterator[bytes | None]:
        rest = b""
        skipping = False
        while chunk := self._read():
            first, *others = chunk.split(b"\n")
            pieces = [rest + first, *others] if not skipping else [first, *others]
            for line in pieces[:-1]:
                if skipping:
                    skipping = False  # the end of a line that was reported already
                else:
                    yield line.removesuffix(b"\r") if len(line) <= LONGEST_LINE else None
            rest = b"" if skipping else pieces[-1]
            if len(rest) > LONGEST_LINE:
                yield None
                rest, skipping = b"", True
        if rest:
            yield rest.removesuffix(b"\r")

    def _read(self) -> bytes:
        try:
            chunk = self._file.read(_CHUNK)
        except (OSError, EOFError, zlib.error) as error:
            raise BadFile(f"The file could not be decompressed or read: {error}") from error
        except Exception as error:  # zstandard's own error, whose type needs the package
            if type(error).__module__.partition(".")[0] not in ("zstandard", "zstd"):
                raise
            raise BadFile(f"The file could not be decompressed: {error}") from error
        self.bytes += len(chunk)
        if self.bytes > LARGEST_FILE:
            raise BadFile(f"The file has more than {LARGEST_FILE} bytes after decompression")
        return chunk
