"""Changing something while WavyBlog compares a password."""

from collections.abc import Callable

import pytest

from keyplan.apps.wavyblog.entities import User
from keyplan.apps.wavyblog.service import accounts


def while_a_password_is_checked(monkeypatch: pytest.MonkeyPatch, act: Callable[[], object]) -> None:
    """Do something once, after the next password was compared and before anything follows from that."""
    compared = accounts._matches

    def overtaken(password: str, user: User | None) -> bool:
        right = compared(password, user)
        monkeypatch.setattr(accounts, "_matches", compared)
        act()
        return right

    monkeypatch.setattr(accounts, "_matches", overtaken)
