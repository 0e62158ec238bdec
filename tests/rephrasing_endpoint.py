"""An endpoint that plays a model which writes phrasings, by rule or by a list."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from synth.core.types.events import Usage
from synth.model import Completion
from tests.faulty_endpoint import Fault

Texts = Mapping[str, object]


def answer(*phrasings: Texts) -> str:
    """An answer with these phrasings, as a model words it."""
    return f"Here you are:\n```json\n{json.dumps({'phrasings': list(phrasings)})}\n```"


def says(request: str, **others: str) -> Texts:
    return {"persona": "someone in a hurry", "says": request, **others}


def texts_shown(messages: Sequence[Mapping[str, Any]]) -> dict[str, list[str]]:
    """The author's texts in a prompt, by their keys."""
    found: dict[str, list[str]] = {}
    place = ""
    for line in messages[-1]["content"].split("An example of")[0].splitlines():
        if key := re.match(r"- ([\w.]+) \(", line):
            place = key.group(1)
        elif line.startswith('  "'):
            found.setdefault(place, []).append(json.loads(line))
    return found


@dataclass
class Writer:
    """Answers a prompt with what ``by_text`` holds for a text in it, one answer after another, or
    by ``rule``. ``asked`` keeps the prompts, ``posts`` counts the requests.
    """

    by_text: Mapping[str, Sequence[str | Completion]] = field(default_factory=dict)
    rule: Callable[[dict[str, list[str]]], str] | None = None
    status: int | None = None
    asked: list[str] = field(default_factory=list)
    posts: int = 0
    given: dict[str, int] = field(default_factory=dict)

    async def __call__(self, request: dict[str, Any]) -> Completion:
        messages = request["messages"]
        self.asked.append(messages[-1]["content"])
        if self.rule is not None:
            return Completion(self.rule(texts_shown(messages)), usage=Usage(1000, 100))
        for text, answers in self.by_text.items():
            if json.dumps(text, ensure_ascii=False) in messages[-1]["content"]:
                number = self.given.get(text, 0)
                self.given[text] = number + 1
                found = answers[number]
                if isinstance(found, Completion):
                    return found
                return Completion(found, usage=Usage(1000, 100))
        raise AssertionError(f"nothing to answer to: {messages[-1]['content']}")

    async def fault(self, request: web.Request) -> Fault | None:
        if request.method != "POST":
            return None
        self.posts += 1
        return None if self.status is None else Fault(status=self.status)
