"""Changing something while WavyBlog compares a password."""

from collections.abc import Callable

import pytest

from keyplan.apps.wavyblog.entities import User
from keyplan.apps.wavyblog.service import accounts


def while_a_password_is_checked(monkeypatch: pytest.MonkeyPatch, act: Callable[[], object]) -> None:
    """Run a function once, right after the next password comparison."""
    compared = accounts._matches

    def overtaken(password: str, user: User | None) -> bool:
        right = compared(password, user)
        monkeypatch.setattr(accounts, "_matches", compared)
        act()
        return right

    monkeypatch.setattr(accounts, "_matches", overtaken)
