"""Tasks that offer a part of the world's tools (``tasks.tools=needed+5``), and tasks that lack the
tool for what is asked (``tasks.missing_tools=0.15``): the agent has to say that it cannot do it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from itertools import takewhile
from random import Random
from typing import Any, cast

from envs.tools.tool import Tool
from synth.core.foundation.hashing import derive_seed
from synth.core.foundation.json_leaves import named_values
from synth.core.rewards.process_gates import ReadBefore, tool_of
from synth.core.rewards.reply.sentences import sentences, visible
from synth.core.tasks.parts import joined_gold
from synth.core.tasks.shown_texts import named_in
from synth.core.tasks.system_prompt import clock_line
from synth.core.types.checks import EndRules, Gate
from synth.core.types.steps import CallStep, LoopStep, ReplyStep, every_step
from synth.evidence import Evidence, Verifier
from synth.ext.variety.composition import role_of
from synth.ext.variety.config import NEEDED, ToolsetsConfig
from synth.task import Task
from synth.transform import Block, TaskTransform
from synth.verdict import Verdict

CANNOT = (
    "I'm sorry, but I can't {act}: I don't have access to that.",
    "I'm afraid I can't {act}: my access doesn't cover that.",
    "Unfortunately I'm not able to {act} with the access I have.",
    "Sorry, I can't {act}, as I don't have access for that here.",
    "I can't help with that, as my access doesn't let me {act}.",
)
UNDONE = (
    "Nothing was changed for {}.",
    "I have changed nothing for {}.",
    "Nothing has been done for {} so far.",
)
UNTOLD = ("So I can't tell you that.", "So I can't answer your question.")
"""What an agent says that lacks the tool. ``act`` is what the tools' descriptions say they do."""

MOST = 2
"""The most changes in a request that lacks a tool."""

_SECTION = re.compile(r"(?m)^(?=## )")
_NAMED = re.compile(r"`(\w+)`")

LACKS = "missing_tools"
"""The name under which a task's ``extras`` keep the tools that it lacks."""


class Toolsets(TaskTransform):
    """Offers each task the tools that gold calls or that have to be read before them, and others,
    drawn for the task, with the sections of the rules that are for these or for any. A share of the
    tasks lacks the tools for one request.
    """

    Options = ToolsetsConfig

    def __init__(self, options: ToolsetsConfig) -> None:
        super().__init__(options)
        found = NEEDED.fullmatch(options.tools or "")
        self._others = int(found[1]) if found else 0
        self._missing = options.missing_tools
        self._tools: Mapping[str, Tool] = {}
        self._writers: Collection[str] = ()

    def choose(
        self, blocks: Sequence[Block], opening: Callable[[Block, Task], str]
    ) -> Sequence[Block]:
        world_tools = blocks[0].source.world.tools if blocks else ()
        self._tools = {tool.name: tool for tool in world_tools}
        self._writers = {tool.name for tool in world_tools if not tool.read_only}
        return blocks

    def changed(self, task: Task, index: int, *, first: bool) -> Task:
        dice = Random(derive_seed("toolset", task.id))
        lacking = self._lacking(task, dice) if dice.random() < self._missing else None
        task = lacking or task
        needed = _needed_tools(task)
        hidden = needed.union(task.extras.get(LACKS, ()))
        others = [
            tool.name
            for tool in self._tools.values()
            if tool.name not in hidden and not (tool.read_only and lacking and not task.parts)
        ]
        offered = needed.union(dice.sample(others, min(self._others, len(others))))
        rules, clock, rest = task.system.partition(clock_line(task.now))
        task = replace(task, system=f"{self._rules_for(rules, offered | hidden)}{clock}{rest}")
        return task.with_extra("tools", sorted(offered))

    def _rules_for(self, rules: str, tools: Collection[str]) -> str:
        """Rules without the sections whose headings name tools of the world, and none of these."""
        headed = [(text, _NAMED.findall(text.partition("\n")[0])) for text in _SECTION.split(rules)]
        known = self._tools.keys()
        return "".join(
            text
            for text, names in headed
            if known.isdisjoint(names) or not set(names).isdisjoint(tools)
        )

    def _lacking(self, task: Task, dice: Random) -> Task | None:
        """The task without the tools for one of its requests; None if none can be taken away."""
        parts = list(task.parts or [task])
        for place in sorted(range(len(parts)), key=lambda _: dice.random()):
            names = self._key_tools(parts[place], alone=not task.parts)
            others = [one for index, one in enumerate(parts) if index != place]
            needed = set[str]().union(*map(_needed_tools, others))
            if not names or needed.intersection(names[:MOST]):
                continue
            parts[place] = _declined(parts[place], self._words(parts[place], names[:MOST], dice))
            names = [name for name in names if name not in needed]
            whole = self._whole(task, parts) if task.parts else replace(parts[0], form={})
            return whole.with_extra(LACKS, names)
        return None

    def _words(self, task: Task, names: Sequence[str], dice: Random) -> str:
        """The words to the user of a task without these tools: all that they would have done,
        and for what nothing was done.
        """
        acts = " or ".join(
            _act_of(self._tools[name].description, read_only=self._tools[name].read_only)
            for name in names
        )
        acts = re.sub(r"^(\w+)( .+ or) \1 ", r"\1\2 ", acts)
        calls = [step for step in task.gold if isinstance(step, CallStep)]
        reads = [*takewhile(lambda step: step.tool not in self._writers, calls)] or calls[:1]
        about = [one for step in reads for one in named_values(dict(step.arguments))]
        known = {*task.slots.values()}
        things = named_in((one for _, one in about if one in known), task.prompt)
        things = "" if " and " in things else things  # two values may be one name: Ray Barton
        if things:
            acts = re.sub(r"\b(an?|the) ", "the ", acts)
        said = [dice.choice(CANNOT).format(act=acts)]
        if names[0] not in self._writers:
            said.append(dice.choice(UNTOLD))
        elif things:
            said.append(dice.choice(UNDONE).format(things))
        return " ".join(said)

    def _key_tools(self, task: Task, *, alone: bool) -> Sequence[str]:
        """The tools without which nothing of a request can be met: all that write, whatever the
        data turn out to be, or the last that reads where the request asks for no change and no
        other request is there to read for. Empty where the user asks for a value beside a change,
        for something later, for all of a list (which can be named), or for more than :data:`MOST`
        changes.
        """
        options = _judged_in_words(task)
        if options is None or task.role.then:
            return []
        steps = [*every_step(task.gold)]
        if any(isinstance(step, LoopStep) for step in steps):
            return []
        calls = [step.tool for step in steps if isinstance(step, CallStep)]
        names = dict.fromkeys([*options.get("acts", ()), *calls])
        writes = [name for name in names if name in self._writers]
        if not writes:
            return calls[-1:] if alone and self._writers else []
        sure = [step for step in task.gold if isinstance(step, CallStep) and step.tool in writes]
        many = len({step.tool for step in sure}) > MOST
        met = not sure or sure[0].fails is not None or bool(task.oracle_sql)
        return [] if met or many else writes

    def _whole(self, task: Task, parts: Sequence[Task]) -> Task:
        """A composed task of other parts."""
        gates = list({str(gate.to_json()): gate for part in parts for gate in part.gates}.values())
        return replace(
            task, parts=tuple(parts), gates=gates, gold=joined_gold(parts), user=role_of(parts)
        )


