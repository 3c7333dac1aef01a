"""Whether NumPy is installed, which computes vector searches."""

from functools import cache
from importlib.util import find_spec

from keyplan.engine.errors import validation_error


@cache
def _has_numpy() -> bool:
    return find_spec("numpy") is not None


def require_numpy() -> None:
    """Refuse an operation that needs NumPy, with what to install, if it is missing."""
    if not _has_numpy():
        raise validation_error("Vector indexes need NumPy, which isn't installed. Run: pip install 'keyplan[vectors]'")
