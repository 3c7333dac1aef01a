"""What admins look after: users and categories."""

from starlette.responses import Response

from keyplan.apps.wavyblog.design import Role, Slug, Username
from keyplan.apps.wavyblog.models import CategoryChange, Name, NewCategory, RoleChange
from keyplan.apps.wavyblog.pages.reading import category as category_page
from keyplan.apps.wavyblog.pages.shared import BlogView, is_admin, pages
from keyplan.web import Cursor, Forbidden, OfVersion, Paging, Unauthorized, turn

_LISTED = 50


class NewRole(OfVersion):
    """Another role for somebody."""

    role: Role


class EditedCategory(OfVersion):
    """A category as it is to be."""

    name: Name
    slug: Slug


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
    changed = view.service.change_role(username, RoleChange(role=new.role), new.seen)
    return view.redirect(
        "/users/{username}", username=username, notice=f"{username} is {_ROLES[changed.role]} from now on."
    )


_ROLES = {"user": "an author", "admin": "an admin"}


@pages.post("/users/{username}/delete", again=user)
def delete_user(view: BlogView, username: Username, which: OfVersion) -> Response:
    view.service.delete_user(username, which.seen)
    return view.redirect("/users", notice=f"The account of {username} is deleted.")


def _only_admins(view: BlogView) -> None:
    """For pages that show no more than everybody knows, but lead to what only admins may do."""
    if view.caller is None:
        raise Unauthorized
    if not is_admin(view):
        raise Forbidden


@pages.get("/new-category")
def new_category(view: BlogView) -> Response:
    _only_admins(view)
    return view.render("new_category.html")


@pages.post("/new-category")
def create_category(view: BlogView, new: NewCategory) -> Response:
    made = view.service.create_category(new)
    return view.redirect("/categories/{slug}", slug=made.slug, notice=f"“{made.name}” is there.")


@pages.get("/categories/{slug}/edit")
def edit_category(view: BlogView, slug: Slug) -> Response:
    _only_admins(view)
    found = view.service.category(slug)
    view.form.starting_from(found)
    return view.render("edit_category.html", category=found, stale=view.form.value("version") != str(found.version))


@pages.post("/categories/{slug}/edit")
def change_category(view: BlogView, slug: Slug, edited: EditedCategory) -> Response:
    change = CategoryChange(name=edited.name, slug=edited.slug)
    changed = view.service.change_category(slug, change, edited.seen)
    notice = "It is saved." if changed.slug == slug else "It is renamed; its posts move along."
    return view.redirect("/categories/{slug}", slug=changed.slug, notice=notice)


@pages.post("/categories/{slug}/delete", again=category_page)
def delete_category(view: BlogView, slug: Slug, which: OfVersion) -> Response:
    view.service.delete_category(slug, which.seen)
    return view.redirect("/categories", notice="The category is deleted.")
