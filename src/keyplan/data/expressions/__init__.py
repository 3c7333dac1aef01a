"""Conditions on stored items, and the expressions of requests.

Knows the codec. Main types: `Node` (from `keyplan.design`: a condition as a tree, over stored attributes in this
package), `Expression` (a tree as the text of a request, with placeholders), `Requirement` (a condition that a write
relies on, with the error to raise when it doesn't hold).
"""
