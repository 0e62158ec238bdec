"""The telemetry part of the config: who is told about a run while it goes on."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any

from pydantic import BeforeValidator, Strict

from synth.core.config.types import Section, Share, Text, one_or_many


@dataclass(frozen=True, slots=True, kw_only=True)
class OtelConfig(Section):
    """Options of the callback ``otel``: spans and metrics for an OTLP collector over HTTP.

    ``endpoint`` is the collector's base URL (None: ``$OTEL_EXPORTER_OTLP_ENDPOINT``, or port 4318
    of this machine). ``headers_env`` names a variable that holds its headers
    (``name=value,...``). ``sample`` is the share of the rollouts that have spans. ``contents`` adds
    messages, arguments and results to the spans, without secrets.
    """

    endpoint: Text | None = None
    headers_env: Text | None = None
    sample: Share = 1.0
    contents: Annotated[bool, Strict()] = False


@dataclass(frozen=True, slots=True, kw_only=True)
class TelemetryConfig(Section):
    """Callbacks that follow a run (:data:`synth.plugins.CALLBACKS`); none by default.

    ``options`` holds the options of callbacks that do not ship, under their names.
    """

    callbacks: Annotated[list[Text], BeforeValidator(one_or_many)] = field(
        default_factory=list[str]
    )
    otel: OtelConfig = field(default_factory=OtelConfig)
    options: dict[str, Any] = field(default_factory=dict[str, Any])
