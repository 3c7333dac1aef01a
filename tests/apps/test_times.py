"""Times in responses are in UTC and have the same width, in every system, whatever the clock says."""

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import AbstractContextManager
from datetime import UTC, datetime, timedelta, timezone
from itertools import chain
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

import httpx
import pytest
from pydantic import BaseModel
from pydantic_core import from_json, to_json

from keyplan.apps.funkedupshift.api import SYSTEM as FUNKEDUPSHIFT
from keyplan.apps.hacktracker.api import SYSTEM as HACKTRACKER
from keyplan.apps.threefc.api import SYSTEM as THREEFC
from keyplan.apps.vcm.api import SYSTEM as VCM
from keyplan.apps.wavyblog.api import SYSTEM as WAVYBLOG
from keyplan.data import utc_now
from keyplan.web import Out, System, Time
from tests.apps.blog_images import added
from tests.apps.blog_site import ANY, blog, write
from tests.apps.fus_site import fus
from tests.apps.vcm_site import club
from tests.web.media_support import png
from tests.web.site import Site

SYSTEMS = (FUNKEDUPSHIFT, HACKTRACKER, THREEFC, VCM, WAVYBLOG)
NOT_A_TEXT = {"SponsorOut.expiry_timestamp"}
"""Unix seconds, as the design document has them: DynamoDB's time to live wants it so."""
FORMS = {
    "milliseconds": re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"),
    "seconds": re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"),
}
# Where a system has milliseconds, the type writes them, whatever it is given. Where it has seconds, nothing else is
# given: the tables' stamps are made so.
GIVEN = {
    "milliseconds": (
        datetime(2026, 1, 2, 3, 4, 5, 999_999, timezone(timedelta(hours=2))),
        "2026-01-02T01:04:05.999Z",
    ),
    "seconds": (datetime(2026, 1, 2, 1, 4, 5, tzinfo=UTC), "2026-01-02T01:04:05Z"),
}


# What models would print


def models_in(hint: Any, known: set[type[BaseModel]]) -> set[type[BaseModel]]:
    """The models that a type is made of: it, its arguments, and those of their fields."""
    if isinstance(hint, type) and issubclass(hint, BaseModel) and hint not in known:
        known.add(hint)
        for field in hint.model_fields.values():
            models_in(field.annotation, known)
    for argument in get_args(hint):
        models_in(argument, known)
    return known


def holding(hint: Any, moment: datetime) -> Any:
    """A value of a type that contains this time; None if the type can't contain one."""
    if hint is datetime:
        return moment
    origin = get_origin(hint)
    arguments = get_args(hint)[:1] if origin is Annotated else get_args(hint)
    held = next((each for each in (holding(argument, moment) for argument in arguments) if each is not None), None)
    if held is None or origin in (Annotated, Union, UnionType):
        return held
    return {"x": held} if issubclass(origin, Mapping) else origin([held]) if issubclass(origin, Collection) else held


def leaves(value: Any) -> Iterator[Any]:
    """The leaves of a JSON value."""
    if isinstance(value, dict | list):
        yield from chain.from_iterable(map(leaves, value.values() if isinstance(value, dict) else value))
    else:
        yield value


def printed(model: type[BaseModel], moment: datetime) -> Iterator[tuple[str, list[Any]]]:
    """Each field of a model that can hold a time, and what its JSON has there when it does."""
    for name, field in model.model_fields.items():
        value = holding(field.annotation, moment)
        if value is not None:
            answer = from_json(to_json(model.model_construct(**{name: value}), by_alias=False))
            yield f"{model.__name__}.{name}", list(leaves(answer[name]))


def models_of(system: System[Any]) -> set[type[BaseModel]]:
    """All models that the routes of a system answer with."""
    known: set[type[BaseModel]] = set()
    for route in system.api.routes:
        models_in(get_type_hints(route.method, include_extras=True)["return"], known)
    return known


