"""The database files that an older commit wrote, unpacked for a test; `fixtures/README.md` says what is in them."""

import json
import lzma
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "fixtures" / "old_files"


def unpacked(name: str, folder: Path) -> Path:
    """A copy of a file (`demo.db`, `over_limits.db`) that a test may change."""
    copy = folder / name
    copy.touch(0o600)
    copy.write_bytes(lzma.decompress((FOLDER / f"{name}.xz").read_bytes()))
    return copy


def over_limits() -> list[dict[str, Any]]:
    """What is in `over_limits.db`: `system`, `entity`, `key`, and `over` with the fields that break a limit."""
    found: list[dict[str, Any]] = json.loads((FOLDER / "over_limits.json").read_text("utf-8"))
    return found
