"""A forecast as a picture: for each table and index, how busy its partitions are over the day."""

from collections.abc import Iterator, Sequence
from html import escape

from keyplan.capacity.heat.forecasting import Forecast
from keyplan.capacity.heat.load import STEPS
from keyplan.capacity.heat.reports import place_name
from keyplan.capacity.heat.simulation import PlaceHeat

_COLUMNS = 48
_MOST_ROWS = 8
_MOST_PLACES = 12
_CELL, _ROW = 12, 9
_LEFT, _TOP, _GAP = 16, 34, 30
_COLORS = ("#e8f1f8", "#c3dced", "#8fbfdf", "#f6d488", "#f2a13b", "#dd5a1c", "#a4161a")
_DARK_COLORS = ("#18212c", "#1f3b54", "#2f6a96", "#8a7434", "#c7842c", "#e8651f", "#ff3b3b")
_LEVELS = (0.05, 0.2, 0.4, 0.6, 0.8, 1.0)
"""How much of its limit a partition uses, where the color changes."""


def _fills(colors: Sequence[str]) -> str:
    return "".join(f".c{number}{{fill:{color}}}" for number, color in enumerate(colors))


_STYLE = (
    f"text{{font:11px system-ui,sans-serif;fill:#24292f}}.t{{font-weight:600}}.f{{fill:#fff}}{_fills(_COLORS)}"
    f"@media(prefers-color-scheme:dark){{text{{fill:#e6edf3}}.f{{fill:#0d1117}}{_fills(_DARK_COLORS)}}}"
)


def heat_map(forecast: Forecast) -> str:
    """The picture, as SVG: time from left to right, partitions from top to bottom, the busiest on top."""
    busiest = sorted(forecast.simulated.places.values(), key=_busiest, reverse=True)[:_MOST_PLACES]
    shown = [heat for heat in busiest if _busiest(heat) > 0]
    parts: list[str] = []
    y = _TOP
    for heat in shown:
        block = _rows(heat)
        named = f'<tspan class="t">{escape(place_name(heat.place))}</tspan> {_shown(heat, len(block))}'
        parts.append(f'<text x="{_LEFT}" y="{y + 2}">{named}</text>')
        y += 8
        for row in block:
            parts += _cells(row, y)
            y += _ROW
        y += _GAP - 8
    parts += _hours(y - _GAP + 28)
    parts += _legend(y + 14)
    width, height = _LEFT * 2 + _COLUMNS * _CELL, y + 36
    title = escape(f"{forecast.name}, {forecast.users:,} users: how busy partitions are over a day")
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'role="img" aria-label="{title}"><style>{_STYLE}</style><rect class="f" width="{width}" height="{height}"/>'
        f'<text x="{_LEFT}" y="16">{title}</text>{"".join(parts)}</svg>\n'
    )


def _busiest(heat: PlaceHeat) -> float:
    """How much of its limit the busiest partition uses at its busiest step."""
    return max((float(step[0]) for step in heat.used), default=0.0)


def _shown(heat: PlaceHeat, rows: int) -> str:
    """How many partitions there are at the end of the day, and whether all are shown."""
    if heat.partitions > rows:
        return f"the {rows} busiest of {heat.partitions:,} partitions"
    return f"{heat.partitions} partitions" if heat.partitions > 1 else "1 partition"


def _rows(heat: PlaceHeat) -> list[list[float]]:
    """How busy the busiest partitions are, each at its busiest step of every column."""
    each = STEPS // _COLUMNS
    count = min(_MOST_ROWS, max(len(step) for step in heat.used))
    return [
        [
            max(float(step[row]) if row < len(step) else 0.0 for step in heat.used[column * each : (column + 1) * each])
            for column in range(_COLUMNS)
        ]
        for row in range(count)
    ]


def _cells(row: list[float], y: int) -> Iterator[str]:
    """A row of cells. Neighbors of the same color are one."""
    start = 0
    levels = [_level(value) for value in row]
    for column in range(1, _COLUMNS + 1):
        if column == _COLUMNS or levels[column] != levels[start]:
            x, width = _LEFT + start * _CELL, (column - start) * _CELL
            yield f'<rect class="c{levels[start]}" x="{x}" y="{y}" width="{width}" height="{_ROW - 1}"/>'
            start = column


def _level(used: float) -> int:
    return sum(used >= level for level in _LEVELS)


def _hours(y: int) -> Iterator[str]:
    for hour in range(0, 24, 3):
        yield f'<text x="{_LEFT + hour * _COLUMNS // 24 * _CELL}" y="{y - 6}">{hour:02}:00</text>'


def _legend(y: int) -> Iterator[str]:
    names = ("< 5 %", "5 %", "20 %", "40 %", "60 %", "80 %", "over the limit")
    for number, name in enumerate(names):
        x = _LEFT + number * 76
        yield f'<rect class="c{number}" x="{x}" y="{y}" width="10" height="10"/>'
        yield f'<text x="{x + 14}" y="{y + 9}">{escape(name)}</text>'
