"""What the systems do differently on purpose since `tests/fixtures/unchanged` was captured; see `test_unchanged.py`.

An entry names the system, the place as a failure shows it (`*` for any text; what is below is meant as well), and why.
Give `now` where it is about one value. An entry that no longer applies fails the test: remove it.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from keyplan.design import OneLine
from tools.differences import ABSENT, Difference, Intended

_EXPIRY = re.compile(r' OR \w+ <= \{"N": "\d+"\}|\(NOT \w+ <= \{"N": "\d+"\}\) AND |NOT \w+ <= \{"N": "\d+"\}')


@dataclass(frozen=True)
class ExpiredIsAbsent(Intended):
    """Conditions and filters that differ in nothing but what they say about the time to live."""

    def covers(self, difference: Difference) -> bool:
        without = _EXPIRY.sub("", difference.now) if isinstance(difference.now, str) else ""
        return super().covers(difference) and difference.before == (without or ABSENT)


def _null_no_longer_documented(system: str, change: str, *fields: str) -> Iterator[Intended]:
    """The document said that these fields of a partial change may be null, which was always refused."""
    for field in fields:
        where = f"openapi > components > schemas > {change} > properties > {field}"
        yield Intended(system, where, "a required field may be left out of a change, but it is never null")


RENAMED = {
    # So that they sort before the plays that are scored later, whose IDs begin with their time.
    "hacktracker": (r"demo-game-\d{3}-\d{3}", r"00-\g<0>"),
}
"""IDs of demo data that were renamed: a pattern and its replacement, for each system."""

_REFUSED_BEFORE_READING = "null for a required field is refused with the body, before anything is read"

INTENDED: tuple[Intended, ...] = (
    # all systems
    *(
        Intended(
            system,
            "openapi > components > schemas > * > pattern",
            "names, titles and tags are one line without hidden characters, and the document says so",
            OneLine(max_length=1).pattern,
        )
        for system in ("funkedupshift", "hacktracker", "threefc", "vcm", "wavyblog")
    ),
    *(
        Intended(
            system,
            "calls > * Idempotency-Key:* > requests",
            "the records of a caller are in one partition, so that they can be counted and bounded",
        )
        for system in ("hacktracker", "vcm", "wavyblog")
    ),
    *(
        Intended(system, f"calls > {place}", "uploads and kept files count against the quota of their owner")
        for system, places in {
            "funkedupshift": ("* POST /me/avatar/upload *", "* PUT /me/avatar *", "* DELETE /me/avatar > requests"),
            "vcm": ("* POST /media/upload *", "* POST /media {*"),
            "wavyblog": ("* POST /images/upload *", "* POST /images {*", "* DELETE /images/*"),
        }.items()
        for place in places
    ),
    *(
        ExpiredIsAbsent(system, f"* > {kind}Expression", "an item whose time to live has passed counts as absent")
        for system, kinds in {
            "hacktracker": ("Condition", "Filter"),
            "vcm": ("Condition", "Filter"),
            "wavyblog": ("Condition", "Filter"),
        }.items()
        for kind in kinds
    ),
    *(
        Intended("vcm", place, "the store leaves out expired sponsors, so the pattern doesn't ask for them")
        for place in ("calls > * GET /sponsors?limit=2 > requests > 0 > scan", "patterns > current_sponsors")
    ),
    *(
        Intended(
            "wavyblog",
            f"calls > * POST /{call} > requests > {number} > update_item",
            "the counters of the rate limit are entities, written by an upsert",
        )
        for call, numbers in {"register *": "0", "login *": "01", "me/email *": "1", "me/password *": "1"}.items()
        for number in numbers
    ),
    # funkedupshift
    Intended(
        "funkedupshift",
        "calls > * GET /me > requests",
        "a GET that turns out to write, here the time of the visit, starts again where it may wait for the file",
    ),
    Intended(
        "funkedupshift",
        "calls > 013 sam+admin POST /sites * > answer > problem > errors > 2 > code",
        "an empty tag is refused with the code of every other text that is too short",
        "string-too-short",
    ),
    # hacktracker
    Intended(
        "hacktracker",
        "calls > 068 newcomer POST /teams/$team.team_id/players/$kim.player_id/unlink > requests",
        "a former player is noted by an upsert, which doesn't read",
    ),
    *_null_no_longer_documented("hacktracker", "AtBatChange", "inning", "outs", "player_id", "rbi", "result", "runs"),
    *_null_no_longer_documented("hacktracker", "GameChange", "opponent_score"),
    *_null_no_longer_documented("hacktracker", "PlayerChange", "first_name", "last_name", "positions", "status"),
    *_null_no_longer_documented("hacktracker", "TeamChange", "name"),
    Intended("hacktracker", "calls > * PATCH * null} > requests", _REFUSED_BEFORE_READING, []),
    Intended(
        "hacktracker",
        "openapi > components > schemas > DeletedTeam > properties > *",
        "the times of a deletion are declared once, with the team, which may have none",
    ),
    *(
        Intended("hacktracker", f"openapi > components > schemas > {place}", "answers are documented without limits")
        for place in (
            "HitLocation",
            "HitLocation-Input",
            "HitLocation-Output",
            "AtBatChange > properties > hit_location > *",
            "AtBatOut > properties > hit_location > *",
            "NewAtBat > properties > hit_location > *",
        )
    ),
    Intended(
        "hacktracker",
        "openapi > paths > /invitations/{secret} > get > responses > 409",
        "an invitation can have lapsed, which was answered but not documented",
    ),
    # threefc
    *_null_no_longer_documented("threefc", "LeagueChange", "name", "slug"),
    *_null_no_longer_documented("threefc", "PlayerChange", "display_name"),
    *_null_no_longer_documented("threefc", "SeasonChange", "name"),
    *_null_no_longer_documented("threefc", "TeamChange", "colour", "name"),
    *_null_no_longer_documented(
        "threefc", "GoalChange", "assist_ids", "conceding_team_id", "minute", "own_goal", "third"
    ),
    Intended("threefc", "calls > * PATCH *: null} > requests", _REFUSED_BEFORE_READING, []),
    Intended(
        "threefc",
        "calls > * POST /games/game-1/goals {* > TransactItems > 1 > Update > ConditionExpression",
        "that the game is live and that it has room for a goal are two conditions, each with its own refusal",
        "attribute_exists(pk) AND attribute_not_exists(keyplanDeleting) AND "
        'goalCount < {"N": "300"} AND status = {"S": "live"}',
    ),
    # wavyblog
    *_null_no_longer_documented("wavyblog", "CategoryChange", "name", "slug"),
    *_null_no_longer_documented("wavyblog", "PostChange", "category", "content", "title"),
    Intended("wavyblog", 'calls > * PATCH /posts/$post.slug {"title": null} > requests', _REFUSED_BEFORE_READING, []),
    Intended(
        "wavyblog",
        "openapi > components > schemas > ImageOut > properties > content_type > enum",
        "the answer names the types that an image can have, as the body does",
    ),
    # vcm
    Intended(
        "vcm",
        "calls > * GET /news/* > answer > body > html",
        "the headings of a text begin at level 2, below the title, and leave no level out",
    ),
    *_null_no_longer_documented("vcm", "EventChange", "authorIds", "imageIds", "startDate", "title"),
    *_null_no_longer_documented("vcm", "LocationChange", "city", "name", "postalCode", "street"),
    *_null_no_longer_documented("vcm", "MemberChange", "name", "roleIds", "showContact"),
    *_null_no_longer_documented("vcm", "NewsChange", "authorIds", "content", "imageIds", "publishedDate", "title"),
    *_null_no_longer_documented("vcm", "SponsorChange", "name"),
    *_null_no_longer_documented("vcm", "TeamChange", "coachIds", "contactPersonIds", "description", "gender"),
    *_null_no_longer_documented("vcm", "TeamChange", "imageIds", "name", "schedules"),
    *(
        Intended("vcm", f"calls > * PATCH /{path} {{{body}}} > requests", _REFUSED_BEFORE_READING, [])
        for path, body in (
            ("news/$article.id", '"title": null'),
            ("events/$event.id", '"startDate": null'),
            ("locations/$location.id", '"street": null'),
            ("members/$member.id", '"name": null'),
            ("teams/$team.id", '"gender": null'),
        )
    ),
    Intended(
        "vcm",
        "openapi > components > schemas > MemberOut > required",
        "e-mail address and phone are always in the answer, as they always were; null where they may not be seen",
    ),
    *(
        Intended("vcm", f"openapi > components > schemas > {place}", "answers have no limits", ABSENT)
        for place in (
            "Schedule > properties > day > items > *",
            "Schedule > properties > endTime > pattern",
            "Schedule > properties > startTime > pattern",
            "Schedule > properties > locationId > *",
            "TeamOut > properties > schedules > maxItems",
        )
    ),
    # funkedupshift
    *_null_no_longer_documented("funkedupshift", "SiteChange", "url", "tags"),
    *_null_no_longer_documented("funkedupshift", "GroupChange", "permissions"),
    *_null_no_longer_documented("funkedupshift", "PlayerChange", "name"),
    *_null_no_longer_documented("funkedupshift", "MatchChange", "date", "team_a_games", "team_b_games", "winning_team"),
    *_null_no_longer_documented("funkedupshift", "MatchChange", "team_a_player1_id", "team_a_player2_id"),
    *_null_no_longer_documented("funkedupshift", "MatchChange", "team_b_player1_id", "team_b_player2_id"),
    *(
        Intended("funkedupshift", f"calls > * PATCH {call} > requests", _REFUSED_BEFORE_READING)
        for call in (
            '/sites/$site.site_id {"url": null}',
            '/groups/testers {"permissions": null}',
            '/squash/players/$pat.player_id {"name": null}',
        )
    ),
    *(
        Intended(
            "funkedupshift",
            f"calls > {call} > requests",
            "what the design refuses is refused after the caller was let in, so that is not decided again",
        )
        for call in (
            "099 mia+manager POST /squash/matches *",
            "103 mia+manager DELETE /squash/players/$pat.player_id",
        )
    ),
    # wavyblog
    *(
        Intended(
            "wavyblog",
            f"openapi > components > schemas > {body} > properties > thumbnail_url > anyOf > 0 > pattern",
            "a cover image is the address of an image, so it can't be an e-mail address",
        )
        for body in ("NewPost", "PostChange")
    ),
)
