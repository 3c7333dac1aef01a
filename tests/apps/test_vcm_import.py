"""The migration from Payload: a whole export, broken records, interruptions, and the command."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from keyplan.apps.vcm.api import SYSTEM
from keyplan.apps.vcm.design import VcmDesign
from keyplan.apps.vcm.entities import News, Role
from keyplan.apps.vcm.payload.export import COLLECTIONS, ExportError
from keyplan.apps.vcm.payload.fields import stamps_of
from keyplan.apps.vcm.payload.migrate import Options, Report, migrate
from keyplan.cli.vcm import vcm
from keyplan.data import create, update
from keyplan.engine import Engine
from keyplan.web.server.application import running
from keyplan.web.system.running import Running
from tests.apps.vcm_export import (
    AUTHORS,
    NEWS,
    RECORDS,
    Record,
    bullets,
    item,
    link,
    node,
    picture,
    records,
    rich,
    stamps,
    text,
    write_export,
)
from tests.apps.vcm_site import png, settings
from tests.data.support import Killed


@pytest.fixture
def engine() -> Iterator[Engine]:
    with Engine() as made:
        yield made


@pytest.fixture
def club(tmp_path: Path, engine: Engine) -> Running[VcmDesign]:
    return started(tmp_path, engine)


def started(folder: Path, client: object) -> Running[VcmDesign]:
    made = running(SYSTEM, settings(folder), client)
    made.store.create_tables()
    return made


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_export(tmp_path_factory.mktemp("export"))


def run(club: Running[VcmDesign], folder: Path, **options: Any) -> Report:
    return migrate(club, Options(folder, authors=AUTHORS, **options), lambda step, done, total: None)


def stored(engine: Engine) -> dict[str, list[Any]]:
    """All items of the document's tables and ours, housekeeping aside."""
    names = [name for name in engine.list_tables()["TableNames"] if not name.endswith("-keyplan")]
    return {name: sorted(engine.scan(TableName=name)["Items"], key=str) for name in names}


def test_a_whole_export(club: Running[VcmDesign], engine: Engine, whole: Path) -> None:
    seen: list[tuple[str, int, int]] = []
    report = migrate(club, Options(whole, authors=AUTHORS), lambda *step: seen.append(step))
    assert (report.issues, report.faults, report.failed, report.resumed) == ([], [], False, False)
    assert sum(each.written for each in report.tallies.values()) == RECORDS > 200
    assert club.store.verify() == []
    steps = {name: (done, total) for name, done, total in seen}
    assert steps["reading"] == steps["files"] == steps["writing"] == (RECORDS, RECORDS)
    assert steps["checking"] == (5, 5)
    notes = club.store.run(club.design.imports(_export_id(engine))).items
    assert {note.collection: note.done for note in notes} == {
        name: tally.records for name, tally in report.tallies.items()
    }
    assert all(note.finished_at is not None for note in notes)
    _look(club)
    _again(club, engine, whole)


def _again(club: Running[VcmDesign], engine: Engine, whole: Path) -> None:
    """Running it again writes nothing; existing items that differ are reported."""
    before = stored(engine)
    report = run(club, whole)
    assert sum(each.there for each in report.tallies.values()) == RECORDS
    assert not report.failed
    assert stored(engine) == before
    article = club.store.run(club.design.news("3"))
    assert article is not None
    article.title = "Von Hand geändert"
    club.store.run(update(article))
    before = stored(engine)
    report = run(club, whole)
    assert [(each.collection, each.record, each.whole) for each in report.issues] == [("news", "3", True)]
    assert report.failed
    assert stored(engine) == before
    allowed = run(club, whole, allow_unconverted=True)
    assert not allowed.failed
    assert stored(engine) == before


def _export_id(engine: Engine) -> str:
    items = engine.scan(TableName="vcm-news-keyplan")["Items"]
    return next(each["pk"]["S"].partition("#")[2] for each in items if each["pk"]["S"].startswith("IMPORT#"))


