"""Who a client is: its address, as the limits count it."""

import ipaddress
from collections.abc import Sequence
from functools import lru_cache

from keyplan.web.settings import Network


def client_address(peer: str, forwarded: Sequence[bytes], proxies: Sequence[Network]) -> str:
    """The address of a client: the last one in the X-Forwarded-For headers that isn't a trusted proxy."""
    address = peer
    if not is_proxy(address, proxies):
        return address
    for each in reversed(b",".join(forwarded).decode("latin-1").split(",")):
        if not (candidate := each.strip()):
            continue
        if not _is_address(candidate):
            return address
        address = candidate
        if not is_proxy(address, proxies):
            break
    return address


def is_proxy(address: str, proxies: Sequence[Network]) -> bool:
    """Whether an address is one of the trusted proxies."""
    return (
        bool(proxies) and _is_address(address) and any(ipaddress.ip_address(address) in network for network in proxies)
    )


@lru_cache(4096)
def line_of(address: str) -> str:
    """The part of an address that identifies a client: for IPv6 its network, in which a client has many addresses."""
    if not _is_address(address):
        return address
    found = ipaddress.ip_address(address)
    if isinstance(found, ipaddress.IPv6Address):
        if found.ipv4_mapped is not None:
            return str(found.ipv4_mapped)
        return str(ipaddress.IPv6Network((int(found), 64), strict=False))
    return address


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True
