"""Designs whose tables are hard to run, and designs whose tables aren't."""

from keyplan.design import Design, Table, consumer, key
from tests.review.rules.cases import Cases

CASES = Cases()
careless = Table("Careless", key("id"), stream="NEW_IMAGE", consumers=(consumer("search"),))
careful = Table("Careful", key("id"), stream="NEW_IMAGE", consumers=(consumer("search", failures="search-failures"),))


@CASES.finds("KP501", "Careless")
def records_that_have_nowhere_to_go() -> type[Design]:
    class Careless(Design):
        tables = (careless,)

    return Careless


@CASES.finds_nothing("KP501")
def records_that_go_to_a_queue() -> type[Design]:
    class Careful(Design):
        tables = (careful,)

    return Careful
