"""A section of the config with a transform that it switches on:
`synth run env=library requests.words=11`, where it is installed.
"""

from dataclasses import dataclass
from typing import ClassVar

from synth.core.config.section import ConfigSection
from synth.plugins import TASK_TRANSFORMS


@dataclass(frozen=True, slots=True, kw_only=True)
class Requests(ConfigSection):
    """Requests of at least ``words`` words; None: of any length."""

    place: ClassVar[str] = "requests"
    words: int | None = None

    def brings(self):
        return [(TASK_TRANSFORMS, "extensions.task_transform:Long")] if self.words else ()
