"""Designs whose lists read other items too, and designs whose lists don't."""

from typing import Annotated, Literal

from keyplan.design import (
    Design,
    Entity,
    Id,
    Query,
    Table,
    collection,
    derived,
    exists,
    key,
    pattern,
    query,
    stored,
    unique,
)
from tests.review.rules.cases import Cases

CASES = Cases()
table = Table("Sites", key("PK", "SK"), indexes={"ByDay": key("day", "match"), "ByKind": key("kind", "PK")})
leagues = Table("Leagues", key("PK", "SK"), indexes={"ByLeague": key("league")})
typed = Table("Typed", key("PK", "SK"), type_attribute="type")


class Rating(Entity, table=table):
    user_id: Id
    site_id: Id
    primary = key("USER#{user_id}", "SITE#{site_id}")


class Comment(Entity, table=table):
    user_id: Id
    site_id: Id
    comment_id: Id
    primary = key("USER#{user_id}", "SITE#{site_id}#COMMENT#{comment_id}")


class Profile(Entity, table=table):
    user_id: Id
    nickname: Id
    primary = key("USER#{user_id}", "PROFILE")
    nickname_guard = unique("USER#{user_id}", "NICKNAME#{nickname}")


@CASES.finds("KP302", "Sites.ratings")
def ratings_that_begin_like_comments() -> type[Design]:
    class Sites(Design):
        tables = (table,)
        entities = (Rating, Comment, Profile)

        @pattern("My ratings")
        def ratings(self, user_id: str) -> Query[Rating]:
            return query(Rating.primary, user_id=user_id)

        @pattern("My comments on a site")
        def comments(self, user_id: str, site_id: str) -> Query[Comment]:
            return query(Comment.primary, user_id=user_id, site_id=site_id)

        @pattern("My profile, as a list")
        def profile(self, user_id: str) -> Query[Profile]:
            return query(Profile.primary, user_id=user_id)

    return Sites


@CASES.finds_nothing("KP302", "KP303")
def ratings_with_a_prefix_of_their_own() -> type[Design]:
    class Starred(Entity, table=table):
        user_id: Id
        site_id: Id
        primary = key("USER#{user_id}", "RATING#{site_id}")

    class Sites(Design):
        tables = (table,)
        entities = (Starred, Comment)

        @pattern("My ratings")
        def ratings(self, user_id: str) -> Query[Starred]:
            return query(Starred.primary, user_id=user_id)

        @pattern("My comments")
        def comments(self, user_id: str) -> Query[Comment]:
            return query(Comment.primary, user_id=user_id)

    return Sites


class Seat(Entity, table=table):
    played_on: Annotated[Id, stored("played_on")]
    match_id: Id
    player: Id
    primary = key("PLAYER#{player}", "MATCH#{match_id}")
    by_day = table.ByDay("{played_on}", "{match_id}")


class Match(Entity, table=table):
    date: Id
    match_id: Id
    winner: Id = "A"
    primary = key("MATCH#{match_id}", "MATCH")
    by_day = table.ByDay("{date}", "{match_id}")

    @derived
    def seats(self) -> list[Seat]:
        return [Seat(played_on=self.date, match_id=self.match_id, player=each) for each in ("a", "b")]


@CASES.finds("KP303", "Matches.on_day", "Matches.account")
def an_index_with_two_kinds_of_items() -> type[Design]:
    class Matches(Design):
        tables = (table,)
        entities = (Match, Seat, Profile, Rating)

        @pattern("Matches of a day")
        def on_day(self, date: str) -> Query[Match]:
            return query(Match.by_day, date=date)

        @pattern("A user with their ratings")
        def account(self, user_id: str) -> Query[Profile | Rating]:
            return collection(Profile, Rating, user_id=user_id)

    return Matches


@CASES.finds_nothing("KP302", "KP303")
def an_index_with_two_kinds_of_items_that_is_filtered() -> type[Design]:
    class Matches(Design):
        tables = (table,)
        entities = (Match, Seat)

        @pattern("Matches of a day")
        def on_day(self, date: str) -> Query[Match]:
            return query(Match.by_day, date=date, filter=lambda match: exists(match.winner))

    return Matches


