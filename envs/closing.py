"""Objects that are context managers because they are closed."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Self


class Closing(ABC):
    """Base of what holds resources: leaving its block closes it."""

    @abstractmethod
    def close(self) -> None:
        """Release everything. Safe to call twice."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()
