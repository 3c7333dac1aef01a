"""The access patterns of funkedupshift, in the order and words of its document, and where it departs from it."""

import datetime
from collections.abc import Sequence

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
    batch_get,
    contains,
    count,
    departure,
    follow,
    get,
    merge,
    pattern,
    query,
    ref,
    within,
)


class FunkedUpShiftDesign(Design):
    """Item types and access patterns, in the document's order."""

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

    # 1. Site

    @pattern("Get site")
    def site(self, site_id: str) -> Get[Site]:
        return get(Site, id=site_id)

    @pattern("List all sites")
    def sites(self) -> Query[Site]:
        return query(Site.all, newest_first=True)

    @pattern("Sites by text in title, url or description")
    def sites_by_text(self, text: str) -> Query[Site]:
        """The text in lower case."""
        return query(Site.all, newest_first=True, filter=lambda site: contains(site.search_text, text))

    @pattern("Sites by their ids")
    def sites_by_ids(self, site_ids: Sequence[str]) -> BatchGet[Site]:
        """What a list of ratings shows of its sites; without those that are being deleted."""
        return batch_get(Site, site_ids)

    @pattern("Sites by tag and by text in title, url or description")
    def sites_by_tag_and_text(self, tag: str, text: str) -> Query[Site]:
        """The text in lower case."""
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

    @pattern("Get group")
    def group(self, name: str) -> Get[Group]:
        """Read strongly: decisions are made on it."""
        return get(Group, name=name, consistent=True)

    @pattern("Groups by their names")
    def groups_by_names(self, names: Sequence[str]) -> BatchGet[Group]:
        """Read strongly: decisions are made on their permissions."""
        return batch_get(Group, names, consistent=True)

    # 6. User membership in custom group

    @pattern("User's custom groups")
    def memberships(self, user_id: str) -> Query[Membership]:
        """Read strongly: decisions are made on them."""
        return query(Membership.primary, user_id=user_id, consistent=True)

    @pattern("User's custom groups but one")
    def memberships_but(self, user_id: str, group_name: str) -> Query[Membership]:
        """What managers see: who is in Squash is for admins to know."""
        return query(Membership.primary, user_id=user_id, filter=lambda item: item.group_name != group_name)

    @pattern("Group members")
    def group_members(self, group_name: str) -> Query[Membership]:
        return query(Membership.by_group, group_name=group_name)

    @pattern("Is the user in the group")
    def membership(self, user_id: str, group_name: str) -> Get[Membership]:
        """Read strongly: decisions are made on it."""
        return get(Membership, user_id=user_id, group_name=group_name, consistent=True)

    # 7. User profile

    @pattern("Get profile")
    def profile(self, user_id: str) -> Get[Profile]:
        return get(Profile, user_id=user_id)

    @pattern("Profiles of several users")
    def profiles(self, user_ids: Sequence[str]) -> BatchGet[Profile]:
        """The names that lists of members and of ratings show."""
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
        """Whose names the squash table shows."""
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
        """In order of entry; shown by date after all of them (at most 2,000) were read."""
        return query(Participation.primary, player_id=player_id)

    @pattern("Matches by their ids")
    def matches_by_ids(self, match_ids: Sequence[str]) -> BatchGet[SquashMatch]:
        return batch_get(SquashMatch, match_ids)

    departures = (
        departure(
            "The table's name is fus-main, or the value of var.dynamoTableName.",
            "It is fus-main unless the environment gives dynamo_table_name.",
            "A design has no Terraform variables; the name stays configurable.",
        ),
        departure(
            "List all sites: sort by entitySk (or add createdAt to entitySk for ordering).",
            "entitySk stays SITE#<id>, and the list is read backwards: newest first.",
            "Ids are UUIDs of version 7, so that the id alone is the order of creation.",
        ),
        departure(
            "A site has url, title, description, scrapedContent, tags, createdAt and updatedAt.",
            "It also has ratingCount and ratingSum, which every write of a rating keeps, and searchText, its title, "
            "url and description in lower case.",
            "A rating summary must not read all ratings, and a filter in DynamoDB tells capitals from small letters.",
        ),
        departure(
            "My ratings: Query PK=USER#<userId> (all my SITE#... items).",
            "The same query, of which only items whose sort key is SITE#<siteId> and nothing more count.",
            "A user's comments begin with SITE# too.",
        ),
        departure(
            "All 5-star ratings: byStars with starRating=5; the document has no list of a site's ratings.",
            "The ratings of a site and the histogram of its stars ask byStars once for each number of stars, with the "
            "site as the sort key.",
            "The index can answer it; a further index or item is not needed.",
        ),
        departure(
            "A comment is stored under its user; comments for a site may come later with an index bySite, a scan, or a "
            "second item under the site.",
            "Each comment is two items that change together: the user's, as the document has it, and one under "
            "SITE#<siteId> / COMMENT#<commentId>, which carries the user's id and the display name that they had when "
            "they wrote it, and is the one that is changed.",
            "Everyone reads a site's comments, and one of them must be found by its id; a scan reads the whole table.",
        ),
        departure(
            "A squash player's userId is optional.",
            "The attribute is left out where there is none, never null.",
            "It is the sort key of byGroup: DynamoDB rejects an item with a null in it.",
        ),
        departure(
            "The document has no rule for deleting a player who is named by a match.",
            "A player keeps matchCount, which every write of a match keeps, and is only deleted at 0.",
            "A query before the delete would let a match be added in between.",
        ),
        departure(
            "A match has an entitySk whose form is left open.",
            "It is <date>#<matchId>.",
            "Matches are then in order of their dates in byEntity, which answers ranges of dates.",
        ),
        departure(
            "List by date range: bySquashDate with squashDate BETWEEN dateFrom AND dateTo.",
            "Query byEntity with entityType=SQUASH_MATCH and entitySk from dateFrom to dateTo.",
            "squashDate is the hash key of bySquashDate, and DynamoDB takes only equality on a hash key.",
        ),
        departure(
            "List by date: bySquashDate with squashDate=YYYY-MM-DD.",
            "The same query with a filter entityType=SQUASH_MATCH, read on until the page is full.",
            "Participations carry squashDate and matchId, so the index holds five items for each match.",
        ),
        departure(
            "Matches for a player: MATCH#<matchId>, with no order given.",
            "They come in order of entry and are sorted by squashDate after all of the player's participations were "
            "read, of which there are at most 2,000.",
            "The sort key has no date in it.",
        ),
        departure(
            "A profile has avatarKey, description, updatedAt, lastLoginAt and lastLoginIp.",
            "It also has displayName, which comments carry.",
            "Public answers show a name, never the subject of a token.",
        ),
        departure(
            "Avatar stored at profile/avatars/{userId}/{uuid}.{ext}.",
            "The same; of a user's id that can not stand in a path as it is, a hash stands in its place.",
            "The subject of a token may hold slashes and dots, which would lead elsewhere.",
        ),
        departure(
            "Admins create and update sites; squash is visible to the group Squash and SuperAdmin, and changed by "
            "SuperAdmin and managers in that group. What a group's permissions do is left open.",
            "The members of a group with the permission sites:write, groups:write, squash:read or squash:write may do "
            "that as well.",
            "Permissions without an effect would be promises that nobody keeps.",
        ),
        departure(
            "The document has no rule for who may hand on what.",
            "Only admins touch the group Squash, and groups with squash:read or squash:write. Others let people into "
            "groups, and give groups permissions, that allow no more than they may do themselves.",
            "A manager could else let themselves in.",
        ),
        departure(
            "Items have no version.",
            "Sites, ratings, comments, groups, profiles, players and matches have one, raised by each change.",
            "Two people who change the same item at once must not overwrite each other unseen.",
        ),
    )


DESIGN = FunkedUpShiftDesign
