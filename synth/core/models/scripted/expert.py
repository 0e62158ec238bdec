"""The scripted expert: plays a task's gold solution through the model interface.

It reads only the messages, as any model does: saved values are taken from the tool results in them,
and the user's answers from them too. So it works in process as well as behind an HTTP endpoint that
keeps no state.

It reads a stored result through the tool for that, and replaces left-out turns by its own notes of
them: those notes are its answer to a request for a summary.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import cast

from envs.sql_errors import tells_of_transient
from envs.types import ErrorCategory, ToolCall
from synth.core.foundation.json_leaves import parsed
from synth.core.models.recap import (
    READ,
    kept_in,
    opening_of,
    read_piece,
    read_request,
    without_recap,
)
from synth.core.models.scripted.notes import Notes, read_notes, remembered
from synth.core.renaming.opening import translator_for
from synth.core.tasks.yaml.conditions import all_hold
from synth.core.tasks.yaml.saves import saved_values
from synth.core.tasks.yaml.template import fill, rounded
from synth.core.tasks.yaml.words import TODAY
from synth.core.types.reply import Act
from synth.core.types.steps import (
    Action,
    AskStep,
    BranchStep,
    CallStep,
    ConfirmStep,
    FollowUpStep,
    InstructStep,
    LoopStep,
    ReplyStep,
    Step,
    SubmitStep,
    TalkStep,
    every_step,
)
from synth.errors import TaskError
from synth.model import Completion, Conversation, Model, OnDelta
from synth.task import Message, Task

Play = Generator[Completion, str]
"""A generator of completions; each is sent the text of the message that answers it, of a tool or of
the user.
"""

CLOSING = "Done."
"""The expert's last words once everything is said."""

LONGEST_VALUE = 60
"""Characters of an argument that a report names."""


def _report_of(tool: str, arguments: Mapping[str, object]) -> str:
    """The expert's words about its last call if gold has none.

    Example: "Done: renew loan, 17, 2026-04-30."
    """
    values = [str(item) for item in arguments.values() if isinstance(item, str | int | float)]
    named = [tool.replace("_", " "), *(item for item in values if 0 < len(item) <= LONGEST_VALUE)]
    return f"Done: {', '.join(named)}."


RETRIES = 3
"""Number of times that the expert repeats a call after a transient failure: a lock, a lost
connection.
"""

GAVE_UP = "I am sorry: the database keeps failing, so I could not finish this."

_MAY_BE_MEANT = frozenset(
    {ErrorCategory.TIMEOUT, ErrorCategory.DEADLOCK, ErrorCategory.CONNECTION_ERROR}
)


class GaveUpError(Exception):
    """The expert has used up the retries of a call."""


_READING = CallStep(READ)


class GoldStuckError(TaskError):
    """Gold cannot go on. ``step`` is the word of the step, or its tool; callers know the file and
    its line.
    """

    def __init__(self, message: str, family: str, step: str) -> None:
        super().__init__(message, family=family)
        self.args = (message, family, step)
        self.step = step


class ScriptedModel(Model):
    """The expert for every task; ``name`` goes into the record's ``model`` column, ``retries`` to
    its conversations.
    """

    def __init__(self, name: str = "scripted", retries: int | None = RETRIES) -> None:
        self.name = name
        self.retries = retries
        self.plays_gold = True
        """True if it plays gold as a proof does, call by call."""

    def start(self, task: Task, tools: Sequence[object], seed: int) -> ExpertConversation:
        return ExpertConversation(task, self.retries)


