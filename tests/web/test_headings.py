"""Headings of texts, below the title of the page."""

import pytest

from keyplan.web import Headings


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ([2, 3, 2], ["h2", "h3", "h2"]),
        ([1, 2, 2, 1], ["h2", "h3", "h3", "h2"]),
        ([2, 5, 3], ["h2", "h3", "h3"]),
        ([3, 1], ["h2", "h2"]),
        ([1, 2, 3, 4, 5, 6], ["h2", "h3", "h4", "h5", "h6", "h6"]),
    ],
)
def test_no_level_is_left_out(written: list[int], shown: list[str]) -> None:
    headings = Headings()
    assert [headings.tag(each) for each in written] == shown
