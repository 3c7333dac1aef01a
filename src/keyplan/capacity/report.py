"""A cost as text, Markdown and JSON."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date
from typing import Any

from keyplan.capacity.consumed import TableOrIndex, Units
from keyplan.capacity.cost.model import Cost, CostLine
from keyplan.capacity.prices import ITEMS
from keyplan.capacity.savings import Saving

__all__ = ["json_report", "markdown_report", "text_report", "units_text", "usd"]

_WORTH = 0.01
"""The share of the cost from which on something is worth saying."""
_MAINLY = 0.9
"""The share of a saving that makes it one of a single line."""
_MOST = 2
"""How many changes are shown for a line."""


def usd(amount: float) -> str:
    """An amount in US dollars: to the cent, or with two digits if it is less."""
    if amount and abs(amount) < 0.01:
        digits = f"{abs(amount):.1e}"
        places = int(digits.partition("e-")[2]) + 1
        return f"{'-' if amount < 0 else ''}${abs(amount):.{places}f}"
    return f"{'-' if amount < 0 else ''}${abs(amount):,.2f}"


def heading(name: str, cost: Cost) -> str:
    """The cost in one sentence."""
    parts = [f"{usd(cost.total)} a month"]
    if cost.per_user is not None:
        parts.append(f"{usd(cost.per_user)} per user")
    if cost.per_request is not None:
        parts.append(f"{usd(cost.per_request)} per request")
    return f"{name} in {cost.prices.region}: {', '.join(parts)}."


def units_text(units: Mapping[TableOrIndex, Units]) -> str:
    """What one run consumes: `5 write units (4 WavyBlog, 1 GSI3)`."""
    kinds: Mapping[str, Callable[[Units], float]] = {
        "write units": lambda each: each.writes,
        "read units": lambda each: each.reads,
        "bytes of vectors written": lambda each: each.vectors,
        "bytes of vectors searched": lambda each: each.searched,
    }
    texts = []
    labels = _labels(units)
    for name, of in kinds.items():
        amounts = {labels[place]: of(each) for place, each in units.items() if of(each)}
        if amounts:
            texts.append(f"{_split(amounts, name)}")
    return ", ".join(texts) or "nothing"


def _labels(places: Iterable[TableOrIndex]) -> dict[TableOrIndex, str]:
    """What places are called: an index by its name, and with its table if there are several."""
    known = list(places)
    several = len({place.table for place in known}) > 1
    return {
        place: place.table if place.index is None else f"{place.table}.{place.index}" if several else place.index
        for place in known
    }


def _split(amounts: Mapping[str, float], name: str) -> str:
    """A sum, and how much of it is where."""
    total = sum(amounts.values())
    sorted_amounts = sorted(amounts.items(), key=lambda each: -each[1])
    where = ", ".join(f"{amount:,.4g} {place}" for place, amount in sorted_amounts)
    unit = name.replace("units", "unit") if total == 1 else name
    return f"{total:,.4g} {unit} ({where if len(amounts) > 1 else next(iter(amounts))})"


def title(line: CostLine) -> str:
    """The name of a line, with what it is."""
    return f"{line.kind} {line.name}" if line.kind in ("pattern", "write") else line.name


def _details(line: CostLine) -> str:
    if line.runs is None:
        labels = _labels(part.place for part in line.parts)
        by_unit: dict[str, dict[str, float]] = {}
        for part in line.parts:
            where = by_unit.setdefault(_unit(part.charge.item), {})
            name = labels[part.place]
            where[name] = where.get(name, 0.0) + part.amount
        return ", ".join(_split(amounts, unit) for unit, amounts in by_unit.items())
    return f"{line.runs:,.0f} times, each {units_text(line.units)}"


def _unit(item: str) -> str:
    unit = str(ITEMS[item])  # type: ignore[index]  # one of the items
    return "GB" if unit.startswith("GB") else f"{unit}s"


def text_report(name: str, cost: Cost, savings: Sequence[Saving], today: date) -> str:
    """The cost for a terminal."""
    lines = [heading(name, cost), ""]
    for line in cost.lines:
        lines.append(f"{_amount(line):>12}  {_percent(line, cost):>4}  {title(line)}: {_details(line)}")
        lines += [f"{'':20}{usd(each.by_line[line.name])} less: {each.change}" for each in _best(line, cost, savings)]
    if cost.free is not None:
        lines.append(f"{usd(-cost.free):>12}        free tier")
    wide = [each for each in savings if max(each.by_line.values(), default=0.0) < _MAINLY * each.usd]
    if wide:
        lines += ["", "What concerns several lines would save, each change by itself:"]
        lines += [f"{usd(each.usd):>12}  {each.change}" for each in wide]
    lines += _remarks(cost, today)
    return "\n".join(lines) + "\n"


def markdown_report(name: str, cost: Cost, savings: Sequence[Saving], today: date) -> str:
    """The cost for a document."""
    lines = [f"# {heading(name, cost)}", "", "| a month | share | what | how much |", "| ---: | ---: | --- | --- |"]
    lines += [
        f"| {_amount(line)} | {_percent(line, cost)} | {_cell(title(line))} | {_cell(_details(line))} |"
        for line in cost.lines
    ]
    if cost.free is not None:
        lines.append(f"| {usd(-cost.free)} | | free tier | |")
    if savings:
        lines += ["", "## What would be cheaper", "", "| saves | change |", "| ---: | --- |"]
        lines += [f"| {usd(each.usd)} | {_cell(each.change)} |" for each in savings]
    lines += [f"- {each}" if each else "" for each in _remarks(cost, today)]
    return "\n".join(lines) + "\n"


def json_report(name: str, cost: Cost, savings: Sequence[Saving], today: date) -> dict[str, Any]:
    """The cost as values for JSON. Amounts are in US dollars and for a month."""
    return {
        "design": name,
        "region": cost.prices.region,
        "currency": "USD",
        "total": cost.total,
        "per_user": cost.per_user,
        "per_request": cost.per_request,
        "free_tier": cost.free,
        "growth": cost.growth,
        "lines": [_line(each) for each in cost.lines],
        "savings": [{"change": each.change, "usd": each.usd, "lines": dict(each.by_line)} for each in savings],
        "missing_prices": [str(each) for each in cost.missing],
        "unmetered": dict(cost.unmetered),
        "notes": list(cost.notes),
        "prices": [
            {"charge": str(charge), "usd": price.usd, "date": price.date.isoformat(), "source": price.source}
            for charge, price in cost.used_prices.items()
        ],
        "old_prices": [str(charge) for charge in _old(cost, today)],
    }


def _line(line: CostLine) -> dict[str, Any]:
    return {
        "kind": line.kind,
        "name": line.name,
        "usd": line.usd,
        "runs": line.runs,
        "units": [
            {"table": place.table, "index": place.index, **{key: value for key, value in vars(each).items() if value}}
            for place, each in line.units.items()
        ],
        "parts": [
            {
                "table": part.place.table,
                "index": part.place.index,
                "charge": str(part.charge),
                "amount": part.amount,
                "usd": part.usd,
            }
            for part in line.parts
        ],
    }


def _amount(line: CostLine) -> str:
    return usd(line.usd) if line.is_complete else f"{usd(line.usd)} + ?"


def _percent(line: CostLine, cost: Cost) -> str:
    everything = cost.total + (cost.free or 0.0)
    return f"{line.usd / everything:.0%}" if everything else ""


def _best(line: CostLine, cost: Cost, savings: Sequence[Saving]) -> list[Saving]:
    """The changes that would make a line cheaper most; none for lines that cost next to nothing."""
    if line.usd < _WORTH * cost.total:
        return []
    about = [each for each in savings if each.by_line.get(line.name, 0.0) >= _WORTH * line.usd]
    return sorted(about, key=lambda each: -each.by_line[line.name])[:_MOST]


def _remarks(cost: Cost, today: date) -> list[str]:
    """What else is to be said: what is missing, old or unmetered, and where the prices are from."""
    remarks = list(cost.notes)
    if not cost.lines:
        remarks.append("The traffic file says neither how often anything runs nor how many items there are.")
    if cost.growth:
        remarks.append(f"Storage grows by {usd(cost.growth)} a month.")
    if cost.missing:
        remarks.append(
            f"Not in the sum, because no price is known in {cost.prices.region}: {', '.join(map(str, cost.missing))}. "
            "AWS's price list has them: see --prices."
        )
    remarks += [f"Not in the sum: {name} couldn't be metered. {why}" for name, why in cost.unmetered.items()]
    remarks += [
        f"Warning: the price of {charge} is from {cost.used_prices[charge].date}, which is more than a year ago."
        for charge in _old(cost, today)
    ]
    by_source: dict[str, None] = {}
    for price in cost.used_prices.values():
        by_source.setdefault(f"{price.source.partition(',')[0]} of {price.date}")
    if by_source:
        remarks.append(f"Prices without tax: {'; '.join(by_source)}.")
    return ["", *remarks] if remarks else []


def _old(cost: Cost, today: date) -> list[Any]:
    used = cost.used_prices
    return [charge for charge, _ in cost.prices.old(today) if charge in used]


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
