"""Honest agents that talk more than gold, or in other words, in turns of their own to the user."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Collection, Generator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar, cast

from synth.core.language.wording import MONTH, days
from synth.core.models.scripted.expert import ExpertConversation, Play
from synth.core.models.scripted.narrating import LOOKING
from synth.core.types.steps import Action, AskStep, ConfirmStep, Step, rewritten
from synth.core.validation.honest.base import HonestAgent, ProvedTask
from synth.model import Completion, Conversation
from synth.task import Task


class _TalkingExpert(ExpertConversation):
    """The expert with turns of its own, in the words of an agent. ``writing`` are the tools that
    change rows.
    """

    def __init__(self, agent: _Talker, writing: Collection[str], task: Task, **more: Any) -> None:
        self._agent, self._writing = agent, writing
        super().__init__(task, **more)

    def _play(self) -> Play:
        yield from _turns(self._agent.begin())
        yield from super()._play()

    def _attempt(
        self, step: Action, tool: str, arguments: Mapping[str, object]
    ) -> Generator[Completion, str, str]:
        talks = not self._agent.about_writes or tool in self._writing
        act = _act(tool, arguments)
        yield from _turns(self._agent.before(len(self.steps), tool, act) if talks else ())
        content = yield from super()._attempt(step, tool, arguments)
        yield from _turns(self._agent.after(act) if talks else ())
        return content

    def _gold_steps(self) -> Play:
        yield from super()._gold_steps()
        if self._agent.end:
            self._spoken = f"{self._spoken}\n\n{self._agent.end}"


def _turns(words: Sequence[str]) -> Generator[Completion, str]:
    """Turns without calls; each is sent the user's answer."""
    for text in words:
        yield Completion(content=text)


def _act(tool: str, arguments: Mapping[str, object]) -> str:
    """A call in words."""
    given = ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in arguments.items())
    return f"{tool.replace('_', ' ')} with {given}" if given else tool.replace("_", " ")


class _Talker(HonestAgent):
    """Plays gold with turns of its own, and ``end`` behind its last words. ``about_writes``: only
    where gold changes rows, and only beside the calls that may.
    """

    about_writes: ClassVar[bool] = False
    end: ClassVar[str] = ""

    async def start(self, proved: ProvedTask) -> Conversation | None:
        writing = {call.name for call in proved.evidence.calls if call.changes}
        if self.about_writes and not writing:
            return None
        return proved.expert(proved.task.gold, partial(_TalkingExpert, self, writing))

    def begin(self) -> Sequence[str]:
        """The turns before the first step."""
        return ()

    def before(self, number: int, tool: str, act: str) -> Sequence[str]:
        """The turns before the call of this ``number``; ``act`` is the call in words."""
        return ()

    def after(self, act: str) -> Sequence[str]:
        """The turns after a call."""
        return ()


class Narrates(_Talker):
    """Says before each call what it is about to do."""

    name = "narrates"

    def before(self, number: int, tool: str, act: str) -> Sequence[str]:
        words = LOOKING[number % len(LOOKING)].format("that")
        return [f"{words} I'll use {tool}."]


class Greets(_Talker):
    """Greets and shows understanding before it begins."""

    name = "greets"

    def begin(self) -> Sequence[str]:
        return [
            "Hello! Thank you for your message. I'm happy to help with that.",
            "I understand what you would like me to do.",
        ]


class ConfirmsEachWrite(_Talker):
    """Asks for a yes before each write, also where no rule demands it."""

    name = "confirms_each_write"
    about_writes = True

    def before(self, number: int, tool: str, act: str) -> Sequence[str]:
        return [f"I would now {act}. Shall I go ahead?"]


class ReadsBack(_Talker):
    """Reads each write back and waits for a yes."""

    name = "reads_back"
    about_writes = True

    def after(self, act: str) -> Sequence[str]:
        return [f"I did this: {act}. Is that correct?"]


class AsksAgain(_Talker):
    """Asks for what it was told already."""

    name = "asks_again"

    def begin(self) -> Sequence[str]:
        return ["Could you please tell me again what you need?"]


