"""User names that nobody can register, because others would take their owner for somebody in charge."""

from keyplan.web.models.problems import Unprocessable

RESERVED_NAMES = frozenset(
    # who runs a system
    "admin administrator admins mod moderator moderators official operator owner root staff superuser sysadmin sysop "
    "system team "
    # who answers for it (RFC 2142)
    "abuse billing contact help helpdesk hostmaster info legal noc postmaster press privacy sales security service "
    "support webmaster "
    # senders and parts of a site
    "api bot daemon ftp localhost mail mailerdaemon noreply server smtp ssl www "
    # nobody in particular
    "all anonymous anybody anyone everybody everyone guest me nobody none null self undefined unknown user "
    "users".split()
)
_SEPARATORS = str.maketrans("", "", "_-. ")


def refuse_reserved_name(name: str, pointer: str = "/username") -> None:
    """Refuse a user name that is reserved, however it is written. Call it when somebody registers: accounts that
    exist keep their names.
    """
    if name.casefold().translate(_SEPARATORS) in RESERVED_NAMES:
        raise Unprocessable("username-reserved", "This username is reserved. Choose another one.", pointer=pointer)
