"""What rules say of lists is what an engine does: they read items that they don't return, or they don't."""

from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from keyplan.data import Store, create
from keyplan.design import Design, Entity
from keyplan.engine import Engine
from keyplan.review import Reviewed, find_rule, review
from tests.review.rules import hot_reads_designs as reads
from tests.review.rules import wrong_neighbors_designs as neighbors
from tests.review.rules.cases import Declaration

RATINGS: Sequence[Entity] = [neighbors.Rating(user_id="ada", site_id=str(number)) for number in range(3)]
COMMENTS: Sequence[Entity] = [
    neighbors.Comment(user_id="ada", site_id="1", comment_id=str(number)) for number in range(4)
]
MATCHES: Sequence[Entity] = [neighbors.Match(date="monday", match_id=str(number)) for number in range(2)]
PLAYED: Sequence[Entity] = [reads.Match(date="monday", match_id=str(number), winner="a") for number in range(2)]

CASES: list[tuple[str, Declaration, Sequence[Entity], str, str, int, int]] = [
    ("KP302", neighbors.ratings_that_begin_like_comments, [*RATINGS, *COMMENTS], "ratings", "ada", 7, 3),
    ("", neighbors.ratings_that_begin_like_comments, [*RATINGS, *COMMENTS], "profile", "ada", 0, 0),
    ("KP303", neighbors.an_index_with_two_kinds_of_items, MATCHES, "on_day", "monday", 6, 2),
    ("KP407", reads.a_list_in_which_four_of_five_items_are_thrown_away, PLAYED, "on_day", "monday", 10, 2),
]


@pytest.fixture
def engine() -> Iterator[Engine]:
    engine = Engine()
    yield engine
    engine.close()


@pytest.mark.parametrize(("code", "declaration", "items", "pattern", "argument", "read", "returned"), CASES)
def test_a_list_reads_what_the_rule_says(
    engine: Engine,
    code: str,
    declaration: Declaration,
    items: Sequence[Entity],
    pattern: str,
    argument: str,
    read: int,
    returned: int,
) -> None:
    declared = declaration()
    assert not isinstance(declared, Reviewed)
    store = Store(declared(), engine)
    store.create_tables()
    for item in items:
        store.run(create(item))
    operation = getattr(store.design, pattern)(argument)
    ((_, request),) = store.requests(operation)
    assert engine.query(**request)["ScannedCount"] == read
    assert len(store.run(operation).items) == returned
    assert bool(code) == (read > returned) == any(found_at(declared, code, pattern))


def found_at(design: type[Design], code: str, pattern: str) -> Iterator[Any]:
    """The findings of a rule at a pattern; without a code, of all rules that this is about."""
    rules = [rule for rule in map(find_rule, [code] if code else ["KP302", "KP303", "KP407"]) if rule is not None]
    return (each for each in review(Reviewed(design), rules).findings if each.place.pattern == pattern)
