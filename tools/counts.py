"""Counts what the five systems declare or do more than once: `python -m tools.counts`, with `--json`, with `--list`.

A figure here can only be lowered by writing less, so the rules look at structure and not at names. The systems are
parsed; what they import from the kit is looked up, so that an error or a base class is known by what it is.

Fields
------
*Fields*: the fields of every entity class. A field that an entity inherits from another entity belongs to that one; a
field that it has from a shared class, or from a class named beside its bases, is its own and is declared there.

*Again in classes*: each field of a body, an answer or a form (every pydantic model that is not on the entities' side)
that its class body writes down and that

- has the name of a field of an entity of the same system, in any spelling (`postalCode` is `postal_code`),
- or has a name under which such a field is copied anywhere in the system (`PostOut(author=post.author_id)`,
  `{"author": post.author_id}`, `Post(is_published=new.publish)`, `post.title = new.headline`),
- or names such a field as its alias.

An entity that declares a field that it inherits, and a name in `create_model(...)` or in a dict of types beside the
bases of a class, count too. Not counted: what a class inherits (`class PostOut(PostFields, Out)`), what is derived
(`class PostChange(Change, of=PostFields)`), and a model that is the type of an entity's field, which is a part of it.

*Again in dicts*: each entry of a dict that copies a field of an entity, a body, an answer or a form (a typed parameter,
or `self` in a model), where a function returns the dict or hands it on as `**`.

*Declarations per field* is (fields + again in classes + again in dicts - exceptions) / fields. EXCEPTIONS names what is
left out and why.

Beside it, because declarations could be moved there: *selections* (names of fields as texts in the parentheses,
decorators and class variables of a model, or beside an entity in a call whose result a module keeps: they choose
from what is declared), *keyword copies* (`PostOut(title=post.title)`, each keyword), and *in records* (the same names
in dataclasses, named tuples and typed dicts).

Repetitions
-----------
A *helper* is a function of the system or of the kit that neither reads nor writes the store, itself or through what it
calls. Calls of a helper count, and the code in it does not, so moving code into a helper changes nothing. A function
that finds and checks at once is no helper: what it does counts once, or not at all where the kit does it.

- *find or 404*: `if ... is None` (or `not ...`) with a 404 raised in it, alone or beside other conditions; the same the
  other way round (`if found is not None: return found`, then the 404), as `match`, as `found or missing()`, and as the
  404 for a KeyError, IndexError or StopIteration; calls of a helper that is given what was found and raises the 404.
- *version checks*: comparisons with the `version` of something or with a parameter that holds the caller's versions
  (a condition for the store, in a lambda with a parameter, is none); `if` with a 412 raised in it; calls of a helper
  that gets the caller's versions and refuses others.
- *refusals translated*: each exception that is raised in an `except` of an error of the data layer instead of it, with
  or without `from`; each entry of a table, and each call, that puts such an error and a problem together; and in a
  function that takes such an error and that no `except` calls, each problem that it returns.
- *only copies*: functions and lambdas outside of entities that do nothing but make one model or dict by
  `model_validate(...)` or from attributes, parameters, constants, whole objects, and other functions of this kind.
- *"required" by hand*: each 422 whose code is "required" or whose text says that something can't be left out, and calls
  of a helper of the system (not of the kit) that raises it.
"""

import argparse
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from tools.counting.checks import FindOr404, RequiredByHand, VersionChecks
from tools.counting.copies import functions_that_only_copy
from tools.counting.fields import Fields
from tools.counting.meaning import Meaning, done_by_hand
from tools.counting.refusals import refusals_translated
from tools.counting.sources import Place, System

SOURCE = Path(__file__).parent.parent / "src" / "keyplan"

