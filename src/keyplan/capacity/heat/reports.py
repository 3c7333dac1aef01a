"""A forecast as text, Markdown and JSON."""

from collections.abc import Iterator, Sequence
from typing import Any

from keyplan.capacity.consumed import TableOrIndex
from keyplan.capacity.heat.forecasting import Forecast, clock
from keyplan.capacity.heat.hot_keys import HotKey
from keyplan.capacity.heat.simulation import PlaceHeat

_MOST_OPERATIONS = 10
_SEEN = 0.0001
"""The least share that is shown: below, it is noise."""
_UNITS = ((1e9, " billion"), (1e6, " million"))


def forecast_text(forecast: Forecast) -> str:
    """The forecast for a terminal."""
    lines = [_title(forecast), *(f"  {each}" for each in _summary(forecast))]
    lines += ["", "Hottest keys"] if forecast.hot else ["", "No key comes near what a partition can serve."]
    for number, key in enumerate(forecast.hot, 1):
        lines.append(f"  {number}. {place_name(key.place)}  {_shown(key)}")
        lines += [f"     {each}" for each in _about(forecast, key)]
    throttled = list(_throttled(forecast))
    if throttled:
        lines += [
            "",
            "Refused operations",
            *_aligned([("operation", "share", "at worst", "where", "then"), *throttled]),
        ]
    lines += ["", "Tables and indexes", *_aligned([_PLACE_HEADING, *_place_rows(forecast)])]
    lines += [f"Left out: {name} ({why})" for name, why in forecast.left_out.items()]
    return "\n".join(lines) + "\n"


def forecast_markdown(forecast: Forecast, heading: str = "#") -> str:
    """The forecast as a section of a Markdown document."""
    lines = [f"{heading} {_title(forecast)}", "", " ".join(_summary(forecast))]
    if forecast.hot:
        lines += ["", "| hottest keys | what is asked of one | limit | too hot from | what would help |"]
        lines += ["| --- | ---: | ---: | ---: | --- |", *(_hot_row(forecast, key) for key in forecast.hot)]
    throttled = list(_throttled(forecast))
    if throttled:
        lines += ["", "| refused operations | share | at worst | where | with what would help |"]
        lines += ["| --- | ---: | ---: | --- | ---: |", *(_row(each) for each in throttled)]
    lines += ["", _row(_PLACE_HEADING), "| --- | ---: | ---: | ---: | ---: |", *map(_row, _place_rows(forecast))]
    lines += ["", *(f"Left out: `{name}` ({why})" for name, why in forecast.left_out.items())]
    return "\n".join(lines).rstrip() + "\n"


def forecast_json(forecast: Forecast) -> dict[str, Any]:
    """The forecast as JSON."""
    return {
        "design": forecast.name,
        "users": forecast.users,
        "operations_per_day": round(forecast.load.runs),
        "peak": {"at": clock(forecast.load.peak_step), "operations_per_second": round(forecast.peak_rate, 3)},
        "simulated_requests": forecast.simulated.requests,
        "throttled": round(forecast.throttled(), 6),
        "throttled_with_remedies": None if forecast.after is None else round(forecast.throttled(forecast.after), 6),
        "hot_keys": [_key_json(forecast, key) for key in forecast.hot],
        "operations": {
            name: {
                "throttled": round(share, 6),
                "with_remedies": _after(forecast, name),
                "worst": round(forecast.simulated.worst.get(name, (0.0, 0))[0], 6),
                "worst_at": clock(forecast.simulated.worst[name][1]) if name in forecast.simulated.worst else None,
                "where": {place_name(place): round(part, 6) for place, part in _causes(forecast, name)},
            }
            for name, share in forecast.simulated.throttled.items()
        },
        "places": [_place_json(heat) for heat in forecast.simulated.places.values()],
        "left_out": forecast.left_out,
    }


def amount(number: float) -> str:
    """A number as people say it: 0.3, 10,000, 2.5 million."""
    for size, word in _UNITS:
        if number >= size:
            return f"{number / size:.3g}{word}"
    return f"{number:,.0f}" if number >= 9.5 or number == int(number) else f"{number:.1g}"


def place_name(place: TableOrIndex) -> str:
    """A table, or an index with its table."""
    return place.table if place.index is None else f"{place.table}.{place.index}"


def percent(share: float) -> str:
    """A share, with as many digits as say something."""
    if 0 < share < _SEEN:
        return "< 0.01 %"
    return f"{share * 100:.3g} %" if share < 1 else f"{share * 100:,.0f} %"


def _title(forecast: Forecast) -> str:
    return f"{forecast.name}, {amount(forecast.users)} users" if forecast.users else forecast.name


def _summary(forecast: Forecast) -> Iterator[str]:
    if not forecast.load.runs:
        yield "The traffic file doesn't say how often anything runs."
        return
    peak = f"{amount(forecast.peak_rate)} a second at {clock(forecast.load.peak_step)}"
    yield f"{amount(forecast.load.runs)} operations a day, {peak}."
    yield from _too_small(forecast)
    share = forecast.throttled()
    if share < _SEEN:
        yield "DynamoDB refuses none of them, or next to none."
        return
    begins = next((step for step in _steps(forecast) if step is not None), None)
    since = f", from {clock(begins)} on" if begins is not None else ""
    yield f"DynamoDB refuses {percent(share)} of them{since}."
    if forecast.after is not None:
        yield f"With what would help, it refuses {percent(forecast.throttled(forecast.after))}."


