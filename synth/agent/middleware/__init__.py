"""Middlewares by the names that ``agent.middleware`` takes: factories ``(options, home) -> MiddlewareMaker``."""

MIDDLEWARE: dict[str, str] = {
    "logging": "synth.agent.middleware.logging:make",
    "approval": "synth.agent.middleware.approval:make",
    "retry": "synth.agent.middleware.retry:make",
    "faults": "synth.agent.middleware.faults:make",
    "compaction": "synth.agent.middleware.compaction:make",
    "offload": "synth.agent.middleware.offload:make",
}
