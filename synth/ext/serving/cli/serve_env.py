"""``synth serve-env``: a world as an environment over HTTP, for reinforcement learning."""

from __future__ import annotations

import asyncio
import sys
from contextlib import AsyncExitStack

from synth.core.cli.command import Arguments, command
from synth.core.cli.live_options import LIMITS, TASKS, prepared, serve_until_signal, token_of
from synth.errors import OperatorError
from synth.ext.serving.environment.server import serve_env
from synth.ext.serving.environment.sessions import EnvSessions
from synth.ext.serving.guarded import LOOPBACK
from synth.ext.serving.live.world import open_live
from synth.prepare import PreparedRun

HELP = f"""synth serve-env

Serve a world as an environment over HTTP: a session is a task in a fresh sandbox; steps are tool
calls or words, and the verifiers score its end.

{TASKS}
  --sessions N        sessions at once [default: 256]
{LIMITS}
  --host HOST         the address to listen at [default: 127.0.0.1]

examples:
  synth serve-env shop --count 500 --port 8770 --sessions 256
  synth serve-env ehr_db --families record_heart_rate,note_allergy --universe 3 agent.max_turns=12
  curl -X POST -H "Authorization: Bearer $TOKEN" -H "Content-Type: application/json" \\
      -d '{{"task": 0}}' http://127.0.0.1:8770/sessions

synth.ext.serving.environment.client.EnvClient is a client without dependencies. A session is a
lease of one sandbox: it ends with its task, when it is closed, or when nobody uses it for --idle
seconds.
"""


@command(HELP)
def main(options: Arguments) -> int:
    """Serve until SIGINT or SIGTERM; returns 0."""
    token = token_of(options.token_env)
    run = prepared(options, ["model=scripted"])
    if run.spec.record["agent"]["middleware"]:
        raise OperatorError(
            "agent.middleware: an environment has no middlewares and none of their tools; leave it"
            " out, and serve the tasks of a run without it"
        )
    asyncio.run(_serve(run, options, token))
    return 0


async def _serve(run: PreparedRun, options: Arguments, token: str) -> None:
    async with AsyncExitStack() as stack:
        live = await stack.enter_async_context(open_live(run))
        sessions = EnvSessions(
            live, at_once=options.sessions, idle_s=options.idle, longest_s=options.minutes * 60
        )
        if options.host not in LOOPBACK:
            note = "note: whoever reaches this address and knows the token is answered"
            print(note, file=sys.stderr, flush=True)
        serving = serve_env(sessions, token, options.host, options.port)
        text = f"{{url}} serves {run.plan.tasks} tasks of {run.world.name}; token: {{token}}"
        await serve_until_signal(serving, options, token, text)
