"""The club's tables are the document's, and what must change together does."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from pydantic import JsonValue, ValidationError

from keyplan.apps.vcm.design import VcmDesign
from keyplan.apps.vcm.entities import Event, Import, Location, Media, Member, News, Role, Sponsor, Team
from keyplan.apps.vcm.fields import Address, Schedule
from keyplan.data import InUse, ParentMissing, Store, UniqueViolation, create, delete, update
from keyplan.data.codec.entities import codec_of
from keyplan.data.upkeep.provisioning import create_table_requests
from keyplan.design import Entity, InvalidValue, get
from keyplan.engine import Engine
from tests.apps.vcm_data import DAY, NOW, event, media, news, team, text

CONTENT = {"createdAt", "updatedAt", "version", "id"}


@pytest.fixture
def engine() -> Iterator[Engine]:
    with Engine(clock=lambda: NOW.timestamp()) as engine:
        yield engine


@pytest.fixture
def store(engine: Engine) -> Store[VcmDesign]:
    store = Store(VcmDesign(), engine, clock=lambda: NOW)
    store.create_tables()
    for id in ("one", "two", "three"):
        store.run(create(media(id)))
    return store


@pytest.mark.parametrize(
    ("entity", "attributes"),
    [
        (
            news("n", NOW, lexical={}),
            "title slug content excerpt publishedDate status authorIds imageIds lexical",
        ),
        (
            event("e", NOW, end_date=NOW, description={}, lexical={}, address=Address()),
            "title slug description startDate endDate address imageIds authorIds status lexical",
        ),
        (
            team("t", "T", age=12, league="L", sbvv_team_id="s", instagram="i"),
            (
                "name slug gender age league sbvvTeamId description coachIds contactPersonIds schedules imageIds "
                "instagram status"
            ),
        ),
        (
            Member(name="M", email="m@example.org", phone="1", avatar_id="a"),
            "name email phone showContact roleIds avatarId",
        ),
        (
            Media(filename="f", s3_key="k", s3_bucket="b", url="u", alt="a"),
            "filename s3Key s3Bucket url alt references",
        ),
        (Sponsor(name="S", website="w", logo_id="l", expiry_timestamp=NOW), "name website logoId expiryTimestamp"),
        (Role(name="R"), "name members"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Entity) else "",
)
def test_attributes_have_the_documents_names(entity: Entity, attributes: str) -> None:
    without_stamp = {"updatedAt"} if isinstance(entity, Role) else set()
    assert codec_of(type(entity)).encode(entity).keys() == CONTENT - without_stamp | set(attributes.split())


def test_a_team_that_sams_does_not_know_is_not_in_its_index() -> None:
    assert "sbvvTeamId" not in codec_of(Team).encode(team("t", "T"))


def test_maps_have_the_documents_names() -> None:
    training = Schedule(day=[0], startTime="18:30", endTime="20:00", locationId="hall")
    stored = codec_of(Team).encode(team("t", "T", schedules=[training]))
    assert stored["schedules"]["L"][0]["M"].keys() == {"day", "startTime", "endTime", "locationId"}
    address = Address(name="n", street="s", postalCode="p", city="c")
    assert codec_of(Event).encode(event("e", NOW, address=address))["address"] == {
        "M": {"name": {"S": "n"}, "street": {"S": "s"}, "postalCode": {"S": "p"}, "city": {"S": "c"}}
    }


def test_the_tables_are_the_documents() -> None:
    tables: dict[str, dict[str, Any]] = {}
    times_to_live = {}
    for request, time_to_live in create_table_requests(VcmDesign()):
        tables[request["TableName"]] = request
        if time_to_live:
            times_to_live[request["TableName"]] = time_to_live["TimeToLiveSpecification"]["AttributeName"]
    indexes = {
        (name, index["IndexName"]): (
            [part["AttributeName"] for part in index["KeySchema"]],
            index["Projection"]["ProjectionType"],
        )
        for name, table in tables.items()
        for index in table.get("GlobalSecondaryIndexes", [])
    }
    assert indexes == {
        ("vcm-news", "GSI-PublishedDate"): (["status", "publishedDate"], "ALL"),
        ("vcm-news", "GSI-Slug"): (["slug"], "ALL"),
        ("vcm-events", "GSI-StartDate"): (["status", "startDate"], "ALL"),
        ("vcm-teams", "GSI-Slug"): (["slug"], "ALL"),
        ("vcm-teams", "GSI-Status"): (["status", "name"], "ALL"),
        ("vcm-teams", "GSI-SamsTeam"): (["sbvvTeamId"], "ALL"),
    }
    streams = {name: table["StreamSpecification"] for name, table in tables.items() if "StreamSpecification" in table}
    view = {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"}
    keys = {"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"}
    assert streams == {"vcm-media": view, "vcm-sponsors": view, "vcm-media-refs": keys}
    assert times_to_live == {"vcm-sponsors": "expiryTimestamp", "vcm-news-keyplan": "expiresAt"}


def test_a_slug_is_unique_in_its_kind(store: Store[VcmDesign]) -> None:
    store.run(create(news("n", NOW, slug="cup")))
    store.run(create(event("e", NOW, slug="cup")))
    store.run(create(team("t", "Cup", slug="cup")))
    with pytest.raises(UniqueViolation) as refused:
        store.run(create(event("other", NOW, slug="cup")))
    assert (refused.value.entity, refused.value.constraint) == ("Event", "slug_guard")
    assert refused.value.values == {"slug": "cup"}
    assert store.run(store.design.event("other")) is None


def test_a_rename_moves_the_slug(store: Store[VcmDesign], engine: Engine) -> None:
    cup = store.run(create(event("e", NOW, slug="cup")))
    cup.slug = "trophy"
    store.run(update(cup))
    assert engine.scan(TableName="vcm-slugs")["Items"] == [{"slug": {"S": "events#trophy"}, "id": {"S": "e"}}]
    assert store.run(store.design.event_by_slug("cup")) is None
    assert store.run(store.design.event_by_slug("trophy")) == cup
    store.run(delete(cup))
    assert engine.scan(TableName="vcm-slugs")["Items"] == []


def references(engine: Engine) -> set[tuple[str, str]]:
    return {(each["mediaId"]["S"], each["usedBy"]["S"]) for each in engine.scan(TableName="vcm-media-refs")["Items"]}


def test_what_uses_a_media_item_is_known(store: Store[VcmDesign], engine: Engine) -> None:
    article = store.run(create(news("n", NOW, image_ids=["one", "two", "one"])))
    store.run(create(team("t", "T", image_ids=["one"])))
    store.run(create(Member(id="m", name="M", avatar_id="two")))
    store.run(create(Sponsor(id="s", name="S", logo_id="three")))
    others = {("one", "teams#t"), ("two", "members#m"), ("three", "sponsors#s")}
    assert references(engine) == others | {("one", "news#n"), ("two", "news#n")}
    article.image_ids = ["three"]
    store.run(update(article))
    assert references(engine) == others | {("three", "news#n")}
    store.run(delete(article))
    assert references(engine) == others
    assert store.verify() == []


def counted(store: Store[VcmDesign], id: str) -> int:
    found = store.run(store.design.media(id))
    assert found is not None
    return found.references


def test_a_media_item_in_use_is_not_deleted(store: Store[VcmDesign]) -> None:
    sponsor = store.run(create(Sponsor(id="s", name="S", logo_id="one")))
    article = store.run(create(news("n", NOW, image_ids=["one", "two", "one"])))
    assert (counted(store, "one"), counted(store, "two")) == (2, 1)
    sponsor.logo_id = "two"
    store.run(update(sponsor))
    logo = store.run(store.design.media("one"))
    assert logo is not None
    assert logo.references == 1
    with pytest.raises(InUse):
        store.run(delete(logo))
    article.image_ids = []
    store.run(update(article))
    store.run(delete(logo))
    assert store.run(store.design.media("one")) is None
    assert counted(store, "two") == 1


def test_a_role_in_use_is_not_deleted(store: Store[VcmDesign]) -> None:
    role = store.run(create(Role(id="r", name="Trainer")))
    member = store.run(create(Member(id="m", name="M", role_ids=["r"])))
    with pytest.raises(InUse):
        store.run(delete(role))
    store.run(delete(member))
    store.run(delete(role))
    assert store.run(store.design.role("r")) is None


def test_a_location_in_use_is_not_deleted(store: Store[VcmDesign]) -> None:
    hall = store.run(create(Location(id="hall", name="Hall", street="S", postal_code="1", city="C")))
    training = [Schedule(day=[day], startTime="18:30", endTime="20:00", locationId="hall") for day in (0, 1)]
    made = store.run(create(team("t", "T", schedules=training)))
    with pytest.raises(InUse):
        store.run(delete(hall))
    made.schedules = []
    store.run(update(made))
    store.run(delete(hall))
    assert store.run(store.design.location("hall")) is None
    assert store.verify() == []


def test_a_deleted_team_lets_go_of_all_that_it_used(store: Store[VcmDesign], engine: Engine) -> None:
    hall = store.run(create(Location(id="hall", name="Hall", street="S", postal_code="1", city="C")))
    training = [Schedule(day=[1], startTime="18:30", endTime="20:00", locationId="hall")]
    gone, other = (store.run(create(team(id, id, image_ids=["one"], schedules=training))) for id in ("a", "b"))
    store.run(delete(gone))
    assert references(engine) == {("one", "teams#b")}
    assert engine.scan(TableName="vcm-slugs")["Items"] == [{"slug": {"S": "teams#slug-of-b"}, "id": {"S": "b"}}]
    with pytest.raises(InUse):
        store.run(delete(hall))
    store.run(delete(other))
    store.run(delete(hall))
    assert counted(store, "one") == 0
    assert store.verify() == []


def test_how_far_a_migration_came_is_kept_beside_the_tables(store: Store[VcmDesign], engine: Engine) -> None:
    run = store.run(create(Import(export_id="x", collection="news", expires_at=NOW + DAY)))
    run.done = 25
    store.run(update(run))
    (found,) = store.run(store.design.imports("x")).items
    assert (found.collection, found.done, found.finished_at) == ("news", 25, None)
    (stored,) = engine.scan(TableName="vcm-news-keyplan")["Items"]
    assert (stored["pk"], stored["sk"]) == ({"S": "IMPORT#x"}, {"S": "news"})


def test_the_largest_change_fits_into_a_transaction(store: Store[VcmDesign]) -> None:
    for number in range(40):
        store.run(create(media(f"image-{number}")))
    for number in range(14):
        store.run(create(Location(id=f"hall-{number}", name="H", street="S", postal_code="1", city="C")))
    images = [f"image-{number}" for number in range(40)]
    places = [
        Schedule(day=[0], startTime="18:30", endTime="20:00", locationId=f"hall-{number}") for number in range(14)
    ]
    made = store.run(create(team("t", "T", image_ids=images[:20], schedules=places[:7])))
    made.slug, made.image_ids, made.schedules = "other", images[20:], places[7:]
    [(operation, request)] = store.requests(update(made))
    assert (operation, len(request["TransactItems"])) == ("transact_write_items", 97)
    store.run(update(made))
    assert store.run(store.design.team("t")) == made


def test_a_logo_must_be_there(store: Store[VcmDesign], engine: Engine) -> None:
    with pytest.raises(ParentMissing):
        store.run(create(Sponsor(id="s", name="S", logo_id="none")))
    assert references(engine) == set()


def test_expired_sponsors_are_left_out_until_they_are_deleted(store: Store[VcmDesign], engine: Engine) -> None:
    store.run(create(Sponsor(id="never", name="N")))
    store.run(create(Sponsor(id="soon", name="S", expiry_timestamp=NOW + DAY)))
    store.run(create(Sponsor(id="over", name="O", expiry_timestamp=NOW - DAY)))
    stored = engine.get_item(TableName="vcm-sponsors", Key={"id": {"S": "soon"}})["Item"]
    assert stored["expiryTimestamp"] == {"N": str(int((NOW + DAY).timestamp()))}
    current = {sponsor.id for sponsor in store.run(store.design.current_sponsors()).items}
    assert current == {"never", "soon"}
    assert engine.sweep_expired() == 1
    assert store.run(store.design.sponsor("over")) is None
    assert store.run(store.design.sponsor("never")) is not None


def test_a_document_comes_back_as_it_was(store: Store[VcmDesign]) -> None:
    content = text("ä") | {"attrs": {"width": 0.5, "level": 2, "href": None, "bold": True}}
    store.run(create(news("n", NOW, content=content)))
    found = store.run(get(News, id="n"))
    assert found is not None
    assert found.content == content


def nested(levels: int) -> dict[str, JsonValue]:
    document: dict[str, JsonValue] = {"text": "deep"}
    for _ in range(levels - 1):
        document = {"content": document}
    return document


def test_a_document_nests_as_deep_as_can_be_stored(store: Store[VcmDesign]) -> None:
    article = store.run(create(news("n", NOW, content=nested(31))))
    assert store.run(store.design.news("n")) == article
    with pytest.raises(InvalidValue, match="nests more than 31 levels deep"):
        store.run(create(news("o", NOW, content=nested(32))))
    with pytest.raises(ValidationError, match="recursion"):
        news("o", NOW, content=nested(50_000))


@pytest.mark.parametrize(
    "changes",
    [
        {"title": "x" * 201},
        {"title": ""},
        {"slug": "a#b"},
        {"image_ids": ["image"] * 21},
        {"status": "hidden"},
        {"unknown": 1},
    ],
    ids=str,
)
def test_what_an_article_cannot_be(changes: dict[str, object], store: Store[VcmDesign]) -> None:
    """Types are checked when it is made, and limits when it is written."""
    with pytest.raises((ValidationError, InvalidValue)):
        store.run(create(news("n", NOW, **changes)))
    assert store.run(store.design.news("n")) is None


def test_an_article_always_has_a_date() -> None:
    with pytest.raises(ValidationError, match="published_date"):
        News(title="T", slug="s", content={})  # type: ignore[call-arg]  # what the test is about


def test_every_departure_says_what_and_why() -> None:
    assert len(VcmDesign.departures) >= 20
    for each in VcmDesign.departures:
        assert each.document.endswith(".")
        assert each.here.endswith(".")
        assert each.because.endswith(".")


def test_an_event_that_begins_this_millisecond_is_in_the_list_once(store: Store[VcmDesign]) -> None:
    begins = NOW + timedelta(microseconds=300)
    store.run(create(event("e", begins, end_date=begins + DAY)))
    for now in (NOW, begins, NOW + timedelta(microseconds=900), NOW + timedelta(milliseconds=1)):
        assert [each.id for each in store.run(store.design.upcoming_events(now)).items] == ["e"]
        assert store.run(store.design.past_events(now)).items == []


def test_damage_is_found_and_mended(store: Store[VcmDesign], engine: Engine) -> None:
    store.run(create(news("n", NOW, image_ids=["one"])))
    engine.put_item(TableName="vcm-slugs", Item={"slug": {"S": "teams#gone"}, "id": {"S": "gone"}})
    engine.delete_item(TableName="vcm-slugs", Key={"slug": {"S": "news#slug-of-n"}})
    engine.delete_item(TableName="vcm-media-refs", Key={"mediaId": {"S": "one"}, "usedBy": {"S": "news#n"}})
    engine.update_item(
        TableName="vcm-media",
        Key={"id": {"S": "one"}},
        UpdateExpression="SET #r = :r",
        ExpressionAttributeNames={"#r": "references"},
        ExpressionAttributeValues={":r": {"N": "7"}},
    )
    findings = store.verify()
    assert len(findings) == 4
    assert store.repair(findings) == 4
    assert store.verify() == []
    assert engine.scan(TableName="vcm-slugs")["Items"] == [{"slug": {"S": "news#slug-of-n"}, "id": {"S": "n"}}]
    assert references(engine) == {("one", "news#n")}
    assert counted(store, "one") == 1
