"""`python -m bench.attack [NAME...]`: try every attack, or those with these names, and show which of them failed."""

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from bench.attack import connections, requests
from bench.attack.target import USER, NormalUser, Outcome, Target, started

SLOWEST = 3.0
"""A normal user who waits longer than this for an answer was attacked successfully, too."""

Attack = Callable[[Target], Outcome]
ATTACKS: dict[str, Attack] = {
    "silent connections": connections.silent,
    "slow headers": connections.slow_headers,
    "slow bodies": connections.slow_bodies,
    "idle connections": connections.idle,
    "unread answers": connections.unread_answers,
    "concurrent logins": requests.logins,
    "bad tokens": requests.bad_tokens,
    "held write lock": requests.held_lock,
    "readyz and metrics": requests.monitoring,
    "forged cursors": requests.forged_cursors,
    "large headers": requests.large_headers,
    "large bodies": requests.large_bodies,
    "deep JSON": requests.deep_json,
    "host header": requests.host_header,
    "path traversal": requests.path_traversal,
    "request smuggling": requests.smuggling,
    "upload flood": requests.upload_flood,
    "size bombs": requests.size_bombs,
}
"""All attacks. To add one, write a function that takes the target and says whether the server held."""

_ROW = "{:<20} {:>6}  {:<9} {:<30} {}"


def main(names: Sequence[str], attacks: Mapping[str, Attack] = ATTACKS) -> int:
    """Try the attacks. Returns how many of them succeeded."""
    unknown = [name for name in names if name not in attacks]
    if unknown:
        print(f"Unknown attack: {', '.join(unknown)}. The attacks are: {', '.join(attacks)}.", file=sys.stderr)
        return 2
    succeeded = 0
    with tempfile.TemporaryDirectory(prefix="keyplan-attack-") as folder, started(Path(folder)) as target:
        _, token = target.new_user(USER)
        print(_ROW.format("attack", "tried", "result", "normal user (middle / longest)", "what happened"))
        for name in names or attacks:
            held = _try(name, attacks[name], target, token)
            succeeded += not held
    print(f"{succeeded} of {len(names or attacks)} attacks succeeded.")
    return succeeded


def _try(name: str, attack: Attack, target: Target, token: str) -> bool:
    with NormalUser(target, token) as user:
        time.sleep(0.3)  # so that somebody is there before
        outcome = attack(target)
    held = outcome.held and not user.failures and max(user.seconds, default=0) < SLOWEST
    result = "failed" if held else "SUCCEEDED"
    print(_ROW.format(name, outcome.tried, result, user.noticed(), outcome.what), flush=True)
    return held


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Attack a server on this machine. Exits with 1 if an attack succeeds.")
    parser.add_argument("names", nargs="*", metavar="NAME")
    sys.exit(min(1, main(parser.parse_args().names)))
