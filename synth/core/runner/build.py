"""Construction of a worker's model, user and middlewares from its setup.

The objects belong to one process and never travel: what travels is the import path of a factory.
"""

from __future__ import annotations

import os
import socket
from dataclasses import replace
from pathlib import Path

from synth.core.foundation.scrubber import Scrubber
from synth.core.runner.setup import ExtensionSetup, ModelSetup, RunSpec, WorkerSetup
from synth.core.users import AbsentUser
from synth.middleware import Factory, MiddlewareHome, MiddlewareMaker
from synth.model import Model, RateLimiter
from synth.plugins import resolve
from synth.user import User
from synth.wrapper import RolloutWrapper


def build_model(setup: ModelSetup) -> Model:
    """Call the model's factory: ``factory(options, sampling, api_key)``."""
    key = setup.api_key.value if setup.api_key else None
    return resolve(setup.factory)(setup.options, setup.sampling, key)


def build_user(spec: RunSpec, limiter: RateLimiter | None = None) -> User:
    """Call the user's factory, ``factory(options, model)``; one that returns None stands for
    :class:`AbsentUser`.

    ``limiter`` also limits the user's model if it asks the same endpoint as the agent's model.
    """
    setup = spec.user
    model = None if setup.model is None else build_model(setup.model)
    shared = setup.model is not None and setup.model.endpoint == spec.model.endpoint
    if model is not None and shared:
        model.limiter = limiter
    return resolve(setup.factory)(setup.options, model) or AbsentUser()


def build_middleware(middleware: ExtensionSetup, home: MiddlewareHome) -> MiddlewareMaker:
    """Call the middleware's factory: ``factory(options, home)``."""
    factory: Factory = resolve(middleware.factory)
    return factory(middleware.options, _home(middleware, home))


def _home(setup: ExtensionSetup, home: MiddlewareHome) -> MiddlewareHome:
    """The home of an extension, with the model that its options name."""
    return home if setup.model is None else replace(home, asked=build_model(setup.model))


def build_wrapper(wrapper: ExtensionSetup, home: MiddlewareHome) -> RolloutWrapper:
    """Call the wrapper's factory: ``factory(options, home)``."""
    return resolve(wrapper.factory)(wrapper.options, _home(wrapper, home))


def worker_home(
    setup: WorkerSetup, scratch: Path, scrubber: Scrubber | None = None
) -> MiddlewareHome:
    """The facilities of a worker for its middlewares and wrappers.

    ``scrubber`` knows the secrets of the run.
    """
    return MiddlewareHome(
        scratch=scratch,
        run_id=run_id(setup),
        worker=worker_id(),
        run_dir=reachable(setup),
        engine=setup.spec.engine,
        keys={name: key.value for name, key in setup.spec.keys.items()},
        hide=(scrubber or setup.spec.scrubber()).message,
        session=setup.session,
        model=setup.spec.model_name,
        model_kind=setup.spec.model_kind,
        sampling=setup.spec.model.sampling,
    )


def run_id(setup: WorkerSetup) -> str:
    """The name of the run's directory; empty if there is none."""
    return "" if setup.run_dir is None else setup.run_dir.name


def worker_id() -> str:
    """Host and process of this worker."""
    return f"{socket.gethostname()}-{os.getpid()}"


def reachable(setup: WorkerSetup) -> Path | None:
    """The run's directory if this worker can see it."""
    return setup.run_dir if setup.run_dir is not None and setup.run_dir.is_dir() else None
