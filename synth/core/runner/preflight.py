"""The message to the operator where an endpoint refuses the first call."""

from __future__ import annotations

from synth.core.runner.worker_messages import Delivery

SKIP = "preflight=false skips this call"


def refused(answer: Delivery) -> str:
    """The operator's message: the endpoint's own words, and what to do about them."""
    lines = [f"the endpoint refuses the first call: {answer.message}"]
    if answer.error_type == "ContextOverflow":
        lines.append(
            "The first prompt with its tools is longer than the model's context: serve it with"
            " more (vLLM: --max-model-len), or choose another model or a world with fewer tools."
        )
    return "\n".join([*lines, f"No rollout was begun. ({SKIP})"])
