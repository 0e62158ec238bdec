"""The gold solution of an entry: its calls with the reads, questions and proposals without which
no agent could make them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from envs.environments.database import DatabaseExecutableEnvironment
from envs.errors import ExecutorError
from envs.sandboxes.base import Template
from envs.tools.toolbox import Toolbox
from envs.types import RowChange, ToolCall, ToolOutcome, ToolResult
from envs.world.loader import World
from synth.core.foundation.json_leaves import named_values
from synth.core.tasks.yaml.step_templates import AskTemplate, SayTemplate, StepTemplate
from synth.core.tasks.yaml.user import ConsentText
from synth.core.types.steps import CallStep, FollowUpStep, InstructStep
from synth.core.users.scripted.instructions import UserTools
from synth.core.validation.argument_provenance import appears_in, flat, leaves, unknown_arguments
from synth.ext.action_lists.entries import Entry, ExpectedCall, Kind, Refused
from synth.ext.action_lists.inference import MOST_COUNTED, Inferred, names_something
from synth.ext.action_lists.lookup import Read, Search
from synth.ext.action_lists.script import IDENTITY, Script
from synth.ext.action_lists.support import supported
from synth.ext.action_lists.values import (
    KnownValue,
    ValuePool,
    result_values,
    said_days,
    said_values,
    same_value,
)
from synth.ext.action_lists.wording import consent, plain, proposal, report, wants_identity
from synth.task import Task

_HANDS_OVER = re.compile(r"^(?:transfer|escalate|hand_?over|hand_?off)")
"""Tools whose work is outside of the database."""

_PROSE = 4
"""Words from which on a text is taken for the agent's own, and is not searched for."""


@dataclass(frozen=True)
class MadeGold:
    """The steps of a gold solution and what its user needs for it: ``consents`` of the first
    request and of each later one, the topics that gold ``asks`` for. ``required`` are calls that
    leave no row, ``inferred`` values of arguments, each with the tool, that follow from what is
    known. ``useless_reads`` describe reads of the list that are left out, because they fail or
    take what nobody could know.
    """

    steps: Sequence[StepTemplate]
    consents: Sequence[Sequence[ConsentText]]
    asks: Collection[str]
    confirms: bool
    required: Sequence[str]
    writes: bool
    inferred: Collection[tuple[str, Any]]
    useless_reads: Sequence[str]


@dataclass
class _Progress:
    """What has happened so far in a gold solution that is being made."""

    steps: list[StepTemplate] = field(default_factory=list[StepTemplate])
    consents: list[list[ConsentText]] = field(default_factory=lambda: [list[ConsentText]()])
    asked: list[str] = field(default_factory=list[str])
    seen: list[str] = field(default_factory=list[str])
    results: list[Any] = field(default_factory=list[Any])
    changes: list[RowChange] = field(default_factory=list[RowChange])
    written: list[str] = field(default_factory=list[str])
    """Tools that changed rows since the last report."""
    ever_written: bool = False
    instructed: bool = False
    """The user has changed rows."""
    required: list[str] = field(default_factory=list[str])
    reads: list[tuple[str, dict[str, Any]]] = field(
        default_factory=list[tuple[str, dict[str, Any]]]
    )
    """Reads that were added since the last write."""


