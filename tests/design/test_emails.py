"""E-mail addresses: which are the same, and which are refused."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keyplan.design import address_key, check_address


@given(st.text(st.characters(max_codepoint=127)))
def test_an_ascii_address_is_compared_in_lower_case(address: str) -> None:
    assert address_key(address) == address.lower()


@pytest.mark.parametrize(
    ("address", "key"),
    [
        ("Ada@BÜCHER.example", "ada@xn--bcher-kva.example"),
        ("ada@xn--BCHER-kva.example", "ada@xn--bcher-kva.example"),
        ("ada@bu\u0308cher.example", "ada@xn--bcher-kva.example"),
        ("ａda@ｅxample。org", "ada@example.org"),
        ("ZOË@example.org", "zoë@example.org"),
        ("zoe\u0308@example.org", "zoë@example.org"),
        ("a@straße.example", "a@xn--strae-oqa.example"),
        ("a@strasse.example", "a@strasse.example"),
        ("почта@пример.example", "почта@xn--e1afmkfd.example"),
        ("İ@x.example", "i\u0307@x.example"),
        ("nobody", "nobody"),
        ("é", "xn--9ca"),
    ],
)
def test_what_is_the_same_address(address: str, key: str) -> None:
    assert address_key(address) == key
    assert address_key(key) == key


@given(st.text(max_size=20))
def test_a_key_stays_the_same(address: str) -> None:
    """Whatever is stored has a key, and the key of a key is the key."""
    key = address_key(f"{address}@example.org")
    assert address_key(key) == key
    assert key == address_key(unicodedata.normalize("NFC", f"{address}@example.org"))


@pytest.mark.parametrize(
    "address",
    [
        "ada@example.org",
        "ada+tag@mail.example.org",
        "zoë@bücher.example",
        "почта@пример.example",
        "почта@example.org",
        "田中さくら@日本ドメインー.example",
        "김철수@漢字한글.example",
        "ada2026_x@example.org",
        "ｆullwidth@example.org",
        "a@localhost",
    ],
)
def test_addresses_that_are_accepted(address: str) -> None:
    check_address(address)


@pytest.mark.parametrize(
    ("address", "says"),
    [
        ("аda@example.org", "alphabets"),  # the first letter is Cyrillic
        ("ada@ехample.org", "alphabets"),
        ("ada@mail.аpple.example", "alphabets"),
        ("αda@example.org", "alphabets"),
        ("さくらada@example.org", "alphabets"),
        ("ada@example..org", "complete domain"),
        ("ada@.example.org", "complete domain"),
        ("ada@example.org.", "complete domain"),
        ("ada@example。。org", "complete domain"),
        ("ada@", "complete domain"),
        ("@example.org", "complete domain"),
        (f"ada@{'x' * 64}.org", "63 characters"),
        (f"ada@{'ü' * 60}.org", "63 characters"),
    ],
)
def test_addresses_that_are_refused(address: str, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        check_address(address)