@CASES.finds_nothing("KP303")
def a_partition_for_each_kind() -> type[Design]:
    class User(Entity, table=table):
        name: Id
        primary = key("NAMED#{name}", "USER")
        by_kind = table.ByKind("USER")

    class Place(Entity, table=table):
        name: Id
        kind: Annotated[Literal["PLACE"], stored("of_kind")] = "PLACE"
        primary = key("PLACE#{name}", "PLACE")
        by_kind = table.ByKind("{kind}")

    class Kinds(Design):
        tables = (table,)
        entities = (User, Place)

        @pattern("All users")
        def users(self) -> Query[User]:
            return query(User.by_kind)

        @pattern("All places")
        def places(self) -> Query[Place]:
            return query(Place.by_kind, kind="PLACE")

    return Kinds


@CASES.finds("KP303", "Teams.listed", "Teams.of_kind")
@CASES.finds_nothing("KP302")
def an_index_that_is_filtered_by_a_kind() -> type[Design]:
    class Team(Entity, table=leagues):
        team_id: Id
        league: Id
        sort: Literal["TEAM"] = "TEAM"
        primary = key("TEAM#{team_id}", "TEAM")
        by_league = leagues.ByLeague("{league}")

    class Player(Entity, table=leagues):
        player_id: Id
        league: Id
        sort: Literal["PLAYER"] = "PLAYER"
        primary = key("PLAYER#{player_id}", "PLAYER")
        by_league = leagues.ByLeague("{league}")

    class Teams(Design):
        tables = (leagues,)
        entities = (Team, Player)

        @pattern("Teams in a league")
        def in_league(self, league: str) -> Query[Team]:
            return query(Team.by_league, league=league, filter=lambda team: team.sort == "TEAM")

        @pattern("Teams in a league, of a kind")
        def of_kind(self, league: str, sort: str) -> Query[Team]:
            return query(Team.by_league, league=league, filter=lambda team: team.sort == sort)

        @pattern("Teams in a league, of whatever kind")
        def listed(self, league: str) -> Query[Team]:
            return query(Team.by_league, league=league, filter=lambda team: exists(team.sort))

    return Teams


@CASES.finds("KP303", "Teams.in_league")
def an_index_that_players_are_in_by_chance() -> type[Design]:
    class Team(Entity, table=leagues):
        team_id: Id
        league: Id
        primary = key("TEAM#{team_id}", "TEAM")
        by_league = leagues.ByLeague("{league}")

    class Player(Entity, table=leagues):
        player_id: Id
        league: Id
        primary = key("PLAYER#{player_id}", "PLAYER")

    class Teams(Design):
        tables = (leagues,)
        entities = (Team, Player)

        @pattern("Teams in a league")
        def in_league(self, league: str) -> Query[Team]:
            return query(Team.by_league, league=league)

    return Teams


@CASES.finds("KP304", "Role.primary", "Role.name_guard")
def keys_that_two_kinds_of_items_can_have() -> type[Design]:
    class Role(Entity, table=typed, type="ROLE"):
        role: str
        primary = key("USER#{role}", "ROLE")
        name_guard = unique("NAMES", "{role}")

    class Grant(Entity, table=typed, type="GRANT"):
        user: Id
        name: Id
        primary = key("USER#{user}#ADMIN", "ROLE")
        name_guard = unique("NAMES", "GRANT#{name}")

    class Roles(Design):
        tables = (typed,)
        entities = (Role, Grant)

    return Roles


@CASES.finds_nothing("KP304")
def keys_that_are_shared_on_purpose() -> type[Design]:
    class Person(Entity, table=typed, type="PERSON"):
        person_id: Id
        name: Id
        primary = key("OWNER#{person_id}", "OWNER")
        name_guard = unique("NAME#{name}")

    class Company(Entity, table=typed, type="COMPANY"):
        company_id: Id
        name: Id
        primary = key("OWNER#{company_id}", "OWNER")
        name_guard = unique("NAME#{name}")

    class Owners(Design):
        tables = (typed,)
        entities = (Person, Company)

    return Owners
