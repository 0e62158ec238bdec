"""``synth mcp``: a world's tools and tasks over the Model Context Protocol."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from collections.abc import Callable, Generator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import IO

from synth.core.cli.command import Arguments, command
from synth.core.cli.live_options import (
    LIMITS,
    TASKS,
    prepared,
    serve_until_signal,
    token_of,
    until_signal,
)
from synth.core.config.quoting import quoted_value
from synth.core.types.reply import REPLY
from synth.errors import OperatorError
from synth.ext.serving.live.recorder import Recorder
from synth.ext.serving.live.remote_model import REMOTE, RemoteConversation, RemoteModel
from synth.ext.serving.live.session_registry import SessionRegistry, SessionReport
from synth.ext.serving.live.world import open_live
from synth.plugins import resolve
from synth.prepare import PreparedRun

HELP = f"""synth mcp

Serve a world over the Model Context Protocol, so that any agent can play its tasks.

{TASKS}
  --http              streamable HTTP instead of standard input and output
  --sessions N        sessions at once [default: 16]
{LIMITS}
  --record DIR        record the rollouts as a dataset
  --model-name NAME   who plays, for the column `model` [default: mcp]
  --scores FILE       append a line of JSON for each session

examples:
  synth mcp ehr_db                            by standard input and output, for a client that
                                              starts this command
  synth mcp ehr_db --http --port 8765         streamable HTTP on 127.0.0.1, with a token
  synth mcp ehr_db --http --record out/played --model-name my-agent --count 100
  synth mcp path/to/world --families refund,exchange --scores scores.jsonl

Every session is one rollout on a fresh sandbox: the task is the prompt `task`, the policy the
resource synth://policy, and the user answers the tool reply_to_user. With --http a session is a
path of its own, /mcp/NAME. --record makes a dataset of the rollouts, for `synth inspect`, `replay`,
`grade` and `export`. The player never gets the score.
"""

STDIO = "synth.ext.serving.mcp.transports:serve_stdio"
HTTP = "synth.ext.serving.mcp.transports:serve_http"

TURNS = 100
"""Turns of a rollout unless ``agent.max_turns`` says otherwise: each call of a client is a turn."""


@command(HELP)
def main(options: Arguments) -> int:
    """Serve until the client leaves, or until SIGINT or SIGTERM; returns 0."""
    token = token_of(options.token_env)
    model = [f"model.kind={REMOTE}", f"model.name={quoted_value(options.model_name)}"]
    run = prepared(options, [*model, f"agent.max_turns={TURNS}"])
    if any(tool.name == REPLY for tool in run.world.tools):
        raise OperatorError(f"{run.world.name}: a tool of the world is called {REPLY}, too")
    asyncio.run(_serve(run, options, token))
    return 0


async def _serve(run: PreparedRun, options: Arguments, token: str) -> None:
    directory: Path | None = options.record and options.record.expanduser().absolute()
    model = RemoteModel(options.model_name, RemoteConversation())
    async with AsyncExitStack() as stack:
        live = await stack.enter_async_context(open_live(run, model))
        recorder = None
        if directory is not None:
            recorder = await Recorder.open(live, directory)
            stack.callback(recorder.close)
        report = stack.enter_context(_reports(options))
        book = SessionRegistry(
            live, report, at_once=options.sessions, idle_s=options.idle, recorder=recorder
        )
        stack.push_async_callback(book.aclose)
        if options.http:
            name, port, at_once = Path(options.world).name, options.port, options.sessions
            serving = resolve(HTTP)(book, name, token, port=port, at_once=at_once)
            text = "{url}\ntoken: {token}\na session has a path of its own: /mcp/NAME"
            await serve_until_signal(serving, options, token, text)
        else:
            await until_signal(resolve(STDIO)(book, run.world.name))


@contextlib.contextmanager
def _reports(options: Arguments) -> Generator[Callable[[SessionReport], None]]:
    """Open the place of scores: a file, or else standard error.

    A client that starts this command may show its standard error to the player, so with standard
    input and output they go to a file only.
    """
    file: IO[str] | None = None
    if options.scores is not None:
        try:
            file = options.scores.expanduser().open("a", encoding="utf-8")
        except OSError as error:
            raise OperatorError(f"--scores {options.scores}: {error.strerror}") from None

    def report(session: SessionReport) -> None:
        if file is not None:
            print(session.to_json(), file=file, flush=True)
        elif options.http:
            print(session.line(), file=sys.stderr, flush=True)

    with file or contextlib.nullcontext():
        yield report
