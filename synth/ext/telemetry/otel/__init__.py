"""The callback ``otel``: OpenTelemetry spans and metrics for an OTLP collector."""

from __future__ import annotations

from typing import Any

from synth.core.telemetry import CallbackHome, RunCallback
from synth.errors import OperatorError
from synth.ext.telemetry import OtelConfig
from synth.plugins import extension, find_module, resolve


@extension(OtelConfig, middleware="synth.ext.telemetry.otel.spans:make")
def make(options: OtelConfig, home: CallbackHome) -> RunCallback:
    """Build the callback that ``otel`` names. Raises OperatorError without its packages."""
    if find_module("opentelemetry") is None or find_module("opentelemetry.exporter") is None:
        raise OperatorError(
            "telemetry.callbacks: otel needs OpenTelemetry: pip install 'synth-worlds[otel]'"
        )
    build: Any = resolve("synth.ext.telemetry.otel.run_metrics:RunTelemetry")
    return build(options, home)
