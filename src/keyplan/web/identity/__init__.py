"""Finds out who sends a request: by the token of a program, or by the session of a browser.

`admission` recognizes the sender of a request and counts it against the person or the address (`Admission`),
`tokens` checks bearer tokens (`TokenIdentity`), `jwks` reads the keys of their issuers, `issuer` signs our
own tokens (`TokenIssuer`, and the development issuer), `sessions` has a browser's session, cookies and form tokens
(`Sessions`, `Visitor`), `reserved` the user names that nobody can register. It knows `models`, `system` and the
settings.
"""

from keyplan.web.identity.issuer import DEV_ISSUER, SigningKey, TokenIssuer, dev_issuer, kept_signing_key
from keyplan.web.identity.reserved import refuse_reserved_name
from keyplan.web.identity.sessions import Sessions
from keyplan.web.identity.tokens import FirstOf, TokenIdentity, identity_of
from keyplan.web.system.access import Identity

__all__ = [
    "DEV_ISSUER",
    "FirstOf",
    "Identity",
    "Sessions",
    "SigningKey",
    "TokenIdentity",
    "TokenIssuer",
    "dev_issuer",
    "identity_of",
    "kept_signing_key",
    "refuse_reserved_name",
]
