"""Middlewares that ship: approval, compaction, offload, logging, retries, injected faults."""
