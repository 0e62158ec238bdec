"""``synth serve-agent``: rollouts of a model on a world, to watch, approve and talk to."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Generator, Sequence
from contextlib import AsyncExitStack, contextmanager

from envs.sandboxes.base import find_engine
from synth.core.cli.command import Arguments, command
from synth.core.cli.live_options import (
    LIMITS,
    TASKS,
    model_overrides,
    prepared,
    serve_until_signal,
    token_of,
)
from synth.core.foundation.tempdirs import Scratch
from synth.errors import OperatorError
from synth.ext.serving.agent_server import serve_agent
from synth.ext.serving.live.recorder import Recorder
from synth.ext.serving.live.session_registry import SessionReport
from synth.ext.serving.live.supervised_sessions import SupervisedSessions
from synth.ext.serving.live.world import open_live
from synth.ext.serving.questions.asking import Conversations, Questions
from synth.ext.serving.questions.databases import QuestionDatabases, worlds_in
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
  --databases A,B     further worlds, or folders of worlds, that a question of yours may be about
  --conversations FILE  keeps the answers to your questions, so that they go on after a restart

examples:
  synth serve-agent ehr_db                              the scripted expert; needs no key
  synth serve-agent ehr_db --model gpt-4.1-mini         the key comes from $OPENAI_API_KEY
  synth serve-agent shop --model my-model --base-url http://localhost:8000/v1 --port 8766
  synth serve-agent ehr_db tasks.samples=8 --record out/tried
  synth serve-agent shop --model gpt-4.1-mini --databases ehr_db,library,my/worlds
  curl -N -H "Authorization: Bearer $TOKEN" http://127.0.0.1:8766/api/sessions/NAME/events

Open the address that is printed to try the model in a browser. Every session is a rollout on a
fresh sandbox. With --record it becomes a row of a dataset, unless it was called off. A model other
than scripted also answers questions of your own, by queries on WORLD and --databases.
"""


@command(HELP)
def main(options: Arguments) -> int:
    """Serve until SIGINT or SIGTERM; returns 0."""
    token = token_of(options.token_env)
    asyncio.run(_serve(prepared(options, model_overrides(options)), options, token))
    return 0


def _report(session: SessionReport) -> None:
    print(session.line(), file=sys.stderr, flush=True)


@contextmanager
def _databases(run: PreparedRun, others: Sequence[str]) -> Generator[QuestionDatabases]:
    """The databases of the run and of other worlds. Raises :class:`OperatorError` for what is no
    world, and where none opens.
    """
    spec = run.spec
    with Scratch("questions") as scratch, QuestionDatabases(scratch.path, spec.limits) as databases:
        databases.add(run.world.path, spec.engine, spec.target, run.plan.task(0).universe)
        attached = find_engine(spec.engine).attaches
        for world in worlds_in(others):
            databases.add(
                world, "sqlite" if attached else spec.engine, None if attached else spec.target
            )
        for name, why in databases.broken.items():
            print(f"{name} is left out: {why}", file=sys.stderr, flush=True)
        if not databases.names:
            raise OperatorError("none of the databases opens")
        yield databases


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
        questions = Questions(
            live,
            stack.enter_context(_databases(run, options.databases or ())),
            stack.enter_context(Conversations(options.conversations)),
            at_once=options.sessions,
        )
        serving = serve_agent(sessions, token, options.port, questions)
        text = "{url}/?token={token}\nthe token in it is the only way in"
        await serve_until_signal(serving, options, token, text)
