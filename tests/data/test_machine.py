"""Random writes compared with a plain model: after each, `verify` finds nothing and every pattern matches the model."""

import os
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from keyplan.data import (
    AlreadyExists,
    FloorReached,
    InUse,
    ParentMissing,
    Refused,
    Store,
    UniqueViolation,
    at,
    create,
    delete,
    move,
    patch,
    put,
    update,
    upsert,
)
from keyplan.design import get, query, ref
from keyplan.engine import Engine
from tests.data.club import Alias, Article, Club, Game, Goal, Member, Note, Team, User
from tests.data.club_model import Model
from tests.data.support import Clock

NAMES = st.sampled_from(["ann", "joe", "Joe"])
TEXTS = st.sampled_from(["a", "B", "b", "c#", "d/é"])
SLUGS = st.sampled_from(["s1", "s2", "s3"])
TEAMS = st.sampled_from(["t1", "t2"])
TAGS = st.frozensets(TEXTS, max_size=3)
WAYS = ("update", "patch", "put", "upsert", "clauses")
ROLES = st.sampled_from(["member", "admin"])


class ClubMachine(RuleBasedStateMachine):
    @initialize()
    def begin(self) -> None:
        self.engine = Engine()
        self.store = Store(Club(), self.engine, clock=Clock(), secret=b"s")
        self.store.create_tables()
        self.model = Model()

    def teardown(self) -> None:
        if hasattr(self, "engine"):
            self.engine.close()

    def refused(self, op: Any, *reasons: type[Refused] | None) -> bool:
        """Do a write that must be refused for one of these reasons, or must succeed if there are none."""
        expected = tuple(reason for reason in reasons if reason is not None)
        try:
            self.store.run(op)
        except expected:
            return True
        assert not expected, f"not refused: {expected}"
        return False

    # Users

    def email_taken(self, name: str, email: str) -> type[Refused] | None:
        taken = any(n != name and u["email"].lower() == email.lower() for n, u in self.model.users.items())
        return UniqueViolation if taken else None

    def nickname_taken(self, name: str, nickname: str | None) -> type[Refused] | None:
        taken = any(n != name and u["nickname"] == nickname for n, u in self.model.users.items())
        return UniqueViolation if taken and nickname is not None else None

    @rule(name=NAMES, email=TEXTS, nickname=st.none() | TEXTS)
    def create_user(self, name: str, email: str, nickname: str | None) -> None:
        reasons = self.email_taken(name, email), self.nickname_taken(name, nickname)
        there = AlreadyExists if name in self.model.users else None
        user = User(username=name, email=email, nickname=nickname)
        # If the user exists, its own guards are taken too.
        mine = UniqueViolation if there else None
        if not self.refused(create(user), there, mine, *reasons):
            self.model.users[name] = {"email": email, "nickname": nickname}

    @rule(
        name=NAMES,
        email=TEXTS,
        nickname=st.none() | TEXTS,
        how=st.sampled_from(["update", "patch", "put", "upsert", "clauses"]),
    )
    def change_user(self, name: str, email: str, nickname: str | None, how: str) -> None:
        user = self.store.run(get(User, username=name))
        assert (user is not None) == (name in self.model.users)
        if user is None:
            return
        user.email, user.nickname = email, nickname
        ops = {
            "update": update(user),
            "patch": patch(ref(User, username=name), email=email, nickname=nickname),
            "put": put(User(username=name, email=email, nickname=nickname)),
            "upsert": upsert(ref(User, username=name), email=email, nickname=nickname),
            "clauses": patch(
                ref(User, username=name),
                lambda u: (at(u.email).set(email), at(u.nickname).set(nickname)),
                returning="new",
            ),
        }
        if not self.refused(ops[how], self.email_taken(name, email), self.nickname_taken(name, nickname)):
            self.model.users[name] = {"email": email, "nickname": nickname}

    @rule(name=NAMES, email=TEXTS)
    def upsert_user(self, name: str, email: str) -> None:
        kept = self.model.users.get(name, {"nickname": None})
        if not self.refused(upsert(ref(User, username=name), email=email), self.email_taken(name, email)):
            self.model.users[name] = {"email": email, "nickname": kept["nickname"]}

    @rule(name=NAMES, by_key=st.booleans())
    def delete_user(self, name: str, by_key: bool) -> None:
        user = self.store.run(get(User, username=name))
        if user is None:
            return
        used = any(a["author"] == name for a in self.model.articles.values())
        used = used or any(member == name for _, member in self.model.members)
        op: Any = delete(ref(User, username=name)) if by_key else delete(user)
        if not self.refused(op, InUse if used else None):
            del self.model.users[name]

    # Articles

    def no_author(self, name: str) -> type[Refused] | None:
        return None if name in self.model.users else ParentMissing

    @rule(slug=SLUGS, title=TEXTS, author=NAMES, tags=TAGS)
    def create_article(self, slug: str, title: str, author: str, tags: frozenset[str]) -> None:
        there = AlreadyExists if slug in self.model.articles else None
        number = int(slug[1])
        mirrored = any(article["number"] == number for article in self.model.articles.values())
        op = create(Article(slug=slug, number=number, title=title, author=author, tags=tags))
        guard = UniqueViolation if there else None
        if not self.refused(op, there, guard, AlreadyExists if mirrored else None, self.no_author(author)):
            self.model.articles[slug] = {"number": number, "title": title, "author": author, "tags": tags}

    @rule(slug=SLUGS, title=TEXTS, author=NAMES, tags=TAGS)
    def change_article(self, slug: str, title: str, author: str, tags: frozenset[str]) -> None:
        article = self.store.run(get(Article, slug=slug))
        if article is None:
            return
        article.title, article.author, article.tags = title, author, tags
        if not self.refused(update(article), self.no_author(author)):
            self.model.articles[slug] |= {"title": title, "author": author, "tags": tags}

    @rule(slug=SLUGS, more=TAGS, less=TAGS)
    def tag_article(self, slug: str, more: frozenset[str], less: frozenset[str]) -> None:
        if slug not in self.model.articles:
            return
        article = ref(Article, slug=slug)
        if more:
            self.store.run(patch(article, lambda each: at(each.tags).add(*more)))
        if less:
            self.store.run(patch(article, lambda each: at(each.tags).delete(*less)))
        self.model.articles[slug]["tags"] = (self.model.articles[slug]["tags"] | more) - less

    @rule(slug=SLUGS, to=SLUGS)
    def move_article(self, slug: str, to: str) -> None:
        article = self.store.run(get(Article, slug=slug))
        if article is None:
            return
        taken = AlreadyExists if to != slug and to in self.model.articles else None
        if not self.refused(move(article, slug=to), taken, UniqueViolation if taken else None):
            self.model.articles[to] = self.model.articles.pop(slug)

    @rule(slug=SLUGS)
    def delete_article(self, slug: str) -> None:
        article = self.store.run(get(Article, slug=slug))
        if article is not None:
            self.store.run(delete(article))
            del self.model.articles[slug]

    @rule(old=NAMES, new=NAMES)
    def rename_author(self, old: str, new: str) -> None:
        if old != new and new in self.model.users:
            done = self.store.run(self.store.design.rename_author(old, new))
            theirs = [article for article in self.model.articles.values() if article["author"] == old]
            assert done == len(theirs)
            for article in theirs:
                article["author"] = new

    # Teams

    @rule(team=TEAMS, name=TEXTS)
    def write_team(self, team: str, name: str) -> None:
        taken = any(t != team and n.lower() == name.lower() for t, n in self.model.teams.items())
        if not self.refused(put(Team(team_id=team, name=name)), UniqueViolation if taken else None):
            self.model.teams[team] = name

    @rule(team=TEAMS)
    def delete_team(self, team: str) -> None:
        found = self.store.run(get(Team, team_id=team))
        if found is not None:
            self.store.run(delete(found))
            del self.model.teams[team]
            self.model.members = {key: role for key, role in self.model.members.items() if key[0] != team}
            self.model.games = {key: goals for key, goals in self.model.games.items() if key[0] != team}

    @rule(team=TEAMS, name=NAMES, role=ROLES)
    def add_member(self, team: str, name: str, role: Any) -> None:
        there = AlreadyExists if (team, name) in self.model.members else None
        parents = None if team in self.model.teams and name in self.model.users else ParentMissing
        if not self.refused(create(Member(team_id=team, username=name, role=role)), there, parents):
            self.model.members[team, name] = role

    @rule(team=TEAMS, name=NAMES, role=ROLES | st.none())
    def change_member(self, team: str, name: str, role: Any) -> None:
        member = self.store.run(get(Member, team_id=team, username=name))
        if member is None:
            return
        last = member.role == "admin" and role != "admin" and self.model.admins(team) == 1
        if role is not None:
            member.role = role
        op = delete(member) if role is None else update(member)
        if not self.refused(op, FloorReached if last else None):
            if role is None:
                del self.model.members[team, name]
            else:
                self.model.members[team, name] = role

    @rule(team=TEAMS, game=SLUGS, minute=st.integers(1, 3))
    def play(self, team: str, game: str, minute: int) -> None:
        if any(other == game and where != team for where, other in self.model.games):
            return  # goals are stored under the game's own ID
        if (team, game) not in self.model.games:
            missing = None if team in self.model.teams else ParentMissing
            if not self.refused(create(Game(team_id=team, game_id=game)), missing):
                self.model.games[team, game] = set()
        elif minute not in self.model.games[team, game]:
            self.store.run(create(Goal(team_id=team, game_id=game, minute=minute)))
            self.model.games[team, game].add(minute)

    # Notes and aliases

    @rule(note=SLUGS, folder=st.none() | TEAMS, rank=st.none() | st.integers(0, 12), stars=st.integers(0, 2))
    def write_note(self, note: str, folder: str | None, rank: int | None, stars: int) -> None:
        values = {"folder": folder, "rank": rank, "stars": stars}
        self.store.run(put(Note.model_validate({"note_id": note, **values})))
        self.model.notes[note] = values

    @rule(note=SLUGS, change=st.sampled_from([{"folder": "t1"}, {"folder": None}, {"rank": 3}, {"rank": None}]))
    def patch_note(self, note: str, change: dict[str, Any]) -> None:
        if note in self.model.notes:
            self.store.run(patch(ref(Note, note_id=note), **change))
            self.model.notes[note] |= change

    @rule(note=SLUGS, amount=st.integers(0, 2), returning=st.sampled_from([None, "new", "updated"]))
    def star_note(self, note: str, amount: int, returning: Any) -> None:
        """A note that doesn't exist is created."""
        op: Any = upsert(ref(Note, note_id=note), lambda n: at(n.stars).add(amount), returning=returning)
        got: Any = self.store.run(op)
        values = self.model.notes.setdefault(note, {"folder": None, "rank": None, "stars": 0})
        values["stars"] += amount
        if returning is not None:
            stars = got.stars if returning == "new" else got.get(lambda n: n.stars)
            assert stars == values["stars"]

    @rule(note=SLUGS)
    def delete_note(self, note: str) -> None:
        if self.model.notes.pop(note, None) is not None:
            self.store.run(delete(ref(Note, note_id=note)))

    @rule(alias=SLUGS, name=TEXTS)
    def write_alias(self, alias: str, name: str) -> None:
        taken = any(a != alias and n == name for a, n in self.model.aliases.items())
        if not self.refused(put(Alias(alias_id=alias, name=name)), UniqueViolation if taken else None):
            self.model.aliases[alias] = name

    # Invariants

    @invariant()
    def nothing_is_wrong(self) -> None:
        if hasattr(self, "store"):
            assert self.store.verify() == []

    @invariant()
    def people_agree(self) -> None:
        if not hasattr(self, "store"):
            return
        run, design, model = self.store.run, self.store.design, self.model
        for name, user in model.users.items():
            found = run(design.user_by_email(user["email"].swapcase()))
            assert found is not None
            assert (found.username, found.email, found.nickname) == (name, user["email"], user["nickname"])
            theirs = {slug for slug, article in model.articles.items() if article["author"] == name}
            assert {article.slug for article in self.store.each(design.articles_of(name).limit(2))} == theirs
            teams = sorted(team for team, member in model.members if member == name)
            assert [team.team_id for team in run(design.teams_of(name)).items] == teams
            assert (found.article_count, found.team_count) == (len(theirs), len(teams))

    @invariant()
    def things_agree(self) -> None:
        if not hasattr(self, "store"):
            return
        run, design, model = self.store.run, self.store.design, self.model
        for tag in ("a", "c#"):
            tagged = sorted(slug for slug, article in model.articles.items() if tag in article["tags"])
            assert [article.slug for article in run(design.tagged(tag)).items] == tagged
        for team in ("t1", "t2"):
            shown = run(design.team_page(team)).items
            assert {m.username: m.role for m in shown if isinstance(m, Member)} == {
                name: role for (where, name), role in model.members.items() if where == team
            }
            named = [model.teams[team]] if team in model.teams else []
            assert [t.name for t in shown if isinstance(t, Team)] == named
        for (_, game), minutes in model.games.items():
            goals = run(query(Goal.primary, game_id=game)).items
            assert [goal.minute for goal in goals] == sorted(minutes)
        placed = [n for n in model.notes.values() if n["folder"] is not None and n["rank"] is not None]
        merged = [note.rank for note in self.store.each(design.two_folders("t1", "t2").limit(2))]
        assert merged == sorted(note["rank"] for note in placed)
        starred = [note.stars for note in run(design.starred("t1")).items]
        assert len(starred) == sum(n["folder"] == "t1" and n["stars"] > 0 for n in placed)
        assert {note.note_id for note in run(design.notes()).items} == set(model.notes)


LONG = bool(os.environ.get("KEYPLAN_TEST_LONG"))

ClubMachine.TestCase.settings = settings(
    max_examples=300 if LONG else 30, stateful_step_count=50 if LONG else 30, derandomize=not LONG, deadline=None
)
TestClub = ClubMachine.TestCase
