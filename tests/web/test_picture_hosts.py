"""Whose pictures pages show."""

import pytest
from pydantic import ValidationError

from keyplan.web.media import PictureHosts
from tests.web.site import settings_of

HOSTS = PictureHosts("https://blog.example", ("images.example.org", "*.cdn.example", "pics.example:8443"))


@pytest.mark.parametrize(
    "address",
    [
        "/media/wavyblog/a.png",
        "a.png",
        "https://blog.example/media/wavyblog/a.png",
        "https://images.example.org/a.png",
        "HTTPS://Images.Example.ORG/a.png",
        "https://a.b.cdn.example/a.png",
        "https://pics.example:8443/a.png",
    ],
)
def test_ours_and_those_of_listed_hosts_are_shown(address: str) -> None:
    assert HOSTS.shows(address)


@pytest.mark.parametrize(
    "address",
    [
        "https://tracker.example/a.png",
        "http://images.example.org/a.png",  # anybody on the way could replace it
        "//tracker.example/a.png",
        "/\\tracker.example/a.png",
        "\\\\tracker.example/a.png",
        "/\t/tracker.example/a.png",
        "https:tracker.example/a.png",
        "https:///tracker.example/a.png",
        "https://images.example.org@tracker.example/a.png",
        "https://images.example.org.tracker.example/a.png",
        "https://cdn.example/a.png",
        "https://evilcdn.example/a.png",
        "https://images.example.org:444/a.png",
        "http://[",
        "data:image/png;base64,AAAA",
        "javascript:alert(1)",
    ],
)
def test_others_are_not(address: str) -> None:
    assert not HOSTS.shows(address)


def test_the_policy_follows() -> None:
    assert HOSTS.sources == [
        "https://blog.example",
        "https://images.example.org",
        "https://*.cdn.example",
        "https://pics.example:8443",
    ]
    assert PictureHosts().sources == []


@pytest.mark.parametrize("host", ["https://images.example.org", "*", "a b", "x; script-src *", "images.example.org/a"])
def test_a_host_is_a_host(host: str) -> None:
    with pytest.raises(ValidationError):
        settings_of(image_hosts=[host])