class ExpertConversation(Conversation):
    """One playing of the gold solution. Given a longer transcript, it catches up.

    ``steps`` holds the gold step behind each call made so far, ``stated`` each ``say`` with the
    values that were saved before it, ``saved`` what each step saved, ``taken`` whether the
    conditions of each ``if`` held, ``talking`` the step whose turn waits for the user's answer. A
    call with a transient failure is
    repeated up to ``retries`` times, then the expert gives up in words; None: failures are part of
    gold, as in its proof.
    """

    def __init__(self, task: Task, retries: int | None = RETRIES) -> None:
        self._task = task
        self._renaming = translator_for(task)
        self._retries = retries
        self._closing = CLOSING
        self._report: Callable[[], str] = lambda: CLOSING
        self._read = 0
        self._heard = 0
        self._spoken = ""
        self._acts: tuple[Act, ...] = ()
        self._tools_after = _tools_after(task.gold)
        self._step = ""
        self.steps: list[Action] = []
        self.stated: list[tuple[ReplyStep, dict[str, object]]] = []
        self.saved: list[tuple[Action, dict[str, object]]] = []
        self.taken: list[tuple[BranchStep, bool]] = []
        self.talking: TalkStep | None = None
        self._playing = self._play()
        self._waiting = next(self._playing, None)

    async def complete(
        self, messages: Sequence[Message], on_delta: OnDelta | None = None
    ) -> Completion:
        return self.next_turn(messages)

    def next_turn(self, messages: Sequence[Message]) -> Completion:
        """Return the next completion after these messages. Raises :class:`TaskError` if gold cannot
        go on.
        """
        request = read_request(messages)
        if request is not None:
            return Completion(content=self._summary(request.messages))
        messages, recap = without_recap(messages)
        if recap is not None:  # fewer messages than before, but the same answers
            answers = [*read_notes(recap.summary), *_answers(messages, opening_of(messages))]
            self._hear(answers[self._heard :])
        else:
            self._hear(_answers(messages, self._read or opening_of(messages)))
            self._read = len(messages)
        return self._waiting or Completion(content=self._closing, acts=(Act("report"),))

    def _summary(self, messages: Sequence[Message]) -> str:
        """Return notes of these messages, for a conversation that goes on without them."""
        messages, recap = without_recap(messages)
        notes = Notes(self._result)
        for answer in [
            *read_notes(recap.summary if recap else ""),
            *_answers(messages, opening_of(messages)),
        ]:
            called = self._waiting is not None and bool(self._waiting.tool_calls)
            notes.add(self.steps[-1] if called else None, answer, failed=failed(answer))
            self._hear([answer])
        return notes.text or "Nothing was done yet."

    def _hear(self, answers: Sequence[str]) -> None:
        """Continue with the answers to calls and questions."""
        self._heard += len(answers)
        for answer in answers:
            if self._waiting is not None:
                try:
                    self._waiting = self._playing.send(answer)
                except StopIteration:
                    self._waiting = None

    def _play(self) -> Play:
        try:
            yield from self._gold_steps()
        except GaveUpError:
            self._spoken = self._closing = GAVE_UP
        if self._spoken:
            self._acts = (Act("report"),)
            yield self._turn()

    def _gold_steps(self) -> Play:
        yield from self._steps(self._task.gold, {TODAY: self._task.now[:10]})
        self._spoken = self._spoken or (self._report() if self.steps else "")

    def _steps(self, steps: Sequence[Step], names: dict[str, object]) -> Play:
        for step in steps:
            self._step = step.word
            # A reply goes with what comes next: a call, a question, or the end.
            if isinstance(step, ReplyStep):
                self._add(step.text, names)
                self.stated.append((step, dict(names)))
            elif isinstance(step, LoopStep):
                over = self._fill(step.over, names)
                if not isinstance(over, list):
                    shown = json.dumps(over, ensure_ascii=False)[:100]
                    raise self._stuck(f"for_each {step.name} needs a list, not {shown}")
                for item in self._items(cast("list[object]", over)):
                    yield from self._steps(step.steps, names | {step.name: item})
            elif isinstance(step, BranchStep):
                yield from self._steps(self._branch(step, names), names)
            elif isinstance(step, TalkStep):
                yield from self._talk(step, names)
            else:
                yield from self._act(step, names)

    def _branch(self, step: BranchStep, names: Mapping[str, object]) -> Sequence[Step]:
        """The steps of the branch that the conditions choose."""
        try:
            held = all_hold(step.conditions, names)
        except KeyError as error:
            raise self._stuck(f"`if` uses {error.args[0]!r}, which no step has saved") from None
        except TaskError as error:
            raise self._stuck(error.message) from None
        self.taken.append((step, held))
        return step.steps if held else step.otherwise

    def _items(self, over: list[object]) -> list[object]:
        """The items of a loop in the order in which they are played."""
        return over

    def _act(self, step: Action, names: dict[str, object]) -> Play:
        tool, arguments = self._request(step, names)
        self._report = partial(_report_of, tool, arguments)
        content = yield from self._call(step, tool, arguments)
        self._save(step, content, names)

    def _talk(self, step: TalkStep, names: Mapping[str, object]) -> Play:
        """Ask, confirm or report; the user's answer is in the messages, and gold knows it."""
        if isinstance(step, FollowUpStep):
            if step.when == "proposed":  # the answer to the last proposal
                return
            self._spoken = self._spoken or self._report()
        else:
            if isinstance(step, InstructStep):
                step = replace(step, arguments=self._fill(dict(step.arguments), names))
            self._add(step.text, names)
        self._acts = (self._act_of(step),)
        self.talking = step
        yield self._turn()
        self.talking = None

    def _act_of(self, step: TalkStep) -> Act:
        match step:
            case AskStep():
                return Act("ask", topics=tuple(step.topics))
            case ConfirmStep():
                return Act("propose", tools=self._tools_after.get(id(step), ()))
            case FollowUpStep():
                return Act("refuse" if step.when == "refused" else "report")
            case InstructStep():
                return Act("instruct", tools=(step.tool,), arguments=step.arguments)

    def _request(self, step: Action, names: Mapping[str, object]) -> tuple[str, dict[str, object]]:
        """Return the tool that a step calls, and its arguments."""
        filled = self._fill(dict(step.arguments), names)
        if isinstance(step, SubmitStep):
            filled = rounded(filled)
        return step.tool, cast("dict[str, object]", filled)

    def _call(
        self, step: Action, tool: str, arguments: Mapping[str, object]
    ) -> Generator[Completion, str, str]:
        """Make a call, with retries. Returns its result's text, read to its end if gold saves from
        it.
        """
        content = yield from self._tried(step, tool, arguments)
        return (yield from self._whole(content)) if step.save else content

    def _tried(
        self, step: Action, tool: str, arguments: Mapping[str, object]
    ) -> Generator[Completion, str, str]:
        content = yield from self._attempt(step, tool, arguments)
        if self._retries is None or step.fails in _MAY_BE_MEANT:
            return content
        for _ in range(self._retries):
            if not tells_of_transient(content):
                break
            content = yield from self._attempt(step, tool, arguments)
        if tells_of_transient(content):
            raise GaveUpError
        return content

    def _attempt(
        self, step: Action, tool: str, arguments: Mapping[str, object]
    ) -> Generator[Completion, str, str]:
        """Make a call once, with pending words. Returns its result's text."""
        call = ToolCall.of(tool, arguments, f"call_{len(self.steps)}")
        self.steps.append(step)
        return (yield self._turn(call))

    def _whole(self, content: str) -> Generator[Completion, str, str]:
        """Return a stored result, read to its end; any other result as it is."""
        kept, offset, text = kept_in(content), 0, ""
        while kept is not None and offset is not None:
            arguments = {"output_id": kept.output_id, "offset": offset}
            content = yield from self._tried(_READING, READ, arguments)
            found = read_piece(content)
            if found is None:  # refused, or read before the turns that notes tell of
                return content
            text, offset = text + found[0], found[1]
        return text if kept is not None else content

    def _turn(self, *calls: ToolCall) -> Completion:
        """Return a completion with the pending words and these calls, in the names of the task's
        renaming.
        """
        spoken, self._spoken = self._spoken, ""
        acts, self._acts = self._acts, ()
        if self._renaming is not None:
            spoken = self._renaming.show_words(spoken, calls)
            calls = tuple(map(self._renaming.show_call, calls))
        return Completion(
            content=spoken,
            tool_calls=calls,
            finish_reason="tool_calls" if calls else "stop",
            acts=acts,
        )

    def _add(self, text: object, names: Mapping[str, object]) -> None:
        filled = self._fill(text, names)
        words = filled if isinstance(filled, str) else json.dumps(filled, ensure_ascii=False)
        self._spoken = f"{self._spoken}\n\n{words}".strip().replace(": \n", ":\n")

    def _fill(self, value: object, names: Mapping[str, object]) -> object:
        try:
            return fill(value, "$", names)
        except KeyError as error:
            raise self._stuck(
                f"gold uses {error.args[0]!r}, which no step before has saved"
            ) from None
        except TaskError as error:
            raise self._stuck(error.message) from None

    def _save(self, step: Action, content: str, names: dict[str, object]) -> None:
        saved = remembered(content)
        for name, path in step.save.items():
            if saved is not None:
                names[name] = saved[name]
                continue
            try:
                names |= saved_values({name: path}, self._result(content), names)
            except (LookupError, ValueError) as error:
                raise self._stuck(_unsaved(name, step.tool, error, content)) from None
        self.saved.append((step, {name: names[name] for name in step.save}))

    def _result(self, content: str) -> object:
        """The value of a result, by the world's own names."""
        value = parsed(content)
        return value if self._renaming is None else self._renaming.own_output(value)

    def _stuck(self, message: str) -> GoldStuckError:
        return GoldStuckError(message, self._task.family, self._step)


