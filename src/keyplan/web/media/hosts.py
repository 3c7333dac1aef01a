"""Which pictures pages show: ours, and those of hosts that the operator lists.

A picture on another host tells its owner who reads a page, and when. Pages show it as a link.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

_STRIPPED = frozenset(map(chr, range(0x21))) | {"\\"}
"""What browsers ignore in an address, or read as a slash."""


@dataclass(frozen=True)
class PictureHosts:
    """The hosts whose pictures are shown: `images.example.org`, or `*.example.org` for all below it."""

    base_url: str = ""
    """Our own public URL, if it is known."""
    others: tuple[str, ...] = ()

    def shows(self, address: str) -> bool:
        """Whether pages show a picture with this address."""
        if not _STRIPPED.isdisjoint(address):
            return False
        try:
            parts = urlsplit(address)
        except ValueError:
            return False
        if not parts.scheme and not parts.netloc:
            return True
        scheme, host = parts.scheme.lower(), parts.netloc.lower()
        if f"{scheme}://{host}" in self._own:
            return True
        return scheme == "https" and any(_matches(host, listed) for listed in self.others)

    @property
    def sources(self) -> list[str]:
        """The sources of pictures besides our own, for a content security policy."""
        return [*self._own, *(f"https://{host}" for host in self.others)]

    @property
    def _own(self) -> Sequence[str]:
        parts = urlsplit(self.base_url)
        return [f"{parts.scheme.lower()}://{parts.netloc.lower()}"] if parts.netloc else []


def _matches(host: str, listed: str) -> bool:
    return host == listed or (listed.startswith("*.") and host.endswith(listed[1:]))
