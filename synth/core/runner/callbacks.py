"""The callbacks that a config names, looked up once and made for each session."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from synth.core.config.agent import AgentConfig
from synth.core.config.options import load_extension, options_for
from synth.core.config.section import ConfigSection
from synth.core.config.telemetry import TelemetryConfig
from synth.core.telemetry import CallbackHome, Callbacks, Factory
from synth.plugins import CALLBACKS, resolve


@dataclass(frozen=True)
class CallbackSetup:
    """A callback under its name in the config; ``factory`` is ``package.module:attribute``.

    ``middleware`` names the middleware that it brings into the workers, if it does.
    """

    name: str
    factory: str
    options: Any
    middleware: str | None = None


def callback_setups(telemetry: TelemetryConfig) -> tuple[CallbackSetup, ...]:
    """Look up the callbacks. Raises OperatorError for one that is not there or its options."""
    found: list[CallbackSetup] = []
    for name in telemetry.callbacks:
        factory = load_extension(CALLBACKS, name, "telemetry.callbacks")
        options: object = getattr(telemetry, name, None)
        if not isinstance(options, ConfigSection):
            own = telemetry.options.get(name, {})
            options = options_for(factory, own, own, f"telemetry.options.{name}")
        target = CALLBACKS.find(name).target
        found.append(CallbackSetup(name, target, options, getattr(factory, "middleware", None)))
    return tuple(found)


def options_held(
    section: AgentConfig | TelemetryConfig, names: Sequence[str]
) -> dict[str, dict[str, Any]]:
    """The options of middlewares or callbacks as their section of the config holds them."""
    return {
        name: asdict(own)
        if isinstance(own := getattr(section, name, None), ConfigSection)
        else section.options.get(name, {})
        for name in names
    }


def make_callbacks(
    setups: tuple[CallbackSetup, ...],
    run_id: str,
    session: str,
    keys: Mapping[str, str],
    say: Callable[[str], None],
) -> Callbacks:
    """Make the callbacks of a session: ``factory(options, home)``. Raises OperatorError."""
    home = CallbackHome(run_id, session, keys)
    made: list[Any] = []
    for setup in setups:
        factory: Factory = resolve(setup.factory)
        made.append((setup.name, factory(setup.options, home)))
    return Callbacks(made, say)
