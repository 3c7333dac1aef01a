# pyright: strict
"""A code-hosting service: users, organizations, repositories, issues numbered per repository, labels, stars, forks."""

from datetime import datetime
from typing import Annotated, Literal, TypeAlias

from keyplan.data import Store, at, create, patch, update
from keyplan.design import (
    Count,
    Created,
    Design,
    Entity,
    Follow,
    Get,
    Id,
    ItemCount,
    Lookup,
    OneLine,
    Query,
    Ref,
    Refusal,
    Stamped,
    Table,
    Updated,
    Version,
    belongs_to,
    collection,
    count,
    counts,
    created,
    derived,
    follow,
    get,
    key,
    lookup,
    new_id,
    pattern,
    query,
    ref,
    unique,
    updated,
)

forge = Table(
    "Forge",
    key("PK", "SK"),
    indexes={"GSI1": key("GSI1PK", "GSI1SK"), "GSI2": key("GSI2PK", "GSI2SK"), "GSI3": key("GSI3PK", "GSI3SK")},
    type_attribute="type",
)

Title: TypeAlias = Annotated[str, OneLine(max_length=200)]
Role: TypeAlias = Literal["owner", "member"]

NAME_TAKEN = Refusal("name-taken", "A user or an organization has this name.", field="name")


class User(Stamped, Entity, table=forge, type="User"):
    user_id: Id = new_id("u-")
    name: Id
    email: str
    repositories: Count = 0

    primary = key("OWNER#{user_id}", "USER")
    name_guard = unique("NAME#{name.lower}", carries="user_id", refusal=NAME_TAKEN)
    email_guard = unique("EMAIL#{email.address}", carries="user_id")


class Organization(Stamped, Entity, table=forge, type="Organization"):
    """Users and organizations share one namespace: their guards have the same keys."""

    org_id: Id = new_id("o-")
    name: Id
    owners: Count = 0
    members: Count = 0

    primary = key("OWNER#{org_id}", "ORG")
    name_guard = unique("NAME#{name.lower}", carries="org_id", refusal=NAME_TAKEN)


class Membership(Entity, table=forge, type="Membership"):
    org_id: Id
    user_id: Id
    role: Role = "member"

    primary = key("OWNER#{org_id}", "MEMBER#{user_id}")
    by_user = forge.GSI1("MEMBER_OF#{user_id}", "{org_id}")

    @belongs_to(on_delete="cascade", count="members")
    def organization(self) -> Ref[Organization]:
        return ref(Organization, org_id=self.org_id)

    @belongs_to(on_delete="cascade", via="by_user")
    def user(self) -> Ref[User]:
        return ref(User, user_id=self.user_id)

    @counts("owners", floor=1, refusal=Refusal("last-owner", "An organization needs an owner."))
    def ownership(self) -> Ref[Organization] | None:
        return ref(Organization, org_id=self.org_id) if self.role == "owner" else None


class Repository(Entity, table=forge, type="Repository"):
    """It can be renamed: its key is an id, and a guard keeps its name unique for its owner."""

    repo_id: Id = new_id("r-")
    owner_id: Id
    name: Id
    description: str = ""
    forked_from: Id | None = None
    last_number: int = 0
    stars: Count = 0
    forks: Count = 0
    open_issues: Count = 0
    created_at: Created = created()
    pushed_at: Updated = updated()
    version: Version = 0

    primary = key("REPO#{repo_id}", "REPO")
    by_owner = forge.GSI1("OWNER#{owner_id}", "REPO#{pushed_at}#{repo_id}")
    by_origin = forge.GSI2("FORKS#{forked_from}", "{repo_id}")
    name_guard = unique("OWNER#{owner_id}", "NAME#{name.lower}", carries="repo_id")

    @counts("repositories")
    def of_user(self) -> Ref[User] | None:
        return ref(User, user_id=self.owner_id) if self.owner_id.startswith("u-") else None

    @counts("forks")
    def origin(self) -> "Ref[Repository] | None":
        return ref(Repository, repo_id=self.forked_from) if self.forked_from else None


class Labeled(Entity, table=forge, type="Labeled"):
    """An issue under one of its labels."""

    repo_id: Id
    label: Id
    number: int

    primary = key("REPO#{repo_id}#LABEL#{label}", "{number:08}")


class Issue(Entity, table=forge, type="Issue"):
    repo_id: Id
    number: int
    title: Title
    author_id: Id
    assignee_id: Id | None = None
    is_open: bool = True
    labels: frozenset[Id] = frozenset()
    comments: Count = 0
    created_at: Created = created()
    version: Version = 0

    primary = key("REPO#{repo_id}", "ISSUE#{number:08}")
    open_ones = forge.GSI1("OPEN#{repo_id}", "{number:08}", when="is_open")
    by_assignee = forge.GSI2("ASSIGNED#{assignee_id}", "{created_at}#{repo_id}#{number:08}", when="is_open")
    by_author = forge.GSI3("AUTHOR#{author_id}", "{created_at}#{repo_id}#{number:08}")

    @belongs_to(on_delete="cascade")
    def repository(self) -> Ref[Repository]:
        return ref(Repository, repo_id=self.repo_id)

    @counts("open_issues")
    def still_open(self) -> Ref[Repository] | None:
        return ref(Repository, repo_id=self.repo_id) if self.is_open else None

    @derived
    def label_items(self) -> list[Labeled]:
        return [Labeled(repo_id=self.repo_id, label=label, number=self.number) for label in sorted(self.labels)]


