"""The private interfaces of pydantic that entities use, each with its public replacement.

A fast path is used only with a pydantic release that it was tested with. With any other release, or if the
environment variable `KEYPLAN_NO_FAST_PATHS` is set, the public interface does the same work. `keyplan.data.compat`
follows the same switch.

| fast path | private interface | public interface | gain |
| --- | --- | --- | --- |
| `SharedNames` | the slot `__pydantic_fields_set__` | a set for each entity | 0.1 of 1.5 µs per entity that is read |
"""

import os
import re

import pydantic
from pydantic import BaseModel

TESTED_PYDANTIC = ((2, 11), (2, 14))
"""The first and the last minor release of pydantic that the fast paths were tested with."""


def is_tested(release: str) -> bool:
    """Whether the fast paths were tested with this version of pydantic. Pre-releases never count as tested."""
    found = re.fullmatch(r"(\d+)\.(\d+)(\.\d+)*", release)
    first, last = TESTED_PYDANTIC
    return found is not None and first <= (int(found[1]), int(found[2])) <= last


fast_paths = not os.environ.get("KEYPLAN_NO_FAST_PATHS") and is_tested(pydantic.VERSION)
"""Whether private interfaces are used. Tests change it."""


class SharedNames(set[str]):
    """The names of all fields, in one set that is shared by all entities that were read with all of them.

    pydantic only adds names that are already in it. Asking an entity for its set, or copying the entity, gives a set
    that isn't shared.
    """

    def __copy__(self) -> set[str]:
        return set(self)


def own_fields_set(entity: BaseModel, given: set[str]) -> set[str]:
    """The set of an entity's given fields, which the caller may change: a copy if it is shared."""
    if isinstance(given, SharedNames):
        given = set(given)
        object.__setattr__(entity, "__pydantic_fields_set__", given)
    return given
