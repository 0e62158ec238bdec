"""Manners in which the scripted expert plays gold. Each earns the full reward.

``terse``
    Calls without a word, as gold has them.
``parallel``
    Neighbouring reads in one turn, as far as all their arguments were known by then: none needs
    what another brings, and no query is written before the schema is seen. Neighbouring writes by
    one tool, and the same step for all items of a loop, too.
``narrating``
    As ``parallel``, with words beside the first call after each message of the user.

Which calls write is known from the proof of the task. A style's name is in ``provider_fields`` of
the first turn.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import groupby
from random import Random
from types import MappingProxyType
from typing import Final, cast

from envs.sql_errors import tells_of_transient
from envs.types import ToolCall
from synth.core.config.types import Style
from synth.core.foundation.hashing import derive_seed
from synth.core.foundation.json_leaves import named_values, texts_in
from synth.core.foundation.perturbations import MISTAKE_KINDS, USUAL_RATE, MistakeKind
from synth.core.models.scripted.expert import RETRIES, ExpertConversation, Play, ScriptedModel
from synth.core.renaming.opening import opening_of
from synth.core.tasks.yaml.template import names_in
from synth.core.types.steps import Action, CallStep, LoopStep, Step
from synth.model import Completion, Sampling
from synth.plugins import extension, resolve
from synth.task import Message, Task

MOST_AT_ONCE: Final = 8
"""The most calls in one turn."""

Request = tuple[CallStep, Mapping[str, object]]
"""A call step with its filled arguments."""


class _StyledConversation(ExpertConversation):
    """The expert in a manner of its own. ``seed`` draws its words."""

    style: Style = "terse"

    def __init__(
        self, task: Task, retries: int | None, seed: int, tools: Sequence[object] = ()
    ) -> None:
        self._listed = frozenset(texts_in(tools))
        """With other texts, the values that the tools' definitions list: states, carriers."""
        self._dice = Random(derive_seed("words", seed))
        self._said = False
        end = task.end
        self._writes = frozenset(() if end is None else end.writes)
        self._gold_calls: int = 0
        super().__init__(task, retries)

    def _turn(self, *calls: ToolCall) -> Completion:
        completion = super()._turn(*calls)
        if self._said:
            return completion
        self._said = True
        return replace(completion, provider={"style": self.style})

    def _act(self, step: Action, names: dict[str, object]) -> Play:
        self._gold_calls += 1
        yield from super()._act(step, names)


class Parallel(_StyledConversation):
    """Makes neighbouring reads in one turn, and batches of writes."""

    style = "parallel"

    def __init__(
        self, task: Task, retries: int | None, seed: int, tools: Sequence[object] = ()
    ) -> None:
        self._messages = opening_of(task)
        super().__init__(task, retries, seed, tools)

    def next_turn(self, messages: Sequence[Message]) -> Completion:
        self._messages = messages
        return super().next_turn(messages)

    def _steps(self, steps: Sequence[Step], names: dict[str, object]) -> Play:
        for run in _runs(steps):
            left: Sequence[Step] = run
            while left:
                ready = self._ready(left, names)
                if len(ready) > 1:
                    yield from self._together([(step, names) for step in ready])
                    left = [step for step in left if not any(step is one for one in ready)]
                    continue
                if isinstance(left[0], LoopStep) and _is_batch(left[0]):
                    for rounds in self._rounds(left[0], names):
                        yield from self._together(rounds)
                else:
                    yield from super()._steps(left[:1], names)
                left = left[1:]

    def _ready(self, left: Sequence[Step], names: Mapping[str, object]) -> Sequence[CallStep]:
        """The next calls that one turn can make: reads whose arguments stand in the text so far, or
        writes by one tool. None needs what another saves, and nothing is chosen beside the call
        that lists what there is to choose from: one without arguments.
        """
        batch = self._gold_calls in self._writes
        told = cache(self._told)
        ready: list[CallStep] = []
        due: set[str] = set()
        for number, step in enumerate(left, self._gold_calls):
            if not isinstance(step, CallStep) or (number in self._writes) != batch:
                break
            if ready and not batch and not ready[0].arguments:
                break
            if batch and (step.tool != cast("CallStep", left[0]).tool or due):
                break
            needs = bool(due & (names_in(dict(step.arguments), "$") | set(step.save)))
            passed = number - self._gold_calls > len(ready)
            if batch or (not needs and self._is_known(step, names, told(passed))):
                ready.append(step)
            due |= set(step.save)
        return ready

    def _told(self, passed: bool) -> str:
        """The text so far; where calls are ``passed``, no results before the user's last words."""
        heard = self._messages
        if passed:
            asked = max(n for n, one in enumerate(heard) if one["role"] == "user")
            heard = [one for n, one in enumerate(heard) if n > asked or one["role"] != "tool"]
        return " ".join(one["content"] for one in heard).casefold()

    def _is_known(self, step: CallStep, names: Mapping[str, object], told: str) -> bool:
        """True for a call whose arguments gold has saved, stand in the text ``told``, are listed by
        the tools, or are yes or no.
        """
        values = named_values(self._request(step, names)[1])
        own = [value for name, value in values if not names_in(step.arguments.get(name), "$")]
        own = [value for value in own if not isinstance(value, bool)]
        return all(value in self._listed or _stands(str(value).casefold(), told) for value in own)

    def _rounds(
        self, loop: LoopStep, names: dict[str, object]
    ) -> Iterator[list[tuple[CallStep, dict[str, object]]]]:
        """The calls of a loop: each step for all items, then the next step for all."""
        over = self._fill(loop.over, names)
        items = self._items(cast("list[object]", over)) if isinstance(over, list) else []
        for step in loop.steps:
            yield [(cast("CallStep", step), names | {loop.name: item}) for item in items]

    def _together(self, wanted: Sequence[tuple[CallStep, dict[str, object]]]) -> Play:
        """Make calls in as few turns as may be, and save from their results."""
        self._gold_calls += len(wanted)
        for start in range(0, len(wanted), MOST_AT_ONCE):
            part = wanted[start : start + MOST_AT_ONCE]
            contents = yield from self._at_once([(s, self._request(s, n)[1]) for s, n in part])
            for (step, names), content in zip(part, contents, strict=True):
                whole = (yield from self._whole(content)) if step.save else content
                self._save(step, whole, names)

    def _at_once(self, requests: Sequence[Request]) -> Generator[Completion, str, list[str]]:
        """Make calls in one turn. Returns the texts of their results, in order."""
        first = len(self.steps)
        calls = [
            ToolCall.of(step.tool, dict(arguments), f"call_{first + index}")
            for index, (step, arguments) in enumerate(requests)
        ]
        turn = self._turn(*calls)
        contents: list[str] = []
        for step, _ in requests:  # one answer after the other, each to its own step
            self.steps.append(step)
            contents.append((yield turn))
        for index, (step, arguments) in enumerate(requests):
            if self._retries and tells_of_transient(contents[index]):
                contents[index] = yield from self._tried(step, step.tool, arguments)
        return contents