def _look(club: Running[VcmDesign]) -> None:
    """The results for some records."""
    article, event = club.store.run(club.design.news("5")), club.store.run(club.design.event("e1"))
    team, sponsor = club.store.run(club.design.team("2")), club.store.run(club.design.sponsor("2"))
    assert article is not None
    assert event is not None
    assert team is not None
    assert sponsor is not None
    assert (article.status, article.author_ids, article.excerpt[:7]) == ("draft", ["sub-anja"], "Runde 4")
    assert article.published_date == article.created_at.replace(microsecond=123000)
    assert article.image_ids[-1] == "5", "the picture in the text"
    assert article.lexical is None
    assert (event.status, event.end_date is None, event.address is not None) == ("published", False, True)
    assert event.author_ids == ["sub-mona"]
    assert (team.sbvv_team_id, team.coach_ids, team.contact_person_ids) == ("sams-1", ["m1"], ["m2"])
    assert team.schedules[0].model_dump() == {
        "day": [1, 4],
        "startTime": "18:30",
        "endTime": "20:00",
        "locationId": "2",
    }
    assert sponsor.expiry_timestamp is not None
    assert sponsor.expiry_timestamp.isoformat() == "2035-01-01T00:00:00+00:00"
    news = list(club.store.each(club.design.all_news().limit(100)))
    assert len({each.slug for each in news}) == NEWS
    assert "derby-fuer-die-strasse-8" in {each.slug for each in news}
    media = club.store.run(club.design.media("1"))
    assert media is not None
    assert (media.filename, club.media.exists(media.s3_key)) == ("bild-1.png", True)
    assert media.references == len(club.store.run(club.design.media_references("1").limit(100)).items) > 1


def test_a_dry_run_writes_nothing(club: Running[VcmDesign], engine: Engine, whole: Path, tmp_path: Path) -> None:
    before = engine.scan(TableName="vcm-news-keyplan")["Items"]
    report = run(club, whole, dry_run=True)
    assert sum(each.written for each in report.tallies.values()) == RECORDS
    assert not report.wrote
    assert not any(stored(engine).values())
    assert engine.scan(TableName="vcm-news-keyplan")["Items"] == before
    assert not list(tmp_path.rglob("*.png"))


def test_the_original_can_be_kept_beside(club: Running[VcmDesign], tmp_path: Path) -> None:
    small = small_export(tmp_path / "small")
    report = run(club, small, keep_lexical=True, allow_unconverted=True)
    assert not report.failed
    article, event = club.store.run(club.design.news("1")), club.store.run(club.design.event("e1"))
    assert article is not None
    assert event is not None
    assert article.lexical == records()["news"][0]["content"]
    assert event.lexical is not None
    assert club.store.verify() == []


def test_an_original_that_does_not_fit_beside_is_told(club: Running[VcmDesign], tmp_path: Path) -> None:
    wrapped = node("paragraph", text("Innen."))
    for _ in range(20):
        wrapped = node("wrapper", wrapped)
    texts = {"long": rich(*(node("paragraph", text("Wort " * 10)) for _ in range(2000))), "deep": rich(wrapped)}
    news = [{"id": id, "title": id, "content": content, **stamps(1)} for id, content in texts.items()]
    export = write_export(tmp_path / "export", {"news": news})
    plain = run(club, export, dry_run=True)
    assert [(each.record, "'wrapper'" in each.reason) for each in plain.issues] == [("deep", True)]
    report = run(club, export, keep_lexical=True, allow_unconverted=True)
    assert [each.record for each in report.issues if "too deep or too large" in each.reason] == ["long", "deep"]
    assert (report.failed, report.faults) == (False, [])
    for id in texts:
        article = club.store.run(club.design.news(id))
        assert article is not None
        assert article.lexical is None


