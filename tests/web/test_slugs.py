"""Slugs made from titles and names."""

import pytest

from keyplan.web import slug_of


@pytest.mark.parametrize(
    ("text", "slug", "german"),
    [
        ("Größe zählt: Straße & Öl", "grosse-zahlt-strasse-ol", "groesse-zaehlt-strasse-oel"),
        ("U\u0308bung", "ubung", "uebung"),
        ("ÄÖÜẞ", "aouss", "aeoeuess"),
        ("Smørrebrød", "smorrebrod", "smoerrebroed"),
        ("Ǿ Łódź, Ægir: þing", "o-lodz-aegir-thing", "o-lodz-aegir-thing"),
        ("Crème brûlée", "creme-brulee", "creme-brulee"),
        ("--- 2 + 2 ---", "2-2", "2-2"),
        ("日本", "", ""),
    ],
)
def test_a_slug_has_plain_letters_digits_and_hyphens(text: str, slug: str, german: str) -> None:
    assert slug_of(text, 80) == slug
    assert slug_of(text, 80, german=True) == german


def test_a_slug_is_shortened_and_does_not_end_with_a_hyphen() -> None:
    assert slug_of("x" * 200, 80) == "x" * 80
    assert slug_of("ten lines", 4) == "ten"
