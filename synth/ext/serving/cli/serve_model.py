"""``synth serve-model``: a model that costs nothing, at an endpoint like all models."""

from __future__ import annotations

import asyncio
import ipaddress
import json
import logging
import shlex
import socket
import sys
from typing import Literal

from synth.core.cli.command import Arguments, command
from synth.core.cli.live_options import listening, until_signal
from synth.core.config.compose import compose
from synth.core.foundation.credentials import variable_value
from synth.core.foundation.standard_output import say
from synth.ext.serving.known_rollouts import Served, open_served, run_command
from synth.ext.serving.openai_server import serve

HELP = """synth serve-model

Serve the scripted expert, or what was said in a recorded run, as an OpenAI-compatible endpoint: for
tests, demos and dry runs of a cluster.

arguments:
  [key=value...]      overrides, as `synth run` takes them
options:
  --host HOST         the address to listen at [default: 127.0.0.1]
  --port PORT         0 takes a free one [default: 0]
  --api-key-env NAME  demand the key that this environment variable holds
  --verbose           a line on standard error for each request
  --json              print URL, model and command as JSON, on one line

examples:
  synth serve-model env=ehr_db tasks.count=200 seed=7            the expert, for this plan's tasks
  synth serve-model env=shop model.mistakes=[wrong_argument]     it errs as it does in process
  synth serve-model model=replay model.path=out/ehr              what was said in a recorded run
  synth serve-model --host 0.0.0.0 --port 8000 --api-key-env SERVE_KEY --verbose

The overrides are those of `synth run`, and the `synth run` that is printed plays what is served.
Ctrl-C ends it.
"""


@command(HELP)
def main(options: Arguments) -> int:
    """Serve until SIGINT or SIGTERM; returns 0. Raises OperatorError."""
    held = options.api_key_env
    key = None if held is None else variable_value("--api-key-env", held)
    (composed,) = compose(options.overrides)
    log = logging.getLogger("synth.requests") if options.verbose else None
    if log is not None:
        logging.basicConfig(stream=sys.stderr, format="%(asctime)s %(message)s")
        log.setLevel(logging.INFO)
    with open_served(composed.config) as served:
        asyncio.run(_serve(served, options, key, log))
    return 0


async def _serve(
    served: Served, options: Arguments, key: str | None, log: logging.Logger | None
) -> None:
    serving = serve(
        served.repertoire,
        options.host,
        options.port,
        models=(served.name,),
        api_key=key,
        access_log=log,
    )
    async with listening(serving, options) as url:
        _announce(served, _reachable(url, options.host), options)
        if key is None and not _is(options.host, "is_loopback"):
            note = (
                "note: whoever reaches this address is answered; --api-key-env NAME demands a key"
            )
            print(note, file=sys.stderr, flush=True)
        await until_signal(asyncio.Event().wait())


def _reachable(url: str, host: str) -> str:
    """The URL under which others find a server that listens at every address."""
    if not _is(host, "is_unspecified"):
        return url
    name = f"[{host}]" if ":" in host else host
    return url.replace(f"//{name}:", f"//{socket.gethostname()}:")


def _is(host: str, what: Literal["is_unspecified", "is_loopback"]) -> bool:
    try:
        return bool(getattr(ipaddress.ip_address(host), what))
    except ValueError:
        return host == "localhost" and what == "is_loopback"


def _announce(served: Served, url: str, options: Arguments) -> None:
    command = shlex.join(run_command(served, url, options.api_key_env))
    if options.json:
        say(
            json.dumps(
                {"base_url": url, "model": served.name, "about": served.about, "run": command}
            ),
            flush=True,
        )
        return
    say(f"{url} serves {served.name}: {served.about}\nnext: {command}", flush=True)
