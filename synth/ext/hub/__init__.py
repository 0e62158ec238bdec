"""The Hugging Face Hub: a dataset's card, what may be published, and the way there and back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, ClassVar

from pydantic import BeforeValidator, Field

from synth.core.config.section import ConfigSection
from synth.core.config.types import Text, one_or_many


@dataclass(frozen=True, slots=True, kw_only=True)
class CardConfig(ConfigSection):
    """Declarations for the card of the dataset, and for `synth push`, which refuses what is not
    declared.

    ``license`` is the data's, ``teacher_license`` says under which terms the model's words
    may be published (not needed for the scripted expert), ``world_license`` is for a world whose
    world.yaml has none: names as the Hub knows them (``cc-by-4.0``). ``language`` are ISO 639
    codes. ``pretty_name`` is the title, ``limits`` a paragraph on known limits, ``citation`` an
    entry in BibTeX.
    """

    place: ClassVar[str] = "card"
    not_data: ClassVar[Mapping[str, str]] = {"": "a card describes the data"}

    license: Text | None = None
    teacher_license: Text | None = None
    world_license: Text | None = None
    language: Annotated[list[Text], BeforeValidator(one_or_many), Field(min_length=1)] = field(
        default_factory=lambda: ["en"]
    )
    pretty_name: Text | None = None
    limits: Text | None = None
    citation: Text | None = None
