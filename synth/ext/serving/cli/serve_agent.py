"""``synth serve-agent``: rollouts of a model on a world, to watch, approve and talk to."""

from __future__ import annotations

import asyncio
import sys
from contextlib import AsyncExitStack

from synth.core.cli.command import Arguments, command
from synth.core.cli.live_options import (
    LIMITS,
    TASKS,
    model_overrides,
    prepared,
    serve_until_signal,
    token_of,
)
from synth.ext.serving.agent_server import serve_agent
from synth.ext.serving.live.recorder import Recorder
from synth.ext.serving.live.session_registry import SessionReport
from synth.ext.serving.live.supervised_sessions import SupervisedSessions
from synth.ext.serving.live.world import open_live
from synth.prepare import PreparedRun

HELP = f"""synth serve-agent

Let a model work on a world's tasks while you watch: a page for the browser, and server-sent events
for programs.

{TASKS}
  --model NAME        the model at the endpoint; scripted is the expert [default: scripted]
  --base-url URL      an OpenAI-compatible endpoint, by default without a key
  --api-key-env NAME  the environment variable that holds its key
  --sessions N        sessions at once [default: 16]
{LIMITS}
  --record DIR        record the sessions as a dataset: each is another sample of its task

examples:
  synth serve-agent ehr_db                              the scripted expert; needs no key
  synth serve-agent ehr_db --model gpt-4.1-mini         the key comes from $OPENAI_API_KEY
  synth serve-agent shop --model my-model --base-url http://localhost:8000/v1 --port 8766
  synth serve-agent ehr_db tasks.samples=8 --record out/tried
  curl -N -H "Authorization: Bearer $TOKEN" http://127.0.0.1:8766/api/sessions/NAME/events

Open the address that is printed to try the model in a browser. Every session is a rollout on a
fresh sandbox. With --record it becomes a row of a dataset, unless it was called off.
"""


@command(HELP)
def main(options: Arguments) -> int:
    """Serve until SIGINT or SIGTERM; returns 0."""
    token = token_of(options.token_env)
    asyncio.run(_serve(prepared(options, model_overrides(options)), options, token))
    return 0


def _report(session: SessionReport) -> None:
    print(session.line(), file=sys.stderr, flush=True)


async def _serve(run: PreparedRun, options: Arguments, token: str) -> None:
    async with AsyncExitStack() as stack:
        live = await stack.enter_async_context(open_live(run))
        recorder = None
        if options.record is not None:
            recorder = await Recorder.open(live, options.record.expanduser().absolute())
            stack.callback(recorder.close)
        sessions = SupervisedSessions(
            live,
            at_once=options.sessions,
            idle_s=options.idle,
            recorder=recorder,
            report=_report if recorder is not None else None,
        )
        serving = serve_agent(sessions, token, options.port)
        text = "{url}/?token={token}\nthe token in it is the only way in"
        await serve_until_signal(serving, options, token, text)
