"""Registering, signing in, and the caller's account. The kit has the page for signing out."""

from typing import Annotated

from pydantic import StringConstraints
from starlette.responses import Response

from keyplan.apps.wavyblog.models import Credentials, EmailChange, PasswordChange, Registration
from keyplan.apps.wavyblog.pages.shared import BlogView, pages
from keyplan.apps.wavyblog.service import REFRESH_LASTS, Blog, caller_of, wrong_credentials
from keyplan.design import about

Address = Annotated[str, StringConstraints(max_length=2000), about("")]


class SignInForm(Credentials):
    """A sign-in, and the page to continue with."""

    to: Address = ""


class RegistrationForm(Registration):
    """A new account, and the page to continue with."""

    to: Address = ""


@pages.get("/sign-in", rate=600)
def sign_in(view: BlogView, to: str = "") -> Response:
    view.form.asking(SignInForm).starting_from({"to": view.site.local(to)})
    return view.render("sign_in.html")


@pages.post("/sign-in", rate=60, hashes=True)
def submit_sign_in(view: BlogView, given: SignInForm) -> Response:
    user = view.service.checked(given)
    view.sign_in(caller_of(user), REFRESH_LASTS)
    if not view.service.still_has_password(user):
        view.sign_out()
        raise wrong_credentials()
    return view.redirect_to(view.site.local(given.to), notice=f"Signed in as {user.username}")


@pages.get("/register", rate=600)
def register(view: BlogView, to: str = "") -> Response:
    view.form.asking(RegistrationForm).starting_from({"to": view.site.local(to)})
    return view.render("register.html")


@pages.post("/register", rate=30, hashes=True)
def submit_registration(view: BlogView, new: RegistrationForm) -> Response:
    user = view.service.registered(new)
    view.sign_in(caller_of(user), REFRESH_LASTS)
    return view.redirect_to(view.site.local(new.to), notice=f"Welcome, {user.username}")


pages.show("/account", "account.html", account=Blog.account)
pages.show("/account/password", "password.html", asks=PasswordChange, account=Blog.account)


@pages.post("/account/password", hashes=True)
def change_password(view: BlogView, change: PasswordChange) -> Response:
    view.service.change_password(change)
    # That ended every session, including this one. The user just entered the password and needn't sign in again.
    view.sign_in(view.service.me, REFRESH_LASTS)
    return view.redirect("/account", notice="Password changed. You were signed out everywhere else.")


pages.show("/account/email", "email.html", asks=EmailChange, starts_from="account", account=Blog.account)
pages.form("/account/email", Blog.change_email, to="/account", notice="E-mail address changed", hashes=True)
