"""Managing users and categories, for admins."""

from starlette.responses import Response

from keyplan.apps.wavyblog.fields import CategoryFields, Slug
from keyplan.apps.wavyblog.models import Account, CategoryChange, NewCategory
from keyplan.apps.wavyblog.pages.reading import category as category_page
from keyplan.apps.wavyblog.pages.shared import BlogView, pages
from keyplan.apps.wavyblog.service import Blog
from keyplan.web import Confirm, Listed, OfVersion


class EditedCategory(CategoryFields, OfVersion):
    """An edited category."""


_USER = "/users/{username}"
_ROLES = {"user": "an author", "admin": "an admin"}


pages.show("/users", "users.html", users=Listed(Blog.users, "Sorted by username"))
user = pages.show(_USER, "user.html", user=Blog.user_account)


def _new_role(account: Account) -> str:
    return f"{account.username} is now {_ROLES[account.role]}"


pages.form(
    f"{_USER}/role",
    Blog.change_role,
    to=_USER,
    notice=_new_role,
    again=user,
    confirm=Confirm(
        "Make {username} an admin?",
        "Make admin",
        "Admins can change and delete all posts, categories and accounts.",
        when=lambda given: given.role == "admin",
    ),
)
pages.form(
    f"{_USER}/delete",
    Blog.delete_user,
    to="/users",
    notice="Account {username} deleted",
    again=user,
    confirm=Confirm(
        "Delete the account {username}?",
        "Delete account",
        "This deletes its images too, and can't be undone. An account with posts can't be deleted.",
    ),
)


pages.show("/new-category", "new_category.html", asks=NewCategory, requires=Blog.create_category)
pages.form("/new-category", Blog.create_category, to="/categories/{slug}", notice="Category “{name}” created")


@pages.get("/categories/{slug}/edit")
def edit_category(view: BlogView, slug: Slug) -> Response:
    view.service.require(Blog.change_category)
    found = view.service.category(slug)
    view.form.asking(EditedCategory).starting_from(found)
    return view.render("edit_category.html", category=found)


@pages.post("/categories/{slug}/edit")
def change_category(view: BlogView, slug: Slug, edited: EditedCategory) -> Response:
    changed = view.service.change_category(slug, CategoryChange.from_fields(edited), edited.seen)
    notice = "Category saved" if changed.slug == slug else "Category renamed. Its posts are moving."
    return view.redirect("/categories/{slug}", slug=changed.slug, notice=notice)


pages.delete(
    "/categories/{slug}/delete",
    Blog.delete_category,
    "category",
    one=Blog.category,
    name="“{name}”",
    to="/categories",
    again=category_page,
)
