"""The pages of docs/designs are up to date. That their examples run is tested with those of all documentation."""

import pytest

from tools.write_designs import PAGES, files


def test_there_are_no_other_pages() -> None:
    assert {str(path.relative_to(PAGES)) for path in PAGES.rglob("*") if path.is_file()} == files().keys()


@pytest.mark.parametrize("name", files())
def test_a_page_is_up_to_date(name: str) -> None:
    assert (PAGES / name).read_text("utf-8") == files()[name], "run `make docs`"
