"""How much memory and disk the storage may use, by default and by settings.

The page cache takes up to an eighth of the memory that this process may use: of the machine's, or of what the control
groups of a container allow. The log grows while a read holds on to an old state, whichever process reads. At its limit
writes are refused, because the read may be another process's, which can't be ended from here, and because a full disk
would stop everything on the machine.
"""

import os
from pathlib import Path

CACHE_SETTING = "KEYPLAN_CACHE_MIB"
LOG_SETTING = "KEYPLAN_LOG_LIMIT_MIB"
LARGEST_CACHE_MIB = 2048
DEFAULT_LOG_MIB = 8192
LOWEST_LOG_MIB = 64
"""With less, a few large writes would reach the limit before the log can be copied."""
UNKNOWN_MEMORY = 2 * 2**30
_MIB = 2**20
_CGROUPS = Path("/sys/fs/cgroup")
_MEMBERSHIP = Path("/proc/self/cgroup")


def cache_mib() -> int:
    """Return how large the page cache of a process may become."""
    return _setting(CACHE_SETTING, lowest=1) or max(1, min(LARGEST_CACHE_MIB, memory() // 8 // _MIB))


def log_limit_mib() -> int:
    """Return how long the log may become."""
    return _setting(LOG_SETTING, lowest=LOWEST_LOG_MIB) or DEFAULT_LOG_MIB


def memory() -> int:
    """Return how many bytes of memory this process may use."""
    try:
        machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError, AttributeError):  # not on Windows
        machine = UNKNOWN_MEMORY
    return min([machine, *_cgroup_limits(_MEMBERSHIP, _CGROUPS)])


def _cgroup_limits(membership: Path, cgroups: Path) -> list[int]:
    """The limits of the process's groups, and of the groups that these are in."""
    limits: list[int] = []
    try:
        lines = membership.read_text("utf-8").splitlines()
    except OSError:
        return limits
    for line in lines:
        _, controllers, group = line.split(":", 2)
        if not controllers:
            root, name = cgroups, "memory.max"
        elif "memory" in controllers.split(","):
            root, name = cgroups / "memory", "memory.limit_in_bytes"
        else:
            continue
        folder = Path(group.strip("/"))
        for each in (folder, *folder.parents):
            try:
                limits.append(int((root / each / name).read_text("ascii")))
            except (OSError, ValueError):  # no limit ("max"), or a group outside of the container
                continue
    return limits


def _setting(name: str, *, lowest: int) -> int | None:
    text = os.environ.get(name, "")
    if not text:
        return None
    if not text.isascii() or not text.isdigit() or int(text) < lowest:
        raise ValueError(f"{name} is {text!r}. Set it to a number of MiB, at least {lowest}.")
    return int(text)