@pytest.mark.parametrize(
    ("given", "handle"),
    [
        ("vcm.damen1", "vcm.damen1"),
        ("@vcm.damen1", "vcm.damen1"),
        ("https://www.instagram.com/vcm.damen1/", "vcm.damen1"),
        ("http://instagram.com/vcm.damen1?igsh=1", "vcm.damen1"),
    ],
)
def test_what_people_take_for_a_handle(club: Running[VcmDesign], tmp_path: Path, given: str, handle: str) -> None:
    team = {"id": 1, "name": "Damen 1", "gender": "woman", "instagram": given}
    report = run(club, write_export(tmp_path / "export", {"teams": [team]}))
    assert (report.issues, report.failed) == ([], False)
    made = club.store.run(club.design.team("1"))
    assert made is not None
    assert made.instagram == handle


# Stopped


class Stopped:
    """A client that fails at a batch, before or after it."""

    def __init__(self, engine: Engine, batch: int, *, after: bool) -> None:
        self.engine, self.batch, self.after = engine, batch, after

    def __getattr__(self, name: str) -> Callable[..., Any]:
        method: Callable[..., Any] = getattr(self.engine, name)
        if name != "batch_write_item":
            return method

        def batch_write_item(**request: Any) -> Any:
            self.batch -= 1
            if self.batch == 0 and not self.after:
                raise Killed
            answer = method(**request)
            if self.batch == 0:
                raise Killed
            return answer

        return batch_write_item


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory, whole: Path) -> dict[str, list[Any]]:
    """The items after a run without interruptions."""
    with Engine() as engine:
        run(started(tmp_path_factory.mktemp("expected"), engine), whole)
        return stored(engine)


@pytest.mark.parametrize(("stops", "after"), [((1, 6), False), ((9, 5), True)])
def test_a_run_that_is_killed_goes_on_where_it_stopped(
    tmp_path: Path, engine: Engine, whole: Path, expected: dict[str, list[Any]], stops: tuple[int, ...], after: bool
) -> None:
    """Interrupted twice: while media and records are written, and while their effects are."""
    there = -1
    for batch in stops:
        with pytest.raises(Killed):
            run(started(tmp_path, Stopped(engine, batch, after=after)), whole)
        now = sum(len(each) for each in stored(engine).values())
        assert there < now < sum(len(each) for each in expected.values())
        there = now if batch > 1 else there
    club = started(tmp_path, engine)
    report = run(club, whole)
    assert (report.faults, report.failed, report.resumed) == ([], False, True)
    assert sum(each.written for each in report.tallies.values()) < RECORDS
    assert sum(each.written + each.there for each in report.tallies.values()) == RECORDS
    assert without_names(stored(engine)) == without_names(expected), "nothing is missing, doubled or different"
    assert len([path for path in tmp_path.rglob("*.png") if path.is_file()]) == len(expected["vcm-media"])


def without_names(tables: dict[str, list[Any]]) -> dict[str, list[Any]]:
    """Items without the names of files, which are made from a secret of the tables."""
    left = {"s3Key", "url", "s3Bucket"}
    return {
        table: [{k: v for k, v in each.items() if k not in left} for each in items] for table, items in tables.items()
    }


def test_unprocessed_items_are_sent_again(tmp_path: Path, whole: Path) -> None:
    class Busy:
        """A client that accepts at most seven items of a batch."""

        def __init__(self, engine: Engine) -> None:
            self.engine, self.left = engine, 0

        def __getattr__(self, name: str) -> Callable[..., Any]:
            method: Callable[..., Any] = getattr(self.engine, name)
            if name != "batch_write_item":
                return method

            def batch_write_item(**request: Any) -> Any:
                items: dict[str, list[Any]] = request["RequestItems"]
                assert sum(len(each) for each in items.values()) <= 25
                taken: dict[str, list[Any]] = {}
                left: dict[str, list[Any]] = {}
                for number, (table, request) in enumerate((t, r) for t, each in items.items() for r in each):
                    (taken if number < 7 else left).setdefault(table, []).append(request)
                method(RequestItems=taken)
                self.left += sum(len(each) for each in left.values())
                return {"UnprocessedItems": left}

            return batch_write_item

    export = small_export(tmp_path / "small")
    with Engine() as engine:
        busy = Busy(engine)
        report = run(started(tmp_path, busy), export, allow_unconverted=True)
        assert busy.left > 0
        assert report.faults == []


