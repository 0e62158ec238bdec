"""Composed tasks: two to eight tasks of different families, asked in one conversation.

Asked by turns, the user brings the next request once the agent has reported the end of the one
before. Asked together, the first message holds all of them, in one sentence or in several. Gold is
the solutions one after another; each part keeps its gates, its answer, its consents and what its
user knows, and is judged as the task that it is (:mod:`synth.core.rewards.requests`). Whether the
parts do not get in each other's way is proved by playing gold.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Literal

from synth.core.foundation.hashing import canonical, derive_seed, digest
from synth.core.tasks.forms import joint_form
from synth.core.tasks.parts import OF, joined_gold
from synth.core.tasks.system_prompt import clock_line
from synth.core.tasks.yaml.words import SUBMIT_SQL
from synth.core.types.checks import EndRules
from synth.core.types.phrasings import JOIN
from synth.core.types.steps import AskStep, CallStep, Step, every_step, rewritten
from synth.ext.variety.wording.message import message_of
from synth.plugins import QUESTIONS
from synth.task import Task
from synth.user import FollowUp, UserRole

Manner = Literal["turns", "message"]
"""How the requests of a composed task come: one after another, or in one message."""

LEADS = (
    "Okay. One more thing:",
    "Alright. Next:",
    "Okay, and also:",
    "Understood. Another thing:",
    "I see. There is something else:",
    "Right. And now this:",
    "Okay, noted. And another one:",
    "All right. Then there is this:",
)
"""Words before a later request; one is drawn."""


def setting(task: Task) -> str:
    """What tasks must have in common to be asked in one conversation: rules, the person who is
    signed in, the day, and the form of answers. Empty for a task that no other can follow.
    """
    if any(isinstance(step, CallStep) and step.tool == SUBMIT_SQL for step in task.gold):
        return ""  # a query is handed in once
    rules = task.system.replace(clock_line(task.now), "")
    return digest(rules, task.now[:10], task.form, task.universe)


def shared_form(parts: Sequence[Task]) -> tuple[bool, Mapping[str, object] | None]:
    """The form in which the answers to all parts are handed in (None: there are none), and whether
    there can be one: a field has one type.
    """
    answers = [part.answer for part in parts if part.answer is not None]
    if parts[0].form is not None or not answers:
        return True, parts[0].form
    form = joint_form(answers)
    return form is not None, form


def fit_in_message(parts: Sequence[Task], writers: Collection[str]) -> bool:
    """True if one message can hold the requests: none has follow-ups or several right ends, or is
    answered by a query, no field of an answer is due to two of them, and nobody's yes or answer can
    be taken for another request. ``writers`` are the tools that may change rows.
    """
    if any(part.role.then or part.rules.alternatives for part in parts):
        return False
    if not QUESTIONS.builtin.keys().isdisjoint(name for part in parts for name in part.gate_names):
        return False
    if _shares_field(parts):
        return False
    writing = [part.role for part in parts if _writes(part, writers)]
    quiet = [part.role for part in parts if not _writes(part, writers)]
    asks_in_vain = any(role.knows or role.consents for role in quiet)
    consents = any(role.consents for role in writing)
    return not writing or not (asks_in_vain or (consents and len(writing) > 1))


def _shares_field(parts: Sequence[Task]) -> bool:
    """True if a field is due in the answers to two of the requests."""
    fields = [name for part in parts for name in (part.answer or {}).get("properties", ())]
    return len(fields) > len({*fields})


def _writes(task: Task, writers: Collection[str]) -> bool:
    """True if gold may change rows."""
    return any(
        isinstance(step, CallStep) and step.fails is None and step.tool in writers
        for step in every_step(task.gold)
    )


def compose(parts: Sequence[Task], seed: int, manner: Manner = "turns") -> Task:
    """The task that asks for these parts in their order. They must have one :func:`setting`, and
    :func:`fit_in_message` if that is the manner.

    It depends on the parts and ``seed``, which draws the words between them.
    """
    more = [] if manner == "turns" else [manner]
    identity = digest("composed", [part.id for part in parts], seed, *more)
    return joined(parts, f"{_family(parts)}-{identity}", derive_seed(identity), manner)


def _family(parts: Sequence[Task]) -> str:
    return JOIN.join(part.family for part in parts)


def joined(parts: Sequence[Task], task_id: str, draw: int, manner: Manner = "turns") -> Task:
    """The task of that id and seed that asks for these parts."""
    together = manner == "message"
    message = message_of(parts, draw) if together else None
    own = [_part(part, index, parts[0], draw, manner) for index, part in enumerate(parts)]
    compare = {name: rule for part in own for name, rule in part.rules.compare.items()}
    gates = {canonical(gate.to_json()): gate for part in own for gate in part.gates}
    words = [part.extras.get("phrasing", "") for part in own]
    return replace(
        own[0],
        id=task_id,
        prompt=message or own[0].prompt,
        family=_family(parts),
        case=None,
        answer=None,
        form=shared_form(own)[1],
        gold=joined_gold(own, together=together),
        slots={str(index + 1): dict(part.slots) for index, part in enumerate(own)},
        key=[part.key for part in own],
        rules=EndRules(compare, transient=own[0].rules.transient),
        gates=tuple(gates.values()),
        oracle_sql={},
        oracle={},
        user=_role(own) if message is None else _role_of_message(own, message),
        end=None,
        parts=tuple(own),
        extras={"phrasing": JOIN.join(words)} if any(words) else {},
    )


def _part(task: Task, index: int, first: Task, draw: int, manner: Manner) -> Task:
    """A part under the clock of the first one, with names of topics and first words of its own."""
    lead = LEADS[(draw + 3 * index) % len(LEADS)]
    opening = f"{lead} {task.prompt}" if index and manner == "turns" else task.prompt
    user = task.role
    names = {name: f"{name}{OF}{index + 1}" if index else name for name in user.every_topic}
    user = replace(
        user,
        opening=opening,
        knows={names[name]: topic for name, topic in user.knows.items()},
        then=[
            replace(
                follow_up, knows={names[name]: topic for name, topic in follow_up.knows.items()}
            )
            for follow_up in user.then
        ],
    )

    def renamed(step: Step) -> Sequence[Step]:
        if isinstance(step, AskStep):
            step = replace(step, topics=[names[name] for name in step.topics])
        return [step]

    return replace(
        task,
        prompt=opening,
        gold=rewritten(task.gold, renamed),
        user=user,
        now=first.now,
        system=first.system,
        seed=draw,
    )


def _role(parts: Sequence[Task]) -> UserRole:
    """One user with all requests, in their order."""
    first, *later = [part.role for part in parts]
    then = list(first.then)
    for role in later:
        then.append(FollowUp("done", role.opening, role.knows, role.consents, fresh=True))
        then += role.then
    return replace(first, then=then)


def _role_of_message(parts: Sequence[Task], message: str) -> UserRole:
    """One user who asks for everything at once; at most one request needs consent."""
    roles = [part.role for part in parts]
    agrees = next((role for role in roles if role.consents), roles[0])
    return replace(
        agrees,
        opening=message,
        knows={name: topic for role in roles for name, topic in role.knows.items()},
        persona=next((role.persona for role in roles if role.persona), ""),
    )
