"""Options of the commands that play tasks on demand: which tasks, which token, which limits."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import secrets
import signal
from collections.abc import Coroutine, Sequence
from typing import Any

from synth.core.cli.command import Arguments
from synth.core.config.compose import compose
from synth.core.config.quoting import quoted_value
from synth.core.foundation.credentials import ADVICE, is_variable_name
from synth.core.foundation.shipped import find_world, world_names
from synth.errors import OperatorError
from synth.prepare import PreparedRun, prepare

TASKS = """arguments:
  WORLD               a world's folder, or the name of one that ships
  [key=value...]      overrides, as `synth run` takes them
options:
  --families A,B      the families of the tasks (default: all)
  --universe N|0      the universe [default: 0]
  --seed N|0          chooses the tasks [default: 0]
  --count N           the number of tasks [default: 16]"""
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
    return prepare(composed.config)


def model_overrides(options: Arguments) -> list[str]:
    """The overrides that name the model.

    Raises :class:`OperatorError` for an endpoint without a model.
    """
    if options.model == "scripted":
        if options.base_url is not None or options.api_key_env is not None:
            raise OperatorError("--base-url and --api-key-env go with --model NAME")
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
    if name is None:
        return secrets.token_urlsafe(24)
    if not is_variable_name(name):
        raise OperatorError(
            f"--token-env takes the name of an environment variable, and this is none: {ADVICE}"
        )
    value = os.environ.get(name, "").strip()
    if not value:
        raise OperatorError(f"--token-env: the variable {name} is not set")
    return value


def address_json(url: str, token: str, options: Arguments) -> str:
    """The address for programs, with the token unless a variable holds it."""
    own = {"token": token} if options.token_env is None else {"token_env": options.token_env}
    return json.dumps({"url": url, **own})


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
