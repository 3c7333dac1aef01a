"""What fails on other servers, and why: read by `make test-engines`, and written into docs/servers.md by `make docs`.

A test that fails without an entry here fails the run, and so does an entry whose tests no longer fail: remove it.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class KnownFailure:
    """Tests that fail on a server for one reason.

    A test is named as pytest names it, without the server; a `*` stands for any text. `error` is in its error message.
    """

    server: str
    tests: tuple[str, ...]
    error: str
    what: str
    why: str
    remedy: str


KNOWN_FAILURES = (
    KnownFailure(
        server="dynoxide",
        tests=(
            "tests/designs/test_saas.py::test_changes_arrive_at_a_handler[*]",
            "tests/patterns/test_recipes.py::test_a_recipe_runs[full_text_search-*]",
            "tests/patterns/test_recipes.py::test_a_recipe_runs[outbox-*]",
        ),
        error="Invalid length for parameter ShardId",
        what="Stream handlers with a boto3 client of your own, if the table's name is short (the recipes "
        "[outbox](patterns/outbox.md) and [full-text search](patterns/full_text_search.md))",
        why="Shard IDs have at least 28 characters on AWS. Here, their length depends on the table's name, and boto3 "
        "refuses to send shorter ones.",
        remedy="Nothing for the systems: `keyplan serve` and `keyplan work` turn this check of boto3 off. In your own "
        'code, do the same: `boto3.client("dynamodbstreams", config=Config(parameter_validation=False))`.',
    ),
)
