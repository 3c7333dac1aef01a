"""Small systems to count in: each sample stands below one post and the kit's names."""

from textwrap import dedent

from tools.counting.sources import System
from tools.counts import Counts

_HEAD = """
    from dataclasses import dataclass
    from typing import Annotated, ClassVar
    from pydantic import BaseModel, Field, create_model
    from keyplan.design import Entity
    from keyplan.data import DataError, InUse, NotFound
    from keyplan.web import In, Out, Service, Missing, InConflict, Unprocessable, Stale, IfMatch, MayMatch

    Seen = frozenset[int] | None

    class Post(Entity):
        slug: str
        title: str
        author_id: str
        version: int = 0
"""
_KIT = """
    from keyplan.web import Missing, Stale

    class Service:
        def current(self, entity, versions: frozenset[int] | None) -> None:
            if versions is not None and entity.version not in versions:
                raise Stale

        def permit(self, allowed: bool, *, hidden: bool = False) -> None:
            if not allowed:
                raise Missing

        def find(self, op, versions: frozenset[int] | None = None):
            found = self.store.run(op)
            if found is None:
                raise Missing
            self.current(found, versions)
            return found
"""
_KIT_SYSTEM = System("web", {"keyplan.web.kit": dedent(_KIT)})


def counts(sample: str, exceptions: dict[str, str] | None = None) -> Counts:
    """The figures of a sample."""
    source = f"{dedent(_HEAD)}\n{dedent(sample)}"
    return Counts(System("sample", {"keyplan.apps.sample.code": source}), _KIT_SYSTEM, exceptions or {})


def again(sample: str) -> list[str]:
    """What a sample declares again."""
    return [place.what for place in counts(sample).declared_again]


def repeated(kind: str, sample: str) -> int:
    """How often a sample repeats something."""
    return len(counts(sample).repetitions[kind])


def samples(text: str) -> list[str]:
    """Several samples, with lines of dashes between them."""
    return [f"{each}\n" for each in dedent(text).split("---\n")]
