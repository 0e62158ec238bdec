"""Pydantic's validation errors as lines that name the config key and the wanted value."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic_core import ErrorDetails

from synth.core.foundation.credentials import shown
from synth.core.foundation.suggestions import hint, nearest, nearest_key

_WANTED = {
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "float_parsing": "a number",
    "bool_parsing": "true or false",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "finite_number": "a finite number",
    "string_type": "text",
    "bool_type": "true or false",
    "list_type": "a list",
    "dict_type": "a mapping",
    "dataclass_type": "a section with keys of its own",
    "greater_than": "more than {gt}",
    "greater_than_equal": "at least {ge}",
    "less_than": "less than {lt}",
    "less_than_equal": "at most {le}",
    "invalid_key": "text, as every key is",
    "string_too_short": "text that is not empty (null leaves it out)",
    "too_short": "a list that is not empty (null leaves it out)",
}


def key_of(error: ErrorDetails, prefix: str = "") -> str:
    """The dotted key that an error is about."""
    return ".".join([*([prefix] if prefix else []), *(str(part) for part in error["loc"])])


def problem_line(error: ErrorDetails, prefix: str = "", known: Sequence[str] = ()) -> str:
    """One line for one error: the key, what is wanted and what was found; secrets are hidden."""
    key, kind = key_of(error, prefix), error["type"]
    if kind == "unexpected_keyword_argument":
        return f"{key}: unknown key{hint(nearest_key(key, known))}"
    if kind in {"missing", "missing_argument"}:
        return f"{key}: is required"
    value = shown(key, error["input"])
    if error["loc"] and error["loc"][-1] == "[key]":
        return f"{key.removesuffix('.[key]')}: a key must be text, not {value}"
    context = error.get("ctx", {})
    if kind == "literal_error":
        choices = str(context["expected"]).replace("'", "").replace(" or ", ", ").split(", ")
        near = hint(nearest(str(error["input"]), choices))
        return f"{key}: must be {' or '.join(choices)}, not {value}{near}"
    if kind == "value_error":  # raised by a validator of our own, whose words are complete
        return f"{key}: {context['error']}"
    wanted = _WANTED.get(kind)
    if wanted is None:
        return f"{key}: {error['msg']} (it is {value})"
    quoted = (
        f" (quote it to make it text: '{key}=\"{error['input']}\"')"
        if kind == "string_type"
        else ""
    )
    return f"{key}: must be {wanted.format_map(context)}, not {value}{quoted}"
