"""A store with a failed record, and the handler that failed."""

from typing import Any

from keyplan.data import Store, create, update
from keyplan.data.streams import ItemChange, StreamRunner, discard, on, set_aside
from keyplan.engine import Engine
from tests.data.press import Article, Press, Times, articles


class Desk:
    """The context of handlers: whether they work, and which records they handled."""

    def __init__(self) -> None:
        self.works = False
        self.taken: list[ItemChange[Article]] = []


@on(Article, "INSERT", "MODIFY")
def take(change: ItemChange[Article], desk: Desk) -> None:
    if not desk.works:
        raise ConnectionError("nobody there")
    desk.taken.append(change)


class Office:
    """A store with a failed record."""

    def __init__(self, engine: Engine, times: Times) -> None:
        self.raw: Any = engine
        self.times = times
        self.desk = Desk()
        self.store = Store(Press(), engine, clock=times, secret=b"of the tests")
        self.store.create_tables()

    def set_aside(self, article: Article) -> str:
        """Change an article while its handler fails."""
        made = self.store.run(create(article))
        made.picture += b"!"
        self.store.run(update(made))
        runner = StreamRunner(self.store, articles, [take], self.desk, self.raw, tries=1)
        while runner.run_once():
            pass
        runner.close()
        first, second = set_aside(self.store)
        discard(self.store, first.aside_id)
        return second.aside_id

    def housekeeping(self) -> set[str]:
        return {item["pk"]["S"] for item in self.raw.scan(TableName="Articles-keyplan")["Items"]}
