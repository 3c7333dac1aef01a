"""What gives wrong answers, or loses data.

| module | its rules are about |
| --- | --- |
| `neighbors` | lists that also read other items, and keys that two kinds of items can both have |
| `order` | sort keys that don't sort as their values do, and orders with ties |
| `indexes` | what is missing from an index, and what shouldn't be in it |
| `changes` | changes that two requests make at the same time |
| `decisions` | decisions on what was read, and values that are looked up |
| `uniqueness` | values that are said to be unique |
| `expiry` | items that expire |
"""
