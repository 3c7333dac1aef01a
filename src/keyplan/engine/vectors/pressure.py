"""How much memory this process can still take, before the machine or its container runs out of it."""

from pathlib import Path

_MACHINE = Path("/proc/meminfo")
_GROUPS = Path("/sys/fs/cgroup")
_LIMITS = (
    # The limit, what is used of it, and what of that is only a cache of files: cgroup v2 and v1.
    ("memory.max", "memory.current", "memory.stat", "inactive_file"),
    ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes", "memory/memory.stat", "total_inactive_file"),
)


def free_bytes(machine: Path = _MACHINE, groups: Path = _GROUPS) -> int | None:
    """Return how many bytes are free in the machine, or in the container if that has fewer; None if nobody knows."""
    found = [_free_in_machine(machine), *(_free_in_group(groups, *names) for names in _LIMITS)]
    return min((each for each in found if each is not None), default=None)


def _free_in_machine(path: Path) -> int | None:
    try:
        lines = path.read_text("ascii").splitlines()
        return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:")), None)
    except (OSError, ValueError):  # another operating system
        return None


def _free_in_group(groups: Path, limit: str, usage: str, stat: str, cache: str) -> int | None:
    try:
        most, used = int((groups / limit).read_text("ascii")), int((groups / usage).read_text("ascii"))
        lines = (groups / stat).read_text("ascii").splitlines()
        cached = next((int(line.split()[1]) for line in lines if line.split()[0] == cache), 0)
    except (OSError, ValueError):  # there is no such group, or it has no limit: "max"
        return None
    return max(0, most - used + cached)
