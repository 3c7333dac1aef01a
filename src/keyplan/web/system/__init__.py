"""A system: how it is declared, its rules, and one at work.

`service` has the base of a system's rules (`Service`, `allow`, `Caller`), `running` what a system is made of
(`System`) and one on a store (`Running`), `rates` the limits on requests, `observe` what a request did (`Trace`), the
log and the metrics. It knows `models`, `media` and the settings.
"""
