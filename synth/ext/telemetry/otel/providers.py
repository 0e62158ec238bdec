"""Providers of spans and metrics that send to an OTLP collector in the background."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import unquote

from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.trace.id_generator import RandomIdGenerator
from opentelemetry.sdk.trace.sampling import TraceIdRatioBased
from opentelemetry.trace import SpanContext, TraceFlags

from synth.core.foundation.shipped import version
from synth.errors import OperatorError
from synth.ext.telemetry import OtelConfig

TIMEOUT_S = 5.0
"""Seconds that one request to the collector may take, with its retries."""

EVERY_MS = 15_000
"""Milliseconds between two exports of metrics."""

QUEUE = 8_192
"""Spans that may wait for the collector; further ones are dropped, the run is never slowed down."""


class _OneFailure(logging.Filter):
    """Lets one line through about a collector that does not answer, and none about retries."""

    def __init__(self) -> None:
        super().__init__()
        self._said = False

    def filter(self, record: logging.LogRecord) -> bool:
        if record.levelno < logging.ERROR or self._said:
            return False
        self._said = True
        record.msg = f"warning: telemetry: {record.getMessage()} The run goes on without."
        record.args = ()
        return True


_quiet = _OneFailure()
for _exporter in (OTLPSpanExporter, OTLPMetricExporter):
    logging.getLogger(_exporter.__module__).addFilter(_quiet)


class _RunIds(RandomIdGenerator):
    """Gives the run's span the ids that workers link to: they follow from the session."""

    def __init__(self, context: SpanContext) -> None:
        self._context = context

    def generate_trace_id(self) -> int:
        return self._context.trace_id

    def generate_span_id(self) -> int:
        return self._context.span_id


def run_context(session: str) -> SpanContext:
    """The identity of a session's span, the same in the driver and in every worker."""
    span = hashlib.sha256(session.encode()).digest()[:8]
    return SpanContext(
        trace_id=int(session, 16),
        span_id=int.from_bytes(span, "big"),
        is_remote=True,
        trace_flags=TraceFlags(TraceFlags.SAMPLED),
    )


@dataclass(frozen=True)
class _Providers:
    """The two providers of a process; :meth:`close` sends what is left."""

    tracers: TracerProvider
    meters: MeterProvider

    def close(self) -> None:
        """Send what is left and end the threads. Safe to call twice; may block for seconds."""
        self.tracers.shutdown()
        self.meters.shutdown()


def providers(
    options: OtelConfig, keys: Mapping[str, str], instance: str, run: SpanContext | None = None
) -> _Providers:
    """Make the providers of one process, which is named ``instance``.

    With ``run`` the tracer makes the span of that identity, and none is sampled out.
    Raises OperatorError for headers that cannot be read.
    """
    resource = Resource.create(
        {"service.name": "synth", "service.version": version(), "service.instance.id": instance}
    )
    base = None if options.endpoint is None else options.endpoint.rstrip("/")
    headers = _headers(keys.get(options.headers_env or "", ""), options.headers_env)
    spans = OTLPSpanExporter(
        endpoint=None if base is None else f"{base}/v1/traces", headers=headers, timeout=TIMEOUT_S
    )
    metrics = OTLPMetricExporter(
        endpoint=None if base is None else f"{base}/v1/metrics", headers=headers, timeout=TIMEOUT_S
    )
    tracers = TracerProvider(
        resource=resource,
        shutdown_on_exit=False,
        sampler=None if run is not None else TraceIdRatioBased(options.sample),
        id_generator=None if run is None else _RunIds(run),
    )
    tracers.add_span_processor(BatchSpanProcessor(spans, max_queue_size=QUEUE))
    reader = PeriodicExportingMetricReader(metrics, export_interval_millis=EVERY_MS)
    return _Providers(tracers, MeterProvider([reader], resource, shutdown_on_exit=False))


def _headers(text: str, variable: str | None) -> dict[str, str] | None:
    """Read ``name=value,...`` with percent-encoded values, as OTEL_EXPORTER_OTLP_HEADERS has it."""
    if not text:
        return None
    found: dict[str, str] = {}
    for part in text.split(","):
        name, equals, value = part.partition("=")
        if not equals or not name.strip():
            raise OperatorError(
                f"telemetry.otel.headers_env: {variable} is not of the form name=value,..."
            )
        found[name.strip().lower()] = unquote(value.strip())
    return found
