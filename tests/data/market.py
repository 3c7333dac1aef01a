"""A design with items that expire and have derived items, children and counters."""

from keyplan.design import (
    HOUSEKEEPING,
    Count,
    Created,
    Design,
    Entity,
    Id,
    Ref,
    Table,
    Ttl,
    Version,
    belongs_to,
    counts,
    created,
    key,
    ref,
    reference,
    unique,
)

market = Table("Market-{env=dev}", key("PK", "SK"), ttl="expires", stream="NEW_AND_OLD_IMAGES")


class Picture(Entity, table=market):
    picture_id: Id
    uses: Count = 0

    primary = key("PICTURE#{picture_id}", "PICTURE")


class PictureUse(Entity, table=market):
    picture_id: Id
    offer_id: Id

    primary = key("PICTURE#{picture_id}", "USE#{offer_id}")


class Offer(Entity, table=market):
    """A guard that doesn't name its owner, a reference, a counter on another item, and two generations of children."""

    offer_id: Id
    code: str
    picture_id: Id | None = None
    created_at: Created = created()
    expires: Ttl | None = None
    version: Version = 0

    primary = key("OFFER#{offer_id}", "OFFER")
    code_guard = unique("CODE#{code}")

    @reference
    def pictures(self) -> list[PictureUse]:
        return [PictureUse(picture_id=self.picture_id, offer_id=self.offer_id)] if self.picture_id else []

    @belongs_to(on_delete="refuse", count="uses")
    def picture(self) -> Ref[Picture] | None:
        return ref(Picture, picture_id=self.picture_id) if self.picture_id else None


class Bid(Entity, table=market):
    offer_id: Id
    bid_id: Id
    remarks: Count = 0

    primary = key("OFFER#{offer_id}", "BID#{bid_id}")

    @belongs_to(on_delete="cascade")
    def offer(self) -> Ref[Offer]:
        return ref(Offer, offer_id=self.offer_id)


class Remark(Entity, table=market):
    offer_id: Id
    bid_id: Id
    number: int

    primary = key("BID#{offer_id}#{bid_id}", "REMARK#{number:04}")

    @belongs_to(on_delete="cascade", count="remarks")
    def bid(self) -> Ref[Bid]:
        return ref(Bid, offer_id=self.offer_id, bid_id=self.bid_id)


class Stall(Entity, table=market):
    stall_id: Id
    visitors: Count = 0

    primary = key("STALL#{stall_id}", "STALL")


class Visit(Entity, table=market):
    """Its only effect is on a counter with a minimum."""

    stall_id: Id
    visitor: Id
    expires: Ttl

    primary = key("VISIT#{visitor}", "{stall_id}")

    @counts("visitors", floor=1)
    def visited(self) -> Ref[Stall]:
        return ref(Stall, stall_id=self.stall_id)


class Login(Entity, table=HOUSEKEEPING):
    login_id: Id
    expires_at: Ttl

    primary = key("LOGIN#{login_id}", "LOGIN")


class Token(Entity, table=HOUSEKEEPING):
    login_id: Id
    token: Id
    expires_at: Ttl

    primary = key("LOGIN#{login_id}", "TOKEN#{token}")
    by_token = unique("TOKEN#{token}", carries=("login_id", "expires_at"))

    @belongs_to(on_delete="cascade")
    def login(self) -> Ref[Login]:
        return ref(Login, login_id=self.login_id)


class Market(Design):
    tables = (market,)
    entities = (Picture, PictureUse, Offer, Bid, Remark, Stall, Visit, Login, Token)
