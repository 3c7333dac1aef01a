"""E-mail addresses: how they are compared, and which ones are refused.

Two addresses are the same if their keys are: NFKC, lower case, and the domain in IDNA form. So `Ada@BÜCHER.example`,
`ada@bücher.example` and `ada@xn--bcher-kva.example` are one address. The key of an ASCII address is the address in
lower case.

The IDNA form of a label is made with Punycode from the standard library. That is IDNA 2008 without its tables of
allowed characters: to compare addresses, only the form counts, and whether a domain exists is for its registry to
decide. Python's own `idna` codec is IDNA 2003, which takes `straße` and `strasse` for the same name; they are two
domains today.

An address is refused if its local part or a label of its domain mixes scripts, because such an address can look like
somebody else's. Python doesn't know scripts, but the name of a letter begins with its script (`CYRILLIC SMALL LETTER
A`). The scripts that Japanese, Korean and Chinese are written in count as one each.
"""

import re
import unicodedata
from collections.abc import Iterator

_DOTS = re.compile("[.。．｡]")
"""What separates labels by IDNA."""
_LONGEST_LABEL = 63
_NEUTRAL = {"MODIFIER", "KATAKANA-HIRAGANA"}
"""First words of the names of letters that belong to several scripts."""
_WRITTEN_TOGETHER = (
    {"CJK", "IDEOGRAPHIC", "HIRAGANA", "KATAKANA"},
    {"CJK", "IDEOGRAPHIC", "HANGUL"},
    {"CJK", "IDEOGRAPHIC", "BOPOMOFO"},
)


def address_key(address: str) -> str:
    """The form in which e-mail addresses are compared."""
    if address.isascii():
        return address.lower()
    folded = _folded(address)
    local, at, domain = folded.rpartition("@")
    return f"{local}{at}{'.'.join(map(_ascii_label, _DOTS.split(domain)))}"


def check_address(address: str) -> None:
    """Refuse an e-mail address with an empty label or with mixed scripts. For `limit`."""
    local, _, domain = _folded(address).rpartition("@")
    labels = _DOTS.split(domain)
    if not local or not all(labels):
        raise ValueError("Enter an e-mail address with a complete domain, such as name@example.org.")
    if any(len(_ascii_label(label)) > _LONGEST_LABEL for label in labels):
        raise ValueError("Enter an e-mail address whose domain has no part of more than 63 characters.")
    if any(_mixes_scripts(part) for part in (local, *labels)):
        raise ValueError("Enter an e-mail address that doesn't mix letters of different alphabets.")


def _folded(address: str) -> str:
    # Lower case can leave characters that are composed differently, so the form is normalized again.
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", address).lower())


def _ascii_label(label: str) -> str:
    return label if label.isascii() else f"xn--{label.encode('punycode').decode('ascii')}"


def _mixes_scripts(text: str) -> bool:
    scripts = set(_scripts(text))
    return len(scripts) > 1 and not any(scripts <= together for together in _WRITTEN_TOGETHER)


def _scripts(text: str) -> Iterator[str]:
    for character in text:
        if unicodedata.category(character)[0] != "L":
            continue  # digits, marks and signs belong to every script
        script = unicodedata.name(character, "UNKNOWN").split(" ")[0]
        if script not in _NEUTRAL:
            yield script
