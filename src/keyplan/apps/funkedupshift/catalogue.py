"""The rules of the catalogue: sites, ratings and comments."""

from collections.abc import Sequence

from keyplan.apps.funkedupshift.access import ADMIN, Access
from keyplan.apps.funkedupshift.entities import Comment, Rating, Site
from keyplan.apps.funkedupshift.models import (
    AnyRating,
    CommentOut,
    CommentText,
    ItemId,
    MyRating,
    NewRating,
    NewSite,
    RatingOut,
    RatingSummary,
    SearchText,
    SiteChange,
    SiteHead,
    SiteOut,
    average,
    name_of,
)
from keyplan.apps.funkedupshift.values import STARS, Stars, Tag
from keyplan.data import NotFound, ParentMissing, create, delete, update
from keyplan.design import Follow, Merge, Query
from keyplan.web import (
    ANYONE,
    SIGNED_IN,
    IfMatch,
    Listing,
    MayMatch,
    Missing,
    Paging,
    Stale,
    Unprocessable,
    Versions,
    allow,
)


class Catalogue(Access):
    """Sites, and what people think of them."""

    # Sites

    @allow(ANYONE)
    def sites(self, page: Paging, tag: Tag | None = None, text: SearchText | None = None) -> Listing[SiteHead]:
        """All sites, the newest first; those with a tag, with a text in title, url or description, or with both."""
        return self.listed(self._found(tag, text), page, SiteHead.of)

    def _found(self, tag: str | None, text: str | None) -> Query[Site] | Follow[Site]:
        if tag is None:
            return self.design.sites() if text is None else self.design.sites_by_text(text)
        return self.design.sites_by_tag(tag) if text is None else self.design.sites_by_tag_and_text(tag, text)

    @allow(ANYONE)
    def site(self, site_id: ItemId) -> SiteOut:
        """A site."""
        return SiteOut.of(self._site(site_id))

    @allow(ANYONE)
    def rating_summary(self, site_id: ItemId) -> RatingSummary:
        """How many ratings a site has, their sum and average, and how many there are of each number of stars."""
        site = self._site(site_id)
        return RatingSummary(
            rating_count=site.rating_count,
            rating_sum=site.rating_sum,
            average=average(site),
            stars={str(stars): self.store.run(self.design.rating_count(site_id, stars)) for stars in STARS},
        )

    @allow("sites:write")
    def create_site(self, new: NewSite) -> SiteOut:
        """Add a site."""
        values = new.model_dump() | {"title": new.title or new.url}
        return SiteOut.of(self.store.run(create(Site.model_validate(values))))

    @allow("sites:write")
    def change_site(self, site_id: ItemId, change: SiteChange, version: IfMatch) -> SiteOut:
        """Change a site. Tags that are not named any more are gone with the same write."""
        site = self._site(site_id)
        self.current(site, version)
        changes = {name: getattr(change, name) for name in change.model_fields_set}
        for name in ("url", "tags"):
            if changes.get(name, ...) is None:
                raise Unprocessable("required", "A site has this.", pointer=f"/{name}")
        if changes.get("title", ...) is None:
            changes["title"] = changes.get("url", site.url)
        for name, value in changes.items():
            setattr(site, name, value)
        return SiteOut.of(self.store.run(update(site)))

    @allow("sites:write")
    def delete_site(self, site_id: ItemId, version: IfMatch) -> None:
        """Delete a site, with its tags, ratings and comments."""
        site = self._site(site_id)
        self.current(site, version)
        self.store.run(delete(site))

    def _site(self, site_id: str) -> Site:
        site = self.store.run(self.design.site(site_id))
        if site is None:
            raise _no_site()
        return site

    # Ratings

    @allow(SIGNED_IN)
    def rate(self, site_id: ItemId, new: NewRating, version: MayMatch) -> RatingOut:
        """Rate a site, or rate it anew."""
        try:
            return RatingOut.of(self._insist(version, lambda: self._rated(site_id, new, version)))
        except ParentMissing as error:
            raise _no_site() from error

    def _rated(self, site_id: str, new: NewRating, version: Versions) -> Rating:
        rating = self.store.run(self.design.my_rating(self.me.sub, site_id))
        if rating is None:
            if version is not None:
                raise Stale
            made = Rating(user_id=self.me.sub, site_id=site_id, stars=new.stars, note=new.note or None)
            return self.store.run(create(made))
        self.current(rating, version)
        rating.stars, rating.note = new.stars, new.note or None
        return self.store.run(update(rating))

    @allow(SIGNED_IN)
    def my_rating(self, site_id: ItemId) -> RatingOut:
        """One's own rating of a site."""
        return RatingOut.of(self._my_rating(site_id))

    @allow(SIGNED_IN)
    def delete_rating(self, site_id: ItemId, version: IfMatch) -> None:
        """Take back one's own rating of a site."""
        rating = self._my_rating(site_id)
        self.current(rating, version)
        try:
            self.store.run(delete(rating))
        except NotFound as error:
            raise _no_rating() from error

    def _my_rating(self, site_id: str) -> Rating:
        self._site(site_id)
        rating = self.store.run(self.design.my_rating(self.me.sub, site_id))
        if rating is None:
            raise _no_rating()
        return rating

    @allow(SIGNED_IN)
    def my_ratings(self, page: Paging) -> Listing[MyRating]:
        """One's own ratings, by the age of the sites."""

        def shown(ratings: Sequence[Rating]) -> list[MyRating]:
            return [MyRating.of(rating, site) for rating, site in self._with_sites(ratings)]

        return self.chosen(self.design.my_ratings(self.me.sub), page, shown)

    @allow(ADMIN)
    def ratings_by_stars(self, stars: Stars, page: Paging) -> Listing[AnyRating]:
        """Everybody's ratings of so many stars, by the age of the sites."""
        return self._any_ratings(self.design.ratings_by_stars(stars), page)

    @allow(ADMIN)
    def ratings_of_site(self, site_id: ItemId, page: Paging) -> Listing[AnyRating]:
        """Everybody's ratings of a site, the most stars first."""
        self._site(site_id)
        return self._any_ratings(self.design.ratings_of_site(site_id), page)

    def _any_ratings(self, op: Query[Rating] | Merge[Rating], page: Paging) -> Listing[AnyRating]:
        def shown(ratings: Sequence[Rating]) -> list[AnyRating]:
            users = list(dict.fromkeys(rating.user_id for rating in ratings))
            profiles = {each.user_id: each for each in self.store.run(self.design.profiles(users)) if each}
            return [
                AnyRating.by(rating, site, profiles.get(rating.user_id)) for rating, site in self._with_sites(ratings)
            ]

        return self.chosen(op, page, shown)

    def _with_sites(self, ratings: Sequence[Rating]) -> list[tuple[Rating, Site]]:
        """Ratings and what they are of; without those whose site is being deleted."""
        ids = list(dict.fromkeys(rating.site_id for rating in ratings))
        sites = {site.id: site for site in self.store.run(self.design.sites_by_ids(ids)) if site is not None}
        return [(rating, sites[rating.site_id]) for rating in ratings if rating.site_id in sites]

    # Comments

    @allow(ANYONE)
    def comments(self, site_id: ItemId, page: Paging) -> Listing[CommentOut]:
        """The comments on a site, the newest first."""
        self._site(site_id)
        return self.listed(self.design.comments_for_site(site_id), page, self._shown)

    @allow(ANYONE)
    def comment(self, site_id: ItemId, comment_id: ItemId) -> CommentOut:
        """A comment."""
        return self._shown(self._comment(site_id, comment_id))

    @allow(SIGNED_IN)
    def add_comment(self, site_id: ItemId, new: CommentText) -> CommentOut:
        """Say something about a site. It carries the name that one has now."""
        profile = self.store.run(self.design.profile(self.me.sub))
        comment = Comment(site_id=site_id, user_id=self.me.sub, display_name=name_of(profile), body=new.body)
        try:
            return self._shown(self.store.run(create(comment)))
        except ParentMissing as error:
            raise _no_site() from error

    @allow(SIGNED_IN, also="it is your comment")
    def change_comment(self, site_id: ItemId, comment_id: ItemId, change: CommentText, version: IfMatch) -> CommentOut:
        """Say it in other words."""
        comment = self._comment(site_id, comment_id)
        self.permit(comment.user_id == self.me.sub)
        self.current(comment, version)
        comment.body = change.body
        return self._shown(self.store.run(update(comment)))

    @allow(SIGNED_IN, also="it is your comment, or you are an admin")
    def delete_comment(self, site_id: ItemId, comment_id: ItemId, version: IfMatch) -> None:
        """Delete a comment."""
        comment = self._comment(site_id, comment_id)
        self.permit(comment.user_id == self.me.sub or self._is_admin)
        self.current(comment, version)
        self.store.run(delete(comment))

    def _comment(self, site_id: str, comment_id: str) -> Comment:
        self._site(site_id)
        comment = self.store.run(self.design.comment(site_id, comment_id))
        if comment is None:
            raise Missing(detail="There is no such comment.")
        return comment

    def _shown(self, comment: Comment) -> CommentOut:
        return CommentOut.of(comment, self.caller.sub if self.caller else None, self._is_admin)


def _no_site() -> Missing:
    return Missing(detail="There is no such site.")


def _no_rating() -> Missing:
    return Missing(detail="You have not rated this site.")