class OffersMore(_Talker):
    """Ends by an offer of more help."""

    name = "offers_more"
    end = "Is there anything else that I can help you with?"


class SaysGoodbye(_Talker):
    """Ends by thanks and a goodbye."""

    name = "says_goodbye"
    end = "Thank you for your patience. Have a nice day, goodbye!"


class _Rewording(HonestAgent):
    """Plays gold with other steps of talk."""

    async def start(self, proved: ProvedTask) -> Conversation | None:
        gold = list(proved.task.gold)
        steps = rewritten(gold, lambda step: self.step(step, proved.task))
        return None if steps == gold else proved.expert(steps)

    def step(self, step: Step, task: Task) -> Sequence[Step]:
        """The steps in the place of one of gold's."""
        return [step]


class AsksGenerically(_Rewording):
    """Asks for details without a name for them."""

    name = "asks_generically"

    def step(self, step: Step, task: Task) -> Sequence[Step]:
        text = "Could you please share the details?"
        return [replace(step, text=text)] if isinstance(step, AskStep) else [step]


class AsksOneByOne(_Rewording):
    """Asks one thing at a time."""

    name = "asks_one_by_one"

    def step(self, step: Step, task: Task) -> Sequence[Step]:
        if not isinstance(step, AskStep) or len(step.topics) < 2:
            return [step]
        knows = task.role.every_topic
        return [AskStep([topic], _question(topic, knows[topic].asked)) for topic in step.topics]


class AsksAtOnce(HonestAgent):
    """Asks for all that gold asks in its first question."""

    name = "asks_at_once"

    async def start(self, proved: ProvedTask) -> Conversation | None:
        gold = proved.task.gold
        asks = [step for step in gold if isinstance(step, AskStep)]
        if len(asks) < 2:
            return None
        knows = proved.task.role.every_topic
        topics = list(dict.fromkeys(topic for step in asks for topic in step.topics))
        text = " ".join(_question(topic, knows[topic].asked) for topic in topics)
        first = AskStep(topics, text)
        steps = [first if step is asks[0] else step for step in gold]
        return proved.expert([step for step in steps if step not in asks[1:]])


class ConfirmsInMarkdown(_Rewording):
    """Puts its proposal in bold words and a list."""

    name = "confirms_in_markdown"

    def step(self, step: Step, task: Task) -> Sequence[Step]:
        if not isinstance(step, ConfirmStep):
            return [step]
        return [ConfirmStep(_around("**Before I go ahead:**\n\n- ", step.text, "\n"))]


class ConfirmsInOtherForms(_Rewording):
    """Writes dates and decimal numbers of its proposal in other forms."""

    name = "confirms_in_other_forms"

    def step(self, step: Step, task: Task) -> Sequence[Step]:
        if not isinstance(step, ConfirmStep) or not isinstance(step.text, str):
            return [step]
        return [ConfirmStep(_other_forms(step.text))]


def _question(topic: str, asked: str) -> str:
    return asked or f"Could you tell me the {topic.replace('_', ' ')}?"


def _around(before: str, text: object, after: str) -> object:
    """A text of the notation with words around it."""
    if isinstance(text, str):
        return f"{before}{text}{after}"
    node = cast("Mapping[str, Sequence[object]]", text)
    return {"$text": [before, *node.get("$text", [text]), after]}


def _other_forms(text: str) -> str:
    """ISO dates in words and others in ISO, and decimal numbers without or with a last zero."""

    def date(found: re.Match[str]) -> str:
        if not found[1]:
            return next(iter(days("dmy", found.group().lower())), found.group())
        try:
            day = dt.date.fromisoformat(found.group())
        except ValueError:
            return found.group()
        return f"{day:%B} {day.day}, {day.year}"

    dates = re.sub(rf"\b(?:(\d{{4}})-\d\d-\d\d|\d{{1,2}} (?i:{MONTH}) \d{{4}})\b", date, text)
    return re.sub(r"(?<![\d.,-])(\d+\.\d)(?![\d.])", r"\g<1>0", dates)
