"""Text-to-SQL: questions that a query answers, their sources, judgement and proof.

The other rooms find everything here through extension points; none of them imports this one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

from pydantic import Field, Strict

from synth.core.config.section import ConfigSection


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteConfig(ConfigSection):
    """``suite`` is the number of database subsets on which an answer to a published question has to
    be right too.
    """

    place: ClassVar[str] = "tasks"

    suite: Annotated[int, Strict(), Field(ge=0, le=16)] = 3
