"""The promises of :class:`synth.core.config.section.ConfigSection` as tests: subclass, name it
``Test...``.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from synth.config import RunConfig, to_dict
from synth.core.config.section import ConfigSection


class ConfigSectionConformance(ABC):
    """Contract tests of a config section. ``kind`` and ``changes`` are required."""

    @abstractmethod
    def kind(self) -> type[ConfigSection]:
        """The section."""

    @abstractmethod
    def changes(self) -> Mapping[str, object]:
        """Values of its keys with which it is in use."""

    def _read(self, values: Mapping[str, object]) -> ConfigSection:
        return TypeAdapter(self.kind()).validate_python(dict(values))

    def _broken(self, section: ConfigSection) -> list[str]:
        config = to_dict(RunConfig())
        part: dict[str, Any] = config
        for name in section.place.split("."):
            part = part.setdefault(name, {})
        part.update(asdict(section))
        return [line for _, line in section.rules(config)]

    def test_it_says_what_its_keys_mean(self) -> None:
        about = self.kind().__doc__ or ""
        assert all(entry.name in about for entry in fields(self.kind()))

    def test_the_defaults_are_plain_and_bring_nothing(self) -> None:
        usual = self.kind()()
        assert self._read(json.loads(json.dumps(asdict(usual)))) == usual
        assert not list(usual.brings())
        assert not self._broken(usual)

    def test_what_it_brings_is_there(self) -> None:
        section = self._read(self.changes())
        assert section != self.kind()()
        assert all(point.find(name) for point, name in section.brings())

    def test_an_unknown_key_is_refused(self) -> None:
        with pytest.raises(ValidationError):
            self._read({"no_such_key": 1})

    def test_what_it_declares_is_about_its_keys(self) -> None:
        kind = self.kind()
        known = {"", *(entry.name for entry in fields(kind))}
        assert {*kind.needs, *kind.needs.values(), *kind.not_data, kind.asks} <= known
