"""Names of files: the folders that a system wants, then 128 random bits, then an extension for the type.

A name is the same on disk, in a bucket and in a URL. It contains safe characters only, so it never leads out of its
system's folder.
"""

import hashlib
import re
import secrets
from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from keyplan.web.media.kinds import BY_EXTENSION, Kind

_SEGMENT = r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,127}"
_PLAIN = re.compile(_SEGMENT)
_NAME = re.compile(rf"(?:{_SEGMENT}/){{0,4}}[0-9a-f]{{8}}(?:-[0-9a-f]{{4}}){{3}}-[0-9a-f]{{12}}\.([a-z]{{3,4}})")
_UPLOAD_ID = re.compile(r"[0-9]{14}-[0-9a-f]{32}")
MOST_FOLDERS = 4


def new_name(kind: Kind, under: Sequence[str] = (), bits: bytes | None = None) -> str:
    """A name that nobody can guess: the given 16 bytes, or random ones, as a UUID.

    `under` are the folders. A folder that isn't safe in a path (an ID from outside) is replaced by its hash.
    """
    if len(under) > MOST_FOLDERS:
        raise ValueError(f"a name has at most {MOST_FOLDERS} folders")
    folders = [_folder(each) for each in under]
    return "/".join([*folders, f"{UUID(bytes=bits or secrets.token_bytes(16))}.{kind.extension}"])


def _folder(text: str) -> str:
    if _PLAIN.fullmatch(text):
        return text
    return f"x-{hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()[:32]}"


def kind_by_name(name: str) -> Kind | None:
    """The kind of a file with this name; None if none of our files can have it."""
    match = _NAME.fullmatch(name)
    return BY_EXTENSION.get(match[1]) if match else None


def new_upload_id(due: datetime) -> str:
    """An ID that nobody can guess. IDs sort by the time when the upload expires."""
    return f"{time_mark(due)}-{secrets.token_hex(16)}"


def time_mark(moment: datetime) -> str:
    """The beginning of the IDs of uploads that expire at a time."""
    return f"{moment:%Y%m%d%H%M%S}"


def is_upload_id(text: str) -> bool:
    return _UPLOAD_ID.fullmatch(text) is not None
