"""Accounts: who the caller is, signing in, and staying signed in."""

import hashlib
import secrets
from contextlib import suppress
from datetime import timedelta
from functools import cache, cached_property
from typing import Annotated, ClassVar, TypeAlias

import bcrypt
from fastapi import Cookie

from keyplan.apps.wavyblog.design import WavyBlog
from keyplan.apps.wavyblog.entities import RefreshToken, TokenFamily, User
from keyplan.apps.wavyblog.models import Account, Credentials, EmailChange, PasswordChange, Registration, SignedIn
from keyplan.data import (
    Check,
    ConditionFailed,
    Create,
    ItemChanged,
    NotFound,
    ParentMissing,
    Update,
    check,
    create,
    delete,
    update,
)
from keyplan.design import InvalidValue, Secret, absent, address_key, ref
from keyplan.web import (
    ANYONE,
    SIGNED_IN,
    Caller,
    RateLimit,
    Running,
    Service,
    Unauthorized,
    Unprocessable,
    allow,
    check_place,
)
from keyplan.web.identity import (
    FirstOf,
    Identity,
    Sessions,
    TokenIdentity,
    TokenIssuer,
    identity_of,
    kept_signing_key,
    refuse_reserved_name,
)

ACCESS_LASTS = timedelta(hours=1)
REFRESH_LASTS = timedelta(days=14)
REFRESH_COOKIE = "wavyblog_refresh"
RefreshCookie: TypeAlias = Annotated[str | None, Cookie(alias=REFRESH_COOKIE, max_length=200)]
COST = 10
_USER_ID, _FAMILY = "user_id", "family_id"
"""Claims of access tokens: the id of the user, and the sign-in."""
ATTEMPTS = 10
"""Sign-ins a minute for one account from one address: enough for a person, too few to guess passwords."""


@cache
def _placeholder_hash() -> bytes:
    """A hash to compare with if the user doesn't exist, so that the check takes equally long."""
    return bcrypt.hashpw(secrets.token_bytes(16), bcrypt.gensalt(COST))


def hashed(password: str) -> Secret[str]:
    """The password as it is stored."""
    check_place()
    return Secret(bcrypt.hashpw(password.encode(), bcrypt.gensalt(COST)).decode())


def _matches(password: str, user: User | None) -> bool:
    check_place()
    placeholder = _placeholder_hash()  # made at the first sign-in, whether the user exists or not
    known = placeholder if user is None else user.password_hash.get_secret_value().encode()
    given = password.encode()
    try:
        # bcrypt reads 72 bytes. A longer password is always wrong, and is checked as long as others.
        right = bcrypt.checkpw(given[:72], known)
    except ValueError:  # the stored text is not a bcrypt hash
        right = False
    return right and len(given) <= 72 and user is not None


def caller_of(user: User) -> Caller:
    """A user as a caller: by name, and by the id, which stays unique even if the name is registered again."""
    return Caller(user.username, claims={_USER_ID: user.user_id})


def own_issuer(running: Running[WavyBlog]) -> TokenIssuer:
    """The issuer of WavyBlog's access tokens."""
    return TokenIssuer("urn:keyplan:wavyblog", kept_signing_key(running.store), running.store.clock)


def own_identity(running: Running[WavyBlog]) -> Identity:
    """Callers by WavyBlog's own tokens, and with `dev` also by the tokens for development."""
    ours = TokenIdentity.of(running.kept(own_issuer), running.system.name)
    return FirstOf(ours, identity_of(running)) if running.settings.dev else ours


