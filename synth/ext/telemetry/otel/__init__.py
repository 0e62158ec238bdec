"""The callback ``otel``: OpenTelemetry spans and metrics for an OTLP collector."""
