# pyright: strict
"""# Full-text search

DynamoDB finds items by key, not by the words in them. A stream handler keeps a search index beside the table: here
SQLite's FTS5, which needs nothing but Python; OpenSearch or Typesense work the same way.

Use it for search boxes over titles and texts.

**Not for** prefixes of one field: `starting(...)` on a sort key does that. The index is a moment behind the table, so
don't decide by it (use a [unique constraint](unique_constraints.md)).
"""

import sqlite3

from keyplan.data import Store, create, delete, update
from keyplan.data.streams import ItemChange, StreamRunner, on
from keyplan.design import BatchGet, Design, Entity, Id, Table, batch_get, key, pattern

blog = Table("Blog", key("PK", "SK"), stream="NEW_AND_OLD_IMAGES")


class Post(Entity, table=blog):
    slug: Id
    title: str
    text: str

    primary = key("POST#{slug}", "POST")


class Blog(Design):
    tables = (blog,)
    entities = (Post,)

    @pattern("Get posts by their slugs")
    def posts(self, slugs: list[str]) -> BatchGet[Post]:
        return batch_get(Post, slugs)


class SearchIndex:
    """The words of all posts. `sqlite3.connect("search.db")` would keep them in a file."""

    def __init__(self) -> None:
        self.db = sqlite3.connect(":memory:")
        self.db.execute("CREATE VIRTUAL TABLE posts USING fts5(slug UNINDEXED, title, text)")

    def replace(self, slug: str, post: Post | None) -> None:
        with self.db:
            self.db.execute("DELETE FROM posts WHERE slug = ?", (slug,))
            if post is not None:
                self.db.execute("INSERT INTO posts VALUES (?, ?, ?)", (slug, post.title, post.text))

    def find(self, words: str) -> list[str]:
        """The slugs of the posts with these words, best first."""
        quoted = " ".join('"' + word.replace('"', '""') + '"' for word in words.split())
        found = self.db.execute("SELECT slug FROM posts WHERE posts MATCH ? ORDER BY rank LIMIT 20", (quoted,))
        return [slug for (slug,) in found]


@on(Post, "INSERT", "MODIFY", "REMOVE")
def index_post(change: ItemChange[Post], index: SearchIndex) -> None:
    """Replace what the index has of a post. A change that is delivered twice does the same twice."""
    index.replace(str(change.keys["slug"]), change.after)


def use(store: Store[Blog], streams: object) -> None:
    """The index answers with keys, and the table with items: what was deleted meanwhile is left out. To build the index
    for a table that has items already, `scan` it once, then run the handler."""
    notes = store.run(create(Post(slug="notes", title="Notes on the engine", text="It weaves algebraic patterns.")))
    store.run(create(Post(slug="diary", title="Diary", text="Rain.")))
    search = SearchIndex()
    runner = StreamRunner(store, blog, [index_post], search, streams)
    runner.run_once()

    found = store.run(store.design.posts(search.find("algebraic engine")))
    assert [post.title for post in found if post] == ["Notes on the engine"]
    notes.text = "It computes."
    store.run(update(notes))
    runner.run_once()
    assert search.find("algebraic") == []
    assert search.find("computes") == ["notes"]
    store.run(delete(notes))
    runner.run_once()
    runner.close()
    assert search.find("computes") == []