def _stands(value: str, text: str) -> bool:
    """True if a text holds a value; a number is no part of another one, or of a date.

    >>> _stands("2025", "since 2025-09-25"), _stands("2025", '{"patient_id":2025}')
    (False, True)
    """
    if value.isdecimal():
        return re.search(rf"(?<![\w./-]){value}(?![\w/-]|[.:]\d)", text) is not None
    return value in text


def _joins(step: Step) -> bool:
    return isinstance(step, CallStep) and step.fails is None


def _is_batch(loop: LoopStep) -> bool:
    """True for a loop of calls of which none needs what another saves."""
    return all(_joins(step) and not cast("CallStep", step).save for step in loop.steps)


def _runs(steps: Sequence[Step]) -> Iterator[list[Step]]:
    """Runs of calls; other steps alone."""
    for joins, run in groupby(steps, _joins):
        members = [*run]
        yield from [members] if joins else [[step] for step in members]


KINDS: Final[Mapping[str, type[_StyledConversation]]] = {
    kind.style: kind for kind in (_StyledConversation, Parallel)
}


def draw_style(weights: Mapping[str, float], seed: int) -> type[_StyledConversation]:
    """The manner of one rollout, a function of its seed."""
    names = sorted(weights)
    dice = Random(derive_seed("style", seed))
    name = dice.choices(names, [weights[name] for name in names])[0]
    return KINDS.get(name) or resolve("synth.core.models.scripted.narrating:Narrating")


NO_STYLES: Final[Mapping[str, float]] = MappingProxyType({})


class StyledModel(ScriptedModel):
    """The expert whose manner is drawn for each rollout by weights; without any, the plain one."""

    def __init__(
        self, styles: Mapping[str, float], name: str = "scripted", retries: int | None = RETRIES
    ) -> None:
        super().__init__(name, retries)
        self._styles = styles
        self.plays_gold = not styles

    def start(self, task: Task, tools: Sequence[object], seed: int) -> ExpertConversation:
        if not self._styles:
            return super().start(task, tools, seed)
        return draw_style(self._styles, seed)(task, self.retries, seed, tools)


@dataclass(frozen=True, slots=True)
class ScriptedOptions:
    """Options of ``model=scripted``, from the config's model section."""

    name: str = "scripted"
    mistakes: Sequence[MistakeKind] = ()
    mistake_rate: float | None = None
    tool_retries: int = RETRIES
    style: Mapping[str, float] | None = None


@extension(ScriptedOptions, asks_endpoint=False, ignores=("name",))
def make(options: ScriptedOptions, sampling: Sampling, api_key: str | None) -> ScriptedModel:
    """Build the model that ``model=scripted`` names; it errs if ``mistakes`` or their rate are
    given: without kinds it makes any of :data:`~synth.core.foundation.perturbations.MISTAKE_KINDS`,
    without a rate in 30 percent of the rollouts.
    """
    styles, retries = options.style or NO_STYLES, options.tool_retries
    kinds = options.mistakes or (MISTAKE_KINDS if options.mistake_rate else ())
    if not kinds or options.mistake_rate == 0:
        return StyledModel(styles, options.name, retries)
    fallible: Callable[..., ScriptedModel] = resolve(
        "synth.core.models.scripted.fallible:FallibleModel"
    )
    rate = USUAL_RATE if options.mistake_rate is None else options.mistake_rate
    return fallible(kinds, rate, options.name, retries, styles)
