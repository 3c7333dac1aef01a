"""The five systems: each a design in the order and words of its document, a service with its rules, and an API.

A system knows the design language, the data layer and the HTTP kit, and no other system.
"""
