"""The formats of files with items: DynamoDB JSON, Amazon Ion and CSV, compressed or not.

Each format turns an item into a line, or lines into items: `dynamodb_json`, `ion_writer` and `ion_reader`, `csv_rows`.
`lines` reads compressed files line by line, within limits; `records` puts them together. They know values and errors,
and nothing of requests or storage.

The main function is `records`; the main type is `BadRecord`, a record that isn't an item.
"""
