"""One's own account."""

from contextlib import suppress

from keyplan.apps.hacktracker.access import Access
from keyplan.apps.hacktracker.models import Account, AccountChange
from keyplan.apps.hacktracker.upkeep import leave_everything
from keyplan.data import ConditionFailed, Refused, update
from keyplan.web import SIGNED_IN, IfMatch, InConflict, allow


class Accounts(Access):
    """What everybody does with their own account, and nobody with another's."""

    @allow(SIGNED_IN)
    def me_get(self) -> Account:
        """One's own account. The first call of somebody makes it."""
        return Account.of(self.user)

    @allow(SIGNED_IN)
    def me_change(self, change: AccountChange, version: IfMatch) -> Account:
        """Change one's own account."""
        self.current(self.user, version)
        for name in change.model_fields_set:
            setattr(self.user, name, getattr(change, name))
        return Account.of(self.store.run(update(self.user)))

    @allow(SIGNED_IN)
    def me_delete(self, version: IfMatch) -> None:
        """Delete one's own account: nothing personal stays, the statistics do. Teams that one owns go first."""
        user = self.user
        self.current(user, version)
        user.cognito_sub = user.email = user.first_name = user.last_name = user.phone_number = None
        user.deleted_at = self.now
        try:
            self.store.run(update(user, where=lambda stored: stored.owned_team_count == 0))
        except ConditionFailed as error:
            raise InConflict("owns-teams", "Transfer or delete the teams that you own first.") from error
        with suppress(Refused):  # something was changed at the same moment: the stream finishes it
            leave_everything(self.running, user.user_id)
