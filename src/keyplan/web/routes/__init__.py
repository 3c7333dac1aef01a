"""The HTTP API: methods of a service on paths.

`api` declares and serves routes (`Api`), from what `signatures` reads in a method. `arguments` finds the arguments of
a read in a request, `handling` runs a method for it, `once` makes `Idempotency-Key` hold, `document` writes the
OpenAPI document, and `routing` has what answers at paths without a route. It knows `models`, `system` and `identity`.
"""
