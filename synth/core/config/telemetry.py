"""The telemetry part of the config: who is told about a run while it goes on."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any

from pydantic import BeforeValidator

from synth.core.config.section import extended
from synth.core.config.types import Section, Text, one_or_many


@extended("telemetry")
@dataclass(frozen=True, slots=True, kw_only=True)
class TelemetryConfig(Section):
    """Callbacks that follow a run (:data:`synth.plugins.CALLBACKS`); none by default.

    ``options`` holds the options of callbacks that do not ship, under their names.
    """

    callbacks: Annotated[list[Text], BeforeValidator(one_or_many)] = field(
        default_factory=list[str]
    )
    options: dict[str, Any] = field(default_factory=dict[str, Any])
