"""Traces and metrics by OpenTelemetry, metrics of Ray."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, ClassVar

from pydantic import Strict

from synth.core.config.section import ConfigSection
from synth.core.config.types import Finding, Plain, Share, Text


@dataclass(frozen=True, slots=True, kw_only=True)
class OtelConfig(ConfigSection):
    """Options of the callback ``otel``: spans and metrics for an OTLP collector over HTTP.

    ``endpoint`` is the collector's base URL (None: ``$OTEL_EXPORTER_OTLP_ENDPOINT``, or port 4318
    of this machine). ``headers_env`` names a variable that holds its headers
    (``name=value,...``). ``sample`` is the share of the rollouts that have spans. ``contents`` adds
    messages, arguments and results to the spans, without secrets.
    """

    place: ClassVar[str] = "telemetry.otel"

    endpoint: Text | None = None
    headers_env: Text | None = None
    sample: Share = 1.0
    contents: Annotated[bool, Strict()] = False

    @classmethod
    def rules(cls, config: Plain) -> Iterator[Finding]:
        endpoint: str | None = cls.own(config)["endpoint"]
        if endpoint is not None and not endpoint.startswith(("http://", "https://")):
            key = "telemetry.otel.endpoint"
            yield (key,), f"{key}: starts with http:// or https://, not {endpoint!r}"
