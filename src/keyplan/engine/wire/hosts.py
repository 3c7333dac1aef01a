"""Which requests are refused for where they come from: other host names, and web pages.

A web page can have a browser send requests to this machine. A page whose own host name suddenly means 127.0.0.1 (DNS
rebinding) could even read the answers. The browser says the page's host name in `Host`, so only names that the endpoint
is meant to have are accepted. A page of another origin is named in `Origin`; it is refused unless signatures are
verified, because only then it can't act for whoever looks at it.
"""

import re
from collections.abc import Iterable, Mapping
from ipaddress import ip_address

from keyplan.engine.errors import DynamoError

_MOST_KNOWN = 100
_PRINTABLE = re.compile(r"[a-z0-9._:-]{1,255}")


class Hosts:
    """The names that an endpoint answers to: those of this machine's loopback interface, and the given ones."""

    def __init__(self, names: Iterable[str], *, origins: bool) -> None:
        self._names = frozenset(map(_plain, names))
        self._origins = origins
        # Clients send the same few headers again and again.
        self._known: set[bytes] = set()

    def refusal(self, headers: Mapping[bytes, bytes]) -> DynamoError | None:
        """Return why a request with these headers is refused, or None."""
        given = headers.get(b"host")
        # Only HTTP/1.0 allows a request without a host, and no browser sends one.
        if given and given not in self._known:
            name = _name(given.decode("latin-1"))
            if name not in self._names and not _is_loopback(name):
                return _refused(_unknown_host(name))
            if len(self._known) < _MOST_KNOWN:
                self._known.add(given)
        if not self._origins and b"origin" in headers:
            return _refused(
                "Requests from web pages are refused, because the endpoint doesn't verify signatures. To allow them, "
                "set an access key: --access-key and --secret-key-file."
            )
        return None


def _refused(message: str) -> DynamoError:
    return DynamoError("AccessDeniedException", message, status=403)


def _unknown_host(name: str) -> str:
    shown = name if _PRINTABLE.fullmatch(name) else "NAME"
    return (
        f"The endpoint doesn't answer requests to the host {shown}. If it is one of its names, start the endpoint with "
        f"--allowed-host {shown}, or set KEYPLAN_DYNAMODB_ALLOWED_HOSTS={shown}."
    )


def _name(header: str) -> str:
    """The name or address in a `Host` header, without the port."""
    if header.startswith("["):
        address, _, port = header.partition("]")
        return _plain(header if port.strip(":0123456789") else address)
    return _plain(header.partition(":")[0])


def _plain(name: str) -> str:
    return name.strip("[]").removesuffix(".").lower()


def _is_loopback(name: str) -> bool:
    try:
        return ip_address(name).is_loopback
    except ValueError:
        return name == "localhost" or name.endswith(".localhost")
