"""A model of what a club should have stored, in plain values."""

from dataclasses import dataclass, field
from typing import Any


@dataclass
class Model:
    """What should be stored, as plain dicts."""

    users: dict[str, dict[str, Any]] = field(default_factory=dict)
    articles: dict[str, dict[str, Any]] = field(default_factory=dict)
    teams: dict[str, str] = field(default_factory=dict)
    members: dict[tuple[str, str], str] = field(default_factory=dict)
    games: dict[tuple[str, str], set[int]] = field(default_factory=dict)
    notes: dict[str, dict[str, Any]] = field(default_factory=dict)
    aliases: dict[str, str] = field(default_factory=dict)

    def admins(self, team: str) -> int:
        return sum(role == "admin" for (where, _), role in self.members.items() if where == team)