class Accounts(Service[WavyBlog]):
    """Registering, signing in and out, and the caller's account."""

    all_roles = (ANYONE, SIGNED_IN, "user", "admin")
    comes_with: ClassVar = {"admin": ("user",)}

    @cached_property
    def user(self) -> User:
        """The caller's account as it is now: changes of role and signing out take effect at once."""
        user, signed_in = self._account_and_sign_in()
        # The account may have been deleted, and its name registered by someone else.
        if user is None or self.me.claims.get(_USER_ID, user.user_id) != user.user_id:
            raise Unauthorized("bad-token", "This account was deleted.")
        if not signed_in:
            raise Unauthorized("bad-token", "You are signed out. Sign in again.")
        return user

    def _account_and_sign_in(self) -> tuple[User | None, bool]:
        """The caller's account, and whether the sign-in of the token is still valid, in one request."""
        name, family_id = self.me.sub, self._family_id
        if family_id is None:  # a browser session, which was checked already; or a development token
            return self.store.run(self.design.user(name)), True
        (user,), (family,) = self.store.run(self.design.user_and_family(name, family_id))
        return user, family is not None

    @property
    def _family_id(self) -> str | None:
        """The sign-in that the caller's access token came from."""
        found = None if self.caller is None else self.caller.claims.get(_FAMILY)
        return found if isinstance(found, str) else None

    def roles(self) -> frozenset[str]:
        return frozenset() if self.caller is None else frozenset({self.user.role})

    @allow(ANYONE)
    def register(self, new: Registration) -> SignedIn:
        """Create an account and sign in."""
        return self._new_login(self.registered(new))

    @allow(ANYONE)
    def registered(self, new: Registration) -> User:
        """Create an account."""
        refuse_reserved_name(new.username)
        return self.store.run(create(User.from_fields(new, password_hash=hashed(new.password))))

    @allow(ANYONE)
    def login(self, given: Credentials) -> SignedIn:
        """Sign in with a username or an e-mail address and the password."""
        return self._new_login(self.checked(given))

    @allow(ANYONE)
    def checked(self, given: Credentials) -> User:
        """The user with this name and password. Neither the answer nor its timing tells whether the user exists."""
        # However an address is written, it is the same account.
        self._count_attempt(f"login {address_key(given.user)} from {self.visit.address}")
        user = self._found(given.user)
        if not _matches(given.password, user) or user is None:
            raise wrong_credentials()
        return user

    def _found(self, name: str) -> User | None:
        by_email = "@" in name
        try:
            return self.store.run(self.design.user_by_email(name) if by_email else self.design.user(name))
        except InvalidValue:
            return None  # no user can have this name

    @allow(ANYONE)
    def still_has_password(self, user: User) -> bool:
        """Whether the password is still the one that was checked: a change ends only earlier sign-ins."""
        now = self.store.run(self.design.user(user.username))
        return now is not None and now.password_hash == user.password_hash

    def _new_login(self, user: User) -> SignedIn:
        family = TokenFamily(username=user.username, expires_at=self.now + REFRESH_LASTS)
        # The password may be changed while it is checked. A sign-in with the old one must not survive that.
        still = check(ref(User, username=user.username), lambda now: now.password_hash == user.password_hash)
        try:
            return self._signed_in(user, family, create(family), still)
        except (ConditionFailed, NotFound, ParentMissing) as error:
            raise wrong_credentials() from error

    def _signed_in(
        self, user: User, family: TokenFamily, *kept: Create[TokenFamily] | Update[TokenFamily] | Check[User]
    ) -> SignedIn:
        """Tokens of a sign-in, which is `kept` in the same transaction as the refresh token."""
        token = f"{user.username}.{secrets.token_urlsafe(32)}"
        refresh = RefreshToken(
            token_hash=_digest(token),
            username=user.username,
            family_id=family.family_id,
            expires_at=family.expires_at,
        )
        self.store.transact(*kept, create(refresh))
        caller, issuer = caller_of(user), self.running.kept(own_issuer)
        claims = {**caller.claims, _FAMILY: family.family_id}
        access = issuer.token(self.running.system.name, caller.sub, lifetime=ACCESS_LASTS, claims=claims)
        return SignedIn(access_token=access, expires_in=int(ACCESS_LASTS.total_seconds()), refresh_token=token)

    @allow(ANYONE)
    def refresh(self, token: RefreshCookie = None) -> SignedIn:
        """Get a new access token for the refresh token in the cookie, which is replaced."""
        stored = self._refresh_token(token)
        if stored is None:
            raise _sign_in_again()
        stored.used_at = self.now
        try:
            self.store.run(update(stored, where=lambda token: absent(token.used_at)))
            user = self.store.run(self.design.user(stored.username))
            family = self.store.run(self.design.token_family(stored.username, stored.family_id))
            if user is None or family is None:
                raise _sign_in_again()
            family.expires_at = self.now + REFRESH_LASTS
            return self._signed_in(user, family, update(family))
        except (ConditionFailed, ItemChanged) as error:
            # The token was used before, so one of its two users stole it.
            self._revoke(stored.username, stored.family_id)
            raise _sign_in_again() from error
        except (NotFound, ParentMissing) as error:
            raise _sign_in_again() from error

    @allow(ANYONE)
    def logout(self, token: RefreshCookie = None) -> None:
        """Sign out: revoke all tokens of the sign-in that the cookie's or the bearer's token came from."""
        stored = self._refresh_token(token)
        if stored is not None:
            self._revoke(stored.username, stored.family_id)
        if (family_id := self._family_id) is not None:
            self._revoke(self.me.sub, family_id)

    def _refresh_token(self, token: str | None) -> RefreshToken | None:
        return self.store.run(self.design.refresh_token(_digest(token))) if token else None

    def _revoke(self, username: str, family_id: str) -> None:
        with suppress(NotFound, ItemChanged):  # another request does the same
            self.store.run(delete(ref(TokenFamily, username=username, family_id=family_id)))

    def _revoke_all(self, username: str) -> None:
        """End every sign-in of a user, in programs and in browsers."""
        for family in self.store.each(self.design.token_families(username)):
            self._revoke(username, family.family_id)
        Sessions(self.running.store).close_all(username)

    @allow("user")
    def account(self) -> Account:
        """Your account."""
        return Account.from_fields(self.user)

    @allow("user")
    def change_password(self, change: PasswordChange) -> None:
        """Change your password. This signs you out everywhere."""
        self._check_password(change.password)
        self.user.password_hash = hashed(change.new_password)
        self.store.run(update(self.user))
        self._revoke_all(self.user.username)

    @allow("user")
    def change_email(self, change: EmailChange) -> Account:
        """Change your e-mail address."""
        self._check_password(change.password)
        self.user.email = change.email
        return Account.from_fields(self.save(self.user))

    def _count_attempt(self, subject: str) -> None:
        detail = f"Too many attempts: you may try {ATTEMPTS} times a minute."
        self.running.rates.take(RateLimit(subject, ATTEMPTS, detail, "too-many-attempts"))

    def _check_password(self, password: str) -> None:
        name = self.user.username
        self._count_attempt(f"password of {name}")
        if not _matches(password, self.user):
            raise Unprocessable("wrong-password", "The password is wrong.", pointer="/password")


def wrong_credentials() -> Unauthorized:
    """The refusal of a sign-in. It doesn't say whether the user exists."""
    return Unauthorized("wrong-credentials", "Wrong username or password.")


def _sign_in_again() -> Unauthorized:
    return Unauthorized("bad-refresh-token", "Sign in again.")


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
