"""Templates that deploy a design's tables: CloudFormation, Terraform, CDK and SAM, and policies for IAM.

`stack_of(design)` is the model that every format is written from: a `Stack` with the tables, their alarms, a
dashboard and the policies of all services. `render(stack, format)` gives the files of a format, as `Rendered`, with
notes about what it can't express. The same design always gives the same text, and the names in it come from the
declared names of tables, so that deploying it again replaces nothing.

Tables are retained: a template that is deleted, or no longer has a table, leaves the table and its items alone.

| module | what is in it |
| --- | --- |
| `stack` | `Stack` and its parts, worked out from a design |
| `monitoring` | alarms and the dashboard |
| `cloudformation` | the template, as a value |
| `sam` | the same, with a function for each reader of a stream |
| `cdk` | a Python app whose template is the same |
| `terraform` | the same in Terraform's language; `hcl` writes that |
| `formats` | `render`: the files of each format, and their notes |
"""

from keyplan.publish.infra.formats import FORMATS, Format, Rendered, render
from keyplan.publish.infra.stack import InfraError, Stack, stack_of

__all__ = ["FORMATS", "Format", "InfraError", "Rendered", "Stack", "render", "stack_of"]
