"""Honest agents that talk more than gold, or in other words, in turns of their own to the user."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Generator, Mapping, Sequence
from dataclasses import replace
from typing import ClassVar, cast

from synth.core.models.scripted.expert import ExpertConversation, Play
from synth.core.models.scripted.styles import LOOKING
from synth.core.types.steps import Action, AskStep, ConfirmStep, Step, rewritten
from synth.core.validation.honest.base import HonestAgent, ProvedTask
from synth.model import Completion, Conversation
from synth.task import Task

Turns = Generator[Completion, str]
"""Turns without calls; each is sent the user's answer."""


class _TalkingExpert(ExpertConversation):
    """The expert with turns of its own: before the work, before and after calls. ``writing`` are
    the tools that may change rows.
    """

    writing: ClassVar[frozenset[str]] = frozenset()

    def _play(self) -> Play:
        yield from self.begin()
        yield from super()._play()

    def _attempt(
        self, step: Action, tool: str, arguments: Mapping[str, object]
    ) -> Generator[Completion, str, str]:
        yield from self.before(tool, arguments)
        content = yield from super()._attempt(step, tool, arguments)
        yield from self.after(tool, arguments)
        return content

    def begin(self) -> Turns:
        """The turns before the first step."""
        yield from ()

    def before(self, tool: str, arguments: Mapping[str, object]) -> Turns:
        """The turns before a call."""
        yield from ()

    def after(self, tool: str, arguments: Mapping[str, object]) -> Turns:
        """The turns after a call."""
        yield from ()

    def writes(self, tool: str) -> bool:
        return tool in self.writing


class _Narrating(_TalkingExpert):
    def before(self, tool: str, arguments: Mapping[str, object]) -> Turns:
        yield Completion(content=f"{LOOKING[len(self.steps) % len(LOOKING)]} I'll use {tool}.")


class _Greeting(_TalkingExpert):
    def begin(self) -> Turns:
        yield Completion(content="Hello! Thank you for your message. I'm happy to help with that.")
        yield Completion(content="I understand what you would like me to do.")


class _ConfirmingEach(_TalkingExpert):
    def before(self, tool: str, arguments: Mapping[str, object]) -> Turns:
        if self.writes(tool):
            yield Completion(content=f"I would now {_act(tool, arguments)}. Shall I go ahead?")


class _ReadingBack(_TalkingExpert):
    def after(self, tool: str, arguments: Mapping[str, object]) -> Turns:
        if self.writes(tool):
            yield Completion(content=f"I did this: {_act(tool, arguments)}. Is that correct?")


class _AskingAgain(_TalkingExpert):
    def begin(self) -> Turns:
        yield Completion(content="Could you please tell me again what you need?")


def _act(tool: str, arguments: Mapping[str, object]) -> str:
    """A call in words."""
    given = ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in arguments.items())
    return f"{tool.replace('_', ' ')} with {given}" if given else tool.replace("_", " ")


class _Talker(HonestAgent):
    """Plays gold with turns of its own. ``needs_writes``: only where gold changes rows."""

    kind: ClassVar[type[_TalkingExpert]]
    needs_writes: ClassVar[bool] = False

    async def start(self, proved: ProvedTask) -> Conversation | None:
        writing = frozenset(call.name for call in proved.evidence.calls if call.changes)
        if self.needs_writes and not writing:
            return None
        kind = type(self.kind.__name__, (self.kind,), {"writing": writing})
        return proved.expert(proved.task.gold, kind)


class Narrates(_Talker):
    """Says before each call what it is about to do."""

    name = "narrates"
    kind = _Narrating


class Greets(_Talker):
    """Greets and shows understanding before it begins."""

    name = "greets"
    kind = _Greeting


class ConfirmsEachWrite(_Talker):
    """Asks for a yes before each write, also where no rule demands it."""

    name = "confirms_each_write"
    kind = _ConfirmingEach
    needs_writes = True


class ReadsBack(_Talker):
    """Reads each write back and waits for a yes."""

    name = "reads_back"
    kind = _ReadingBack
    needs_writes = True


class AsksAgain(_Talker):
    """Asks for what it was told already."""

    name = "asks_again"
    kind = _AskingAgain


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


class _MoreWords(ExpertConversation):
    """The expert with words behind its last ones."""

    words: ClassVar[str]

    def _gold_steps(self) -> Play:
        yield from super()._gold_steps()
        self._spoken = f"{self._spoken}\n\n{self.words}"


class _OfferingConversation(_MoreWords):
    words = "Is there anything else that I can help you with?"


class _PartingConversation(_MoreWords):
    words = "Thank you for your patience. Have a nice day, goodbye!"


class OffersMore(HonestAgent):
    """Ends by an offer of more help."""

    name = "offers_more"

    async def start(self, proved: ProvedTask) -> Conversation | None:
        return proved.expert(proved.task.gold, _OfferingConversation)


class SaysGoodbye(HonestAgent):
    """Ends by thanks and a goodbye."""

    name = "says_goodbye"

    async def start(self, proved: ProvedTask) -> Conversation | None:
        return proved.expert(proved.task.gold, _PartingConversation)


def _question(topic: str, asked: str) -> str:
    return asked or f"Could you tell me the {topic.replace('_', ' ')}?"


def _around(before: str, text: object, after: str) -> object:
    """A text of the notation with words around it."""
    if isinstance(text, str):
        return f"{before}{text}{after}"
    node = cast("Mapping[str, Sequence[object]]", text)
    return {"$text": [before, *node.get("$text", [text]), after]}


def _other_forms(text: str) -> str:
    """ISO dates in words, and decimal numbers without or with a last zero."""

    def date(found: re.Match[str]) -> str:
        try:
            day = dt.date.fromisoformat(found.group())
        except ValueError:
            return found.group()
        return f"{day:%B} {day.day}, {day.year}"

    dates = re.sub(r"\b\d{4}-\d\d-\d\d\b", date, text)
    return re.sub(r"(?<![\d.,-])(\d+\.\d)(?![\d.])", r"\g<1>0", dates)
