"""An endpoint that can take so many requests at once and answers 429 to the others; it keeps
account of what it was asked.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from synth.model import Completion
from tests.e2e.expert_endpoint import Expert
from tests.faulty_endpoint import Fault

REFUSED = Fault(
    status=429, body=(b'{"error": {"message": "too many at once", "type": "rate_limit"}}',)
)


@dataclass
class Limited:
    """``at_once`` None takes everything; each answer takes ``answer_s``. ``asked`` holds the time
    of each request.
    """

    expert: Expert
    at_once: int | None = None
    answer_s: float = 0.05
    asked: list[float] = field(default_factory=list[float])
    refused: list[float] = field(default_factory=list[float])
    now: int = 0
    most: int = 0

    async def __call__(self, request: dict[str, Any]) -> Completion:
        self.now += 1
        self.most = max(self.most, self.now)
        try:
            await asyncio.sleep(self.answer_s)
            return await self.expert(request)
        finally:
            self.now -= 1

    async def faults(self, request: web.Request) -> Fault | None:
        """Refuse what is too much, and note when each completion was asked for."""
        if not request.path.endswith("/chat/completions"):
            return None
        self.asked.append(time.monotonic())
        if self.at_once is not None and self.now >= self.at_once:
            self.refused.append(self.asked[-1])
            return REFUSED
        return None
