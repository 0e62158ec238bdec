"""Options of the commands that play tasks on demand: which tasks, which token, which limits."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import secrets
import signal
from collections.abc import Coroutine, Sequence
from typing import Any

from synth.core.config.compose import compose
from synth.core.config.quoting import quoted_value
from synth.core.foundation.credentials import ADVICE, is_variable_name
from synth.core.foundation.shipped import find_world, world_names
from synth.errors import OperatorError
from synth.prepare import PreparedRun, prepare


def add_task_options(parser: argparse.ArgumentParser) -> None:
    """Add the world, its tasks and further overrides."""
    parser.add_argument(
        "world", metavar="WORLD", help="a world's folder, or the name of one that ships"
    )
    parser.add_argument(
        "overrides", nargs="*", metavar="key=value", help="overrides, as `synth run` takes them"
    )
    parser.add_argument(
        "--families", metavar="A,B", help="the families of the tasks (default: all)"
    )
    parser.add_argument(
        "--universe", type=int, default=0, metavar="N", help="the universe (default: 0)"
    )
    parser.add_argument(
        "--seed", type=int, default=0, metavar="N", help="chooses the tasks (default: 0)"
    )
    parser.add_argument(
        "--count", type=int, default=16, metavar="N", help="the number of tasks (default: 16)"
    )


def add_model_options(parser: argparse.ArgumentParser, *, scripted: bool = True) -> None:
    """Add the model and its endpoint. Without ``scripted`` there is no default."""
    expert = "; `scripted`, the default, is the expert" if scripted else ""
    parser.add_argument(
        "--model",
        default="scripted" if scripted else None,
        required=not scripted,
        metavar="NAME",
        help=f"the model at the endpoint{expert}",
    )
    parser.add_argument(
        "--base-url", metavar="URL", help="an OpenAI-compatible endpoint, by default without a key"
    )
    parser.add_argument(
        "--api-key-env", metavar="NAME", help="the environment variable that holds its key"
    )


def add_limit_options(parser: argparse.ArgumentParser) -> None:
    """Add the token, the port and the limits of sessions."""
    parser.add_argument("--port", type=int, default=0, help="0, the default, takes a free one")
    parser.add_argument(
        "--token-env",
        metavar="NAME",
        help="the environment variable that holds the token (default: a new one is printed)",
    )
    parser.add_argument(
        "--sessions",
        type=int,
        default=16,
        metavar="N",
        help="sessions at once (default: %(default)s)",
    )
    parser.add_argument(
        "--idle", type=float, default=600.0, metavar="S", help="seconds without a turn (600)"
    )
    parser.add_argument(
        "--minutes", type=float, default=60.0, metavar="M", help="the longest session (60)"
    )
    parser.add_argument(
        "--json", action="store_true", help="print the address and the token as JSON, on one line"
    )


def check_limits(options: argparse.Namespace) -> None:
    """Raise :class:`OperatorError` for a limit that is none."""
    for name, least in (("count", 1), ("sessions", 1), ("universe", 0), ("seed", 0)):
        if getattr(options, name) < least:
            raise OperatorError(f"--{name} is a number of at least {least}")
    for name in ("idle", "minutes"):
        if not 0 < getattr(options, name) < 1e6:
            raise OperatorError(f"--{name} is a number above 0 and below a million")
    if not 0 <= options.port < 65_536:
        raise OperatorError(f"--port {options.port}: ports are numbers from 0 to 65535")


def prepared(options: argparse.Namespace, more: Sequence[str] = ()) -> PreparedRun:
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
        given.append(f"tasks.families=[{','.join(options.families.split(','))}]")
    keys = {override.lstrip("+").partition("=")[0] for override in options.overrides}
    given = [override for override in given if override.partition("=")[0] not in keys]
    (composed,) = compose([*given, *options.overrides])
    return prepare(composed.config)


def model_overrides(options: argparse.Namespace) -> list[str]:
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


def address_json(url: str, token: str, options: argparse.Namespace) -> str:
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
