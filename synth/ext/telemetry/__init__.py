"""Traces and metrics by OpenTelemetry, metrics of Ray."""
