"""The table of all operations and parameters of botocore's model, for docs/engine.md."""

from keyplan.engine import service_model
from keyplan.engine.operations import OPERATIONS
from keyplan.engine.operations.differences import (
    DIFFERENCES,
    EVERYWHERE,
    NOT_BUILT,
    REFUSED_OPERATIONS,
)
from keyplan.engine.service_model import Service


def parameters_of(service: Service, operation: str) -> list[str]:
    """Return the names of the parameters that an operation has in the model."""
    model = service_model.load(service)
    reference = model["operations"][operation].get("input")
    return sorted(model["shapes"][reference["shape"]].get("members", {})) if reference else []


def differences_of(operation: str, parameters: list[str]) -> dict[str, str]:
    """Return what differs in an operation, by parameter; under an empty name, what differs as a whole."""
    everywhere = {name: what for name, what in EVERYWHERE.items() if name in parameters}
    return {**everywhere, **DIFFERENCES.get(operation, {})}


def refused_operations() -> dict[str, str]:
    """Return the operations that aren't answered, with the reasons."""
    names = sorted(operation for _, operation in service_model.operations() if operation not in OPERATIONS)
    return {name: REFUSED_OPERATIONS.get(name, NOT_BUILT) for name in names}


def operations_table() -> str:
    """Every operation with its parameters: as on AWS, or what differs and why."""
    rows = ["| operation | as on AWS | differs, or is refused |", "| --- | --- | --- |"]
    refused = refused_operations()
    for service, operation in sorted(service_model.operations(), key=lambda entry: entry[1]):
        parameters = parameters_of(service, operation)
        if operation in refused:
            rows.append(f"| {operation} | | Refused (UnknownOperationException): {refused[operation]} |")
            continue
        differences = differences_of(operation, parameters)
        same = ", ".join(f"`{name}`" for name in parameters if name not in differences)
        differing = " ".join(f"`{name}`: {what}" if name else what for name, what in sorted(differences.items()))
        rows.append(f"| {operation} | {same or 'no parameters'} | {differing} |")
    return "\n".join(rows)


def counts_line() -> str:
    """How many operations and parameters are answered as AWS does, differ, or are refused."""
    refused, same, differing = refused_operations(), 0, 0
    for service, operation in service_model.operations():
        if operation not in refused:
            parameters = parameters_of(service, operation)
            found = differences_of(operation, parameters).keys() - {""}
            differing += len(found)
            same += len(parameters) - len(found)
    answered = len(list(service_model.operations())) - len(refused)
    return (
        f"Of {answered + len(refused)} operations, {answered} are answered and {len(refused)} are refused. Of the\n"
        f"{same + differing} parameters of the answered ones, {same} are as on AWS; {differing} differ or are refused."
    )
