"""Accounts and regions: whose tables are meant, and the ARNs that say so."""

from typing import NamedTuple

ACCOUNT = "000000000000"
REGION = "us-east-1"


class Scope(NamedTuple):
    """An account in a region: each has its own tables if regions are separate. Otherwise all are in `HOME`."""

    account: str
    region: str

    def arn(self, resource: str) -> str:
        """Return the ARN of something in this scope, such as `table/Notes`."""
        return f"arn:aws:dynamodb:{self.region}:{self.account}:{resource}"


HOME = Scope(ACCOUNT, REGION)
"""Where tables are if regions aren't separate."""


class Place(NamedTuple):
    """A scope and the name of a table in it, or none if it was deleted."""

    scope: Scope
    name: str


def scope_of(arn: str) -> Scope:
    """Return the account and the region in an ARN."""
    _, _, _, region, account, _ = arn.split(":", 5)
    return Scope(account, region)


def arn_in(arn: str, region: str) -> str:
    """Return an ARN with another region."""
    parts = arn.split(":")
    parts[3] = region
    return ":".join(parts)
