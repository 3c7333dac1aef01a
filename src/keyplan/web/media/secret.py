"""The secret of a system's files: created once, and stored in its housekeeping table for all processes."""

import secrets
from typing import Any

from keyplan.data import AlreadyExists, Store, create
from keyplan.design import HOUSEKEEPING, Entity, get, key


class MediaSecret(Entity, table=HOUSEKEEPING):
    """The secret that signs forms and derives names."""

    secret: bytes

    primary = key("MEDIA", "SECRET")


class KeptSecret:
    """The secret, read when it is first needed."""

    def __init__(self, store: Store[Any]) -> None:
        self._store = store
        self._secret: bytes | None = None

    def __call__(self) -> bytes:
        if self._secret is None:
            self._secret = self._kept() or self._made()
        return self._secret

    def _kept(self) -> bytes | None:
        kept = self._store.run(get(MediaSecret, consistent=True))
        return None if kept is None else kept.secret

    def _made(self) -> bytes:
        try:
            return self._store.run(create(MediaSecret(secret=secrets.token_bytes(32)))).secret
        except AlreadyExists:  # by another process, just now
            kept = self._kept()
            assert kept is not None, "the secret is never deleted"
            return kept