def small_export(folder: Path) -> Path:
    """The first records of each collection, and all images."""
    collections = {name: docs if name == "media" else docs[:6] for name, docs in records().items()}
    for team in collections["teams"]:
        team["contactPeople"] = []
    return write_export(folder, collections)


# What is there already


def test_slugs_and_numbers_of_what_was_there_before(club: Running[VcmDesign], tmp_path: Path) -> None:
    content: Any = {"type": "doc", "content": [{"type": "paragraph"}]}
    now = club.store.clock()
    club.store.run(create(Role(id="role-1", name="Rolle 1", created_at=records_stamp())))
    club.store.run(create(News(id="old", title="D", slug="satz-fuer-die-strasse", content=content, published_date=now)))
    report = run(club, small_export(tmp_path / "small"), allow_unconverted=True)
    assert report.faults == []
    assert report.tallies["roles"].there == 1
    slugs = {each.slug for each in club.store.each(club.design.all_news().limit(100))}
    assert {"satz-fuer-die-strasse", "satz-fuer-die-strasse-2"} <= slugs
    role = club.store.run(club.design.role("role-1"))
    assert role is not None
    assert role.members > 0, "those who have it are counted, though it was there before"
    assert club.store.verify() == []


def records_stamp() -> Any:
    return stamps_of(records()["roles"][1])["created_at"]


# Broken


def deep(levels: int) -> Record:
    made = bullets("bullet", item(text("unten")))
    for _ in range(levels):
        made = bullets("bullet", item(text("x")), item(made))
    return rich(made)


def para(*children: Record) -> Record:
    return rich(node("paragraph", *children))