def _judged_in_words(task: Task) -> Mapping[str, Any] | None:
    """The options of the gate of its reply; None without one, or where it leaves values out."""
    reply = task.gate("reply")
    options = cast("Mapping[str, Any]", reply.options or {}) if reply else {"unjudged": ""}
    return None if "unjudged" in options else options


def _declined(task: Task, words: str) -> Task:
    """The task whose right end is to say these words, and to change nothing."""
    kept = [gate for gate in task.gates if gate.name in {"state", "reads_only"}]
    return replace(
        task,
        gold=[ReplyStep(words)],
        answer=None,
        gates=[*kept, Gate("declines"), Gate("reply", {"outcome": False})],
        rules=EndRules(transient=task.rules.transient),
        oracle_sql={},
        user=replace(task.role, then=()),
    )


def _needed_tools(task: Task) -> set[str]:
    """The tools that gold calls in any case, and one of those that have to be called before each of
    them: what the user declines has to be possible.
    """
    needed = {step.tool for step in every_step(task.gold) if isinstance(step, CallStep)}
    replies = [one.gate("reply") for one in task.parts or (task,)]
    for gate in replies:
        needed.update(cast("Mapping[str, Any]", gate.options or {}).get("acts", ()) if gate else ())
    gate = task.gate("read_before")
    demands = ReadBefore().parse_options({} if gate is None else gate.options)
    for tool in sorted(needed):
        needed |= {
            tool_of(lookups[0])
            for lookups in demands.get(tool, ())
            if needed.isdisjoint(map(tool_of, lookups))
        }
    return needed


def _act_of(description: str, *, read_only: bool) -> str:
    """What a tool does, as the infinitive that its description begins with.

    >>> _act_of("Cancel one order of a customer, refunds apart.", read_only=False)
    'cancel an order'
    """
    ends = (
        r"[.;:]|, (?!\w+ and )| with "
        if read_only
        else r"[.;:,]| and | or | with | (?:of|to|from|in|on) an? "
    )
    words = re.sub(r"^(Return|Get)\b", "look up", re.split(ends, description)[0].strip())
    words = re.sub(
        r"\bone (?!of\b)([aeiou]?)", lambda found: f"a{'n' * bool(found[1])} {found[1]}", words
    )
    return words[:1].lower() + words[1:]


class Declines(Verifier):
    """Passes if the assistant's last words deny something ("I can't do that", "no tool for it").
    The gate ``reply`` beside it refuses a claim that it was done.
    """

    name = "declines"

    def verify(self, evidence: Evidence, options: object) -> Verdict:
        last = evidence.spoken[-1].text if evidence.spoken else ""
        said = any(one.denies and not one.asks for one in sentences(visible(last)))
        reason = "the user is told" if said else "nothing says"
        detail = {"apart": ["no tool for it"]}
        return Verdict(self.name, float(said), f"{reason} that it cannot be done", detail=detail)
