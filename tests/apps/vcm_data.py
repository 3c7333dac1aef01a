"""A club: articles, events, teams and everything they refer to, written through a store."""

from datetime import UTC, datetime, timedelta

from keyplan.apps.vcm.design import VcmDesign
from keyplan.apps.vcm.entities import (
    Event,
    Import,
    Location,
    Media,
    Member,
    News,
    Role,
    SamsClub,
    SamsTeam,
    Sponsor,
    Team,
)
from keyplan.apps.vcm.fields import Address, Schedule
from keyplan.apps.vcm.richtext import RichText
from keyplan.data import Store, create

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
CENTURY = timedelta(days=36500)
DAY = timedelta(days=1)

IMAGES = ["image-0", "image-1", "image-2", "logo", "avatar"]


def text(words: str) -> RichText:
    return {"type": "doc", "content": [{"type": "paragraph", "content": [{"type": "text", "text": words}]}]}


def news(id: str, published_date: datetime, **changes: object) -> News:
    values = {"id": id, "title": f"Article {id}", "slug": f"slug-of-{id}", "content": text(id), "status": "published"}
    return News.model_validate(values | {"published_date": published_date} | changes)


def event(id: str, start_date: datetime, **changes: object) -> Event:
    values = {"id": id, "title": f"Event {id}", "slug": f"slug-of-{id}", "status": "published"}
    return Event.model_validate(values | {"start_date": start_date} | changes)


def team(id: str, name: str, **changes: object) -> Team:
    values = {"id": id, "name": name, "slug": f"slug-of-{id}", "gender": "woman", "status": "published"}
    return Team.model_validate(values | changes)


def media(id: str) -> Media:
    return Media(
        id=id, filename=f"{id}.webp", s3_key=f"media/{id}.webp", s3_bucket="vcm", url=f"https://cdn.example.org/{id}"
    )


def fill(store: Store[VcmDesign], size: int = 1) -> None:
    """The club, with `size` times the articles, events, teams and so on; the first pages stay what they are."""
    for id in IMAGES:
        store.run(create(media(id)))
    for number in range(5, 20 * size):
        store.run(create(media(f"image-{number:03}")))
    _fill_people(store, size)
    _fill_news(store, size)
    _fill_events(store, size)
    _fill_teams(store, size)
    _fill_sams(store, size)
    for number in range(size):
        export = "export" if number == 0 else f"export-{number}"
        store.run(create(Import(export_id=export, collection="media", done=20, expires_at=NOW + CENTURY)))
        store.run(create(Import(export_id=export, collection="news", done=7, expires_at=NOW + CENTURY)))


def _fill_news(store: Store[VcmDesign], size: int) -> None:
    for number in range(15 * size):
        store.run(
            create(
                news(f"news-{number:03}", NOW - number * DAY, image_ids=["image-0", "image-1"][: max(0, 2 - number)])
            )
        )
        store.run(create(news(f"draft-{number:03}", NOW - number * DAY - DAY / 2, status="draft")))
    store.run(create(news("ahead", NOW + DAY)))


def _fill_events(store: Store[VcmDesign], size: int) -> None:
    store.run(create(event("camp", NOW - 20 * DAY, end_date=NOW + DAY, image_ids=["image-0"])))
    store.run(create(event("cup", NOW - DAY, end_date=NOW)))
    store.run(create(event("match", NOW - 2 * DAY)))
    store.run(create(event("party", NOW - 3 * DAY, end_date=NOW - 2 * DAY)))
    store.run(create(event("kick-off", NOW, address=Address(name="Hall", city="Mannheim"))))
    for number in range(30 * size):
        store.run(create(event(f"coming-{number:03}", NOW + (number + 1) * DAY, end_date=NOW + (number + 2) * DAY)))
        store.run(create(event(f"past-{number:03}", NOW - (number + 40) * DAY)))
        store.run(create(event(f"draft-{number:03}", NOW + (number + 0.5) * DAY, status="draft")))


def _fill_teams(store: Store[VcmDesign], size: int) -> None:
    training = Schedule(day=[1, 3], startTime="18:30", endTime="20:00", locationId="hall-0")
    store.run(
        create(
            team(
                "team",
                "Damen 1",
                sbvv_team_id="sams-1",
                instagram="vcm.damen1",
                coach_ids=["member-001", "member-000"],
                contact_person_ids=["member-002"],
                schedules=[training],
                image_ids=["image-2"],
                age=16,
            )
        )
    )
    store.run(create(team("hidden", "Zukunft", status="draft", sbvv_team_id="sams-of-a-draft")))
    for number in range(15 * size):
        store.run(create(team(f"team-{number:03}", f"Team {number:03}", sbvv_team_id=f"other-{number:03}")))
        store.run(create(team(f"draft-{number:03}", f"Entwurf {number:03}", status="draft")))


def _fill_people(store: Store[VcmDesign], size: int) -> None:
    for number in range(7 * size):
        store.run(create(Role(id=f"role-{number:03}", name=f"Role {number}")))
        member = Member(id=f"member-{number:03}", name=f"Member {number}", role_ids=[f"role-{number:03}"])
        store.run(create(member.model_copy(update={"avatar_id": "avatar"} if number == 0 else {})))
        location = Location(id=f"hall-{number}", name=f"Hall {number}", street="Ring 1", postal_code="68161", city="MA")
        store.run(create(location))
    store.run(create(Sponsor(id="for ever", name="For ever", logo_id="logo", website="https://example.org")))
    for number in range(15 * size):
        store.run(create(Sponsor(id=f"current-{number}", name="Current", expiry_timestamp=NOW + CENTURY)))
        store.run(create(Sponsor(id=f"expired-{number}", name="Expired", expiry_timestamp=NOW - DAY)))


def _fill_sams(store: Store[VcmDesign], size: int) -> None:
    for number in range(7 * size):
        store.run(create(SamsClub(sams_club_id=f"club-{number}", name="VC", name_slug="vc")))
        sams = SamsTeam(
            sams_team_id=f"sams-{number}",
            name="VC 1",
            league_name="Oberliga",
            league_id="league",
            club_id="club-0",
            season="2025/26",
        )
        store.run(create(sams))
