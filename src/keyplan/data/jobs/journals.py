"""Journals: items in the design's housekeeping table that say which work was begun and is not finished."""

import json
from hashlib import sha256

from keyplan.data.codec.addresses import Address, address
from keyplan.data.codec.values import Item
from keyplan.data.writes.operations import Context
from keyplan.data.writes.plan import Plan
from keyplan.design import HOUSEKEEPING

JOURNALS = "JOB"


def journal(context: Context, kind: str, name: str, subject: Item) -> Item:
    """A new journal. The same work that is begun at the same moment has the same, so that it can be begun again."""
    started = context.now.isoformat()
    return {
        "pk": {"S": JOURNALS},
        "sk": {"S": digest(kind, name, started, subject)},
        "kind": {"S": kind},
        "name": {"S": name},
        "startedAt": {"S": started},
        **subject,
    }


def begin(plan: Plan, journal: Item) -> None:
    """Write the journal with what the plan does."""
    plan.put(place_of(journal), journal)


def end(plan: Plan, journal: Item) -> None:
    """Remove the journal with what the plan does."""
    plan.remove(place_of(journal))


def place_of(journal: Item) -> Address:
    return address(HOUSEKEEPING, journal)


def digest(*parts: object) -> str:
    """A short name for something: the same for the same, whoever asks."""
    return sha256(json.dumps(parts, sort_keys=True, default=repr).encode()).hexdigest()[:32]