class Comment(Entity, table=forge, type="Comment"):
    repo_id: Id
    number: int
    comment_id: Id = new_id()
    author_id: Id
    text: str

    primary = key("REPO#{repo_id}#ISSUE#{number:08}", "COMMENT#{comment_id}")

    @belongs_to(on_delete="cascade", count="comments")
    def issue(self) -> Ref[Issue]:
        return ref(Issue, repo_id=self.repo_id, number=self.number)


class Star(Entity, table=forge, type="Star"):
    user_id: Id
    repo_id: Id
    starred_at: Created = created()

    primary = key("STARS#{user_id}", "{repo_id}")
    by_user = forge.GSI1("STARS#{user_id}", "{starred_at}#{repo_id}")
    by_repository = forge.GSI2("STARGAZERS#{repo_id}", "{starred_at}#{user_id}")

    @belongs_to(on_delete="cascade")
    def user(self) -> Ref[User]:
        return ref(User, user_id=self.user_id)

    @belongs_to(on_delete="cascade", via="by_repository", count="stars")
    def repository(self) -> Ref[Repository]:
        return ref(Repository, repo_id=self.repo_id)


class Forge(Design):
    tables = (forge,)
    entities = (User, Organization, Membership, Repository, Labeled, Issue, Comment, Star)

    @pattern("Get user by name")
    def user_by_name(self, name: str) -> Lookup[User]:
        return lookup(User.name_guard, name=name)

    @pattern("Get user by e-mail address")
    def user_by_email(self, email: str) -> Lookup[User]:
        return lookup(User.email_guard, email=email)

    @pattern("Get organization by name")
    def organization_by_name(self, name: str) -> Lookup[Organization]:
        return lookup(Organization.name_guard, name=name)

    @pattern("Get an organization with its members")
    def organization(self, org_id: str) -> Query[Organization | Membership]:
        return collection(Organization, Membership, org_id=org_id)

    @pattern("List organizations of a user")
    def organizations_of(self, user_id: str) -> Follow[Organization]:
        memberships = query(Membership.by_user, user_id=user_id)
        return follow(memberships, lambda each: ref(Organization, org_id=each.org_id), Organization)

    @pattern("Get repository by owner and name")
    def repository(self, owner_id: str, name: str) -> Lookup[Repository]:
        return lookup(Repository.name_guard, owner_id=owner_id, name=name)

    @pattern("List repositories of an owner, last pushed first")
    def repositories_of(self, owner_id: str) -> Query[Repository]:
        return query(Repository.by_owner, owner_id=owner_id, newest_first=True)

    @pattern("List forks of a repository")
    def forks_of(self, repo_id: str) -> Query[Repository]:
        return query(Repository.by_origin, forked_from=repo_id)

    @pattern("Get issue by number")
    def issue(self, repo_id: str, number: int) -> Get[Issue]:
        return get(Issue, repo_id=repo_id, number=number)

    @pattern("List issues of a repository, newest first")
    def issues(self, repo_id: str) -> Query[Issue]:
        return query(Issue.primary, repo_id=repo_id, newest_first=True)

    @pattern("List open issues of a repository, newest first")
    def open_issues(self, repo_id: str) -> Query[Issue]:
        return query(Issue.open_ones, repo_id=repo_id, newest_first=True)

    @pattern("List issues with a label, newest first")
    def labeled(self, repo_id: str, label: str) -> Follow[Issue]:
        found = query(Labeled.primary, repo_id=repo_id, label=label, newest_first=True)
        return follow(found, lambda each: ref(Issue, repo_id=each.repo_id, number=each.number), Issue)

    @pattern("List open issues assigned to a user, newest first")
    def assigned_to(self, user_id: str) -> Query[Issue]:
        return query(Issue.by_assignee, assignee_id=user_id, newest_first=True)

    @pattern("List issues by author, newest first")
    def written_by(self, user_id: str) -> Query[Issue]:
        return query(Issue.by_author, author_id=user_id, newest_first=True)

    @pattern("List comments of an issue, oldest first")
    def comments(self, repo_id: str, number: int) -> Query[Comment]:
        return query(Comment.primary, repo_id=repo_id, number=number)

    @pattern("List repositories that a user starred, last starred first")
    def starred_by(self, user_id: str) -> Follow[Repository]:
        stars = query(Star.by_user, user_id=user_id, newest_first=True)
        return follow(stars, lambda star: ref(Repository, repo_id=star.repo_id), Repository)

    @pattern("List stars of a repository, last starred first")
    def stargazers(self, repo_id: str) -> Query[Star]:
        return query(Star.by_repository, repo_id=repo_id, newest_first=True)

    @pattern("Count the issues of a repository")
    def issue_count(self, repo_id: str) -> ItemCount:
        return count(query(Issue.primary, repo_id=repo_id))


def open_issue(store: Store[Forge], repo_id: str, title: str, author_id: str, labels: frozenset[str]) -> Issue:
    """The new issue, with the next number of its repository."""
    repository = ref(Repository, repo_id=repo_id)
    taken = store.run(patch(repository, lambda repo: at(repo.last_number).add(1), returning="updated"))
    number = taken.get(lambda repo: repo.last_number)
    issue = Issue(
        repo_id=repo_id, number=number, title=title, author_id=author_id, labels=labels, created_at=store.clock()
    )
    return store.run(create(issue))


def close_issue(store: Store[Forge], issue: Issue) -> None:
    issue.is_open = False
    store.run(update(issue))


def star(store: Store[Forge], user_id: str, repo_id: str, at: datetime) -> Star:
    return store.run(create(Star(user_id=user_id, repo_id=repo_id, starred_at=at)))
