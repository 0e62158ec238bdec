"""``synth serve-agent``: rollouts of a model on a world, to watch, approve and talk to."""

from __future__ import annotations

import argparse
import asyncio
import sys
from contextlib import AsyncExitStack
from pathlib import Path

from synth.core.cli.live_options import (
    add_limit_options,
    add_model_options,
    add_task_options,
    address_json,
    check_limits,
    model_overrides,
    prepared,
    token_of,
    until_signal,
)
from synth.core.foundation.standard_output import say
from synth.errors import OperatorError
from synth.ext.serving.agent_server import serve_agent
from synth.ext.serving.live.recorder import Recorder
from synth.ext.serving.live.session_registry import SessionReport
from synth.ext.serving.live.supervised_sessions import SupervisedSessions
from synth.ext.serving.live.world import open_live
from synth.prepare import PreparedRun

EPILOG = """examples:
  synth serve-agent ehr_db                              the scripted expert; needs no key
  synth serve-agent ehr_db --model gpt-4.1-mini         the key comes from $OPENAI_API_KEY
  synth serve-agent shop --model my-model --base-url http://localhost:8000/v1 --port 8766
  synth serve-agent ehr_db tasks.samples=8 --record out/tried
  curl -N -H "Authorization: Bearer $TOKEN" http://127.0.0.1:8766/api/sessions/NAME/events

Open the address that is printed to try the model in a browser. Every session is a rollout on a
fresh sandbox. With --record it becomes a row of a dataset, unless it was called off."""


def main(argv: list[str]) -> int:
    """Serve until SIGINT or SIGTERM; returns 0."""
    options = make_parser().parse_intermixed_args(argv)
    check_limits(options)
    token = token_of(options.token_env)
    asyncio.run(_serve(prepared(options, model_overrides(options)), options, token))
    return 0


def make_parser() -> argparse.ArgumentParser:
    """The options of the command."""
    parser = argparse.ArgumentParser(
        prog="synth serve-agent",
        description="Let a model work on a world's tasks while you watch: a page for the browser,"
        " and server-sent events for programs.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_task_options(parser)
    add_model_options(parser)
    add_limit_options(parser)
    parser.add_argument(
        "--record",
        type=Path,
        metavar="DIR",
        help="record the sessions as a dataset: each is another sample of its task",
    )
    return parser


def _report(session: SessionReport) -> None:
    print(session.line(), file=sys.stderr, flush=True)


async def _serve(run: PreparedRun, options: argparse.Namespace, token: str) -> None:
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
        try:
            url = await stack.enter_async_context(serve_agent(sessions, token, options.port))
        except OSError as error:
            raise OperatorError(f"--port {options.port}: {error.strerror}") from None
        if options.json:
            say(address_json(url, token, options), flush=True)
        else:
            shown = token if options.token_env is None else f"${options.token_env}"
            say(f"{url}/?token={shown}")
            say("the token in it is the only way in; Ctrl-C ends the server", flush=True)
        await until_signal(asyncio.Event().wait())