def _tools_after(gold: Sequence[Step]) -> Mapping[int, tuple[str, ...]]:
    """The tools that gold calls after each proposal and before it speaks again, by the proposal's
    ``id``.
    """
    found: dict[int, tuple[str, ...]] = {}
    tools: tuple[str, ...] = ()
    for step in reversed(list(every_step(gold))):
        if isinstance(step, CallStep):
            tools = (step.tool, *tools)
        elif isinstance(step, TalkStep):
            if isinstance(step, ConfirmStep):
                found[id(step)] = tuple(dict.fromkeys(tools))
            tools = ()
    return found


def _answers(messages: Sequence[Message], start: int) -> list[str]:
    """Return the answers to calls and questions, from a message on."""
    return [
        message["content"] for message in messages[start:] if message["role"] in {"tool", "user"}
    ]


def failed(content: str) -> bool:
    """Tell whether a tool's message reports an error, in any of the agent's error styles."""
    try:
        result: object = json.loads(content)
    except ValueError:
        return content.startswith("Error:")
    return isinstance(result, dict) and cast("dict[str, object]", result).get("status") == "error"


def _unsaved(name: str, tool: str, error: Exception, content: str) -> str:
    """Explain a value that could not be saved: a failed call is the reason itself."""
    found = re.match(r'\{"status":"error",', content)
    refusal: dict[str, object] = json.loads(content) if found else {}
    if refusal.get("category"):
        return (
            f"the gold call {tool} fails: {str(refusal.get('message')).rstrip('.')}"
            f" ({refusal['category']})"
        )
    return f"gold cannot save {name!r} from {tool}: {error}; the result was {content[:300]}"
