"""Serves the HTTP API that a system declares.

`serving` puts the routes into an application and answers requests, `handling` calls a method of a service for a
request, `once` makes `Idempotency-Key` work, `document` writes the OpenAPI document, and `routing` answers where no
route does. It knows `models`, `system` and `identity`.
"""
