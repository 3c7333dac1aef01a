"""What goes in and out of a system, as types. Nothing here needs a running system.

`bodies` has the base classes of what callers send (`In`, `Change`) and get (`Out`), `values` the types that many of
their fields have, and `sending` reads a body from a request. `paging` has the pages of a list (`Paging`, `Listing`),
`versions` entity tags (`IfMatch`), `slugs` the names in addresses, `signatures` what a function takes and returns
(`Signature`). `problems` has everything that can go wrong (`Problem`), and `refusals` makes problems of what the data
layer and the design refuse. It knows `keyplan.design` and `keyplan.data`, and no other folder of the kit.
"""