class GoldMaker:
    """Makes the gold of one entry on two sandboxes: all its calls are made ``ahead``, to learn what
    becomes of them, and reads are looked for ``behind``, where only the earlier ones are made.
    """

    def __init__(
        self,
        entry: Entry,
        script: Script,
        world: World,
        template: Template,
        draft: Task,
        ahead: DatabaseExecutableEnvironment,
        behind: DatabaseExecutableEnvironment,
    ) -> None:
        self.entry, self.script, self.world, self.draft = entry, script, world, draft
        self._ahead, self._behind = ahead, behind
        self._pure = {tool.name for tool in world.tools if tool.pure}
        self._useless_reads: list[str] = []
        self._known = ValuePool()
        self._search = Search(behind, self._known)
        self._inferred = Inferred(world, draft, template)
        texts = {"": script.opening, **script.topics}
        texts |= {f"later {index}": text for index, text in enumerate(script.later)}
        years = sorted({int(year) for year in re.findall(r"\b20\d\d\b", draft.system)})
        for source, text in texts.items():
            self._known.values += said_values(text, source)
            self._known.values += said_days(text, years, source)
        self._said = flat("\n".join(texts.values()))
        self._named = [known for known in self._known.values if _names_a_thing(known)]

    def make(self, *, asks_consent: bool) -> MadeGold:
        """The gold solution. Raises :class:`Refused` with what is wrong with the entry."""
        for number, call in enumerate(self.entry.calls, 1):
            self._check(number, call)
        made = [
            (number, call, outcome)
            for number, call in enumerate(self.entry.calls, 1)
            if (outcome := self._executed(number, call)) is not None
        ]
        self._assert_end()
        self._due = later_calls([call for _, call, _ in made], self.script)
        tools = [str(leaf) for tool in self.world.tools for _, leaf in leaves(tool.to_openai())]
        progress = _Progress(seen=[self.draft.system, self.script.opening, *tools])
        self._progress = progress
        if wants_identity(self.world.policy):
            self._identify()
        for place, (number, call, outcome) in enumerate(made, 1):
            self._bring_later(place)
            self._play(number, call, outcome, asks_consent=asks_consent)
        self._finish()
        return MadeGold(
            progress.steps,
            progress.consents,
            progress.asked,
            asks_consent and progress.ever_written,
            progress.required,
            progress.ever_written,
            self._inferred.found,
            self._useless_reads,
        )

    def _box(self, call: ExpectedCall) -> Toolbox:
        return self.world.user_toolbox if call.by_user else self._ahead.toolbox

    def _made(self, environment: DatabaseExecutableEnvironment, call: ExpectedCall) -> ToolOutcome:
        """Make a call of the agent or of the user."""
        if call.by_user:
            environment = environment.beside(self.world.user_toolbox)
        return environment.call(_tool_call(call.name, call.arguments))

    def _reads(self, call: ExpectedCall) -> bool:
        return self._box(call)[call.name].read_only

    def _check(self, number: int, call: ExpectedCall) -> None:
        box = self._box(call)
        parsed = box.parse(_tool_call(call.name, call.arguments))
        if not isinstance(parsed, ToolResult):
            return
        kind = Kind.UNKNOWN_TOOL if call.name not in box else Kind.WRONG_ARGUMENTS
        advice = f" {parsed.advice}" if parsed.advice else ""
        raise Refused(kind, f"{_label(number, call)}: {parsed.message}{advice}")

    def _executed(self, number: int, call: ExpectedCall) -> ToolOutcome | None:
        """Make a call ahead of all questions and reads; None for a read that fails: gold does
        without it.
        """
        label, shown = _label(number, call), _shown(call.arguments)
        try:
            outcome = self._made(self._ahead, call)
        except ExecutorError as error:
            message = f"{label} breaks the tool: {error.message} ({shown})"
            raise Refused(Kind.FAILS_ON_DATA, message) from None
        result = outcome.result
        if not result.ok:
            message = (result.message or "it fails").rstrip(".")
            message = f"{label} fails on the data: {message} ({result.category}; {shown})"
            if self._reads(call):
                self._useless_reads.append(message)
                return None
            raise Refused(Kind.FAILS_ON_DATA, message)
        idle = not outcome.changes and not self._reads(call)
        if idle and not _hands_over(call):
            message = f"{label} changes nothing: no row differs after it ({shown})"
            raise Refused(Kind.NO_CHANGE, message)
        return outcome

    def _assert_end(self) -> None:
        """Raise Refused if an assertion does not hold once all calls are made."""
        players = self._ahead.beside(self.world.whole_toolbox)
        for call in self.entry.assertions:
            result = players.call(_tool_call(call.name, call.arguments)).result
            if not result.ok:
                problem = f"{result.message} {result.advice or ''}".rstrip()
            elif result.output is not call.value:
                problem = f"it is {result.output!r:.80}, not {call.value}"
            else:
                continue
            shown = _shown(call.arguments)
            raise Refused(
                Kind.WRONG_END, f"assertion {call.name}({shown}) at gold's end: {problem}"
            )

    def _identify(self) -> None:
        """Ask who the user is, and look that up, as the world's policy wants it."""
        known = [value for value in self._known.values if value.source == IDENTITY]
        if (read := next(self._search.reads_of(known), None)) is not None:
            self._add_reads([read])

    def _check_named(self) -> None:
        """Raise Refused if the user names something that a read finds and no call is about."""
        steps = [step for step in self._progress.steps if isinstance(step, CallStep | InstructStep)]
        meant = [str(value) for step in steps for _, value in named_values(step.arguments)]
        about = flat("\n".join([*meant, *self.entry.outputs]))
        for named in self._named:
            reads = () if appears_in(named.value, about) else self._search.reads_of([named])
            for read in reads:
                if any(same_value(found.value, named.value) for found in read.values):
                    raise Refused(
                        Kind.HALF_DONE,
                        f"the user names {named.value!r}, which {read.tool} finds, and no call of"
                        " gold is about it: add the calls that are due, or the read by which an"
                        " agent sees that none is",
                    )

    def _play(
        self, number: int, call: ExpectedCall, outcome: ToolOutcome, *, asks_consent: bool
    ) -> None:
        """Add one call of the list with all that has to come before it."""
        progress, writes = self._progress, bool(outcome.changes)
        if _hands_over(call) and not writes:
            progress.required.append(call.name)
        try:
            self._learn(number, call, outcome)
        except Refused as error:
            if not self._reads(call):
                raise
            self._useless_reads.append(error.reason)
            return
        if call.by_user:
            self._instruct(call, outcome)
            return
        if any(read == (call.name, dict(call.arguments)) for read in progress.reads):
            return
        if writes and asks_consent:
            schema = self._ahead.toolbox[call.name].parameters
            progress.steps.append(proposal(call.name, call.arguments))
            wants = flat(self.script.wants)
            condition = consent(call.name, call.arguments, schema, wants, progress.results)
            if condition not in progress.consents[-1]:
                progress.consents[-1].append(condition)
        progress.steps.append(CallStep(call.name, dict(call.arguments), line=self.entry.line))
        self._made(self._behind, call)
        self._inferred.played(call.name, call.arguments)
        self._hear(outcome.result.payload(), outcome.content)
        progress.changes += outcome.changes
        if writes:
            self._search.forget()
            progress.reads.clear()
            progress.ever_written = True
            progress.written.append(call.name)

    def _instruct(self, call: ExpectedCall, outcome: ToolOutcome) -> None:
        """Add what the user is to do, who tells what it comes to."""
        progress = self._progress
        progress.steps.append(InstructStep(call.name, dict(call.arguments), self.entry.line))
        self._made(self._behind, call)
        self._hear(outcome.result.payload(), UserTools(self.draft.role).report([outcome.result]))
        if outcome.changes:
            progress.changes += outcome.changes
            progress.instructed = True
            progress.written.append(call.name)

    def _bring_later(self, place: int) -> None:
        """Let the user bring the follow-up that the call at this place belongs to."""
        progress = self._progress
        for index, due in enumerate(self._due):
            if due == place:
                words = report(progress.written, ())
                progress.steps += [SayTemplate([words]), FollowUpStep(index, "done")]
                progress.written.clear()
                progress.consents.append([])
                progress.seen.append(self.script.later[index])

    def _learn(self, number: int, call: ExpectedCall, outcome: ToolOutcome) -> None:
        """Ask for and read what the arguments of a call need."""
        progress = self._progress
        while unknown := self._unknown(outcome):
            name, value = unknown[0]
            if topic := self._topic_of(value):
                self._ask(topic)
                continue
            prose = isinstance(value, str) and len(value.split()) > _PROSE
            chain = None if prose else self._chain(name, value)
            if chain is None:
                raise Refused(
                    Kind.UNKNOWABLE_VALUE,
                    f"{_label(number, call)} uses {name}={value!r}, which nobody could know:"
                    " no text of the scenario says it, and no read tool returns it",
                )
            before = len(progress.seen)
            self._add_reads(chain)
            if len(progress.seen) == before or (name, value) in self._unknown(outcome):
                raise Refused(
                    Kind.UNKNOWABLE_VALUE,
                    f"{_label(number, call)} uses {name}={value!r}, which no read tool shows",
                )

    def _unknown(self, outcome: ToolOutcome) -> list[tuple[str, Any]]:
        seen = flat("\n".join(self._progress.seen))
        unknown = unknown_arguments(outcome, seen, self.draft.rules.compare, self._pure)
        found = [item for item in unknown if not self._inferred.holds(outcome, *item, seen)]
        return found or [item for item in leaves(outcome.arguments or {}) if self._by_chance(*item)]

    def _by_chance(self, name: str, value: Any) -> bool:
        """True for a number that names something, and is known only as a part of other texts, such
        as the 21 of a date.
        """
        if not isinstance(value, int) or isinstance(value, bool) or not names_something(name):
            return False
        untold = {topic for topic in self.script.topics if topic not in self._progress.asked}
        return not any(
            same_value(known.value, value)
            for known in self._known.values
            if known.source not in untold
        )

    def _topic_of(self, value: Any) -> str | None:
        return next(
            (
                name
                for name, text in self.script.topics.items()
                if name not in self._progress.asked and appears_in(value, flat(text))
            ),
            None,
        )

    def _ask(self, topic: str) -> None:
        progress = self._progress
        progress.steps.append(AskTemplate([topic]))
        progress.asked.append(topic)
        progress.seen.append(self.script.topics[topic])

    def _chain(self, name: str, value: Any) -> list[Read] | None:
        """The reads that return a value, if possible without asking the user for more."""
        progress = self._progress
        brought = len(progress.consents) - 1
        to_come = {f"later {index}" for index in range(brought, len(self.script.later))}
        untold = {topic for topic in self.script.topics if topic not in progress.asked}
        name = name.rpartition(".")[2].removesuffix("[]")
        chain = self._search.find(name, value, frozenset(to_come | untold))
        if chain is None and untold:
            chain = self._search.find(name, value, frozenset(to_come))
        return chain

    def _add_reads(self, chain: Sequence[Read]) -> None:
        for read in chain:
            for topic in dict.fromkeys(value.source for value in read.uses):
                if topic in self.script.topics and topic not in self._progress.asked:
                    self._ask(topic)
            arguments = dict(read.arguments)
            self._progress.steps.append(CallStep(read.tool, arguments, line=self.entry.line))
            self._progress.reads.append((read.tool, arguments))
            outcome = self._behind.call(_tool_call(read.tool, arguments))
            self._unknown(outcome)  # its own inferred arguments are noted
            self._hear(outcome.result.payload(), outcome.content)

    def _hear(self, payload: Any, content: str) -> None:
        texts = [leaf for _, leaf in leaves(payload) if isinstance(leaf, str)]
        self._progress.seen += [content, *texts]
        self._progress.results.append(payload)
        self._known.values += result_values(payload)

    def _finish(self) -> None:
        """Add the expected outputs and the last words."""
        progress, entry = self._progress, self.entry
        acted_on = [value for call in entry.calls for _, value in named_values(call.arguments)]
        for output in entry.outputs:
            if supported(output, progress.results, acted_on, progress.changes):
                continue
            chain = self._chain("", output)
            if chain is None:
                raise Refused(
                    Kind.UNSUPPORTED_OUTPUT,
                    f"the output {output!r} is supported by no row: no read tool returns it, and"
                    " no count or sum over what gold reads comes to it",
                )
            self._add_reads(chain)
        acted = progress.ever_written or progress.instructed or progress.required
        if not acted and not entry.outputs:
            progress.steps.append(self._refusal())
            return
        said = [output for output in entry.outputs if appears_in(output, self._said)]
        if not acted and len(said) == len(entry.outputs):
            raise Refused(
                Kind.NOTHING_TO_JUDGE,
                f"nothing can be judged: gold changes no row, and the user says {said[0]!r}"
                " already, so an agent that repeats it would earn the full reward",
            )
        self._check_named()
        words = report([*progress.written, *progress.required], entry.outputs)
        progress.steps.append(SayTemplate([words]))

    def _refusal(self) -> SayTemplate:
        """The last words where a list only reads: the user wants what may not be done. The reads
        are required.
        """
        own = [call.name for call in self.entry.calls if not call.by_user]
        self._progress.required += own
        if not own:
            raise Refused(
                Kind.NOTHING_TO_JUDGE,
                "nothing can be judged: gold makes no call and no output is expected, so an agent"
                " that does nothing would earn the full reward",
            )
        self._check_named()
        about = next(iter(self.entry.calls[-1].arguments.values()), "this")
        return SayTemplate([f"Unfortunately I cannot do that for {about}."])