def _too_small(forecast: Forecast) -> Iterator[str]:
    """The tables and indexes that are asked for more than the capacity that is declared for them."""
    for heat in forecast.simulated.places.values():
        run = forecast.load.tables[heat.place.table]
        if run.mode == "fixed" and run.table.capacity is not None:
            reads, writes = run.table.capacity
            if heat.reads.max() > reads or heat.writes.max() > writes:
                declared = f"{place_name(heat.place)} has {reads:,} read and {writes:,} write units a second"
                yield f"{declared}, which isn't enough. Raise them, let them scale, or pay on demand."


def _steps(forecast: Forecast) -> list[int | None]:
    """The first step in which a table or an index refuses more than noise, of all."""
    found = [
        step for heat in forecast.simulated.places.values() for step, share in enumerate(heat.refused) if share > _SEEN
    ]
    return [min(found)] if found else [None]


def _shown(key: HotKey) -> str:
    return key.touch.shown.strip()


def _about(forecast: Forecast, key: HotKey) -> Iterator[str]:
    asked = f"{amount(key.units)} {key.kind[:-1]} units a second at {clock(key.step)}"
    part = f"{percent(key.load)} of" if key.load <= 1 else f"{key.load:.2g} times"
    yield f"{asked}: {part} the {key.limit:,} that a partition serves"
    users = forecast.hot_from_users(key)
    if users:
        yield f"too hot from about {amount(rounded(users))} users on"
    elif users == 0:
        yield "too hot however few users there are"
    yield f"by {', '.join(f'{name} ({amount(units)})' for name, units in key.operations[:3])}"
    if key.load > 1:
        yield key.reason
        yield key.remedy


def _hot_row(forecast: Forecast, key: HotKey) -> str:
    users = forecast.hot_from_users(key)
    name = f"{place_name(key.place)}: `{_shown(key)}`"
    asked = f"{amount(key.units)} {key.kind} a second"
    start = "" if users is None else f"{amount(rounded(users))} users" if users else "any number of users"
    return _row((name, asked, f"{key.limit:,}", start, f"{key.reason} {key.remedy}" if key.load > 1 else ""))


def _key_json(forecast: Forecast, key: HotKey) -> dict[str, Any]:
    return {
        "place": place_name(key.place),
        "key": _shown(key),
        "kind": key.kind,
        "units_per_second": round(key.units, 3),
        "limit": key.limit,
        "at": clock(key.step),
        "hot_from_users": forecast.hot_from_users(key),
        "operations": {name: round(units, 3) for name, units in key.operations},
        "reason": key.reason,
        "remedy": key.remedy,
        "parts": key.parts,
    }


def _throttled(forecast: Forecast) -> Iterator[tuple[str, ...]]:
    """The operations of which most is refused, with the remedies too."""
    ordered = sorted(forecast.simulated.throttled.items(), key=lambda each: -each[1])
    for name, share in ordered[:_MOST_OPERATIONS]:
        if share > _SEEN:
            worst, step = forecast.simulated.worst[name]
            where = ", ".join(place_name(place) for place, part in _causes(forecast, name) if part > share / 10)
            after = _after(forecast, name)
            then = "" if after is None else percent(after)
            yield name, percent(share), f"{percent(worst)} at {clock(step)}", where, then


def _causes(forecast: Forecast, name: str) -> list[tuple[TableOrIndex, float]]:
    return sorted(forecast.simulated.causes.get(name, {}).items(), key=lambda each: -each[1])


def _after(forecast: Forecast, name: str) -> float | None:
    return None if forecast.after is None else round(forecast.after.throttled.get(name, 0.0), 6)


_PLACE_HEADING = ("table or index", "reads a second", "writes a second", "partitions", "refused at worst")


def _place_rows(forecast: Forecast) -> Iterator[tuple[str, ...]]:
    for heat in forecast.simulated.places.values():
        grown = f"{heat.first_partitions:,}"
        if heat.partitions != heat.first_partitions:
            grown += f" to {heat.partitions:,}"
        peaks = (amount(float(heat.reads.max())), amount(float(heat.writes.max())))
        yield place_name(heat.place), *peaks, grown, percent(float(heat.refused.max()))


def _place_json(heat: PlaceHeat) -> dict[str, Any]:
    return {
        "place": place_name(heat.place),
        "peak_reads_per_second": round(float(heat.reads.max()), 3),
        "peak_writes_per_second": round(float(heat.writes.max()), 3),
        "partitions_at_first": heat.first_partitions,
        "partitions": heat.partitions,
        "refused_at_worst": round(float(heat.refused.max()), 6),
    }


def rounded(users: int) -> int:
    """A number with two digits that say something: it is an estimate."""
    size: int = 10 ** max(0, len(str(users)) - 2)
    return round(users / size) * size


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(each.replace('|', chr(92) + '|') for each in cells)} |"


def _aligned(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=True)]
        yield f"  {'  '.join(cells).rstrip()}"
