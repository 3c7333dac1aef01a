"""Every operation of botocore's model is answered, or refused for a reason; the documentation says where it differs."""

import pytest

from keyplan.engine import Engine, service_model
from keyplan.engine.errors import DynamoError
from keyplan.engine.operations import OPERATIONS
from keyplan.engine.operations.differences import DIFFERENCES, EVERYWHERE, REFUSED_OPERATIONS
from tools.operations_table import operations_table, parameters_of, refused_operations

SERVICES = {operation: service for service, operation in service_model.operations()}
MOST_REFUSED = 10


def test_few_operations_are_refused() -> None:
    assert len(refused_operations()) <= MOST_REFUSED, sorted(refused_operations())
    assert OPERATIONS.keys() <= SERVICES.keys()


def test_a_difference_is_one_of_an_operation_and_a_parameter_that_exist() -> None:
    for operation, differences in DIFFERENCES.items():
        assert operation in OPERATIONS
        assert set(differences) - {""} <= set(parameters_of(SERVICES[operation], operation)), operation
    everything = {parameter for name, service in SERVICES.items() for parameter in parameters_of(service, name)}
    assert EVERYWHERE.keys() <= everything
    assert REFUSED_OPERATIONS.keys().isdisjoint(OPERATIONS)


def test_every_operation_and_parameter_is_in_the_table() -> None:
    rows = {row.split(" | ")[0].removeprefix("| "): row for row in operations_table().splitlines()[2:]}
    assert rows.keys() == SERVICES.keys()
    for operation in OPERATIONS:
        for parameter in parameters_of(SERVICES[operation], operation):
            assert f"`{parameter}`" in rows[operation], (operation, parameter)


def test_an_operation_that_is_not_answered(engine: Engine) -> None:
    for operation in ("DescribeNothing", *refused_operations()):
        with pytest.raises(DynamoError) as caught:
            engine.database.execute(operation, {})
        assert (caught.value.code, caught.value.message) == ("UnknownOperationException", "Unknown operation exception")
