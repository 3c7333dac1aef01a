# pyright: strict
"""# Semantic search

Items by what they mean: an embedding model turns a text into a vector, and a vector index finds the items whose vectors
are nearest to that of a question.

Use it for search by meaning, recommendations, retrieval for language models, finding near duplicates.

**Not for** words, prefixes and typos ([full-text search](full_text_search.md)), nor for ranges and sorting, which are
queries. A search finds at most 100 items, in one page.
"""

from collections.abc import Sequence
from typing import Annotated

from keyplan.data import Store, create
from keyplan.design import Design, Entity, Id, Nearest, Table, key, nearest, pattern, vector, vector_index

notes = Table(
    "Notes",
    key("PK", "SK"),
    vectors={"ByMeaning": vector_index("meaning", 3, partition="team", filters=["language"])},
)


class Note(Entity, table=notes):
    note_id: Id
    team: Id
    language: str
    text: str
    meaning: Annotated[tuple[float, ...], vector(3)]

    primary = key("NOTE#{note_id}", "NOTE")
    by_meaning = notes.nearest_by("ByMeaning")


class Notes(Design):
    tables = (notes,)
    entities = (Note,)

    @pattern("Find a team's notes by meaning")
    def about(self, team: str, meaning: Sequence[float]) -> Nearest[Note]:
        return nearest(Note.by_meaning, meaning, team=team)

    @pattern("Find a team's notes in a language by meaning")
    def about_in(self, team: str, language: str, meaning: Sequence[float]) -> Nearest[Note]:
        return nearest(Note.by_meaning, meaning, team=team, language=language)


def embedded(text: str) -> tuple[float, ...]:
    """The vector of a text. Real ones come from an embedding model, and have hundreds of numbers."""
    words = text.lower().split()
    topics = ({"cat", "dog", "katze"}, {"rain", "sun", "regen"}, {"train", "bus"})
    return tuple(float(sum(word in topic for word in words)) for topic in topics)


def use(store: Store[Notes]) -> None:
    """Each search is one request, within one team, because `team` is the partition of the index. Scores are distances:
    the smaller, the nearer. `.only` leaves out the vectors, which are most of an item."""
    for number, (language, text) in enumerate(
        [("en", "cat and dog"), ("en", "cat in the rain"), ("de", "katze im regen"), ("en", "rain on the train")]
    ):
        note = Note(note_id=str(number), team="a", language=language, text=text, meaning=embedded(text))
        store.run(create(note))

    found = store.run(store.design.about("a", embedded("dog")).limit(2))
    assert [near.item.text for near in found] == ["cat and dog", "cat in the rain"]
    assert found[0].score == 0

    texts = store.run(store.design.about_in("a", "de", embedded("cat")).only(lambda note: note.text))
    assert [(near.item, round(near.score, 2)) for near in texts] == [("katze im regen", 0.29)]
