"""``synth serve-agent``: rollouts of a model on a world, to watch, approve and talk to."""

from __future__ import annotations

import argparse
import asyncio
from contextlib import AsyncExitStack

from synth.cli.live_options import (
    add_limit_options,
    add_task_options,
    address_json,
    check_limits,
    prepared,
    token_of,
    until_signal,
)
from synth.config.quoting import quoted_value
from synth.errors import OperatorError
from synth.runner.prepare import PreparedRun
from synth.serving.agent_server import serve_agent
from synth.serving.live.desk import SupervisedSessions
from synth.serving.live.world import open_live

EPILOG = """examples:
  synth serve-agent ehr_db                              the scripted expert; needs no key
  synth serve-agent ehr_db --model gpt-4.1-mini         the key comes from $OPENAI_API_KEY
  synth serve-agent shop --model my-model --base-url http://localhost:8000/v1 --port 8766
  curl -N -H "Authorization: Bearer $TOKEN" http://127.0.0.1:8766/api/sessions/NAME/events

Open the address that is printed to try the model in a browser. Every session is a rollout on a
fresh sandbox; nothing is recorded (for that: synth run)."""


def main(argv: list[str]) -> int:
    """Serve until SIGINT or SIGTERM; returns 0."""
    options = _parser().parse_intermixed_args(argv)
    check_limits(options)
    token = token_of(options.token_env)
    asyncio.run(_serve(prepared(options, _model(options)), options, token))
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="synth serve-agent",
        description="Let a model work on a world's tasks while you watch: a page for the browser,"
        " and server-sent events for programs.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_task_options(parser)
    parser.add_argument(
        "--model",
        default="scripted",
        metavar="NAME",
        help="the model at the endpoint; `scripted`, the default, is the expert",
    )
    parser.add_argument(
        "--base-url", metavar="URL", help="an OpenAI-compatible endpoint, by default without a key"
    )
    parser.add_argument(
        "--api-key-env", metavar="NAME", help="the environment variable that holds its key"
    )
    add_limit_options(parser)
    return parser


def _model(options: argparse.Namespace) -> list[str]:
    """The overrides that name the model."""
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


async def _serve(run: PreparedRun, options: argparse.Namespace, token: str) -> None:
    async with AsyncExitStack() as stack:
        live = await stack.enter_async_context(open_live(run))
        sessions = SupervisedSessions(live, at_once=options.sessions, idle_s=options.idle)
        try:
            url = await stack.enter_async_context(serve_agent(sessions, token, options.port))
        except OSError as error:
            raise OperatorError(f"--port {options.port}: {error.strerror}") from None
        if options.json:
            print(address_json(url, token, options), flush=True)
        else:
            shown = token if options.token_env is None else f"${options.token_env}"
            print(f"{url}/?token={shown}")
            print("the token in it is the only way in; Ctrl-C ends the server", flush=True)
        await until_signal(asyncio.Event().wait())
