"""What everybody reads: news, events, teams, members and sponsors."""

from urllib.parse import urlsplit

from starlette.responses import Response

from keyplan.apps.vcm.calendar import calendar_of
from keyplan.apps.vcm.models import MemberOut, SponsorOut
from keyplan.apps.vcm.pages.shared import ClubView, pages
from keyplan.apps.vcm.service import Club
from keyplan.web import Listed, Paging, all_of

_NEWS, _EVENTS, _TEAMS = 12, 20, 100


@pages.get("/")
def front(view: ClubView) -> Response:
    news = view.service.published_news(Paging(limit=5)).items
    events = view.service.upcoming_events(Paging(limit=5)).items
    sponsors = view.service.sponsors(Paging(limit=12)).items
    return view.render("front.html", news=news, events=events, sponsors=sponsors)


pages.show("/news", "news_list.html", news=Listed(Club.published_news, "Newest first", _NEWS))
pages.show("/news/{slug}", "article.html", article=Club.news_by_slug)
pages.show("/termine", "events.html", past=False, events=Listed(Club.upcoming_events, "Next first", _EVENTS))
pages.show("/termine/vergangene", "events.html", past=True, events=Listed(Club.past_events, "Latest first", _EVENTS))
pages.show("/termine/{slug}", "event.html", event=Club.event_by_slug)


@pages.get("/termine.ics")
def calendar(view: ClubView) -> Response:
    url = view.request.url
    base = view.site.running.settings.base_url or f"{url.scheme}://{url.netloc}"
    made = calendar_of(
        view.service.calendar(),
        name=f"Termine {view.site.title}",
        host=urlsplit(base).hostname or "localhost",
        page=f"{base}{view.site.url('/termine/')}{{slug}}",
    )
    headers = {"Content-Disposition": 'inline; filename="termine.ics"'}
    return Response(made, headers=headers, media_type="text/calendar")


def _members(service: Club) -> list[MemberOut]:
    return sorted(all_of(service.members), key=lambda each: each.name.casefold())


def _sponsors(service: Club) -> list[SponsorOut]:
    return sorted(all_of(service.sponsors), key=lambda each: each.name.casefold())


pages.show("/teams", "teams.html", teams=Listed(Club.published_teams, "Sorted by name", _TEAMS))
pages.show("/teams/{slug}", "team.html", team=Club.team_by_slug)
pages.show("/mitglieder", "members.html", members=_members)
pages.show("/sponsoren", "sponsors.html", sponsors=_sponsors)
