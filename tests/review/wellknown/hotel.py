"""Hotels, their rooms and reservations, as books on modeling with wide rows and key-value stores have them.

A night of a room is an item of its own, so that nobody can reserve it twice: it is derived from the reservation.
"""

from datetime import date, timedelta

from keyplan.design import (
    Count,
    Created,
    Design,
    Entity,
    Get,
    Id,
    Query,
    Ref,
    Table,
    Version,
    belongs_to,
    created,
    derived,
    get,
    key,
    new_id,
    pattern,
    query,
    ref,
    within,
)

hotels = Table("Hotels", key("PK", "SK"), indexes={"GSI1": key("GSI1PK", "GSI1SK")})


class Hotel(Entity, table=hotels):
    hotel_id: Id
    name: str
    city: Id
    rooms: Count = 0

    primary = key("HOTEL#{hotel_id}", "HOTEL")
    by_city = hotels.GSI1("CITY#{city}", "HOTEL#{hotel_id}")


class Room(Entity, table=hotels):
    hotel_id: Id
    number: Id
    kind: Id

    primary = key("HOTEL#{hotel_id}", "ROOM#{number}")

    @belongs_to(on_delete="cascade", count="rooms")
    def hotel(self) -> Ref[Hotel]:
        return ref(Hotel, hotel_id=self.hotel_id)


class Night(Entity, table=hotels):
    hotel_id: Id
    number: Id
    day: date
    reservation_id: Id

    primary = key("HOTEL#{hotel_id}", "NIGHT#{day}#{number}")


class Reservation(Entity, table=hotels):
    reservation_id: Id = new_id()
    hotel_id: Id
    number: Id
    guest_id: Id
    first_night: date
    nights: int = 1
    version: Version = 0
    created_at: Created = created()

    primary = key("RESERVATION#{reservation_id}", "RESERVATION")
    by_guest = hotels.GSI1("GUEST#{guest_id}", "{first_night}#{reservation_id}")

    @derived
    def booked(self) -> list[Night]:
        days = (self.first_night + timedelta(days=day) for day in range(self.nights))
        return [
            Night(hotel_id=self.hotel_id, number=self.number, day=day, reservation_id=self.reservation_id)
            for day in days
        ]


class Hotels(Design):
    tables = (hotels,)
    entities = (Hotel, Room, Night, Reservation)

    @pattern("Hotel")
    def hotel(self, hotel_id: str) -> Get[Hotel]:
        return get(Hotel, hotel_id=hotel_id)

    @pattern("Hotels in a city")
    def hotels_in(self, city: str) -> Query[Hotel]:
        return query(Hotel.by_city, city=city)

    @pattern("Rooms of a hotel")
    def rooms(self, hotel_id: str) -> Query[Room]:
        return query(Room.primary, hotel_id=hotel_id)

    @pattern("Booked nights of a hotel in a period")
    def booked(self, hotel_id: str, first: date, last: date) -> Query[Night]:
        return query(Night.primary, hotel_id=hotel_id, day=within(first, last))

    @pattern("Reservation")
    def reservation(self, reservation_id: str) -> Get[Reservation]:
        return get(Reservation, reservation_id=reservation_id)

    @pattern("Reservations of a guest, the latest first")
    def reservations_of(self, guest_id: str) -> Query[Reservation]:
        return query(Reservation.by_guest, guest_id=guest_id, newest_first=True)
