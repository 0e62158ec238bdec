"""A chat template in Jinja, in the environment that transformers gives it: sandboxed, immutable,
with ``raise_exception``, ``strftime_now``, ``tojson`` without HTML escapes, and ``generation``.
"""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import jinja2
from jinja2 import nodes
from jinja2.ext import Extension, loopcontrols
from jinja2.parser import Parser
from jinja2.sandbox import ImmutableSandboxedEnvironment

from synth.dataset.exporters.rendering.presets import Preset
from synth.errors import OperatorError

TODAY = dt.date(2026, 1, 1)
"""The date of templates that ask for one, so that equal rows render equally on every day."""


class RenderError(Exception):
    """A template that refuses a conversation; the text is its reason."""


class ChatTemplate:
    """A compiled template. Raises :class:`~synth.errors.OperatorError` for a syntax error."""

    def __init__(self, preset: Preset) -> None:
        self.name = preset.name
        self._tokens = {"bos_token": preset.bos, "eos_token": preset.eos}
        environment: Any = ImmutableSandboxedEnvironment(
            trim_blocks=True,
            lstrip_blocks=True,
            extensions=[_Generation, loopcontrols],
        )
        environment.filters["tojson"] = _tojson
        environment.globals["raise_exception"] = _raise
        environment.globals["strftime_now"] = TODAY.strftime
        try:
            self._template: Any = environment.from_string(preset.source)
        except jinja2.TemplateSyntaxError as error:
            raise OperatorError(
                f"--template {preset.name}, line {error.lineno}: {error.message}"
            ) from None

    def render(self, messages: Sequence[Mapping[str, Any]], tools: Sequence[Any]) -> str:
        """Return the text of a conversation. Raises :class:`RenderError`."""
        context: dict[str, Any] = {"messages": list(messages), "tools": list(tools) or None}
        try:
            return self._template.render(**self._tokens, **context, add_generation_prompt=False)
        except (jinja2.TemplateError, TypeError, ValueError, LookupError, AttributeError) as error:
            raise RenderError(str(error).strip() or type(error).__name__) from None


class _Generation(Extension):
    """The block ``generation``, by which training templates mark the text of the assistant."""

    tags: ClassVar[set[str]] = {"generation"}  # pyright: ignore[reportIncompatibleVariableOverride]

    def parse(self, parser: Parser) -> list[nodes.Node]:
        next(parser.stream)
        return parser.parse_statements(("name:endgeneration",), drop_needle=True)


def _raise(message: str) -> None:
    raise jinja2.TemplateError(message)


def _tojson(
    value: object,
    ensure_ascii: bool = False,
    indent: int | None = None,
    separators: tuple[str, str] | None = None,
    sort_keys: bool = False,
) -> str:
    return json.dumps(
        value,
        ensure_ascii=ensure_ascii,
        indent=indent,
        separators=separators,
        sort_keys=sort_keys,
    )
