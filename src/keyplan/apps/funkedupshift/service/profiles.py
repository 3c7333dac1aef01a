"""The rules for profiles and their avatars."""

from datetime import UTC, datetime, timedelta

from keyplan.apps.funkedupshift.entities import LeftoverFile, Profile
from keyplan.apps.funkedupshift.models import MAX_AVATAR_BYTES, NewAvatar, ProfileChange, ProfileOut, SentAvatar
from keyplan.apps.funkedupshift.service.access import ADMIN, MANAGER, Access
from keyplan.apps.funkedupshift.upkeep import sweep_files
from keyplan.data import AlreadyExists, ConditionFailed, Part, create, touch, update
from keyplan.design import absent, between, ref
from keyplan.web import SIGNED_IN, IfMatch, MayMatch, Versions, allow
from keyplan.web.media import Ticket

LOGIN_STAMP_LASTS = timedelta(minutes=1)
"""A login within this time of the last one is not stamped again."""
_RACES = (AlreadyExists,)
"""Others may be faster to create the profile, or to note that the file of an avatar is to be deleted."""
_EVER = datetime.min.replace(tzinfo=UTC)


class Profiles(Access):
    """Profiles and avatars."""

    @allow(SIGNED_IN, retry=_RACES)
    def profile(self) -> ProfileOut:
        """Get your profile. This stamps your last login and its address, at most once a minute."""
        return self._profile_out(self._stamped(self._my_profile()))

    def _stamped(self, profile: Profile) -> Profile:
        """The profile with this login, unless the last one was a moment ago. Of two at once, the write decides."""
        before = self.now - LOGIN_STAMP_LASTS
        if profile.last_login_at is not None and profile.last_login_at > before:
            return profile
        now = self.now.replace(microsecond=self.now.microsecond // 1000 * 1000)  # as it is stored
        stamps = {"last_login_at": now, "last_login_ip": self.visit.address or None}

        def due(stored: Profile) -> object:
            return absent(stored.last_login_at) | between(stored.last_login_at, _EVER, before)

        try:
            self.store.run(touch(ref(Profile, user_id=profile.user_id), where=due, **stamps))
        except ConditionFailed:
            return self._my_profile()
        return profile.model_copy(update=stamps)

    @allow(SIGNED_IN, retry=_RACES)
    def change_profile(self, change: ProfileChange, version: IfMatch) -> ProfileOut:
        """Change your display name and description. Comments keep the name that they were written under."""
        return self._profile_out(self.save(self._my_profile(version), change))

    def _my_profile(self, version: Versions = None) -> Profile:
        """The caller's profile, in a version that they have seen; created when it is first asked for."""
        found = self.store.run(self.design.profile(self.me.sub))
        profile = self.store.run(create(Profile(user_id=self.me.sub))) if found is None else found
        self.current(profile, version)
        return profile

    def _profile_out(self, profile: Profile) -> ProfileOut:
        roles = self.me.groups & {ADMIN, MANAGER}
        return ProfileOut.from_fields(
            profile,
            avatar_url=self.media.url(profile.avatar_key) if profile.avatar_key else None,
            roles=sorted("SuperAdmin" if role == ADMIN else role for role in roles),
            permissions=sorted(self._permissions),
        )

    # Avatars

    @allow(SIGNED_IN)
    def upload_avatar(self, new: NewAvatar) -> Ticket:
        """Ask for an upload. Send the picture as the answer says, then put it in place.

        Refused with `upload-quota` if too many uploads are unfinished.
        """
        under = ["profile", "avatars", self.me.sub]
        max_bytes = min(new.size, MAX_AVATAR_BYTES)
        return self.media.ask(
            new.content_type, owner=self.me.sub, purpose=self._avatar, max_bytes=max_bytes, under=under
        )

    @property
    def _avatar(self) -> str:
        return f"avatar of {self.me.sub}"

    @allow(SIGNED_IN, retry=_RACES)
    def put_avatar(self, sent: SentAvatar, version: MayMatch) -> ProfileOut:
        """Use a picture that was uploaded as your avatar. The previous one is deleted."""
        checked = self.media.check(sent.upload_id, purpose=self._avatar)
        return self._profile_out(self._with_avatar(checked.file.name, version, *checked.keep))

    @allow(SIGNED_IN, retry=_RACES, one_way=True)
    def delete_avatar(self, version: MayMatch) -> None:
        """Remove your avatar."""
        self._with_avatar(None, version)

    def _with_avatar(self, name: str | None, version: Versions, *keep: Part) -> Profile:
        """The profile with another avatar: the same write makes the old one a file to delete."""
        profile = self._my_profile(version)
        old, profile.avatar_key = profile.avatar_key, name
        if old != name:
            parts = [create(LeftoverFile(file=old))] if old is not None else []
            self.store.transact(update(profile), *parts, *keep)
            sweep_files(self.running)
        return profile