def later_calls(calls: Sequence[ExpectedCall], script: Script) -> list[int]:
    """The number of the call before which each later sentence is due: the first one with a value
    that nothing else says. 0 for a sentence that no call needs, or that none could follow.
    """
    earlier = flat("\n".join([script.opening, *script.topics.values()]))
    out: list[int] = []
    for sentence in map(flat, script.later):
        holders = [
            number
            for number, call in enumerate(calls, 1)
            if any(
                _is_telling(value)
                and appears_in(value, sentence)
                and not appears_in(value, earlier)
                for _, value in named_values(call.arguments)
            )
        ]
        out.append(holders[0] if holders else 0)
    return out


def _names_a_thing(known: KnownValue) -> bool:
    """True for a value by which a user may mean a row of the database, other than their own."""
    counted = known.shape == "number" and float(known.value) <= MOST_COUNTED
    return known.source != IDENTITY and known.shape not in ("word", "date") and not counted


def _is_telling(value: Any) -> bool:
    """True for a value that does not appear in a text by chance."""
    return not isinstance(value, bool) and value is not None and len(str(value)) > 2


def topic_words(calls: Sequence[ExpectedCall], text: str) -> list[str]:
    """The names, in words, of the parameters whose values a topic's text holds."""
    flattened = flat(text)
    return list(
        dict.fromkeys(
            plain(name)
            for call in calls
            for name, value in named_values(call.arguments)
            if _is_telling(value) and appears_in(value, flattened)
        )
    )


def _hands_over(call: ExpectedCall) -> bool:
    """True for a call whose work is outside of the database."""
    return _HANDS_OVER.search(call.name) is not None


def _tool_call(name: str, arguments: Mapping[str, Any]) -> ToolCall:
    return ToolCall.of(name, dict(arguments), "gold")


def _label(number: int, call: ExpectedCall) -> str:
    return f"gold call {number} ({call.name})"


def _shown(arguments: Mapping[str, Any]) -> str:
    text = ", ".join(
        f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in arguments.items()
    )
    return text if len(text) <= 160 else f"{text[:160]}..."
