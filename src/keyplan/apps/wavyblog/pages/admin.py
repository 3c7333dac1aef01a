"""Managing users and categories, for admins."""

from starlette.responses import Response

from keyplan.apps.wavyblog.fields import CategoryFields, Slug, Username
from keyplan.apps.wavyblog.models import CategoryChange, NewCategory, RoleChange
from keyplan.apps.wavyblog.pages.reading import category as category_page
from keyplan.apps.wavyblog.pages.shared import BlogView, is_admin, pages
from keyplan.web import Cursor, Forbidden, OfVersion, Paging, Unauthorized, turn

_LISTED = 50


class NewRole(RoleChange, OfVersion):
    """A new role for a user."""


class EditedCategory(CategoryFields, OfVersion):
    """An edited category."""


@pages.get("/users")
def users(view: BlogView, cursor: Cursor = None) -> Response:
    found = view.service.users(Paging(limit=_LISTED, cursor=cursor))
    return view.render("users.html", users=found.items, turn=turn(view.site.url("/users"), cursor, found.next))


@pages.get("/users/{username}")
def user(view: BlogView, username: Username) -> Response:
    found = view.service.user_account(username)
    return view.render("user.html", user=found)


@pages.post("/users/{username}/role", again=user)
def change_role(view: BlogView, username: Username, new: NewRole) -> Response:
    changed = view.service.change_role(username, RoleChange.from_fields(new), new.seen)
    return view.redirect("/users/{username}", username=username, notice=f"{username} is now {_ROLES[changed.role]}")


_ROLES = {"user": "an author", "admin": "an admin"}


@pages.post("/users/{username}/delete", again=user)
def delete_user(view: BlogView, username: Username, which: OfVersion) -> Response:
    view.service.delete_user(username, which.seen)
    return view.redirect("/users", notice=f"Account {username} deleted")


def _only_admins(view: BlogView) -> None:
    """Refuse other callers, for pages that call no operation of admins themselves."""
    if view.caller is None:
        raise Unauthorized
    if not is_admin(view):
        raise Forbidden


@pages.get("/new-category")
def new_category(view: BlogView) -> Response:
    _only_admins(view)
    view.form.asking(NewCategory)
    return view.render("new_category.html")


@pages.post("/new-category")
def create_category(view: BlogView, new: NewCategory) -> Response:
    made = view.service.create_category(new)
    return view.redirect("/categories/{slug}", slug=made.slug, notice=f"Category “{made.name}” created")


@pages.get("/categories/{slug}/edit")
def edit_category(view: BlogView, slug: Slug) -> Response:
    _only_admins(view)
    found = view.service.category(slug)
    view.form.asking(EditedCategory).starting_from(found)
    return view.render("edit_category.html", category=found, stale=view.form.is_outdated(found.version))


@pages.post("/categories/{slug}/edit")
def change_category(view: BlogView, slug: Slug, edited: EditedCategory) -> Response:
    changed = view.service.change_category(slug, CategoryChange.from_fields(edited), edited.seen)
    notice = "Category saved" if changed.slug == slug else "Category renamed. Its posts are moving."
    return view.redirect("/categories/{slug}", slug=changed.slug, notice=notice)


@pages.post("/categories/{slug}/delete", again=category_page)
def delete_category(view: BlogView, slug: Slug, which: OfVersion) -> Response:
    view.service.delete_category(slug, which.seen)
    return view.redirect("/categories", notice="Category deleted")
