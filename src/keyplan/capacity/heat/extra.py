"""NumPy, which is needed to simulate millions of requests, and which is optional."""

from importlib.util import find_spec


class MissingNumPy(RuntimeError):
    """NumPy isn't installed."""


def require_numpy() -> None:
    """Refuse to forecast without NumPy."""
    if find_spec("numpy") is None:
        raise MissingNumPy("Forecasts need NumPy. Install it with: pip install 'keyplan[forecast]'")