@pytest.mark.parametrize("system", SYSTEMS, ids=lambda each: each.name)
def test_every_time_is_printed_as_the_system_has_it(system: System[Any]) -> None:
    moment, text = GIVEN[system.design.tables[0].times]
    found = [each for model in models_of(system) for each in printed(model, moment)]
    assert found
    assert [(name, texts) for name, texts in found if texts != [text] and name not in NOT_A_TEXT] == []


def test_a_time_that_is_printed_otherwise_is_found() -> None:
    class Inner(Out):
        late: datetime | None

    class Model(Out):
        good: Time | None
        times: list[datetime]
        named: dict[str, Annotated[datetime, "when"]]
        several: tuple[Time, ...]
        inner: list[Inner]

    moment, text = GIVEN["milliseconds"]
    found = dict(chain.from_iterable(printed(each, moment) for each in models_in(list[Model], set())))
    assert found.keys() == {"Model.good", "Model.times", "Model.named", "Model.several", "Inner.late"}
    assert {name for name, texts in found.items() if texts == [text]} == {"Model.good", "Model.several"}


# What is answered


def with_microseconds(site: Site) -> Site:
    """The same system, but its clock is always a microsecond before the next second."""
    site.running.store.clock = lambda: utc_now().replace(microsecond=999_999)
    return site


def times_in(value: Any) -> dict[str, str]:
    """The values in a JSON value that look like times, by field name."""
    if isinstance(value, list):
        return {name: text for each in value for name, text in times_in(each).items()}
    found: dict[str, str] = {}
    for name, each in value.items() if isinstance(value, dict) else ():
        if isinstance(each, str) and re.match(r"\d{4}-\d\d-\d\d[T ]", each):
            found[name] = each
        found |= times_in(each)
    return found


def test_wavyblog_answers_with_seconds(tmp_path: Path) -> None:
    with blog(tmp_path) as served:
        site = with_microseconds(served)
        client = site.as_("ada")
        slug = write(client, publish=True)["slug"]
        image = {"content_type": "image/png", "size": 100}
        answers: list[tuple[httpx.Response, set[str]]] = [
            (client.post("/posts", json={"title": "B", "content": "b"}), {"created_at", "updated_at"}),
            (client.patch("/posts/b", json={"content": "c"}, headers=ANY), {"created_at", "updated_at"}),
            (client.post("/posts/b/publish"), {"created_at", "updated_at"}),
            (client.get(f"/posts/{slug}"), {"created_at", "updated_at"}),
            (client.get("/posts"), {"created_at", "updated_at"}),
            (client.get("/me"), {"created_at"}),
            (client.post("/images/upload", json=image), {"expires_at"}),
            (client.post("/images/upload", json=image, headers={"Idempotency-Key": "1"}), {"expires_at"}),
        ]
        for answer, names in answers:
            times = times_in(answer.json())
            assert times.keys() == names, answer.text
            assert all(FORMS["seconds"].fullmatch(text) for text in times.values()), answer.text
        new = times_in(added(client, png()))
        assert FORMS["seconds"].fullmatch(new["created_at"])
        assert times_in(client.get("/me/images").json()) == new


@pytest.mark.parametrize(
    ("serve", "path", "body", "names"),
    [
        (fus, "/me/avatar/upload", {"content_type": "image/png"}, "upload_id url fields max_bytes expires_at"),
        (club, "/media/upload", {"contentType": "image/png"}, "uploadId url fields maxBytes expiresAt"),
    ],
    ids=["funkedupshift", "vcm"],
)
def test_a_ticket_is_written_as_all_of_its_system(
    tmp_path: Path, serve: Callable[[Path], AbstractContextManager[Site]], path: str, body: dict[str, Any], names: str
) -> None:
    with serve(tmp_path) as site:
        client = with_microseconds(site).as_("mona", "Moderator")
        ticket = client.post(path, json={**body, "size": 9}).json()
        assert list(ticket) == names.split()
        (until,) = times_in(ticket).values()
        assert FORMS["milliseconds"].fullmatch(until)
        assert until.endswith(".999Z")
