"""Pydantic's validation errors in words: the config key, and what is wanted for it."""

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
    "model_type": "a mapping",
    "dataclass_type": "a section with keys of its own",
    "greater_than": "more than {gt}",
    "greater_than_equal": "at least {ge}",
    "less_than": "less than {lt}",
    "less_than_equal": "at most {le}",
    "invalid_key": "text, as every key is",
    "string_too_short": "text that is not empty (null leaves it out)",
    "too_short": "a list that is not empty (null leaves it out)",
}


def choices_of(error: ErrorDetails) -> list[str]:
    """The words that one of a ``Literal`` could have been."""
    expected = str(error.get("ctx", {})["expected"])
    return expected.replace("'", "").replace(" or ", ", ").split(", ")


def wanted(error: ErrorDetails) -> str | None:
    """What the value should have been: "a whole number"; None where pydantic's own words say it."""
    if error["type"] == "literal_error":
        return " or ".join(choices_of(error))
    found = _WANTED.get(error["type"])
    return None if found is None else found.format_map(error.get("ctx", {}))


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
        near = hint(nearest(str(error["input"]), choices_of(error)))
        return f"{key}: must be {wanted(error)}, not {value}{near}"
    if kind == "value_error":  # raised by a validator of our own, whose words are complete
        return f"{key}: {context['error']}"
    if (what := wanted(error)) is None:
        return f"{key}: {error['msg']} (it is {value})"
    quoted = (
        f" (quote it to make it text: '{key}=\"{error['input']}\"')"
        if kind == "string_type"
        else ""
    )
    return f"{key}: must be {what}, not {value}{quoted}"
