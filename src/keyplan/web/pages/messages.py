"""Messages for people about values that aren't valid."""

from pydantic_core import ErrorDetails

_REQUIRED = "Required."
WORDS = {
    "missing": _REQUIRED,
    "int_parsing": "Enter a whole number.",
    "int_from_float": "Enter a whole number.",
    "float_parsing": "Enter a number.",
    "decimal_parsing": "Enter a number.",
    "bool_parsing": "Choose yes or no.",
    "date_from_datetime_parsing": "Enter a date.",
    "date_parsing": "Enter a date.",
    "datetime_from_date_parsing": "Enter a date and a time.",
    "datetime_parsing": "Enter a date and a time.",
    "time_parsing": "Enter a time.",
    "string_too_short": "Use at least {min_length} characters.",
    "string_too_long": "Use at most {max_length} characters.",
    "string_pattern_mismatch": "Enter a valid {label}.",
    "greater_than_equal": "Enter {ge} or more.",
    "greater_than": "Enter more than {gt}.",
    "less_than_equal": "Enter {le} or less.",
    "less_than": "Enter less than {lt}.",
    "too_short": "Choose at least {min_length}.",
    "too_long": "Choose at most {max_length}.",
    "literal_error": "Choose one of: {expected}.",
    "enum": "Choose one of: {expected}.",
    "extra_forbidden": "Unknown field.",
}
"""Messages for people, by pydantic's error types. `label` is the field's; other names are in the error's context."""


def message_for(error: ErrorDetails, label: str = "value") -> str:
    """What pydantic found wrong, as a message for people."""
    context = {"label": label if label[1:2].isupper() else label[:1].lower() + label[1:], **error.get("ctx", {})}
    kind: str = error["type"]
    if kind in ("too_short", "too_long") and isinstance(error["input"], str):  # a text behind a conversion
        kind = f"string_{kind}"
    if kind == "string_too_short" and context.get("min_length") == 1:
        return _REQUIRED
    words = WORDS.get(kind)
    # An error of a validator has its own words.
    return _sentence(error["msg"].removeprefix("Value error, ")) if words is None else words.format_map(context)


def _sentence(text: str) -> str:
    text = text[:1].upper() + text[1:]
    return text if text.endswith((".", "!", "?")) else f"{text}."
