"""Checks of what a migration wrote: counts, random records attribute by attribute, every access pattern, and verify."""

import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta
from typing import Any, TypeVar

from keyplan.apps.vcm.design import VcmDesign
from keyplan.apps.vcm.entities import Event, Location, Media, Member, News, Role, Sponsor, Team
from keyplan.data import codec_of
from keyplan.design import Entity, batch_get
from keyplan.web import Running

E = TypeVar("E", bound=Entity)
SPOT_CHECKS = 30
_KEPT_BY_THE_STORE = ("version", "count")


def checked(club: Running[VcmDesign], entities: Sequence[Entity], progress: Callable[[int, int], None]) -> list[str]:
    """The faults that were found; empty if there are none."""
    now = club.store.clock()
    # A sponsor whose time is over may be gone already.
    alive = [e for e in entities if not (isinstance(e, Sponsor) and e.expiry_timestamp and e.expiry_timestamp <= now)]
    steps: list[Callable[[], Iterator[str]]] = [
        lambda: _counts(club, alive),
        lambda: _spot_checks(club, alive),
        lambda: _files(club, alive),
        lambda: _patterns(club, alive),
        lambda: _verified(club),
    ]
    found: list[str] = []
    for done, step in enumerate(steps):
        progress(done, len(steps))
        found += step()
    progress(len(steps), len(steps))
    return found


def _counts(club: Running[VcmDesign], entities: Sequence[Entity]) -> Iterator[str]:
    wanted = Counter(type(each) for each in entities)
    for kind, number in wanted.items():
        ids = [each.key_values["id"] for each in entities if type(each) is kind]
        there = sum(each is not None for each in club.store.run(batch_get(kind, ids, consistent=True)))
        if there != number:
            yield f"{kind.spec.table.name}: {there} of {number} records were found"


def _spot_checks(club: Running[VcmDesign], entities: Sequence[Entity]) -> Iterator[str]:
    for wanted in random.sample(entities, min(SPOT_CHECKS, len(entities))):
        kind = type(wanted)
        codec = codec_of(kind)
        (found,) = club.store.run(batch_get(kind, [wanted.key_values["id"]], consistent=True))
        if found is None:
            continue  # the counts tell it
        one, other = codec.encode(wanted), codec.encode(found)
        for field in codec.spec.fields.values():
            if field.kind not in _KEPT_BY_THE_STORE and one.get(field.stored) != other.get(field.stored):
                yield f"{kind.spec.table.name} {wanted.key_values['id']}: {field.stored} is not what was written"


def _files(club: Running[VcmDesign], entities: Sequence[Entity]) -> Iterator[str]:
    for media in entities:
        if isinstance(media, Media) and not club.media.exists(media.s3_key):
            yield f"vcm-media {media.id}: its file is missing"


def _patterns(club: Running[VcmDesign], entities: Sequence[Entity]) -> Iterator[str]:
    for name, finds in _found_by(club, entities):
        if not finds:
            yield f"access pattern {name!r} does not find what was written"


def _first(entities: Sequence[Entity], kind: type[E]) -> E | None:
    return next((each for each in entities if isinstance(each, kind)), None)


def _found_by(club: Running[VcmDesign], entities: Sequence[Entity]) -> Iterator[tuple[str, bool]]:
    """Each access pattern on something that was written, and whether it finds it."""
    design, run, now = club.design, club.store.run, club.store.clock()

    def listed(op: Any, wanted: Entity) -> bool:  # noqa: ANN401 - any list
        return any(each.key_values == wanted.key_values for each in club.store.each(op.limit(100)))

    if news := _first(entities, News):
        yield "Get news by ID", run(design.news(news.id)) is not None
        yield "Get news by slug", listed(design.news_by_slug(news.slug), news)
        yield "List all news (admin): Query by status", listed(design.news_by_status(news.status), news)
        yield "List all news (admin)", listed(design.all_news(), news)
    shown = (e for e in entities if isinstance(e, News) and e.status == "published" and e.published_date <= now)
    if article := next(shown, None):
        yield "List published news", listed(design.published_news(now), article)
    if event := _first(entities, Event):
        yield "Get event by ID", run(design.event(event.id)) is not None
        yield "Get event by slug", run(design.event_by_slug(event.slug)) is not None
        yield "List all events (admin)", listed(design.all_events(), event)
        before, behind = event.start_date - timedelta(days=1), event.start_date + timedelta(days=40)
        yield "List upcoming events", listed(design.upcoming_events(before), event)
        yield "List past events", listed(design.past_events(behind), event)
    if team := _first(entities, Team):
        yield "Get team by ID", run(design.team(team.id)) is not None
        yield "Get team by slug", listed(design.team_by_slug(team.slug), team)
        yield "List all published teams", listed(design.published_teams(), team)
        yield "List all teams (admin)", listed(design.all_teams(), team)
        yield "Get Instagram handle", run(design.instagram_handle(team.id)) is not None
    for known in entities:
        if isinstance(known, Team) and known.sbvv_team_id:
            yield "Find team by SAMS ID", listed(design.teams_by_sams_id(known.sbvv_team_id), known)
            found = listed(design.published_teams_by_sams_id(known.sbvv_team_id), known)
            yield "Find team by SAMS ID: published teams only", found
            break
    if member := _first(entities, Member):
        yield "Get member by ID", run(design.member(member.id)) is not None
        yield "List all members", listed(design.all_members(), member)
        yield "Get multiple members by IDs", None not in run(design.members([member.id]))
    yield from _rest_found_by(club, entities, listed)


def _rest_found_by(
    club: Running[VcmDesign], entities: Sequence[Entity], listed: Callable[[Any, Entity], bool]
) -> Iterator[tuple[str, bool]]:
    design, run = club.design, club.store.run
    if media := _first(entities, Media):
        yield "Get media by ID", run(design.media(media.id)) is not None
        yield "List all media (admin)", listed(design.all_media(), media)
        yield "Get multiple media by IDs", None not in run(design.media_by_ids([media.id]))
    for article in entities:
        if isinstance(article, News) and article.image_ids:
            uses = run(design.media_references(article.image_ids[0])).items
            yield "List what uses a media item", any(each.content_id == article.id for each in uses)
            break
    if sponsor := _first(entities, Sponsor):
        yield "Get sponsor by ID", run(design.sponsor(sponsor.id)) is not None
        yield "List all sponsors", listed(design.current_sponsors(), sponsor)
    if role := _first(entities, Role):
        yield "Get role by ID", run(design.role(role.id)) is not None
        yield "List all roles", listed(design.all_roles(), role)
    if location := _first(entities, Location):
        yield "Get location by ID", run(design.location(location.id)) is not None
        yield "List all locations", listed(design.all_locations(), location)
        yield "Get multiple locations by IDs", None not in run(design.locations([location.id]))


def _verified(club: Running[VcmDesign]) -> Iterator[str]:
    """What does not agree with the design; numbers of what was there before are put right first."""
    findings = club.store.verify()
    if findings:
        club.store.repair([each for each in findings if each.kind == "wrong-count"])
        findings = club.store.verify()
    yield from (str(each) for each in findings)
