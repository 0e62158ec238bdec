"""The hooks of a run, by its config."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from synth.config import ExtensionsConfig
from synth.core.config.section import ConfigSection
from synth.core.runner.setup import own_setups
from synth.errors import OperatorError
from synth.hook import RunHook
from synth.plugins import RUN_HOOKS, resolve


def shipped_hooks(*names: str) -> Iterator[RunHook]:
    """The hooks of these names that are there, of all without any."""
    for one in RUN_HOOKS.shipped():
        if not names or one.name in names:
            yield one.load()(None)


def run_hooks(
    section: ExtensionsConfig, brought: Sequence[tuple[str, ConfigSection]]
) -> list[RunHook]:
    """The hooks of a run: those that sections brought, its own, and the dataset's card.

    Raises :class:`~synth.errors.OperatorError` for a hook that cannot be loaded.
    """
    named, _ = own_setups(RUN_HOOKS, section, "hooks")
    own = [resolve(setup.factory)(setup.options) for setup in named]
    for hook, setup in zip(own, named, strict=True):
        if not isinstance(hook, RunHook):
            raise OperatorError(f"extensions.hooks: {setup.name} is not a run hook")
    others = [RUN_HOOKS.load(name)(options) for name, options in brought]
    return [*others, *own, *shipped_hooks("card")]