EXCEPTIONS: dict[str, str] = {
    "funkedupshift.SiteName.title": "may be left out by callers; a stored site always has a title",
    "funkedupshift.RatingSummary.stars": "a histogram by number of stars, not the stars of a rating",
    "funkedupshift.CommentOut.user_id": "null for everybody but admins; a comment always has a user",
    "funkedupshift.ProfileOut.permissions": "what the caller may do, which is computed from their groups",
    "funkedupshift.SiteForm.tags": "a form has one text field for all tags, each on a line",
    "hacktracker.NewOwner.user_id": "read-only in a membership; here it chooses a member",
    "hacktracker.MemberOut.user_id": "null for those who may not see it; a membership always has a user",
    "hacktracker.MemberOut.name": "the name of the user, not of a team",
    "hacktracker.RoleChange.role": "the roles that can be given, which the owner's is not among",
    "hacktracker.Offer.role": "the roles that can be given, which the owner's is not among",
    "hacktracker.StatusMove.status": "read-only in a game, because each move has its own rules",
    "hacktracker.Lineup.lineup": "read-only in a game, because it is set on its own",
    "hacktracker.NewAtBat.player_id": "may be left out in a personal team; an at-bat always has a player",
    "hacktracker.Statistics.rbi": "a sum over at-bats",
    "hacktracker.Statistics.runs": "a sum over at-bats",
    "hacktracker.PlayerLine.name": "the full name of a player, not of a team",
    "hacktracker._new_team: team_id": "demo data: the player's team is the team that was just made",
    "threefc.NewLeague.slug": "may be left out by callers; a stored league always has a slug",
    "threefc.Sheet.changed_at": "the game's time of change, under a name that says whose it is",
    "threefc.Sheet.version": "a digest of all versions on the sheet",
    "threefc.SeasonTable.game_count": "counts finished games only",
    "vcm.NewNews.published_date": "may be left out by callers; a stored article always has a date",
    "vcm.NewNews.author_ids": "may be left out by callers; a stored article always has authors",
    "vcm.NewsChange.excerpt": "may be null, which asks for the beginning of the text",
    "vcm.NewsOut.author_ids": "null for everybody but editors; an article always has authors",
    "vcm.NewEvent.author_ids": "may be left out by callers; a stored event always has authors",
    "vcm.EventOut.author_ids": "null for everybody but editors; an event always has authors",
    "vcm.MemberOut.show_contact": "null for everybody but editors; a member always has it",
    "vcm.SamsFile.teams": "a list of teams to import, not a field of one",
    "vcm.SamsImported.teams": "what an import did with teams, not a field of one",
    "wavyblog.EmailChange.email": "changed on its own, with the password, and without the username beside it",
    "wavyblog.RoleChange.role": "read-only in a user, because only admins change it",
    "wavyblog.NewCategory.slug": "may be left out by callers; a stored category always has a slug",
    "wavyblog.ImageToUpload.size": "not known before the upload without JavaScript; a stored image has one",
}
"""Declarations that may stand beside the entity's, each with its reason: "system.Class" or "system.Class.field"."""

REPETITIONS = ("find or 404", "version checks", "refusals translated", "only copies", '"required" by hand')


@dataclass
class Counts:
    """The figures of one system, each as the places that make it up."""

    system: System
    kit: System
    exceptions: Mapping[str, str]
    all_lines: int = 0
    lines: int = 0
    """Without the blank ones."""

    @cached_property
    def fields(self) -> Fields:
        """Its fields, and where they are declared."""
        return Fields(self.system)

    @cached_property
    def declared_again(self) -> list[Place]:
        """What is declared again, without the exceptions."""
        every = [*self.fields.again_in_classes, *self.fields.again_in_dicts]
        return [each for each in every if not self._exceptions_for(each)]

    def _exceptions_for(self, place: Place) -> list[str]:
        written = f"{self.system.name}.{place.what}"
        return [name for name in self.exceptions if written == name or written.startswith((f"{name}.", f"{name}:"))]

    @cached_property
    def exceptions_used(self) -> set[str]:
        """The exceptions that leave something out here."""
        every = [*self.fields.again_in_classes, *self.fields.again_in_dicts]
        return {name for each in every for name in self._exceptions_for(each)}

    @cached_property
    def repetitions(self) -> dict[str, list[Place]]:
        """The places of each repetition."""
        meaning = Meaning(self.system, self.kit)
        kinds = (
            done_by_hand(FindOr404(meaning)),
            done_by_hand(VersionChecks(meaning)),
            refusals_translated(meaning),
            functions_that_only_copy(self.system, self.fields.models, self.fields.entities),
            done_by_hand(RequiredByHand(meaning)),
        )
        return dict(zip(REPETITIONS, kinds, strict=True))

    @property
    def places(self) -> dict[str, list[Place]]:
        """Everything that is counted."""
        return {
            "again in classes": self.fields.again_in_classes,
            "again in dicts": self.fields.again_in_dicts,
            "selections": self.fields.selections,
            "keyword copies": self.fields.keyword_copies,
            "in records": self.fields.in_records,
            **self.repetitions,
        }

    def figures(self) -> dict[str, int]:
        """The figures, by name."""
        return {
            "fields": len(self.fields.fields),
            "declared again": len(self.declared_again),
            **{name: len(places) for name, places in self.places.items()},
            "lines": self.lines,
            "all lines": self.all_lines,
        }


