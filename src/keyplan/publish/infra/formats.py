"""The files of each format, with what it can't express."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

import yaml

from keyplan.design import HOUSEKEEPING
from keyplan.publish.infra.cdk import cdk_app_of
from keyplan.publish.infra.cloudformation import template_of
from keyplan.publish.infra.sam import folder_of, sam_template_of
from keyplan.publish.infra.stack import Stack
from keyplan.publish.infra.terraform import PROVIDER, terraform_of
from keyplan.publish.policies import anywhere, as_document, policy_of, roles_of
from keyplan.publish.shapes import logical_id

Format: TypeAlias = Literal["cloudformation", "terraform", "cdk", "sam", "iam"]

_HOUSEKEEPING = logical_id(HOUSEKEEPING.name)
LARGEST_SENT = 51_200
"""The most bytes of a template in a request. AWS: "Understand CloudFormation quotas"."""


@dataclass(frozen=True)
class Rendered:
    """A file of a format, and what it leaves out."""

    file: str
    text: str
    notes: tuple[str, ...]


def render(stack: Stack, format: Format) -> Rendered:
    """The file of a format, which is always the same for the same stack."""
    file, write = FORMATS[format]
    text = write(stack)
    return Rendered(file, text, tuple(_notes(stack, format, len(text.encode()))))


def _notes(stack: Stack, format: Format, size: int) -> Iterator[str]:
    """What the format can't express, or needs beside the file."""
    if format == "iam":
        return
    if format == "cloudformation" and size > LARGEST_SENT:
        yield (
            f"The template has {size:,} bytes, and CloudFormation takes {LARGEST_SENT:,} in a request. Deploy it "
            "by way of S3: aws cloudformation deploy --s3-bucket BUCKET."
        )
    if len(stack.regions) > 1:
        yield (
            f"The design is for the regions {', '.join(stack.regions)}. The tables are those of one region: make them "
            "global tables afterwards."
        )
    for table in stack.tables:
        if table.billing == "PROVISIONED":
            yield f"{table.name} has the capacity that the design says. Auto scaling isn't part of the template."
        if (table.encryption or "").startswith("arn:"):
            yield f"The policy of {table.name}'s key must let the services' roles use it through DynamoDB."
    for reader in stack.readers:
        if reader.elsewhere is not None:
            yield (
                f"What {reader.name!r} can't process goes to {reader.elsewhere!r}, which isn't a queue of SQS. "
                "It isn't part of the template."
            )
    if format == "terraform":
        for table in stack.tables:
            if table.vectors:
                names = ", ".join(index.name for index in table.vectors)
                yield (
                    f"Terraform's AWS provider has no vector indexes yet, so {names} of {table.name} is left out. "
                    "Create it with UpdateTable: `keyplan diff` has the request."
                )
        if not all(table.protected for table in stack.tables if table.id != _HOUSEKEEPING):
            yield (
                "If the block of a table is removed, Terraform deletes the table, unless it is protected. Give the "
                "tables protected=True."
            )
        yield f"Needs release {PROVIDER.removeprefix('>= ')} of Terraform's AWS provider, or a newer one."
    if format == "sam":
        for reader in stack.readers:
            yield f"The code of the function that reads for {reader.name!r} goes into {folder_of(reader)}/app.py."


class _Dumper(yaml.SafeDumper):
    """Writes lists in mappings with an indent, and nothing by reference."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        super().increase_indent(flow, False)

    def ignore_aliases(self, data: object) -> bool:
        return True


def _yaml(stack: Stack, template: Mapping[str, object]) -> str:
    heading = f"# Tables of {stack.name}, written by `keyplan infra`: change the design, not this file.\n"
    return heading + yaml.dump(dict(template), Dumper=_Dumper, sort_keys=False, width=120, allow_unicode=True)


def _policies(stack: Stack) -> str:
    """The policies of services and of access patterns, with ARNs in any region and account."""
    arn = anywhere(stack.design)
    roles = {
        each.name: {"purpose": each.purpose, "policy": as_document(each.policy, arn)} for each in roles_of(stack.design)
    }
    patterns = {name: as_document(policy_of(stack.design, name), arn) for name in stack.design.patterns}
    return json.dumps({"services": roles, "patterns": patterns}, indent=2, ensure_ascii=False) + "\n"


FORMATS: Mapping[Format, tuple[str, Callable[[Stack], str]]] = {
    "cloudformation": ("template.yaml", lambda stack: _yaml(stack, template_of(stack))),
    "terraform": ("main.tf", terraform_of),
    "cdk": ("app.py", cdk_app_of),
    "sam": ("template.yaml", lambda stack: _yaml(stack, sam_template_of(stack))),
    "iam": ("policies.json", lambda stack: _policies(stack)),
}
"""The file of each format, and what writes it."""
