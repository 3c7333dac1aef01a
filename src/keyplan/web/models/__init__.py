"""What goes in and out of a system, as types. Nothing here needs a request or a running system.

`bodies` has the base classes of what callers send (`In`) and get (`Out`), `paging` the pages of a list (`Paging`,
`Listing`), `versions` entity tags (`IfMatch`), `problems` everything that can go wrong (`Problem`), `signatures` what a
function takes and returns (`Signature`), `slugs` the names in addresses. It knows `keyplan.design` and `keyplan.data`,
and no other folder of the kit.
"""
