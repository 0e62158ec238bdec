"""The hooks of a run, by its config."""

from __future__ import annotations

from synth.config import RunConfig
from synth.core.runner.setup import own_setups
from synth.hook import RunHook
from synth.plugins import RUN_HOOKS, resolve


def shipped_hooks() -> dict[str, RunHook]:
    """The hooks that ship, by name; a run that was stopped may be one that they began."""
    return {one.name: one.load()(None) for one in RUN_HOOKS.shipped()}


def run_hooks(config: RunConfig) -> list[RunHook]:
    """The hooks of a config: its own, between the phrasings of a model and the dataset's card.

    Raises :class:`~synth.errors.OperatorError` for a hook that cannot be loaded.
    """
    named, _ = own_setups(RUN_HOOKS, config.extensions, "hooks")
    own = [resolve(setup.factory)(setup.options) for setup in named]
    shipped = shipped_hooks()
    if config.tasks.rephrase.model is None or config.recording is not None:
        shipped.pop("rephrase", None)
    after = [shipped.pop("card")] if "card" in shipped else []
    return [*shipped.values(), *own, *after]
