"""Journals: items in the design's housekeeping table for jobs that have begun and are not finished."""

import json
from hashlib import sha256

from keyplan.data.codec.addresses import Address, address
from keyplan.data.codec.values import Item
from keyplan.data.writes.operations import Context
from keyplan.data.writes.plan import Plan
from keyplan.design import HOUSEKEEPING

JOURNALS = "JOB"


def journal(context: Context, kind: str, name: str, subject: Item) -> Item:
    """A new journal. Its key depends only on the job and the time, so that a retried request writes the same one."""
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
    """Add the journal to a plan."""
    plan.put(place_of(journal), journal)


def end(plan: Plan, journal: Item) -> None:
    """Add the removal of the journal to a plan."""
    plan.remove(place_of(journal))


def place_of(journal: Item) -> Address:
    return address(HOUSEKEEPING, journal)


def digest(*parts: object) -> str:
    """A short hash of these values: the same in every process."""
    return sha256(json.dumps(parts, sort_keys=True, default=repr).encode()).hexdigest()[:32]
