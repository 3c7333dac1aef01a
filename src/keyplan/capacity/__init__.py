"""What a design costs, and how hot it runs, under a given load.

A traffic file says how often each pattern and each write runs, and how many items there are (`traffic`). The design is
metered: each pattern and write is run once through a store, and the capacity that the answers report is collected by
table and index (`metering`). The figures are multiplied with the load and with AWS's prices (`prices`, `cost`), and
changes of the design that would be cheaper are metered in the same way (`savings`).

This package knows designs (`keyplan.design`), the data layer (`keyplan.data`) and a client of boto3's shape that its
caller gives it. It doesn't know which DynamoDB that is: the embedded one answers with AWS's figures, and so does AWS.

| folder or module | what it is |
| --- | --- |
| `naming`, `quantities`, `counts`, `changes` | names of tables, quantities, numbers of items, changes of fields |
| `consumed` | the capacity in DynamoDB's answers |
| `traffic` | traffic files |
| `recording`, `sampling` | traffic from the log of a running system, and items from its tables |
| `metering` | what each pattern and write consumes |
| `prices` | AWS's prices |
| `cost` | what a design costs |
| `savings` | what would make it cheaper |
| `report` | a cost as text, Markdown and JSON |
| `heat` | where a design runs hot: partitions are simulated under the same traffic |

Main types: `Traffic` is a traffic file that was read, `Metered` what one run of a pattern or write consumed, `Cost`
what a design costs, `Forecast` where it runs hot.
"""
