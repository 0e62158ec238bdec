"""The fallible expert: plays gold with one mistake in it, notices some, and logs its mistake.

Like the expert it works from the messages alone, and knows of the task only the calls that gold
makes. It never sees a verdict or a row of the database.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Generator, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from envs.types import ToolCall
from synth.core.foundation.hashing import canonical
from synth.core.foundation.perturbations import other_fact
from synth.core.models.scripted.expert import (
    GAVE_UP,
    RETRIES,
    ExpertConversation,
    GaveUpError,
    Play,
    failed,
)
from synth.core.models.scripted.mistakes import Gold, Slip, draw_slip, has_number
from synth.core.models.scripted.styles import NO_STYLES, StyledModel
from synth.core.renaming.translator import translator_of
from synth.core.tasks.yaml.words import SUBMIT, TODAY
from synth.core.types.renaming import renaming_of
from synth.core.types.steps import Action, ConfirmStep, ReplyStep, TalkStep
from synth.errors import TaskError
from synth.model import Completion
from synth.task import Task

LOST = (
    "I am sorry, I could not finish this.",
    "Sorry, I got stuck here: what I found does not fit together.",
    "I am afraid I have to leave it at this. Something went wrong on the way.",
)
WRONG = (
    "That was the wrong {field}. Once more.",
    "I passed the wrong {field}; let me correct that.",
    "Not right: I mixed up the {field}. Trying again.",
)
WRONG_SQL = (
    "That query does not run as it stands. Once more.",
    "The database refuses this; let me correct the query.",
    "I got the query wrong. Trying again.",
)
FORGOTTEN = (
    "I left out a step. Making up for it now.",
    "One step is still missing; I do it now.",
    "Something had to be done before that. I do it now.",
)
MISTOLD = ("My mistake.", "Sorry, I mixed that up.", "I got that wrong, sorry.")

_REMEMBERED = 10_000
"""Number of rollouts whose mistake is remembered: more than a worker ever has in flight."""


class FallibleModel(StyledModel):
    """An expert that makes a mistake of these kinds in a share of ``rate`` of its rollouts. One
    with a mistake is terse; the others have their ``styles``.
    """

    def __init__(
        self,
        kinds: Sequence[str],
        rate: float,
        name: str = "scripted",
        retries: int | None = RETRIES,
        styles: Mapping[str, float] = NO_STYLES,
    ) -> None:
        super().__init__(styles, name, retries)
        self._kinds, self._rate = kinds, rate
        self.plays_gold = False
        self._drawn: OrderedDict[tuple[str, int], Slip | None] = OrderedDict()

    def start(self, task: Task, tools: Sequence[object], seed: int) -> ExpertConversation:
        """Open a conversation. A side question (without tools) goes to the same expert as its
        rollout.
        """
        key = task.id, seed
        if tools or key not in self._drawn:
            own = tools
            if (renaming := renaming_of(task)) is not None:
                own = [translator_of(renaming).own_spec(cast("Any", tool)) for tool in tools]
            self._drawn[key] = draw_slip(task, own, seed, self._kinds, self._rate)
        slip = self._drawn[key]
        self._drawn.move_to_end(key)
        if len(self._drawn) > _REMEMBERED:
            self._drawn.popitem(last=False)
        if slip is None:
            return super().start(task, tools, seed)
        return FallibleConversation(task, slip, self.retries)


class _Over(Exception):
    """The expert stops here; ``args`` are the values saved so far, or empty if it gives up."""


class FallibleConversation(ExpertConversation):
    """One playing of the gold solution with the mistake ``slip``; the log records its outcome."""

    def __init__(self, task: Task, slip: Slip, retries: int | None = RETRIES) -> None:
        self._slip = slip
        self._gold = Gold(task)
        self._due = [self._gold.calls[index] for index in self._gold.counted]
        self._counts = {tool for tool, _ in self._due}
        self._made_acts = self._confirms = self._turns = 0
        self._made = self._mended = self._astray = self._harmless = False
        self._forgotten: tuple[Action, dict[str, object]] | None = None
        self._extra: list[str] = []
        self._besides: list[str] = []
        self._note: dict[str, object] | None = None
        self._wrong = False
        super().__init__(task, retries)

    def _play(self) -> Play:
        try:
            yield from self._gold_steps()
        except _Over as over:
            self._spoken = self._closing_words(*over.args) if over.args else self._words(LOST)
        except GaveUpError:
            self._spoken = self._closing = GAVE_UP
        except TaskError:
            if not self._made:
                raise
            self._spoken = self._words(LOST)
        self._settle()
        self._spoken = self._spoken or self._report()
        yield self._turn()

    def _act(self, step: Action, names: dict[str, object]) -> Play:
        index, slip = self._made_acts, self._slip
        self._made_acts += 1
        if self._forgotten is not None and slip.mends:
            yield from self._remember(index, step, names, *self._forgotten)
        elif index != slip.at or self._made or slip.in_words:
            yield from super()._act(step, names)
        elif slip.kind == "premature_answer":
            yield from self._answer_early(index, step, names)
        elif slip.kind == "forgotten_step":
            self._forgotten = (step, names)
            self._make(f"{slip.tool} left out")
        elif slip.kind == "stray_write":
            yield from super()._act(step, names)
            yield from self._stray(step)
        else:
            yield from self._wrong_call(index, step, names)

    def _talk(self, step: TalkStep, names: Mapping[str, object]) -> Play:
        if not isinstance(step, ConfirmStep):
            yield from super()._talk(step, names)
            return
        number, self._confirms = self._confirms, self._confirms + 1
        if self._slip.in_words and number == self._slip.at:
            yield from self._misstate(step, names)
            return
        self._propose(step, names)
        if not self._agreed((yield self._turn())) and self._astray:
            raise _Over

    def _wrong_call(self, index: int, step: Action, names: dict[str, object]) -> Play:
        """Make the call with a wrong argument; correct it if its result shows a problem."""
        slip, (tool, arguments) = self._slip, self._request(step, names)
        wrong = arguments | {slip.field: (slip.arguments or {})[slip.field]}
        self._extra.append(self._next_id())
        self._make(
            f"{tool} {slip.field}={wrong[slip.field]!r} instead of {arguments.get(slip.field)!r}"
        )
        content = yield from self._call(step, tool, wrong)
        reads = index not in self._gold.end.writes and tool != SUBMIT
        in_sql = slip.kind == "wrong_sql"
        if (
            failed(content)
            or in_sql
            or (reads and (self._gold.heeded or self._finds_nothing(step, content)))
        ):
            self._mend(WRONG_SQL if in_sql else WRONG)
            content = yield from self._call(step, tool, arguments)
        else:
            self._astray = reads
        self._save(step, content, names)

    def _remember(
        self,
        index: int,
        step: Action,
        names: dict[str, object],
        left_out: Action,
        its_names: dict[str, object],
    ) -> Play:
        """Make the call after the forgotten one. Unless it was a successful write, both are made
        now, in their order.
        """
        self._forgotten = None
        try:
            tool, arguments = self._request(step, names)
        except TaskError:  # it needs what the forgotten call would have brought
            tool, content = "", ""
        else:
            content = yield from self._call(step, tool, arguments)
            if index in self._gold.end.writes and not failed(content):
                self._save(step, content, names)
                return
        self._mend(FORGOTTEN)
        yield from super()._act(left_out, its_names)
        if tool != SUBMIT or failed(content):
            yield from super()._act(step, names)

    def _stray(self, step: Action) -> Play:
        slip = self._slip
        field = (
            f" with {slip.field}={(slip.arguments or {})[slip.field]!r}" if slip.field else " again"
        )
        self._extra.append(self._next_id())
        self._make(f"{slip.tool}{field}", missing=False)
        if failed((yield from self._call(step, slip.tool, slip.arguments or {}))):
            self._log(recovered=True, missing=False, detail="the tool refused it")

    def _answer_early(self, index: int, step: Action, names: Mapping[str, object]) -> Play:
        answer = self._gold.end.answer
        self._make("closed before the work was done")
        self._spoken = ""
        if answer is not None and index in self._gold.end.writes:
            yield from self._call(step, SUBMIT, answer)
        raise _Over(names)

    def _misstate(self, step: ConfirmStep, names: Mapping[str, object]) -> Play:
        """Ask the user's consent with a wrong number or date, and again with the right one if the
        user does not agree.
        """
        consent = None if self._task.user is None else self._task.user.consent
        self._propose(step, names)
        facts = sorted(
            mention
            for mention in (consent.mentions if consent else ())
            if has_number(mention) and mention in self._spoken
        )
        if not facts:
            yield self._turn()
            return
        fact = facts[self._slip.draw % len(facts)]
        self._spoken = self._spoken.replace(fact, other_fact(fact))
        self._make(f"said {other_fact(fact)!r} instead of {fact!r}", missing=False)
        if self._agreed((yield self._turn())):
            self._harmless = True
            return
        self._mend(MISTOLD)
        self._propose(step, names)
        yield self._turn()

    def _propose(self, step: ConfirmStep, names: Mapping[str, object]) -> None:
        self._add(step.text, names)
        self._acts = (self._act_of(step),)

    def _call(
        self, step: Action, tool: str, arguments: Mapping[str, object]
    ) -> Generator[Completion, str, str]:
        """Make a call and keep account of those that are due. Gives up if a stray call might be
        right by chance.
        """
        call_id, stray = self._next_id(), False
        if tool in self._counts:
            key = canonical(dict(arguments))
            due = [due_call for due_call in self._due if due_call[0] == tool]
            exact = [due_call for due_call in due if canonical(dict(due_call[1])) == key]
            if exact:
                self._due.remove(exact[0])
            elif self._astray:
                if not all(
                    self._gold.surely_other(tool, arguments, due_call) for _, due_call in due
                ):
                    raise _Over
                stray = True
        content = yield from super()._call(step, tool, arguments)
        if stray and not failed(content):
            self._besides.append(call_id)
        return content

    def _settle(self) -> None:
        """Log at the end the outcome of a mistake that was not noticed."""
        if self._made and not self._mended and (self._harmless or (self._astray and not self._due)):
            self._extra += self._besides
            detail = "did more than was due" if self._besides else "nothing came of it"
            self._log(recovered=not self._besides, missing=False, detail=detail)

    def _make(self, detail: str, *, missing: bool = True) -> None:
        self._made = True
        self._log(recovered=False, missing=missing, detail=detail)
        self._wrong = True

    def _mend(self, words: Sequence[str]) -> None:
        self._mended = True
        self._spoken = f"{self._spoken}\n\n{self._words(words)}".strip()
        self._log(recovered=True, missing=False, detail="set right")

    def _log(self, *, recovered: bool, missing: bool, detail: str) -> None:
        """Attach an entry of the log to the next completion. What is said of a mistake later
        replaces the entry of one that no turn has shown yet.
        """
        details = {
            "recovered": recovered,
            "missing": missing,
            "extra": list(self._extra),
            "detail": detail,
        }
        self._note = {"kind": self._slip.kind, "step": self._slip.at, **details}
        self._wrong = False

    def _turn(self, *calls: ToolCall) -> Completion:
        completion, note, wrong = super()._turn(*calls), self._note, self._wrong
        self._turns, self._note, self._wrong = self._turns + 1, None, False
        if note is None:
            return completion
        log = {"mistake": note | {"turn": self._turns - 1}}
        return replace(completion, provider=log, train=not wrong)

    def _words(self, words: Sequence[str]) -> str:
        return words[self._slip.draw % len(words)].format(field=self._slip.field.replace("_", " "))

    def _closing_words(self, names: Mapping[str, object]) -> str:
        """Return gold's closing words, as far as their values are known."""
        steps = self._task.gold
        if not steps or not isinstance(steps[-1], ReplyStep):
            return ""
        self._spoken = ""
        try:
            self._add(steps[-1].text, names)
        except TaskError:
            return ""
        return self._spoken

    def _finds_nothing(self, step: Action, content: str) -> bool:
        """Tell whether a result holds none of the values that gold saves from it."""
        found: dict[str, object] = {TODAY: self._task.now[:10]}
        try:
            self._save(step, content, found)
        except TaskError:
            return True
        saved = [found[name] for name in step.save]
        return bool(saved) and all(value is None or value == [] for value in saved)

    def _agreed(self, reply: str) -> bool:
        consent = None if self._task.user is None else self._task.user.consent
        answers = [] if consent is None else [consent.says, consent.declines]
        return any(answer is not None and answer in reply for answer in answers)

    def _next_id(self) -> str:
        return f"call_{len(self.steps)}"
