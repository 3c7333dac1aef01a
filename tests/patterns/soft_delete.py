# pyright: strict
"""# Soft delete

A deleted note goes to the trash: lists don't show it, its address is free again, and it can be restored for 30 days.
Then DynamoDB deletes it.

Use it where people delete by mistake, or where something must be kept for a while.

**Not for** data that has to be gone at once, such as on the request of a user: delete the item.
"""

from datetime import datetime, timedelta

from keyplan.data import Store, create, update
from keyplan.design import Design, Entity, Id, Lookup, Query, Table, Ttl, key, lookup, new_id, pattern, query, unique

notes = Table(
    "Notes",
    key("PK", "SK"),
    indexes={"Live": key("live_of", "live_at"), "Trash": key("trash_of", "trash_at")},
    ttl="expires",
)

KEPT = timedelta(days=30)


class Note(Entity, table=notes):
    note_id: Id = new_id()
    owner: Id
    slug: Id
    written_at: datetime
    live: bool = True
    deleted_at: datetime | None = None
    expires: Ttl | None = None

    primary = key("NOTE#{note_id}", "NOTE")
    live_notes = notes.Live("OWNER#{owner}", "{written_at}#{note_id}", when="live")
    trash = notes.Trash("OWNER#{owner}", "{deleted_at}#{note_id}")
    slug_guard = unique("SLUG#{owner}#{slug}", carries="note_id", when="live")

    def delete_softly(self, now: datetime) -> None:
        self.live, self.deleted_at, self.expires = False, now, now + KEPT

    def restore(self) -> None:
        self.live, self.deleted_at, self.expires = True, None, None


class Notes(Design):
    tables = (notes,)
    entities = (Note,)

    @pattern("Get note by slug")
    def by_slug(self, owner: str, slug: str) -> Lookup[Note]:
        return lookup(Note.slug_guard, owner=owner, slug=slug)

    @pattern("List notes of an owner, newest first")
    def notes_of(self, owner: str) -> Query[Note]:
        return query(Note.live_notes, owner=owner, newest_first=True)

    @pattern("List trash of an owner, last deleted first")
    def trash_of(self, owner: str) -> Query[Note]:
        return query(Note.trash, owner=owner, newest_first=True)


def use(store: Store[Notes]) -> None:
    """One update moves the note from one index to the other and gives up its slug. An item without a value for a field
    in an index key (`deleted_at`) isn't in that index."""
    now = store.clock()
    note = store.run(create(Note(owner="ada", slug="engine", written_at=now)))
    note.delete_softly(now)
    store.run(update(note))
    assert store.run(store.design.notes_of("ada")).items == []
    assert store.run(store.design.by_slug("ada", "engine")) is None

    (found,) = store.run(store.design.trash_of("ada")).items
    found.restore()
    store.run(update(found))  # refused if the slug was taken meanwhile
    assert [each.slug for each in store.run(store.design.notes_of("ada")).items] == ["engine"]
