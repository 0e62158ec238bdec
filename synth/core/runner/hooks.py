"""The hooks of a run, by its config."""

from __future__ import annotations

from collections.abc import Iterator

from synth.config import ExtensionsConfig
from synth.core.runner.setup import own_setups
from synth.errors import OperatorError
from synth.hook import RunHook
from synth.plugins import RUN_HOOKS, resolve


def shipped_hooks(*names: str) -> Iterator[RunHook]:
    """The hooks of these names that are there, of all without any."""
    for one in RUN_HOOKS.shipped():
        if not names or one.name in names:
            yield one.load()(None)


def run_hooks(section: ExtensionsConfig, *, rephrases: bool) -> list[RunHook]:
    """The hooks of a run: its own, between the phrasings of a model and the dataset's card.

    Raises :class:`~synth.errors.OperatorError` for a hook that cannot be loaded.
    """
    named, _ = own_setups(RUN_HOOKS, section, "hooks")
    own = [resolve(setup.factory)(setup.options) for setup in named]
    for hook, setup in zip(own, named, strict=True):
        if not isinstance(hook, RunHook):
            raise OperatorError(f"extensions.hooks: {setup.name} is not a run hook")
    return [*(shipped_hooks("rephrase") if rephrases else ()), *own, *shipped_hooks("card")]