WHOLE: list[tuple[str, dict[str, Any], str]] = [
    ("media", {"filename": "nirgends.png"}, "its file nirgends.png is missing"),
    ("media", {"filename": "../news.json"}, "no filename"),
    ("media", {"filename": None}, "no filename"),
    ("media", {"filename": "kein-bild.png"}, "not an image"),
    ("media", {"filename": "halb.png"}, "its file halb.png can't be used: The picture is damaged or incomplete."),
    ("media", {"alt": 5}, "alt"),
    ("roles", {"name": ""}, "no name"),
    ("roles", {"name": "x" * 101}, "name"),
    ("roles", {"id": "a#b"}, "no id"),
    ("roles", {"id": None}, "no id"),
    ("roles", {"id": "role-1"}, "the same id"),
    ("roles", {"createdAt": "gestern"}, "not a time"),
    ("locations", {"address": {"street": "S"}}, "no postalCode"),
    ("members", {"name": None}, "no name"),
    ("members", {"email": 5}, "email is not a text"),
    ("teams", {"gender": "women"}, "gender"),
    ("teams", {"age": "alt"}, "age"),
    ("teams", {"description": "x" * 20_001}, "description: String should have at most 20000"),
    ("teams", {"schedules": [{"day": ["someday"], "location": 1}]}, "not a day of the week"),
    ("teams", {"schedules": [{"day": [1], "location": 1, "endTime": "20:00"}]}, "no startTime"),
    ("teams", {"schedules": [{"day": 1, "location": 1, "startTime": "18:00", "endTime": "20:00"}] * 8}, "schedules"),
    ("news", {"title": None}, "no title"),
    ("news", {"title": "x" * 201}, "title"),
    ("news", {"content": None}, "no content"),
    ("news", {"content": {"children": []}}, "no root"),
    ("news", {"content": deep(9)}, "nests more than 31 levels"),
    ("news", {"content": deep(200)}, "nested more than 200 levels"),
    ("news", {"content": para(text("x" * 320_000))}, "bytes"),
    ("news", {"publishedDate": "2024-13-01"}, "not a time"),
    ("news", {"_status": "changed"}, "status"),
    ("news", {"images": list(range(1, 23))}, "image_ids"),
    ("events", {"date": {}}, "no date.startDate"),
    ("events", {"date": {"startDate": "2024-01-02", "endDate": "2024-01-01"}}, "ends before"),
    ("events", {"date": {"startDate": "2024-01-01", "endDate": "2024-03-01"}}, "31 days"),
    ("events", {"description": "Text"}, "no root"),
    ("sponsors", {"name": None}, "no name"),
    ("sponsors", {"expiryDate": "bald"}, "not a time"),
    ("sponsors", {"expiryDate": "9999-12-31T23:59:59-14:00"}, "not a time"),
]
PARTS: list[tuple[str, dict[str, Any], str]] = [
    ("members", {"roles": ["none"]}, "roles names none"),
    ("members", {"avatar": 999}, "avatar names 999"),
    ("teams", {"coaches": [{"name": "ohne id"}]}, "coaches names nothing"),
    ("teams", {"contactPeople": ["none"]}, "contactPeople names none"),
    ("teams", {"schedules": [{"day": [1], "location": 99}]}, "at 99"),
    ("teams", {"images": [999]}, "images names 999"),
    ("teams", {"sbvvTeam": {"name": "ohne id"}}, "sbvvTeam names nothing"),
    ("teams", {"instagram": "wir sind dort"}, "not an Instagram handle"),
    ("news", {"authors": [7]}, "authors names 7"),
    ("news", {"content": para(text("x", 32))}, "subscript"),
    ("news", {"content": para(link("javascript:alert(1)", text("x")))}, "javascript"),
    ("news", {"content": para(link("/kontakt", text("x")))}, "'/kontakt'"),
    ("news", {"content": para(node("link", text("x"), fields={"linkType": "internal", "doc": 1}))}, "another record"),
    ("news", {"content": rich(node("block", fields={"blockType": "banner"}))}, "'block'"),
    ("news", {"content": para(node("mention", text("@ada")))}, "'mention'"),
    ("news", {"content": rich(picture(999))}, "missing: 999"),
    ("news", {"content": rich(bullets("check", item(text("x"))))}, "checklist"),
    ("media", {"alt": "x" * 1001}, "alt: String should have at most 1000"),
    ("members", {"email": "ida at example.org"}, "email: String should match"),
    ("members", {"phone": "siehe Aushang"}, "phone: String should match"),
    ("teams", {"age": 121}, "age: Input should be less than or equal to 120"),
    ("teams", {"league": "x" * 201}, "league: String should have at most 200"),
    ("events", {"address": {"city": "x" * 201}}, "address: String should have at most 200"),
    ("sponsors", {"website": "example.org"}, "not a web address"),
    ("sponsors", {"logo": 999}, "logo names 999"),
]


def broken(folder: Path, cases: list[tuple[str, dict[str, Any], str]]) -> Path:
    """An export in which the last records are broken, each in another way, and nothing points at them."""
    collections = records()
    for number, (name, change, _) in enumerate(cases):
        docs = collections[name]
        sound = {k: v for k, v in docs[0].items() if k != "slug"} | {"id": f"broken-{number}"}
        docs.append({**sound, **change})
    write_export(folder, collections)
    (folder / "media" / "kein-bild.png").write_bytes(b"<svg/>")
    (folder / "media" / "halb.png").write_bytes(png(1)[:-20])
    return folder


def test_a_broken_record_of_each_kind_is_left_out_and_told(
    club: Running[VcmDesign], engine: Engine, tmp_path: Path
) -> None:
    assert {name for name, _, _ in WHOLE} == set(COLLECTIONS)
    export = broken(tmp_path / "export", WHOLE)
    report = run(club, export)
    assert report.failed
    assert not any(stored(engine).values()), "nothing is written unless it is allowed"
    _check_issues(report, WHOLE, whole=True)
    report = run(club, export, allow_unconverted=True)
    assert (report.faults, report.failed) == ([], False)
    assert sum(each.written for each in report.tallies.values()) == RECORDS
    assert club.store.verify() == []


