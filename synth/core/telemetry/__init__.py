"""Telemetry: who is told about a run while it goes on, in the driver and around each rollout."""
