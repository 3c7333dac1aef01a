"""Users, as admins manage them."""

from keyplan.apps.wavyblog.entities import HAS_POSTS
from keyplan.apps.wavyblog.fields import Username
from keyplan.apps.wavyblog.models import Account, RoleChange
from keyplan.apps.wavyblog.service.images import Images
from keyplan.apps.wavyblog.upkeep import sweep_files
from keyplan.data import delete
from keyplan.web import IfMatch, InConflict, Listing, MayMatch, Paging, allow


class Users(Images):
    """Managing accounts."""

    @allow("admin")
    def users(self, page: Paging) -> Listing[Account]:
        """All accounts, by username."""
        return self.listed(self.design.users(), page, Account.from_fields)

    @allow("admin")
    def user_account(self, username: Username) -> Account:
        """An account."""
        return Account.from_fields(self.find(self.design.user(username)))

    @allow("admin", one_way=True)
    def change_role(self, username: Username, change: RoleChange, version: MayMatch) -> Account:
        """Change the role of a user. The last admin stays an admin."""
        user = self.find(self.design.user(username), version)
        user.role = change.role
        return Account.from_fields(self.save(user))

    @allow("admin", one_way=True)
    def delete_user(self, username: Username, version: IfMatch) -> None:
        """Delete an account that has no posts, with its images and sign-ins."""
        user = self.find(self.design.user(username), version)
        if user.post_count:  # before anything is noted for deletion
            raise InConflict("has-posts", HAS_POSTS)
        for image in self.store.each(self.design.images_by_user(username)):
            self._note_leftover(image)
        self.store.run(delete(user))
        self._revoke_all(username)
        sweep_files(self.running)
