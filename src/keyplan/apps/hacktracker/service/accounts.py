"""The caller's own account."""

from contextlib import suppress

from keyplan.apps.hacktracker.entities import User
from keyplan.apps.hacktracker.models import Account, AccountChange
from keyplan.apps.hacktracker.service.access import Access
from keyplan.apps.hacktracker.upkeep import leave_everything
from keyplan.data import Refused, update
from keyplan.design import Refusal
from keyplan.web import SIGNED_IN, IfMatch, Versions, allow

_OWNS_TEAMS = Refusal("owns-teams", "You still own teams. Transfer or delete them first.")


class Accounts(Access):
    """What people do with their own account. Nobody changes another's."""

    @allow(SIGNED_IN)
    def me_get(self) -> Account:
        """Get your account. Your first call creates it."""
        return Account.from_fields(self.user)

    @allow(SIGNED_IN)
    def me_change(self, change: AccountChange, version: IfMatch) -> Account:
        """Change your account."""
        return Account.from_fields(self.save(self._account(version), change))

    @allow(SIGNED_IN, one_way=True)
    def me_delete(self, version: IfMatch) -> None:
        """Delete your account. Nothing personal is kept; statistics are. Transfer or delete the teams you own first."""
        user = self._account(version)
        user.cognito_sub = user.email = user.first_name = user.last_name = user.phone_number = None
        user.deleted_at = self.now
        self.store.run(update(user, where=lambda stored: stored.owned_team_count == 0, refusal=_OWNS_TEAMS))
        with suppress(Refused):  # something was changed at the same moment: the stream handler finishes it
            leave_everything(self.running, user.user_id)

    def _account(self, versions: Versions) -> User:
        """The caller's account, which was read when the call began, in a version that the caller has seen."""
        self.current(self.user, versions)
        return self.user
