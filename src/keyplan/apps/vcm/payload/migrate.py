"""The migration itself: a plan that writes nothing, then the same with writes, then checks of the result."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

from keyplan.apps.vcm.design import VcmDesign
from keyplan.apps.vcm.entities import Event, Import, Media, News, Team
from keyplan.apps.vcm.fields import Collection
from keyplan.apps.vcm.payload.check import checked
from keyplan.apps.vcm.payload.convert import Converted, Converter, Issue
from keyplan.apps.vcm.payload.export import COLLECTIONS, Export, Record, read_export
from keyplan.apps.vcm.payload.fields import Unusable, stamps_of
from keyplan.apps.vcm.slugs import numbered, slug_of
from keyplan.data import Store, import_all, put
from keyplan.design import Entity, batch_get, scan
from keyplan.web import Running
from keyplan.web.media import HEAD_BYTES, kind_of

Progress = Callable[[str, int, int], None]
"""Gets the name of a phase, and how many of how many steps of it are done."""
_KEPT = timedelta(days=90)
_WITH_SLUGS: tuple[tuple[Collection, type[News] | type[Event] | type[Team]], ...] = (
    ("teams", Team),
    ("news", News),
    ("events", Event),
)


@dataclass(frozen=True)
class Options:
    """How to migrate."""

    folder: Path
    media: Path | None = None
    authors: Mapping[str, str] = field(default_factory=dict)
    """From users of Payload to subjects of tokens."""
    keep_lexical: bool = False
    dry_run: bool = False
    allow_unconverted: bool = False


@dataclass
class Tally:
    """How many records of a collection were written."""

    records: int
    written: int = 0
    there: int = 0


@dataclass
class Report:
    """The result of a migration."""

    tallies: dict[Collection, Tally]
    issues: list[Issue]
    resumed: bool = False
    wrote: bool = False
    faults: list[str] = field(default_factory=list)
    """What the checks afterwards found."""
    missing: tuple[str, ...] = ()

    @property
    def failed(self) -> bool:
        """Whether it is not done."""
        return bool(self.faults) or not self.wrote


def migrate(club: Running[VcmDesign], options: Options, progress: Progress) -> Report:
    """Migrate an export. It may be stopped at any time, and continues where it stopped when it is run again."""
    export = read_export(options.folder, options.media)
    planned = _converted(club, export, options, lambda done, total: progress("reading", done, total), write=False)
    issues = [*planned.issues]
    outcome = Store(club.design, _Unwritten(club.store.client)).run(import_all(_all(planned)))
    issues += [_refusal(entity, error) for entity, error in outcome.refused]
    report = Report(
        {name: Tally(len(records)) for name, records in export.records.items()}, issues, missing=export.missing
    )
    _count(report, outcome.written, outcome.unchanged)
    if options.dry_run or (issues and not options.allow_unconverted):
        return report
    journal = _Journal(club, export, progress, report)
    report.resumed = journal.resumed
    made = _converted(club, export, options, lambda done, total: progress("files", done, total), write=True)
    outcome = Store(club.design, _Watched(club.store.client, journal.wrote)).run(import_all(_all(made)))
    journal.finish()
    report.wrote = True
    report.faults = checked(
        club, [*outcome.written, *outcome.unchanged], lambda done, total: progress("checking", done, total)
    )
    return report


def _all(converted: Converted) -> list[Entity]:
    return [entity for name in COLLECTIONS for entity in converted.entities[name]]


def _count(report: Report, written: Iterable[Entity], there: Iterable[Entity]) -> None:
    for entity in written:
        report.tallies[_collection(entity)].written += 1
    for entity in there:
        report.tallies[_collection(entity)].there += 1


def _collection(entity: Entity) -> Collection:
    name = entity.spec.table.name.removeprefix("vcm-")
    return next(each for each in COLLECTIONS if each == name)


def _refusal(entity: Entity, error: Exception) -> Issue:
    return Issue(_collection(entity), str(entity.key_values["id"]), str(error), whole=True)


def _converted(
    club: Running[VcmDesign], export: Export, options: Options, progress: Callable[[int, int], None], *, write: bool
) -> Converted:
    files = _Files(club, export, write=write)
    converter = Converter(export, options.authors, files.media_of, keep_lexical=options.keep_lexical)
    made = converter.convert(progress)
    for name, kind in _WITH_SLUGS:
        _resolve_slugs(club, kind, [each for each in made.entities[name] if isinstance(each, kind)])
    return made


class _Files:
    """The files of media items, put where files are kept."""

    def __init__(self, club: Running[VcmDesign], export: Export, *, write: bool) -> None:
        self._club, self._folder, self._write = club, export.media, write
        ids = list(dict.fromkeys(str(each.get("id")) for each in export.records["media"]))
        usable = [id for id in ids if 0 < len(id) <= 128 and "#" not in id]
        found = club.store.run(batch_get(Media, usable)) if usable else []
        self._there = {each.id: each for each in found if each is not None}

    def media_of(self, id: str, record: Record) -> Media:
        """The media item of a record, its file in its place."""
        filename = record.get("filename")
        if not isinstance(filename, str) or not filename or Path(filename).name != filename:
            raise Unusable("it has no filename")
        path = self._folder / filename
        if not path.is_file():
            raise Unusable(f"its file {filename} is missing")
        data = path.read_bytes()
        kind = kind_of(data[:HEAD_BYTES], len(data))
        if kind is None:
            raise Unusable(f"its file {filename} is not an image of a supported type")
        name = self._name(id, filename, data, kind.content_type)
        alt = record.get("alt")
        values = {"id": id, "filename": filename, "s3_key": name, "s3_bucket": self._club.media.bucket}
        return Media.model_validate(
            {**values, "url": self._club.media.url(name), "alt": alt or None, **stamps_of(record)}
        )

    def _name(self, id: str, filename: str, data: bytes, content_type: str) -> str:
        media, there = self._club.media, self._there.get(id)
        if there is not None:
            lost = not media.exists(there.s3_key)
            if (lost and not self._write) or (not lost and media.read(there.s3_key) == data):
                return there.s3_key
        if (fault := media.fault(data, content_type)) is not None:
            raise Unusable(f"its file {filename} can't be used: {fault.detail}")
        if not self._write:
            return f"media/{id}"
        # The same key and bytes give the same name, so that a run that is repeated leaves no second file.
        return media.put(data, content_type, under=["media"], key=f"import {id}").name


def _resolve_slugs(club: Running[VcmDesign], kind: type[News] | type[Event] | type[Team], entities: list[Any]) -> None:
    """A free slug for each: its own where it is there already, else one of its title or name."""
    there = {each.id: each.slug for each in club.store.each(scan(kind).limit(100))}
    taken = set(there.values())
    for entity in entities:
        if entity.id in there:
            entity.slug = there[entity.id]
            continue
        plain = slug_of(entity.slug) or slug_of(entity.name if isinstance(entity, Team) else entity.title)
        plain = plain or kind.__name__.lower()
        entity.slug = next(slug for slug in numbered(plain) if slug not in taken)
        taken.add(entity.slug)


class _Unwritten:
    """A client that reads and writes nothing: for a plan."""

    def __init__(self, client: object) -> None:
        self._client = client

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name in ("batch_get_item", "get_item", "query", "scan"):
            method: Callable[..., Any] = getattr(self._client, name)
            return method
        if name == "batch_write_item":
            return lambda **request: {"UnprocessedItems": {}}
        raise AttributeError(name)


class _Watched:
    """A client that tells how many items of which table were written."""

    def __init__(self, client: object, wrote: Callable[[Mapping[str, int]], None]) -> None:
        self._client, self._wrote = client, wrote

    def __getattr__(self, name: str) -> Callable[..., Any]:
        method: Callable[..., Any] = getattr(self._client, name)
        if name != "batch_write_item":
            return method

        def batch_write_item(**request: Any) -> Any:  # noqa: ANN401 - boto3's own shape
            answer = method(**request)
            left = answer.get("UnprocessedItems", {})
            self._wrote({t: len(each) - len(left.get(t, ())) for t, each in request["RequestItems"].items()})
            return answer

        return batch_write_item


class _Journal:
    """How far the migration came, in the housekeeping table."""

    def __init__(self, club: Running[VcmDesign], export: Export, progress: Progress, report: Report) -> None:
        self._club, self._progress = club, progress
        self._tables = {club.design.table_name(entity.spec.table): entity for entity in club.design.entities}
        found = club.store.run(club.design.imports(export.id)).items
        self.resumed = any(each.finished_at is None for each in found)
        self._written: Counter[str] = Counter()
        self._total = sum(tally.written for tally in report.tallies.values())
        now = club.store.clock()
        self._notes = {
            name: Import(export_id=export.id, collection=name, done=tally.there, expires_at=now + _KEPT)
            for name, tally in report.tallies.items()
        }
        for note in self._notes.values():
            club.store.run(put(note))

    def wrote(self, counts: Mapping[str, int]) -> None:
        """Note what a batch wrote. Guards and references are no records."""
        for table, number in counts.items():
            entity = self._tables.get(table)
            name = table.rpartition("vcm-")[2]
            note = next((each for each in self._notes.values() if entity is not None and each.collection == name), None)
            if note is not None:
                note.done += number
                self._written[name] += number
                self._club.store.run(put(note))
        self._progress("writing", sum(self._written.values()), self._total)

    def finish(self) -> None:
        """Note that all of it is done."""
        for note in self._notes.values():
            note.finished_at = self._club.store.clock()
            self._club.store.run(put(note))
