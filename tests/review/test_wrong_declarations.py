"""Every declaration that is refused can be reviewed as far as it goes: rules don't fail on what is left of it."""

from typing import Any

import pytest

from keyplan.design import Design
from keyplan.review import Reviewed, errors_recorded, review
from tests.design import test_errors, test_vectors, test_words

WRONG: list[tuple[Any, ...]] = [*test_errors.WRONG, *test_words.WRONG, *test_vectors.WRONG]


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[type[Design]]:
    """The designs that are declared during a test."""
    designs: list[type[Design]] = []
    declare = Design.__dict__["__init_subclass__"].__func__

    def declared(cls: type[Design]) -> None:
        declare(cls)
        designs.append(cls)

    monkeypatch.setattr(Design, "__init_subclass__", classmethod(declared))
    return designs


def test_what_is_left_of_a_wrong_declaration_is_reviewed(made: list[type[Design]]) -> None:
    reviewed = 0
    for code, _, *_, declaration in WRONG:
        made.clear()
        with errors_recorded() as errors:
            declaration()
        for design in made:
            found = review(Reviewed(design, errors=tuple(errors))).findings
            assert code in [each.rule.name for each in found], declaration.__name__
            reviewed += 1
    assert reviewed > 30
