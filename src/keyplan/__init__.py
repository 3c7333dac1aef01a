"""DynamoDB designs that run. `import keyplan` brings in nothing: each part is imported by its own name.

`keyplan.mock` is here because it is used in tests of programs that know nothing else of Keyplan.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from keyplan.engine import mock

__all__ = ["mock"]


def __getattr__(name: str) -> object:
    """Import `mock` on first use: it needs the engine and boto3, which are slow to import."""
    if name == "mock":
        from keyplan.engine import mock

        return mock
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
