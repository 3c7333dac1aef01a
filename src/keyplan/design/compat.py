"""The private interfaces of pydantic that entities use, each with the public way beside it.

A fast path is taken only with a release of pydantic that it was tested with. With any other release, or where the
environment variable `KEYPLAN_NO_FAST_PATHS` is set, the public interface does the same work. `keyplan.data.compat`
follows the same switch.

| fast path | private interface | public interface | gain |
| --- | --- | --- | --- |
| `SharedNames` | the slot `__pydantic_fields_set__` | a set for each entity | 0.1 µs of 1.5 for each that is read |
"""

import os
import re

import pydantic
from pydantic import BaseModel

TESTED_PYDANTIC = ((2, 11), (2, 14))
"""The first and the last minor release of pydantic that the fast paths were tested with, and all between them."""


def is_tested(release: str) -> bool:
    """Whether the fast paths were tested with a version of pydantic; never with one that is not a plain release."""
    found = re.fullmatch(r"(\d+)\.(\d+)(\.\d+)*", release)
    first, last = TESTED_PYDANTIC
    return found is not None and first <= (int(found[1]), int(found[2])) <= last


fast_paths = not os.environ.get("KEYPLAN_NO_FAST_PATHS") and is_tested(pydantic.VERSION)
"""Whether private interfaces are used. Tests change it."""


class SharedNames(set[str]):
    """The names of all fields, for entities that were read with all of them: one set for all of those entities.

    Whatever pydantic adds to it is in it already. Who asks an entity for its set, or copies the entity, gets a set of
    their own.
    """

    def __copy__(self) -> set[str]:
        return set(self)


def own_fields_set(entity: BaseModel, given: set[str]) -> set[str]:
    """The set of an entity's given fields, which its holder may change: a copy where many entities share one."""
    if isinstance(given, SharedNames):
        given = set(given)
        object.__setattr__(entity, "__pydantic_fields_set__", given)
    return given
