"""Who may do what with a design's tables: IAM policies, as small as the design allows, and an evaluator to try them.

A `Policy` is a list of `Statement`s: actions on a table or an index, and the partition keys that they are limited to.
`policy_of(design, name)` is the policy of one access pattern, `roles_of(design)` has those of all services. They are
worked out from what the patterns read and from the templates of the keys; nothing is sent.

`as_document` gives a policy as JSON for IAM. `PermittedClient` is a client of boto3's shape that refuses what a policy
doesn't allow, by AWS's rules: a test can run a pattern, or a whole system, with exactly the rights of its policy.

| module | what is in it |
| --- | --- |
| `statements` | `Policy`, `Statement` and `PolicyTarget`, and their JSON |
| `leading_keys` | which partition keys a template can have, as a pattern with wildcards |
| `patterns` | what an access pattern reads |
| `roles` | the policies of services |
| `evaluation` | whether policies allow a request |
| `requests` | what a call of a client needs to be allowed |
| `client` | `PermittedClient` |
"""

from keyplan.publish.policies.client import DENIED, PermittedClient
from keyplan.publish.policies.evaluation import AccessRequest, is_allowed
from keyplan.publish.policies.patterns import policy_of
from keyplan.publish.policies.roles import NamedConsumer, Role, consumers_of, roles_of
from keyplan.publish.policies.statements import (
    LONGEST_POLICY,
    Policy,
    PolicyTarget,
    Statement,
    anywhere,
    as_document,
    divided,
)

__all__ = [
    "DENIED",
    "LONGEST_POLICY",
    "AccessRequest",
    "NamedConsumer",
    "PermittedClient",
    "Policy",
    "PolicyTarget",
    "Role",
    "Statement",
    "anywhere",
    "as_document",
    "consumers_of",
    "divided",
    "is_allowed",
    "policy_of",
    "roles_of",
]
