"""A system: its declaration, and a running one.

`service` is the base class of a system's rules (`Service`, `allow`), `access` knows callers and permissions
(`Caller`, `Permission`), `api_routes` the declaration of its HTTP API (`Api`), `page_routes` that of its pages
(`Pages`), with templates that show values (`page_views`), forms that call a method (`page_forms`) or ask first
(`confirm`), `language` their language, `german` what the kit says in it, and `directions` names in sentences that are
written from right to left. `running` puts them together (`System`) and runs them on a store (`Running`), within the
limits of `rates` and with the queue of `hashing` and the `turns` of what writes; `observe` records what a request did
(`Trace`) for the log and the metrics, and `runs` which pattern or write its calls are for. It knows `models`, `media`
and the settings.
"""
