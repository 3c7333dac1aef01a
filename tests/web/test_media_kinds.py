"""File types that are recognized by content, and names that nobody can guess."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keyplan.web.media import kind_of
from keyplan.web.media.kinds import HEAD_BYTES, KINDS
from keyplan.web.media.names import kind_by_name, new_name
from tests.web.media_support import GIF, HTML, JPEG, SVG, WEBP, png

PNG_KIND = next(kind for kind in KINDS if kind.extension == "png")


@pytest.mark.parametrize(
    ("data", "content_type"),
    [(png(), "image/png"), (JPEG, "image/jpeg"), (GIF, "image/gif"), (WEBP, "image/webp")],
    ids=["png", "jpeg", "gif", "webp"],
)
def test_pictures_are_recognized_by_their_bytes(data: bytes, content_type: str) -> None:
    kind = kind_of(data[:HEAD_BYTES], len(data))
    assert kind is not None
    assert kind.content_type == content_type


@pytest.mark.parametrize(
    "data",
    [
        SVG,
        HTML,
        b"",
        b"\x89PNG\r\n\x1a\n",
        png()[:20],
        png().replace(b"IHDR\x00\x00\x00\x01", b"IHDR\x00\x00\x00\x00"),
        b"\xff\xd8\xff",
        b"\xff\xd8\xff\x00",
        b"GIF89a",
        b"GIF88a" + bytes(20),
        WEBP[:-1],  # shorter than its header says
        b"RIFF\x04\x00\x00\x00WAVEfmt " + bytes(20),
        b"%PDF-1.7\n",
        b"\x00\x00\x00\x20ftypavif" + bytes(20),
        b"\xef\xbb\xbf" + SVG,
    ],
    ids=range(15),
)
def test_other_files_have_no_type(data: bytes) -> None:
    assert kind_of(data[:HEAD_BYTES], len(data)) is None


def test_names_are_long_and_unique() -> None:
    names = {new_name(PNG_KIND) for _ in range(1000)}
    assert len(names) == 1000
    assert all(
        re.fullmatch(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\.png", each) for each in names
    )
    bits = [int(each[:-4].replace("-", ""), 16) for each in names]
    # No bit is constant, unlike in a random UUID: all 128 bits are random.
    assert all(0 < sum(each >> place & 1 for each in bits) < 1000 for place in range(128))


def test_names_are_in_folders() -> None:
    name = new_name(PNG_KIND, ["profile", "avatars", "0f3c6a9e-1b2d-4c5e-8f70-112233445566"])
    assert name.startswith("profile/avatars/0f3c6a9e-1b2d-4c5e-8f70-112233445566/")
    with pytest.raises(ValueError, match="4 folders"):
        new_name(PNG_KIND, ["a"] * 5)


@given(st.lists(st.text(), max_size=4))
def test_any_folder_name_is_made_safe(folders: list[str]) -> None:
    name = new_name(PNG_KIND, folders)
    assert kind_by_name(name) is PNG_KIND
    parts = name.split("/")
    assert len(parts) == len(folders) + 1
    assert all(part and not part.startswith(".") and len(part) <= 128 and part.isascii() for part in parts)


def test_folders_of_different_users_stay_apart() -> None:
    first, second = (new_name(PNG_KIND, [each]).split("/")[0] for each in ("auth0|1", "auth0|2"))
    assert first != second
    assert new_name(PNG_KIND, ["auth0|1"]).split("/")[0] == first


@pytest.mark.parametrize(
    "name",
    [
        "",
        "x.png",
        "../" + new_name(PNG_KIND),
        "a/../" + new_name(PNG_KIND),
        "/" + new_name(PNG_KIND),
        "a//" + new_name(PNG_KIND),
        ".hidden/" + new_name(PNG_KIND),
        "a\\" + new_name(PNG_KIND),
        new_name(PNG_KIND) + "\n",
        new_name(PNG_KIND) + "/",
        new_name(PNG_KIND).upper(),
        new_name(PNG_KIND)[:-3] + "svg",
        new_name(PNG_KIND)[:-3] + "html",
        "%2e%2e/" + new_name(PNG_KIND),
        "\x00/" + new_name(PNG_KIND),
    ],
    ids=range(15),
)
def test_other_names_are_not_valid(name: str) -> None:
    assert kind_by_name(name) is None