def counted(exceptions: Mapping[str, str] = EXCEPTIONS) -> list[Counts]:
    """The five systems."""
    kit = System.read(SOURCE / "web", "keyplan.web")
    found = []
    for folder in sorted(path.parent for path in (SOURCE / "apps").glob("*/__init__.py")):
        texts = [path.read_text() for path in folder.rglob("*.py")]
        lines = [line for text in texts for line in text.splitlines()]
        system = System.read(folder, f"keyplan.apps.{folder.name}")
        found.append(Counts(system, kit, exceptions, len(lines), sum(bool(line.strip()) for line in lines)))
    return found


def totals(systems: list[Counts]) -> dict[str, int]:
    """The figures of all systems together."""
    every = [each.figures() for each in systems]
    return {name: sum(figures[name] for figures in every) for name in every[0]}


def per_field(figures: Mapping[str, int]) -> float:
    """How often a field is declared on average."""
    return (figures["fields"] + figures["declared again"]) / figures["fields"]


def report(systems: list[Counts]) -> str:
    """The figures as Markdown."""
    rows = {each.system.name: each.figures() for each in systems} | {"all": totals(systems)}
    names = ["fields", "again in classes", "again in dicts", "selections", "keyword copies", "in records"]
    fields = {name: [*(row[each] for each in names[:3]), f"{per_field(row):.2f}", *(row[each] for each in names[3:])]
              for name, row in rows.items()}  # fmt: skip
    repeated = {kind: [row[kind] for row in rows.values()] for kind in REPETITIONS}
    repeated["all"] = [sum(column) for column in zip(*repeated.values(), strict=True)]
    parts = [
        "## Fields\n",
        _table(["system", *names[:3], "declarations per field", *names[3:]], fields),
        *(f"\nNot counted: `{name}`: {reason}" for name, reason in EXCEPTIONS.items()),
        "\n## Repetitions\n",
        _table(["", *rows], repeated),
        "\n## Lines of Python\n",
        _table(["system", "without blank lines", "all"], {n: [r["lines"], r["all lines"]] for n, r in rows.items()}),
    ]
    return "\n".join(parts)


def _table(header: list[str], rows: Mapping[str, list[object]] | Mapping[str, list[int]]) -> str:
    lines = [header, ["---"] * len(header), *([name, *(f"{cell}" for cell in cells)] for name, cells in rows.items())]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.counts", description="Count what is declared more than once."
    )
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    parser.add_argument("--list", action="store_true", help="print every place that is counted")
    options = parser.parse_args()
    systems = counted()
    if options.json:
        figures = {each.system.name: each.figures() for each in systems} | {"all": totals(systems)}
        print(
            json.dumps(
                {name: {**row, "per field": round(per_field(row), 4)} for name, row in figures.items()}, indent=2
            )
        )
    elif options.list:
        for each in systems:
            for kind, places in each.places.items():
                for place in places:
                    print(f"{kind}: {place.module.removeprefix('keyplan.apps.')}:{place.line} {place.what}")
    else:
        print(report(systems))


if __name__ == "__main__":
    main()
