# pyright: strict
"""# Hierarchy

Country, state, city, store: a sort key with the levels from the largest to the smallest answers the question at any
depth with one query.

Use it for places, categories, folders, organization charts, versions (`major#minor#patch`).

**Not for** trees whose branches move often: moving a branch rewrites every item below it. Store the parent's id in each
item instead (see [one-to-many](one_to_many.md)), and read level by level.
"""

from keyplan.data import Store, create, move
from keyplan.design import Design, Entity, Get, Id, Query, Table, get, key, pattern, query, starting

shops = Table("Shops", key("PK", "SK"), indexes={"ByPlace": key("country", "place")})


class Shop(Entity, table=shops):
    shop_id: Id
    country: Id
    state: Id
    city: Id

    primary = key("SHOP#{shop_id}", "SHOP")
    by_place = shops.ByPlace("{country}", "{state}#{city}#{shop_id}")


class Folder(Entity, table=shops):
    """A path is a value too: the last part of a key can contain anything."""

    drive: Id
    path: str

    primary = key("DRIVE#{drive}", "{path}")


class Shops(Design):
    tables = (shops,)
    entities = (Shop, Folder)

    @pattern("Get shop by id")
    def shop(self, shop_id: str) -> Get[Shop]:
        return get(Shop, shop_id=shop_id)

    @pattern("List shops in a country")
    def in_country(self, country: str) -> Query[Shop]:
        return query(Shop.by_place, country=country)

    @pattern("List shops in a state")
    def in_state(self, country: str, state: str) -> Query[Shop]:
        return query(Shop.by_place, country=country, state=state)

    @pattern("List shops in a city")
    def in_city(self, country: str, state: str, city: str) -> Query[Shop]:
        return query(Shop.by_place, country=country, state=state, city=city)

    @pattern("List cities of a state that start with some letters")
    def cities(self, country: str, state: str, letters: str) -> Query[Shop]:
        return query(Shop.by_place, country=country, state=state, city=starting(letters))

    @pattern("List everything in a folder, at any depth")
    def inside(self, drive: str, path: str) -> Query[Folder]:
        return query(Folder.primary, drive=drive, path=starting(path))


def use(store: Store[Shops]) -> None:
    """Fields of type `Id` can't contain the separator `#`, so no city can be mistaken for a state and a city."""
    places = {"1": ("us", "or", "portland"), "2": ("us", "or", "salem"), "3": ("us", "wa", "seattle")}
    for shop_id, (country, state, city) in places.items():
        store.run(create(Shop(shop_id=shop_id, country=country, state=state, city=city)))

    assert len(store.run(store.design.in_country("us")).items) == 3
    assert [shop.city for shop in store.run(store.design.in_state("us", "or")).items] == ["portland", "salem"]
    assert [shop.shop_id for shop in store.run(store.design.in_city("us", "or", "salem")).items] == ["2"]
    assert [shop.shop_id for shop in store.run(store.design.cities("us", "or", "po")).items] == ["1"]

    for path in ("/music/", "/music/bach/", "/music/bach/bwv1.flac", "/photos/"):
        store.run(create(Folder(drive="d", path=path)))
    found = store.run(store.design.inside("d", "/music/bach/")).items
    assert [folder.path for folder in found] == ["/music/bach/", "/music/bach/bwv1.flac"]
    store.run(move(found[1], path="/music/bach/bwv1.ogg"))
