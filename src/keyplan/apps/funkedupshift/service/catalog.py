"""The rules of the catalog: sites, ratings and comments."""

from collections.abc import Callable, Sequence

from keyplan.apps.funkedupshift.entities import Comment, Profile, Rating, Site
from keyplan.apps.funkedupshift.fields import STARS, AnyTag, Stars
from keyplan.apps.funkedupshift.models import (
    AnyRating,
    CommentOut,
    CommentText,
    MyRating,
    NewRating,
    NewSite,
    RatingOut,
    RatingSummary,
    SearchText,
    SiteChange,
    SiteHead,
    SiteOut,
)
from keyplan.apps.funkedupshift.service.access import ADMIN, Access
from keyplan.data import AlreadyExists, NotFound, create, delete
from keyplan.design import Follow, Id, Merge, Query
from keyplan.web import ANYONE, SIGNED_IN, IfMatch, Listing, MayMatch, Paging, Versions, allow


def shown_name(profile: Profile | None) -> str:
    """The name that a user is shown with."""
    return (profile.display_name if profile else None) or "Somebody"


def average_stars(site: Site) -> float | None:
    """The average of a site's stars, with two decimals."""
    return round(site.rating_sum / site.rating_count, 2) if site.rating_count else None


class Catalog(Access):
    """Sites, and what people think of them."""

    # Sites

    @allow(ANYONE)
    def sites(self, page: Paging, tag: AnyTag | None = None, text: SearchText | None = None) -> Listing[SiteHead]:
        """List sites, newest first: all, those with a tag, those with a text in title, URL or description, or both."""
        return self.listed(
            self._sites(tag, text), page, lambda site: SiteHead.from_fields(site, average=average_stars(site))
        )

    def _sites(self, tag: str | None, text: str | None) -> Query[Site] | Follow[Site]:
        if tag is None:
            return self.design.sites() if text is None else self.design.sites_by_text(text)
        return self.design.sites_by_tag(tag) if text is None else self.design.sites_by_tag_and_text(tag, text)

    @allow(ANYONE)
    def site(self, site_id: Id) -> SiteOut:
        """Get a site."""
        return _site_out(self._site(site_id))

    @allow(ANYONE)
    def rating_summary(self, site_id: Id) -> RatingSummary:
        """Get the number, sum and average of a site's ratings, and how many there are for each number of stars."""
        site = self._site(site_id)
        stars = {str(stars): self.store.run(self.design.rating_count(site_id, stars)) for stars in STARS}
        return RatingSummary.from_fields(site, average=average_stars(site), stars=stars)

    @allow("sites:write")
    def create_site(self, new: NewSite) -> SiteOut:
        """Add a site."""
        return _site_out(self.store.run(create(Site.from_fields(new, title=new.title or new.url))))

    @allow("sites:write")
    def change_site(self, site_id: Id, change: SiteChange, version: IfMatch) -> SiteOut:
        """Change a site. Tags that are no longer listed are removed with the same write."""
        site = self._site(site_id, version)
        url = change.get(lambda new: new.url, site.url)
        title = change.get(lambda new: new.title, site.title)
        return _site_out(self.save(site, change.model_copy(update={"title": title or url})))

    @allow("sites:write", one_way=True)
    def delete_site(self, site_id: Id, version: IfMatch) -> None:
        """Delete a site with its tags, ratings and comments."""
        self.store.run(delete(self._site(site_id, version)))

    def _site(self, site_id: str, version: Versions = None) -> Site:
        return self.find(self.design.site(site_id), version)

    # Ratings

    @allow(SIGNED_IN, retry=(AlreadyExists, NotFound))
    def rate(self, site_id: Id, new: NewRating, version: MayMatch) -> RatingOut:
        """Rate a site, or change your rating."""
        rating = self.find_or_none(self.design.my_rating(self.me.sub, site_id), version)
        if rating is None:
            rating = Rating.from_fields(new, user_id=self.me.sub, site_id=site_id)
            return RatingOut.from_fields(self.store.run(create(rating)))
        rating.stars, rating.note = new.stars, new.note
        return RatingOut.from_fields(self.save(rating))

    @allow(SIGNED_IN)
    def my_rating(self, site_id: Id) -> RatingOut:
        """Get your rating of a site."""
        return RatingOut.from_fields(self._my_rating(site_id))

    @allow(SIGNED_IN, one_way=True)
    def delete_rating(self, site_id: Id, version: IfMatch) -> None:
        """Delete your rating of a site."""
        self.store.run(delete(self._my_rating(site_id, version)))

    def _my_rating(self, site_id: str, version: Versions = None) -> Rating:
        self._site(site_id)
        return self.find(self.design.my_rating(self.me.sub, site_id), version)

    @allow(SIGNED_IN)
    def my_ratings(self, page: Paging) -> Listing[MyRating]:
        """List your ratings, those of the oldest sites first."""

        def shown(ratings: Sequence[Rating]) -> list[MyRating]:
            return [
                MyRating.from_fields(rating, title=site.title, url=site.url)
                for rating, site in self._with_sites(ratings)
            ]

        return self.chosen(self.design.my_ratings(self.me.sub), page, shown)

    @allow(ADMIN)
    def ratings_by_stars(self, stars: Stars, page: Paging) -> Listing[AnyRating]:
        """List all users' ratings with a number of stars, those of the oldest sites first."""
        return self._any_ratings(self.design.ratings_by_stars(stars), page)

    @allow(ADMIN)
    def ratings_of_site(self, site_id: Id, page: Paging) -> Listing[AnyRating]:
        """List all users' ratings of a site, the most stars first."""
        self._site(site_id)
        return self._any_ratings(self.design.ratings_of_site(site_id), page)

    def _any_ratings(self, op: Query[Rating] | Merge[Rating], page: Paging) -> Listing[AnyRating]:
        def shown(ratings: Sequence[Rating]) -> list[AnyRating]:
            users = list(dict.fromkeys(rating.user_id for rating in ratings))
            profiles = {each.user_id: each for each in self.store.run(self.design.profiles(users)) if each}
            return [
                AnyRating.from_fields(
                    rating, title=site.title, url=site.url, display_name=shown_name(profiles.get(rating.user_id))
                )
                for rating, site in self._with_sites(ratings)
            ]

        return self.chosen(op, page, shown)

    def _with_sites(self, ratings: Sequence[Rating]) -> list[tuple[Rating, Site]]:
        """Ratings with their sites, without those whose site is being deleted."""
        ids = list(dict.fromkeys(rating.site_id for rating in ratings))
        sites = {site.id: site for site in self.store.run(self.design.sites_by_ids(ids)) if site is not None}
        return [(rating, sites[rating.site_id]) for rating in ratings if rating.site_id in sites]

    # Comments

    @allow(ANYONE)
    def comments(self, site_id: Id, page: Paging) -> Listing[CommentOut]:
        """List the comments on a site, newest first."""
        self._site(site_id)
        return self.listed(self.design.comments_for_site(site_id), page, self._comment_out)

    @allow(ANYONE)
    def comment(self, site_id: Id, comment_id: Id) -> CommentOut:
        """Get a comment."""
        return self._comment_out(self._comment(site_id, comment_id))

    @allow(SIGNED_IN)
    def add_comment(self, site_id: Id, new: CommentText) -> CommentOut:
        """Comment on a site. The comment keeps the display name that you have now."""
        profile = self.store.run(self.design.profile(self.me.sub))
        comment = Comment.from_fields(new, site_id=site_id, user_id=self.me.sub, display_name=shown_name(profile))
        return self._comment_out(self.store.run(create(comment)))

    @allow(SIGNED_IN, also="it is your comment")
    def change_comment(self, site_id: Id, comment_id: Id, change: CommentText, version: IfMatch) -> CommentOut:
        """Change the text of your comment."""
        comment = self._comment(site_id, comment_id, version, self._is_mine)
        comment.body = change.body
        return self._comment_out(self.save(comment))

    @allow(SIGNED_IN, also="it is your comment, or you are an admin", one_way=True)
    def delete_comment(self, site_id: Id, comment_id: Id, version: IfMatch) -> None:
        """Delete a comment."""
        comment = self._comment(site_id, comment_id, version, lambda found: self._is_mine(found) or self._is_admin)
        self.store.run(delete(comment))

    def _comment(
        self,
        site_id: str,
        comment_id: str,
        version: Versions = None,
        allowed: Callable[[Comment], bool] | None = None,
    ) -> Comment:
        self._site(site_id)
        return self.find(self.design.comment(site_id, comment_id), version, allowed=allowed)

    def _is_mine(self, comment: Comment) -> bool:
        return self.caller is not None and comment.user_id == self.caller.sub

    def _comment_out(self, comment: Comment) -> CommentOut:
        author = comment.user_id if self._is_admin else None
        return CommentOut.from_fields(comment, mine=self._is_mine(comment), user_id=author)


def _site_out(site: Site) -> SiteOut:
    return SiteOut.from_fields(site, average=average_stars(site))
