"""What everybody reads: news, events, teams, members and sponsors."""

from urllib.parse import urlsplit

from starlette.responses import Response

from keyplan.apps.vcm.calendar import calendar_of
from keyplan.apps.vcm.fields import SlugText
from keyplan.apps.vcm.pages.shared import ClubView, pages
from keyplan.web import Paging, all_of

_NEWS, _EVENTS, _TEAMS = 12, 20, 100


@pages.get("/")
def front(view: ClubView) -> Response:
    news = view.service.published_news(Paging(limit=5)).items
    events = view.service.upcoming_events(Paging(limit=5)).items
    sponsors = view.service.sponsors(Paging(limit=12)).items
    return view.render("front.html", news=news, events=events, sponsors=sponsors)


@pages.get("/news")
def news_list(view: ClubView) -> Response:
    found = view.page(view.service.published_news, "Newest first", _NEWS)
    return view.render("news_list.html", news=found.items, turn=found.turn)


@pages.get("/news/{slug}")
def article(view: ClubView, slug: SlugText) -> Response:
    return view.render("article.html", article=view.service.news_by_slug(slug))


@pages.get("/termine")
def upcoming(view: ClubView) -> Response:
    found = view.page(view.service.upcoming_events, "Next first", _EVENTS)
    return view.render("events.html", past=False, events=found.items, turn=found.turn)


@pages.get("/termine/vergangene")
def past(view: ClubView) -> Response:
    found = view.page(view.service.past_events, "Latest first", _EVENTS)
    return view.render("events.html", past=True, events=found.items, turn=found.turn)


@pages.get("/termine/{slug}")
def event(view: ClubView, slug: SlugText) -> Response:
    return view.render("event.html", event=view.service.event_by_slug(slug))


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


@pages.get("/teams")
def teams(view: ClubView) -> Response:
    found = view.page(view.service.published_teams, "Sorted by name", _TEAMS)
    return view.render("teams.html", teams=found.items, turn=found.turn)


@pages.get("/teams/{slug}")
def team(view: ClubView, slug: SlugText) -> Response:
    found = view.service.team_by_slug(slug)
    return view.render("team.html", team=found, places={each.id: each for each in found.locations})


@pages.get("/mitglieder")
def members(view: ClubView) -> Response:
    found = sorted(all_of(view.service.members), key=lambda each: each.name.casefold())
    return view.render("members.html", members=found)


@pages.get("/sponsoren")
def sponsors(view: ClubView) -> Response:
    found = sorted(all_of(view.service.sponsors), key=lambda each: each.name.casefold())
    return view.render("sponsors.html", sponsors=found)
