"""The access patterns of funkedupshift, in the order and words of its document."""

import datetime
from collections.abc import Sequence

from keyplan.apps.funkedupshift.departures import ACCEPTED, DEPARTURES
from keyplan.apps.funkedupshift.entities import (
    Comment,
    Group,
    LeftoverFile,
    Membership,
    Participation,
    Profile,
    Rating,
    Site,
    SiteTag,
    SquashMatch,
    SquashPlayer,
    UserComment,
    fus,
)
from keyplan.design import (
    BatchGet,
    Design,
    Follow,
    Get,
    Merge,
    Op,
    Query,
    accept,
    batch_get,
    contains,
    count,
    follow,
    get,
    merge,
    pattern,
    query,
    ref,
    within,
)

OPERATION = "whoever runs the system decides how it is backed up; on one file, `keyplan backup` copies everything"
"""Why the tables don't say how they are protected."""


class FunkedUpShiftDesign(Design):
    """A catalog of web sites with ratings and comments, and the results of a circle of squash players.

    Admins keep the sites, and everybody may read them. Users rate and comment on sites, and have a profile. Groups give
    permissions beyond the roles; the group of squash players may see players and matches, and its managers may change
    them. In a match, the winners have three games, and nobody plays in both teams.

    Item types and access patterns are in the document's order.
    """

    tables = (fus,)
    entities = (
        Site,
        SiteTag,
        Rating,
        Comment,
        UserComment,
        Group,
        Membership,
        Profile,
        LeftoverFile,
        SquashPlayer,
        SquashMatch,
        Participation,
    )
    accepted = (
        accept("not-protected", "FunkedUpShiftDesign", because=OPERATION),
        accept("no-recovery", "FunkedUpShiftDesign", because=OPERATION),
        *ACCEPTED,
    )

    # 1. Site

    @pattern("Get site")
    def site(self, site_id: str) -> Get[Site]:
        return get(Site, id=site_id)

    @pattern("List all sites")
    def sites(self) -> Query[Site]:
        return query(Site.all, newest_first=True)

    @pattern("Sites by text in title, url or description")
    def sites_by_text(self, text: str) -> Query[Site]:
        """`text` is in lower case."""
        return query(Site.all, newest_first=True, filter=lambda site: contains(site.search_text, text))

    @pattern("Sites by their ids")
    def sites_by_ids(self, site_ids: Sequence[str]) -> BatchGet[Site]:
        """The sites of a list of ratings, without those that are being deleted."""
        return batch_get(Site, site_ids)

    @pattern("Sites by tag and by text in title, url or description")
    def sites_by_tag_and_text(self, tag: str, text: str) -> Query[Site]:
        """`text` is in lower case."""
        return query(
            Site.all,
            newest_first=True,
            filter=lambda site: contains(site.search_text, text) & contains(site.tags, tag),
        )

    # 2. Site-tag

    @pattern("Sites by tag")
    def sites_by_tag(self, tag: str) -> Follow[Site]:
        source = query(SiteTag.by_tag, tag=tag, newest_first=True)
        return follow(source, lambda item: ref(Site, id=item.site_id), Site)

    # 3. User rating

    @pattern("My rating for a site")
    def my_rating(self, user_id: str, site_id: str) -> Get[Rating]:
        return get(Rating, user_id=user_id, site_id=site_id)

    @pattern("My ratings")
    def my_ratings(self, user_id: str) -> Query[Rating]:
        return query(Rating.primary, user_id=user_id)

    @pattern("All 5-star ratings")
    def ratings_by_stars(self, stars: int) -> Query[Rating]:
        return query(Rating.by_stars, stars=stars)

    @pattern("Ratings of a site")
    def ratings_of_site(self, site_id: str) -> Merge[Rating]:
        """The most stars first."""
        queries = [query(Rating.by_stars, stars=stars, site_id=site_id) for stars in (5, 4, 3, 2, 1)]
        return merge(queries, lambda rating: rating.stars, newest_first=True)

    @pattern("Histogram of a site's stars: ratings of a site by value, counted")
    def rating_count(self, site_id: str, stars: int) -> Op[int]:
        return count(query(Rating.by_stars, stars=stars, site_id=site_id))

    # 4. Comment

    @pattern("Comments for a site")
    def comments_for_site(self, site_id: str) -> Query[Comment]:
        return query(Comment.primary, site_id=site_id, newest_first=True)

    @pattern("Get comment")
    def comment(self, site_id: str, comment_id: str) -> Get[Comment]:
        return get(Comment, site_id=site_id, comment_id=comment_id)

    @pattern("My comments for a site")
    def my_comments(self, user_id: str, site_id: str) -> Query[UserComment]:
        return query(UserComment.primary, user_id=user_id, site_id=site_id)

    # 5. Custom RBAC group

    @pattern("List all groups")
    def groups(self) -> Query[Group]:
        return query(Group.all)

    @pattern("Get group", decides="what the members of the group may do")
    def group(self, name: str) -> Get[Group]:
        """Read strongly, because permissions depend on it."""
        return get(Group, name=name, consistent=True)

    @pattern("Groups by their names", decides="what the user may do")
    def groups_by_names(self, names: Sequence[str]) -> BatchGet[Group]:
        """Read strongly, because permissions depend on them."""
        return batch_get(Group, names, consistent=True)

    # 6. User membership in custom group

    @pattern("User's custom groups", decides="what the user may do")
    def memberships(self, user_id: str) -> Query[Membership]:
        """Read strongly, because permissions depend on them."""
        return query(Membership.primary, user_id=user_id, consistent=True)

    @pattern("User's custom groups but one")
    def memberships_but(self, user_id: str, group_name: str) -> Query[Membership]:
        """What managers see: only admins see who is in Squash."""
        return query(Membership.primary, user_id=user_id, filter=lambda item: item.group_name != group_name)

    @pattern("Group members")
    def group_members(self, group_name: str) -> Query[Membership]:
        return query(Membership.by_group, group_name=group_name)

    @pattern("Is the user in the group", decides="whether the user is removed from the group")
    def membership(self, user_id: str, group_name: str) -> Get[Membership]:
        """Read strongly, because permissions depend on it."""
        return get(Membership, user_id=user_id, group_name=group_name, consistent=True)

    # 7. User profile

    @pattern("Get profile")
    def profile(self, user_id: str) -> Get[Profile]:
        return get(Profile, user_id=user_id)

    @pattern("Profiles of several users")
    def profiles(self, user_ids: Sequence[str]) -> BatchGet[Profile]:
        """For the names in lists of members and ratings."""
        return batch_get(Profile, user_ids)

    @pattern("Files of avatars that were replaced")
    def leftover_files(self) -> Query[LeftoverFile]:
        return query(LeftoverFile.primary)

    # 8. Squash player

    @pattern("List players")
    def players(self) -> Query[SquashPlayer]:
        return query(SquashPlayer.all)

    @pattern("Get player")
    def player(self, player_id: str) -> Get[SquashPlayer]:
        return get(SquashPlayer, id=player_id)

    @pattern("Players by their ids")
    def players_by_ids(self, player_ids: Sequence[str]) -> BatchGet[SquashPlayer]:
        """For the names in the squash table."""
        return batch_get(SquashPlayer, player_ids)

    # 9. Squash match

    @pattern("Get match")
    def match(self, match_id: str) -> Get[SquashMatch]:
        return get(SquashMatch, match_id=match_id)

    @pattern("List by date")
    def matches_by_date(self, date: datetime.date) -> Query[SquashMatch]:
        return query(SquashMatch.by_squash_date, date=date, filter=lambda item: item.entity_type == "SQUASH_MATCH")

    @pattern("List by date range")
    def matches_by_date_range(self, date_from: datetime.date, date_to: datetime.date) -> Query[SquashMatch]:
        return query(SquashMatch.all, entity_type="SQUASH_MATCH", date=within(date_from, date_to))

    @pattern("List matches, the latest first")
    def matches(self) -> Query[SquashMatch]:
        return query(SquashMatch.all, entity_type="SQUASH_MATCH", newest_first=True)

    # 10. Squash match participation

    @pattern("Matches for a player")
    def participations(self, player_id: str) -> Query[Participation]:
        """In order of entry; they are shown by date after all of them (at most 2,000) are read."""
        return query(Participation.primary, player_id=player_id)

    @pattern("Matches by their ids")
    def matches_by_ids(self, match_ids: Sequence[str]) -> BatchGet[SquashMatch]:
        return batch_get(SquashMatch, match_ids)

    departures = DEPARTURES


DESIGN = FunkedUpShiftDesign