def test_a_broken_part_of_each_kind_is_left_out_and_told(club: Running[VcmDesign], tmp_path: Path) -> None:
    export = broken(tmp_path / "export", PARTS)
    report = run(club, export)
    assert report.failed
    _check_issues(report, PARTS, whole=False)
    report = run(club, export, allow_unconverted=True)
    assert (report.faults, report.failed) == ([], False)
    assert sum(each.written for each in report.tallies.values()) == RECORDS + len(PARTS)
    assert club.store.verify() == []
    made = club.store.run(
        club.design.news(f"broken-{next(n for n, case in enumerate(PARTS) if 'javascript' in case[2])}")
    )
    assert made is not None
    assert made.content["content"] == [{"type": "paragraph", "content": [{"type": "text", "text": "x"}]}]


def _check_issues(report: Report, cases: list[tuple[str, dict[str, Any], str]], *, whole: bool) -> None:
    order = sorted(range(len(cases)), key=lambda number: COLLECTIONS.index(cases[number][0]))
    assert len(report.issues) == len(cases)
    for issue, number in zip(report.issues, order, strict=True):
        name, _, reason = cases[number]
        assert (issue.collection, issue.whole) == (name, whole), issue
        assert reason in issue.reason, issue


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("{", "not JSON"),
        ('{"news": []}', "no list of docs"),
        ("[1]", "no list of docs"),
        ('{"docs": [], "totalDocs": 9}', "0 of 9"),
    ],
)
def test_a_file_that_is_no_export(club: Running[VcmDesign], tmp_path: Path, content: str, reason: str) -> None:
    (tmp_path / "export").mkdir()
    (tmp_path / "export" / "news.json").write_text(content)
    with pytest.raises(ExportError, match=reason):
        run(club, tmp_path / "export")


# The command

command = typer.Typer()
command.add_typer(vcm)


def said(tmp_path: Path, *arguments: str) -> tuple[int, str, str]:
    done = CliRunner().invoke(
        command, ["vcm", "import", *arguments, "--path", str(tmp_path / "vcm.db")], catch_exceptions=False
    )
    return done.exit_code, done.stdout, done.stderr


def test_the_command(tmp_path: Path, whole: Path) -> None:
    authors = tmp_path / "authors.json"
    authors.write_text(json.dumps(AUTHORS))
    given = (str(whole), "--authors", str(authors))
    code, out, _ = said(tmp_path, str(whole), "--dry-run")
    assert code == 1, "nobody knows the authors"
    code, out, err = said(tmp_path, *given, "--dry-run")
    assert (code, err.strip()) == (0, "")
    assert f"news: {NEWS} records, {NEWS} to be written, 0 already there" in out
    assert out.endswith("Nothing was written. 0 can't be converted.\n")
    code, out, _ = said(tmp_path, *given)
    assert code == 0
    assert f"news: {NEWS} records, {NEWS} written, 0 already there" in out
    assert out.endswith("All checks passed.\n")
    code, out, _ = said(tmp_path, *given)
    assert (code, f"{NEWS} already there" in out) == (0, True)
    with Engine(str(tmp_path / "vcm.db")) as engine:
        assert running(SYSTEM, settings(tmp_path), engine).store.verify() == []


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [(["nowhere"], "Folder not found: nowhere"), (["{export}", "--authors", "nowhere.json"], "Can't read nowhere")],
)
def test_what_the_command_refuses(tmp_path: Path, whole: Path, arguments: list[str], reason: str) -> None:
    code, _, err = said(tmp_path, *(each.format(export=whole) for each in arguments))
    assert code != 0
    assert reason in err
    code, _, err = said(tmp_path, str(whole))
    assert code == 1
    assert "for whom the map of authors has no subject" in err
    assert "Nothing was written. Fix the export, or use --allow-unconverted." in err
