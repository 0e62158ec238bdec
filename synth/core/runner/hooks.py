"""The hooks of a run, by its config."""

from __future__ import annotations

from synth.config import RunConfig
from synth.core.runner.setup import own_setups
from synth.hook import RunHook
from synth.plugins import RUN_HOOKS, resolve


def shipped_hooks() -> list[RunHook]:
    """The hooks that ship; a run that was stopped may be one that they began."""
    return [RUN_HOOKS.load(name)(None) for name in RUN_HOOKS.builtin]


def run_hooks(config: RunConfig) -> list[RunHook]:
    """The hooks of a config: its own, between the phrasings of a model and the dataset's card.

    Raises :class:`~synth.errors.OperatorError` for a hook that cannot be loaded.
    """
    named, _ = own_setups(RUN_HOOKS, config.extensions, "hooks")
    own = [resolve(setup.factory)(setup.options) for setup in named]
    rephrases = config.tasks.rephrase.model is not None and config.recording is None
    before = [RUN_HOOKS.load("rephrase")(None)] if rephrases else []
    return [*before, *own, RUN_HOOKS.load("card")(None)]
