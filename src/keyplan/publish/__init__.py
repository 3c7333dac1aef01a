"""What a design becomes for those who don't read its code: documents, diagrams, infrastructure, policies, differences.

Everything here is made from a declaration (`keyplan.design`), and from the requests that the data layer would send for
it (`keyplan.data`). It sends nothing, and knows neither the review nor the metering: what those found comes in as
values of types that are defined here, and `keyplan.cli` converts. The same design always gives the same text.

- `document`: the design as people write it down by hand. A `Document` is the model, made once from a design with
  `document_of(...)`; `markdown`, `page` (HTML) and `document_json` render it. `Remark` is a finding, `Consumption`
  what a pattern or write costs.
- `diagrams`: pictures of a design. A `Picture` is a list of boxes, lines and texts with a size; it becomes SVG. Mermaid
  is written from the same values.
- `infra`, `policies`, `differences`: templates for deploying its tables, who may do what with them, and what would
  change. `shapes` has tables as DynamoDB has them, and `descriptions` the JSON for them. Tables that exist are
  described by a client of boto3's shape, which the caller gives.
"""
