# pyright: strict
"""# Sequence numbers

Issue 1, 2, 3 of a repository; invoice 2026-0001. The number is taken from a counter in the parent's item, in the
transaction that writes the new item, so that no number is missing or given twice.

Use it where people read the numbers, or where the law wants no gaps.

**Not for** ids that nobody reads: `new_id()` makes ids that sort by time, without a counter that everybody has to pass.
A counter takes about 1000 writes a second at most, and writers that meet there try again.
"""

from keyplan.data import ConditionFailed, Store, create, patch
from keyplan.design import Design, Entity, Get, Id, Query, Ref, Table, belongs_to, get, key, pattern, query, ref

forge = Table("Forge", key("PK", "SK"))


class Repository(Entity, table=forge):
    name: Id
    last_number: int = 0

    primary = key("REPO#{name}", "REPO")


class Issue(Entity, table=forge):
    name: Id
    number: int
    title: str

    primary = key("REPO#{name}", "ISSUE#{number:08}")

    @belongs_to(on_delete="cascade")
    def repository(self) -> Ref[Repository]:
        return ref(Repository, name=self.name)


class Forge(Design):
    tables = (forge,)
    entities = (Repository, Issue)

    @pattern("Get repository")
    def repository(self, name: str) -> Get[Repository]:
        return get(Repository, name=name, consistent=True)

    @pattern("Get issue by number")
    def issue(self, name: str, number: int) -> Get[Issue]:
        return get(Issue, name=name, number=number)

    @pattern("List issues of a repository, newest first")
    def issues(self, name: str) -> Query[Issue]:
        return query(Issue.primary, name=name, newest_first=True)


def open_issue(store: Store[Forge], name: str, title: str) -> Issue:
    """The new issue, with the next number. Tries again if somebody else took the number in between."""
    repository = store.run(store.design.repository(name))
    if repository is None:
        raise LookupError(f"there is no repository {name}")
    last = repository.last_number
    issue = Issue(name=name, number=last + 1, title=title)
    take = patch(ref(Repository, name=name), where=lambda each: each.last_number == last, last_number=last + 1)
    try:
        store.transact(take, create(issue))
    except ConditionFailed:
        return open_issue(store, name, title)
    return issue


def use(store: Store[Forge]) -> None:
    """The patch and the new issue are one transaction: a failed create leaves no gap."""
    store.run(create(Repository(name="keyplan")))
    assert open_issue(store, "keyplan", "Write a recipe").number == 1
    assert open_issue(store, "keyplan", "Test it").number == 2
    assert [issue.title for issue in store.run(store.design.issues("keyplan")).items] == ["Test it", "Write a recipe"]
