"""All that is found out about tables: `find` goes from their items to entities, keys and guards."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import count

from keyplan.adopt.entities import entity_of
from keyplan.adopt.envelopes import envelope_of, order_of, record_of
from keyplan.adopt.formats import precision_of
from keyplan.adopt.guards import GuardDraft, bind, guard_draft, may_guard
from keyplan.adopt.homes import NotAnEnvelopeError
from keyplan.adopt.model import Doubt, Found, FoundTable
from keyplan.adopt.names import Case, field_name, free, is_generic, stored_as, words
from keyplan.adopt.shapes import Kind, kinds_of, separator_of, type_attribute_of
from keyplan.data import Item
from keyplan.design import Table


@dataclass(frozen=True)
class SampledTable:
    """A table with items of it, all or a sample."""

    table: Table
    items: Sequence[Item]
    complete: bool = True


Progress = Callable[[int, int], None]


def find(sampled: Sequence[SampledTable], progress: Progress = lambda done, total: None) -> Found:
    """The entities, keys and guards in these tables."""
    found = Found(_name([each.table.name for each in sampled]), [])
    taken = {found.name}
    drafts: list[tuple[GuardDraft, Kind]] = []
    short = dict(zip((each.table.name for each in sampled), _short_names(sampled), strict=True))
    steps, variables = count(1), set[str]()
    for each in sampled:
        variable = field_name(short[each.table.name], variables)
        variables.add(variable)
        made, guards = _table(each, variable, taken, short[each.table.name], found.doubts)
        found.tables.append(made)
        drafts += guards
        progress(next(steps), len(sampled) + 1)
    _bind_guards(drafts, found, taken, short)
    for table in found.tables:
        table.table = replace(table.table, case=_case(table))
    progress(next(steps), len(sampled) + 1)
    return found


def _table(
    sampled: SampledTable, variable: str, taken: set[str], named: str, doubts: list[Doubt]
) -> tuple[FoundTable, list[tuple[GuardDraft, Kind]]]:
    envelope = envelope_of(sampled.items, sampled.table)
    before = set(taken)
    for chosen in dict.fromkeys((envelope, None)):
        taken.clear()
        taken |= before
        try:
            return _table_with(sampled, chosen, variable, taken, named, doubts)
        except NotAnEnvelopeError:
            doubts.append(
                Doubt(
                    sampled.table.name,
                    f"{chosen} has JSON, but with attributes beside it that no design can declare, so it is a text",
                    len(sampled.items),
                )
            )
    raise AssertionError("without an envelope, nothing can be beside it")


def _table_with(
    sampled: SampledTable, envelope: str | None, variable: str, taken: set[str], named: str, doubts: list[Doubt]
) -> tuple[FoundTable, list[tuple[GuardDraft, Kind]]]:
    items, table = sampled.items, sampled.table
    records = [record_of(item, table, envelope) for item in items]
    separator = separator_of(records, table)
    type_attribute = type_attribute_of(records, table, separator)
    times = precision_of([record.values for record in records])
    made = FoundTable(
        replace(table, type_attribute=type_attribute, envelope=envelope, times=times), variable, items, sampled.complete
    )
    guards: list[tuple[GuardDraft, Kind]] = []
    new: list[Doubt] = []
    for kind in _in_order(kinds_of(records, table, separator, type_attribute)):
        if may_guard(kind, table):
            draft = guard_draft(kind, made, separator, times)
            if draft is not None:
                guards.append((draft, kind))
                continue
        if envelope is not None and (not all(r.inside for r in kind.records) or order_of(kind.records) is None):
            raise NotAnEnvelopeError
        entity, more = entity_of(kind, made.table, separator, times, type_attribute, taken, named)
        made.entities.append(entity)
        new += more
    doubts += new
    return made, guards


def _in_order(kinds: list[Kind]) -> list[Kind]:
    """The kinds, with the main item of each partition first: those with the shortest keys."""
    return sorted(kinds, key=lambda kind: (kind.forms[:1], sum(map(len, kind.forms)), kind.forms))


def _bind_guards(
    drafts: Sequence[tuple[GuardDraft, Kind]], found: Found, taken: set[str], short: dict[str, str]
) -> None:
    """Declare the rules that guards keep. What is nobody's guard is an entity after all."""
    for draft, kind in drafts:
        if bind(draft, found.tables):
            continue
        table = draft.table
        separator, times = draft.sources.separator, draft.sources.times
        type_attribute = table.table.type_attribute
        entity, doubts = entity_of(kind, table.table, separator, times, type_attribute, taken, short[table.table.name])
        table.entities.append(entity)
        found.doubts += doubts


def _case(table: FoundTable) -> Case:
    """The rule by which most names of attributes follow from the names of fields."""
    names = [(field.name, field.attribute) for entity in table.entities for field in entity.fields]
    own = [(name, attribute) for name, attribute in names if not is_generic(attribute)]
    cases: tuple[Case, ...] = ("as is", "camel", "pascal")
    return max(cases, key=lambda case: sum(stored_as(name, case) == attribute for name, attribute in own))


def _name(tables: Sequence[str]) -> str:
    """The name of the design: what the tables' names begin with."""
    alike = words(tables[0])
    for each in tables[1:]:
        theirs = words(each)
        alike = alike[: next((i for i, (a, b) in enumerate(zip(alike, theirs, strict=False)) if a != b), len(alike))]
    name = "".join(word.capitalize() for word in alike) or "Adopted"
    return f"{name}Design" if not name[0].isdigit() else f"Design{name}"


def _short_names(sampled: Sequence[SampledTable]) -> list[str]:
    """The names of the tables, without the words that all of them begin with."""
    split = [words(each.table.name) for each in sampled]
    alike = 0
    while len(split) > 1 and all(
        len(each) > alike + 1 and each[: alike + 1] == split[0][: alike + 1] for each in split
    ):
        alike += 1
    names: list[str] = []
    for each in split:
        names.append(free("_".join(each[alike:]) or "table", names))
    return names
