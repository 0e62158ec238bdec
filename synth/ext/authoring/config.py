"""The keys of `tasks.rephrase`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar

from pydantic import Field, Strict

from synth.core.config.section import ConfigSection
from synth.core.config.types import Finding, Plain, Positive, Text
from synth.plugins import RUN_HOOKS, ExtensionPoint


@dataclass(frozen=True, slots=True, kw_only=True)
class RephraseConfig(ConfigSection):
    """A model that writes other words for the users of the world's families before a run is
    planned, as `synth rephrase` does it. ``model`` names one of ``models``; None: nobody does.

    Each family gets ``count`` phrasings beside its own and is asked about ``attempts`` times at
    most, ``concurrency`` families at once. What is kept is in the run's archive of its world.
    """

    place: ClassVar[str] = "tasks.rephrase"
    needs: ClassVar[Mapping[str, str]] = {"": "model"}
    asks: ClassVar[str] = "model"
    not_data: ClassVar[Mapping[str, str]] = {
        "concurrency": "decides when families are asked about, never what is kept"
    }

    model: Text | None = None
    count: Annotated[int, Strict(), Field(ge=1, le=100)] = 4
    attempts: Annotated[int, Strict(), Field(ge=1, le=20)] = 3
    concurrency: Positive = 8

    def brings(self) -> Iterable[tuple[ExtensionPoint, str]]:
        return () if self.model is None else [(RUN_HOOKS, "rephrase")]

    @classmethod
    def rules(cls, config: Plain) -> Iterator[Finding]:
        """Other words are written for the families of a world's tasks.yaml."""
        tasks = config["tasks"]
        if tasks["rephrase"]["model"] is not None and tasks["kind"] != "families":
            message = (
                "tasks.rephrase.model: writes other words for families of a world's tasks.yaml,"
                f" not for tasks={tasks['kind']}; set it to null"
            )
            yield ("tasks.rephrase.model", "tasks.kind"), message
