"""The rules, one folder for each group and one module for each subject.

`imported` is what is refused when a design is imported, `rejected` what DynamoDB or the data layer refuses later,
`wrong` what gives wrong answers, or loses data, `hot` what runs hot or is expensive, `operations` what hurts when
tables are run, `portability` what other engines do differently and what is unfinished."""
