"""What other engines do differently, and what is unfinished.

| module | its rules are about |
| --- | --- |
| `targets` | what a target doesn't have, or does differently |
| `upkeep` | what is unfinished in a design |
| `acceptances` | acceptances that accept nothing |
"""
