"""A small design that uses every feature, for the tests of the data layer."""

from datetime import datetime
from typing import Literal

from pydantic import Field

from keyplan.design import (
    Count,
    Created,
    Design,
    Entity,
    Follow,
    Get,
    Id,
    Lookup,
    Merge,
    Query,
    Ref,
    Rewrite,
    Scan,
    Table,
    Updated,
    Version,
    at_most,
    belongs_to,
    collection,
    counts,
    created,
    derived,
    follow,
    get,
    job,
    key,
    lookup,
    merge,
    mirror,
    pattern,
    query,
    ref,
    reference,
    rewrite,
    scan,
    unique,
    updated,
)

club = Table("Club", key("PK", "SK"), indexes={"GSI1": key("GSI1PK", "GSI1SK")})
names = Table("Names", key("name"))

Role = Literal["member", "admin"]


class User(Entity, table=club):
    username: Id
    email: str
    nickname: str | None = None
    article_count: Count = 0
    team_count: Count = 0
    created_at: Created = created()
    updated_at: Updated = updated()
    version: Version = 0

    primary = key("USER#{username}", "USER")
    email_guard = unique("EMAIL#{email.lower}", carries="username")
    nickname_guard = unique("{nickname}", table=names)


class Tag(Entity, table=club):
    tag: str
    slug: Id
    title: str

    primary = key("TAG#{tag}", "ARTICLE#{slug}")


class Short(Entity, table=club):
    """Maps a number to the title of an article."""

    number: int
    slug: Id
    title: str

    primary = key("NUMBER#{number:06}", "SHORT")


class Use(Entity, table=club):
    """The articles that use an image."""

    image: Id
    slug: Id

    primary = key("IMAGE#{image}", "USE#{slug}")


class Article(Entity, table=club):
    slug: Id
    number: int
    title: str
    author: Id
    category: Id = "news"
    tags: frozenset[str] = frozenset()
    images: list[str] = Field(default_factory=list)
    created_at: Created = created()
    version: Version = 0

    primary = key("ARTICLE#{slug}", "ARTICLE")
    by_author = club.GSI1("AUTHOR#{author}", "{created_at}#{slug}")
    slug_guard = unique("SLUG#{slug}")

    @derived
    def tag_items(self) -> list[Tag]:
        return [Tag(tag=tag, slug=self.slug, title=self.title) for tag in sorted(self.tags)]

    @mirror
    def short(self) -> Short:
        return Short(number=self.number, slug=self.slug, title=self.title)

    @reference
    def uses(self) -> list[Use]:
        return [Use(image=image, slug=self.slug) for image in self.images]

    @belongs_to(on_delete="refuse", count="article_count")
    def written_by(self) -> Ref[User]:
        return ref(User, username=self.author)


class Team(Entity, table=club):
    team_id: Id
    name: str
    admin_count: Count = 0
    member_count: Count = 0
    version: Version = 0

    primary = key("TEAM#{team_id}", "TEAM")
    name_guard = unique("TEAMNAME#{name.lower}", carries="team_id")


class Member(Entity, table=club):
    team_id: Id
    username: Id
    role: Role = "member"

    primary = key("TEAM#{team_id}", "MEMBER#{username}")
    by_user = club.GSI1("MEMBER#{username}", "{team_id}")

    @belongs_to(on_delete="cascade", count="member_count")
    def team(self) -> Ref[Team]:
        return ref(Team, team_id=self.team_id)

    @belongs_to(on_delete="refuse", count="team_count")
    def user(self) -> Ref[User]:
        return ref(User, username=self.username)

    @counts("admin_count", floor=1)
    def admins(self) -> Ref[Team]:
        return ref(Team, team_id=self.team_id).adding(int(self.role == "admin"))


class Game(Entity, table=club):
    team_id: Id
    game_id: Id
    place: str = ""

    primary = key("TEAM#{team_id}", "GAME#{game_id}")

    @belongs_to(on_delete="cascade")
    def team(self) -> Ref[Team]:
        return ref(Team, team_id=self.team_id)


class Goal(Entity, table=club):
    game_id: Id
    team_id: Id
    minute: int

    primary = key("GOALS#{game_id}", "GOAL#{minute:03}")

    @belongs_to(on_delete="cascade")
    def game(self) -> Ref[Game]:
        return ref(Game, team_id=self.team_id, game_id=self.game_id)


class Note(Entity, table=club):
    """No version, no effects, and an index key of two optional fields."""

    note_id: Id
    folder: Id | None = None
    rank: int | None = None
    text: str = ""
    stars: int = 0

    primary = key("NOTE#{note_id}", "NOTE")
    by_folder = club.GSI1("FOLDER#{folder}", "{rank:04}#{note_id}")


class Alias(Entity, table=club):
    """A guard on an entity without a version."""

    alias_id: Id
    name: str
    text: str = ""

    primary = key("ALIAS#{alias_id}", "ALIAS")
    name_guard = unique("ALIASNAME#{name}")


class Club(Design):
    tables = (club, names)
    entities = (User, Article, Tag, Short, Use, Team, Member, Game, Goal, Note, Alias)

    @pattern("A user by name")
    def user(self, username: str) -> Get[User]:
        return get(User, username=username)

    @pattern("A user by e-mail")
    def user_by_email(self, email: str) -> Lookup[User]:
        return lookup(User.email_guard, email=email)

    @pattern("An author's articles, newest first")
    def articles_of(self, author: str) -> Query[Article]:
        return query(Article.by_author, author=author, newest_first=True)

    @pattern("An author's articles up to a moment")
    def articles_until(self, author: str, now: datetime) -> Query[Article]:
        return query(Article.by_author, author=author, created_at=at_most(now), newest_first=True)

    @pattern("Articles with a tag, whole")
    def tagged(self, tag: str) -> Follow[Article]:
        return follow(query(Tag.primary, tag=tag), lambda tag: ref(Article, slug=tag.slug), Article)

    @pattern("A team with all that is its own")
    def team_page(self, team_id: str) -> Query[Team | Member | Game]:
        return collection(Team, Member, Game, team_id=team_id)

    @pattern("The teams of a user")
    def teams_of(self, username: str) -> Follow[Team]:
        return follow(query(Member.by_user, username=username), lambda m: ref(Team, team_id=m.team_id), Team)

    @pattern("The notes of two folders by rank")
    def two_folders(self, first: str, second: str) -> Merge[Note]:
        return merge([query(Note.by_folder, folder=each) for each in (first, second)], lambda note: note.rank)

    @pattern("Starred notes of a folder")
    def starred(self, folder: str) -> Query[Note]:
        return query(Note.by_folder, folder=folder, filter=lambda note: note.stars >= 1)

    @pattern("All notes")
    def notes(self) -> Scan[Note]:
        return scan(Note)

    @job
    def rename_author(self, old: str, new: str) -> Rewrite[Article]:
        return rewrite(query(Article.by_author, author=old), lambda article: setattr(article, "author", new))
