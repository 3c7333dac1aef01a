"""Which addresses are this machine."""

from ipaddress import ip_address


def is_loopback(host: str | None) -> bool:
    """Whether a host name or address can be reached from this machine only."""
    if host is None:
        return False
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
