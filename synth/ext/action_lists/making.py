"""The body of a task from an entry of a list: user, gold and gates."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import closing
from dataclasses import dataclass

from envs.sandboxes.base import Template
from envs.types import Pins
from envs.world.loader import World
from synth.core.tasks.yaml.body import Body, WorldRules
from synth.core.tasks.yaml.step_templates import CallTemplate, StepTemplate
from synth.core.tasks.yaml.user import SequelText, TopicText, UserText
from synth.core.types.checks import Gate
from synth.ext.action_lists.entries import Entry, ExpectedCall
from synth.ext.action_lists.gold import GoldMaker, MadeGold, later_calls, topic_words
from synth.ext.action_lists.script import IDENTITY, WISHES, Script, script_of
from synth.task import Task

_IDENTITY_WORDS = (
    "name",
    "email",
    "user id",
    "zip code",
    "phone number",
    "account",
    "verify",
    "verification",
    "authenticate",
    "identify",
)
_WISH_WORDS = ("preference", "prefer", "wish", "instructions", "condition")


@dataclass(frozen=True)
class MadeBody:
    """The body of a task, and values of its gold's arguments, each with the tool, that an agent
    works out. ``useless_reads`` as in :class:`MadeGold`.
    """

    body: Body
    inferred: Collection[tuple[str, object]]
    useless_reads: Sequence[str]


def settled_script(entry: Entry, writers: Collection[str]) -> Script:
    """The script of an entry, in which each later sentence is a request that follows a write.

    One without a value of its own belongs to the opening, any other that cannot follow a write to
    the wishes.
    """
    script = script_of(entry.scenario)
    dues = later_calls(entry.calls, script)
    kept: dict[int, list[str]] = {}
    opening, wishes = [script.opening], [script.topics.get(WISHES, "")]
    for sentence, due in zip(script.later, dues, strict=True):
        follows = any(call.name in writers for call in entry.calls[: max(due - 1, 0)])
        if due == 0:
            opening.append(sentence)
        elif not follows or (kept and due < max(kept)):
            wishes.append(sentence)
        else:
            kept.setdefault(due, []).append(sentence)
    topics = {**script.topics, WISHES: " ".join(filter(None, wishes))}
    return Script(
        " ".join(opening),
        {name: text for name, text in topics.items() if text},
        [" ".join(texts) for texts in kept.values()],
        script.manner,
    )


def empty_body(entry: Entry, rules: WorldRules) -> Body:
    """A body by which the clock and the seed of an entry's task are known before its gold is."""
    return _body(UserText([entry.scenario.request]), rules, (), ())


def body_of(
    entry: Entry,
    draft: Task,
    world: World,
    template: Template,
    rules: WorldRules,
    *,
    asks_consent: bool,
) -> MadeBody:
    """The whole body of an entry's task. Raises
    :class:`~synth.ext.action_lists.entries.Refused`.
    """
    writers = {tool.name for tool in world.tools if not tool.read_only}
    script = settled_script(entry, writers)
    pins = Pins(draft.now, draft.seed)
    with (
        closing(world.environment(template, pins)) as ahead,
        closing(world.environment(template, pins)) as behind,
    ):
        maker = GoldMaker(entry, script, world, template, draft, ahead, behind)
        gold = maker.make(asks_consent=asks_consent)
    calls = [
        ExpectedCall(step.tool, step.arguments)
        for step in gold.steps
        if isinstance(step, CallTemplate)
    ]
    body = _body(_user(script, gold, calls), rules, gold.steps, _gates(entry, gold))
    return MadeBody(body, gold.inferred, gold.useless_reads)


def _body(
    user: UserText, rules: WorldRules, gold: Sequence[StepTemplate], gates: Sequence[Gate]
) -> Body:
    return Body(
        user=user,
        answer=None,
        compare_answer={},
        oracle={},
        gold=gold,
        gates=gates,
        compare=rules.compare,
        alternatives=(),
        transient=rules.transient,
        uses=frozenset(),
    )


def _user(script: Script, gold: MadeGold, calls: Sequence[ExpectedCall]) -> UserText:
    first, *later = gold.consents
    return UserText(
        says=[script.opening],
        persona=[script.manner] if script.manner else (),
        knows={name: _topic(name, text, calls) for name, text in script.topics.items()},
        consents=first,
        then=[
            SequelText("done", [text], {}, consents)
            for text, consents in zip(script.later, later, strict=True)
        ],
    )


def _topic(name: str, text: str, calls: Sequence[ExpectedCall]) -> TopicText:
    words = topic_words(calls, text)
    if name == IDENTITY:
        named = " and the ".join(words) or "name and the user id or email address"
        words = list(dict.fromkeys([*words, *_IDENTITY_WORDS]))
        return TopicText(
            [text], [f"To verify your identity, could you tell me the {named}?"], words
        )
    named = " and the ".join(words)
    about = f", such as the {named}" if named else ""
    words = list(dict.fromkeys([*words, *_WISH_WORDS]))
    return TopicText([text], [f"Could you tell me your preferences{about}?"], words)


def _gates(entry: Entry, gold: MadeGold) -> list[Gate]:
    gates = [Gate("state")]
    before = [word for word, there in (("ask", gold.asks), ("confirm", gold.confirms)) if there]
    if before and gold.writes:
        gates.append(Gate("no_write_before", before))
    if gold.required:
        gates.append(Gate("required_calls", sorted(set(gold.required))))
    acts = sorted({step.tool for step in gold.steps if isinstance(step, CallTemplate)})
    options: dict[str, object] = {"acts": acts}
    if entry.outputs:
        options["must"] = list(entry.outputs)
    return [*gates, Gate("reply", options)]
