"""The rules, one folder for each group and one module for each subject.

`rejected` is what DynamoDB or the data layer refuses, `wrong` what answers wrongly, `hot` what runs hot or is
expensive, `operations` what hurts when tables are run, `portability` what other engines do differently and what is
unfinished."""
