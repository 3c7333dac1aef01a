"""What goes into and out of a system, as types: nothing here needs a request or a running system.

`bodies` has the bases of what callers send (`In`) and get (`Out`), `paging` the pages of a list (`Paging`, `Listing`),
`versions` entity tags (`IfMatch`), `problems` everything that can go wrong (`Problem`), `slugs` names in addresses.
It knows `keyplan.design` and `keyplan.data`, and no other folder of the kit.
"""
