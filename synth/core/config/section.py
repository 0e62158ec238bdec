"""The contract of a config section: keys of the config that come with a capability.

    @dataclass(frozen=True, slots=True, kw_only=True)
    class Greeting(ConfigSection):
        '''How the agent greets a user.'''

        place: ClassVar[str] = "agent.greeting"
        words: Text = "Hello"

A section extension is such a class, found by an entry point of the group
``synth.config_sections``: a config has its keys wherever its distribution is installed. The
docstring is the help. :class:`synth.testing.ConfigSectionConformance` tests the contract.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, make_dataclass
from functools import cache
from typing import Any, ClassVar, TypeVar, cast, get_type_hints

from synth.core.config.types import Finding, Plain, Section
from synth.plugins import CONFIG_SECTIONS, Extension, ExtensionPoint, PluginError

Core = TypeVar("Core", bound=type)
Kind = TypeVar("Kind", bound="ConfigSection")


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigSection(Section):
    """Keys of one capability. Each has a default, with which the capability is not in use."""

    place: ClassVar[str]
    """``tasks``: its keys join that section of the core. ``agent.greeting``, ``greeting``: a
    section of its own, at the top or in one of the core: ``agent``, ``rewards``, ``tasks``,
    ``telemetry``, ``users``.
    """

    needs: ClassVar[Mapping[str, str]] = {}
    """For a key, the other key of the section without which nobody reads it; "" are all others."""

    asks: ClassVar[str] = ""
    """The key that names one of ``models``."""

    not_data: ClassVar[Mapping[str, str]] = {}
    """Keys that a resume may change, each with the reason; "" are all keys."""

    @classmethod
    def rules(cls, config: Plain) -> Iterator[Finding]:  # noqa: ARG003
        """What is wrong with its keys, beside their types, in a whole config."""
        yield from ()

    def brings(self) -> Iterable[tuple[ExtensionPoint, str]]:
        """The task transforms, rollout wrappers and run hooks that these keys switch on, by name
        or import path. They get the section as their options.
        """
        return ()

    @classmethod
    def own(cls, config: Plain) -> Plain:
        """The part of a whole config that its keys are in."""
        part: Any = config
        for name in cls.place.split("."):
            part = part[name]
        return part

    @classmethod
    def dotted(cls) -> list[str]:
        """Its keys, dotted."""
        return [f"{cls.place}.{entry.name}" for entry in fields(cls)]

    @classmethod
    def reasons(cls) -> Iterator[tuple[str, str]]:
        """:attr:`not_data` by dotted key."""
        for key in cls.dotted():
            why = cls.not_data.get(key.rpartition(".")[2], cls.not_data.get(""))
            if why is not None:
                yield key, why


@cache
def section_kinds() -> Mapping[type[ConfigSection], Extension]:
    """The sections that are there, shipped ones first.

    Raises :class:`PluginError` for one that cannot be loaded.
    """
    offered = [one for one in CONFIG_SECTIONS.all() if one.distribution]
    found: dict[type[ConfigSection], Extension] = {}
    for extension in (*CONFIG_SECTIONS.shipped(), *offered):
        kind = extension.load()
        if not (isinstance(kind, type) and issubclass(kind, ConfigSection)):
            raise PluginError(f"{extension.target} is not a config section")
        found[kind] = extension
    return found


def extended(place: str) -> Callable[[Core], Core]:
    """Add the keys of capabilities to a section of the core; "" is the whole config."""

    def extend(core: Core) -> Core:
        own = {entry.name for entry in fields(cast("Any", core))}
        added: dict[str, tuple[str, Any, Any]] = {}
        about = [core.__doc__ or ""]
        for kind in section_kinds():
            above, _, name = kind.place.rpartition(".")
            new: list[tuple[str, Any, Any]] = []
            if kind.place == place:
                hints = get_type_hints(kind, include_extras=True)
                new = [(one.name, hints[one.name], _default(one)) for one in fields(kind)]
                about.append(kind.__doc__ or "")
            elif above == place and name not in own:
                new = [(name, kind, field(default_factory=kind))]
            if taken := {one[0] for one in new} & {*own, *added}:
                raise PluginError(f"{kind.place}: there is a key {min(taken)!r} already")
            added |= {one[0]: one for one in new}
        made = make_dataclass(
            core.__name__,
            added.values(),
            bases=(core,),
            namespace={"__doc__": "\n\n".join(about)},
            frozen=True,
            slots=True,
            kw_only=True,
        )
        made.__module__ = core.__module__  # pickle looks there; Python 3.12 sets this module's name
        return cast("Core", made)

    return extend


def _default(entry: Any) -> Any:
    return field(default=entry.default, default_factory=entry.default_factory)


def section_of(part: object, kind: type[Kind]) -> Kind:
    """A section, from the part of the config that it is, or that its keys joined."""
    if isinstance(part, kind):
        return part
    return kind(**{entry.name: getattr(part, entry.name) for entry in fields(kind)})
