"""The forecasts of the five systems for docs/forecast.md, with the traffic files in docs/traffic."""

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

from keyplan.capacity.heat.forecasting import Forecast, forecast
from keyplan.capacity.heat.hot_keys import hot_keys
from keyplan.capacity.heat.reports import amount, percent, place_name, rounded
from keyplan.capacity.metering import meter
from keyplan.capacity.traffic import read_traffic
from keyplan.engine import Engine

TRAFFIC = Path(__file__).parent.parent / "docs" / "traffic"
USERS = (10_000, 1_000_000, 100_000_000)
_REQUESTS = 20_000


def forecasts_table() -> str:
    """What is hot in each system with each number of users."""
    rows = ["| system | users | operations a second | refused | hottest key | too hot from |"]
    rows += ["| --- | ---: | ---: | ---: | --- | ---: |"]
    rows += [row for file in sorted(TRAFFIC.glob("*.yaml")) for row in _rows(file)]
    return "\n".join(rows)


def _rows(file: Path) -> Iterator[str]:
    design = import_module(f"keyplan.apps.{file.stem}.design").DESIGN
    traffic = read_traffic(file, design)
    with Engine(ttl_interval=None) as engine:
        metered = meter(design, engine, traffic)
    for users in USERS:
        found = forecast(design, metered, traffic, users=users, requests=_REQUESTS)
        refused = found.throttled()
        cells = [
            f"[{file.stem}](traffic/{file.name})" if users == USERS[0] else "",
            amount(users),
            amount(found.peak_rate),
            "" if refused < 0.001 else f"{refused * 100:.0f} %",
            *_hottest(found),
        ]
        yield f"| {' | '.join(cells)} |"


def _hottest(found: Forecast) -> tuple[str, str]:
    key = next(iter(hot_keys(found.load, least=0)), None)
    if key is None:
        return "", ""
    users = found.hot_from_users(key)
    share = f"{percent(key.load)} of a partition's {key.kind}"
    start = "" if users is None else f"{amount(rounded(users))} users"
    return f"{place_name(key.place)}: `{key.touch.shown.strip()}`, {share}", start
