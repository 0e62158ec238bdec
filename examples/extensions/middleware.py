"""A middleware that records calls: `synth run 'agent.middleware=[extensions.middleware:make]'`."""

from dataclasses import dataclass

from synth.middleware import AgentMiddleware, MiddlewareInstance
from synth.plugins import extension


@dataclass
class Options:
    event: str = "noted"


@extension(Options)
def make(options, home):
    class Notes(AgentMiddleware):
        async def before_tool_call(self, agent, call):  # a ToolResult would answer the call
            agent.record({"event": options.event, "tool": call.name})

    return MiddlewareInstance(Notes)
