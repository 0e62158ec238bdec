"""Options of the commands that play tasks on demand: which tasks, which token, which limits."""

from __future__ import annotations

import asyncio
import contextlib
import json
import secrets
import signal
from collections.abc import AsyncGenerator, Coroutine, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from typing import Any

from synth.core.cli.command import Arguments
from synth.core.config.compose import compose
from synth.core.config.quoting import quoted_value
from synth.core.foundation.credentials import variable_value
from synth.core.foundation.shipped import find_world, world_names
from synth.core.foundation.standard_output import say
from synth.errors import OperatorError
from synth.prepare import PreparedRun, prepare

TASKS = """arguments:
  WORLD               a world's folder, or the name of one that ships
  [key=value...]      overrides, as `synth run` takes them
options:
  --families A,B      the families of the tasks (default: all)
  --universe N|0      the universe [default: 0]
  --seed N|0          chooses the tasks [default: 0]
  --count N           at most so many tasks [default: 16]"""
"""Which tasks: lines of a command's help."""

LIMITS = """\
  --port PORT         0 takes a free one [default: 0]
  --token-env NAME    the environment variable that holds the token (default: a new one is printed)
  --idle SECONDS      seconds without a turn [default: 600]
  --minutes MINUTES   the longest session [default: 60]
  --json              print the address and the token as JSON, on one line"""
"""Where, for whom and how long: lines of a command's help."""


def prepared(options: Arguments, more: Sequence[str] = ()) -> PreparedRun:
    """The run whose jobs the sessions play. ``more`` are overrides that the command adds.

    Raises :class:`OperatorError` and the errors of worlds and tasks.
    """
    given = [
        world_override(options.world),
        f"tasks.count={options.count}",
        f"tasks.universes=[{options.universe}]",
        f"seed={options.seed}",
        f"agent.timeout_s={options.minutes * 60}",
        *more,
    ]
    if options.families is not None:
        given.append(f"tasks.families=[{','.join(options.families)}]")
    keys = {override.lstrip("+").partition("=")[0] for override in options.overrides}
    given = [override for override in given if override.partition("=")[0] not in keys]
    (composed,) = compose([*given, *options.overrides])
    return prepare(composed.config, at_most=True)


def model_overrides(options: Arguments) -> list[str]:
    """The overrides that name the model.

    Raises :class:`OperatorError` for an endpoint without a model.
    """
    if options.model == "scripted":
        if options.base_url is not None or options.api_key_env is not None:
            raise OperatorError(
                "--base-url and --api-key-env name an endpoint, and --model scripted asks none"
            )
        return ["model=scripted"]
    overrides = ["model=openai", f"model.name={quoted_value(options.model)}"]
    if options.base_url is not None:
        overrides.append(f"model.base_url={quoted_value(options.base_url)}")
        overrides.append(f"model.api_key_env={options.api_key_env or 'null'}")
    elif options.api_key_env is not None:
        overrides.append(f"model.api_key_env={options.api_key_env}")
    return overrides


def world_override(world: str) -> str:
    """The override that chooses a world, by a folder or by the name of one that ships."""
    if world in world_names():
        return f"env={world}"
    return f"env.path={quoted_value(str(find_world(world)))}"


def token_of(name: str | None) -> str:
    """The token that the variable holds, or a new one.

    Raises :class:`OperatorError` for a variable that is not set.
    """
    return secrets.token_urlsafe(24) if name is None else variable_value("--token-env", name)


@contextlib.asynccontextmanager
async def listening(
    serving: AbstractAsyncContextManager[str], options: Arguments
) -> AsyncGenerator[str]:
    """A server, and its URL. Raises :class:`OperatorError` if it cannot listen."""
    async with AsyncExitStack() as stack:
        try:
            url = await stack.enter_async_context(serving)
        except OSError as error:
            place = f"{getattr(options, 'host', '127.0.0.1')}:{options.port}"
            raise OperatorError(f"cannot listen at {place}: {error.strerror or error}") from None
        yield url


async def serve_until_signal(
    serving: AbstractAsyncContextManager[str], options: Arguments, token: str, text: str
) -> None:
    """Serve until SIGINT or SIGTERM. The ``text`` for people has places for ``url`` and ``token``;
    ``--json`` prints both, the token unless a variable holds it.
    """
    held = options.token_env
    async with listening(serving, options) as url:
        if options.json:
            own = {"token": token} if held is None else {"token_env": held}
            say(json.dumps({"url": url, **own}), flush=True)
        else:
            shown = text.format(url=url, token=token if held is None else f"${held}")
            say(f"{shown}; Ctrl-C ends the server", flush=True)
        await until_signal(asyncio.Event().wait())


async def until_signal(work: Coroutine[Any, Any, object]) -> None:
    """Run until the work ends, or SIGINT or SIGTERM arrives."""
    task = asyncio.create_task(work)
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, task.cancel)
    try:
        with contextlib.suppress(asyncio.CancelledError):
            await task
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)
