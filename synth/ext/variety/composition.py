"""Composed tasks: two to eight tasks of different families, asked in one conversation.

One person asks for all: the next request comes once the agent has reported the end of the one
before, without a greeting of its own. Gold is the solutions one after another; each part keeps its
gates, its answer, its consents and what its user knows, and is judged as the task that it is
(:mod:`synth.core.rewards.requests`). Whether the parts do not get in each other's way is proved by
playing gold.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from synth.core.foundation.hashing import canonical
from synth.core.tasks.forms import joint_form
from synth.core.tasks.parts import OF, joined_gold, with_own_names
from synth.core.tasks.setup_calls import SETUP
from synth.core.tasks.system_prompt import clock_line
from synth.core.tasks.yaml.words import SUBMIT_SQL
from synth.core.types.checks import EndRules
from synth.core.types.phrasings import JOIN
from synth.core.types.steps import AskStep, CallStep, Step, rewritten
from synth.ext.variety.wording.grammar import grammar
from synth.task import Task
from synth.user import FollowUp, UserRole

LEADS = (
    "{}",
    "Okay, thanks. {}",
    "{}",
    "Got it, thank you. {}",
    "{}",
    "All right, thanks. {}",
    "{}",
    "Okay. {}",
    "Thanks. {}",
    "One more thing. {}",
    "And then one last thing. {}",
)
"""Forms of a later request; one is drawn, of the last two for the last request only."""


def setting(task: Task) -> tuple[object, ...]:
    """What tasks must have in common to be asked in one conversation: rules, the person who is
    signed in, the day, the setup, and the form of answers. Empty for a task that no other can
    follow.
    """
    if any(isinstance(step, CallStep) and step.tool == SUBMIT_SQL for step in task.gold):
        return ()  # a query is handed in once
    rules = sys.intern(task.system.replace(clock_line(task.now), ""))
    form = canonical(task.form)
    return rules, task.now[:10], form, task.universe, canonical(task.extras.get(SETUP, ()))


def shared_form(
    form: Mapping[str, object] | None, answers: Iterable[Mapping[str, object] | None]
) -> tuple[bool, Mapping[str, object] | None]:
    """The form in which the answers to all parts are handed in (None: there are none), and whether
    there can be one: a field has one type. ``form`` is the form of the first part.
    """
    due = [answer for answer in answers if answer is not None]
    if form is not None or not due:
        return True, form
    form = joint_form(due)
    return form is not None, form


def joined(parts: Sequence[Task], task_id: str, draw: int) -> Task:
    """The task of that id and seed that asks for these parts in their order. They must have one
    :func:`setting`; ``draw`` chooses the words between them.
    """
    own = [_part(parts, index, draw) for index in range(len(parts))]
    compare = {name: rule for part in own for name, rule in part.rules.compare.items()}
    gates = {canonical(gate.to_json()): gate for part in own for gate in part.gates}
    words = [part.extras.get("phrasing", "") for part in own]
    task = replace(
        own[0],
        id=task_id,
        family=JOIN.join(part.family for part in parts),
        case=None,
        answer=None,
        form=shared_form(own[0].form, [part.answer for part in own])[1],
        gold=joined_gold(own),
        slots={str(index + 1): dict(part.slots) for index, part in enumerate(own)},
        key=[part.key for part in own],
        rules=EndRules(compare, transient=own[0].rules.transient),
        gates=tuple(gates.values()),
        oracle_sql={},
        oracle={},
        user=role_of(own),
        end=None,
        parts=tuple(own),
        extras={},
    )
    task = task.with_extra(SETUP, parts[0].extras.get(SETUP))
    return task.with_extra("phrasing", JOIN.join(words) if any(words) else None)


def _part(parts: Sequence[Task], index: int, draw: int) -> Task:
    """A part under the clock of the first one, with names of topics and first words of its own."""
    task, first = parts[index], parts[0]
    leads = LEADS[: None if index == len(parts) - 1 else -2]
    lead = leads[(draw + 4 * index) % len(leads)]
    opening = lead.format(grammar().without_greeting(task.prompt)) if index else task.prompt
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

    gold = with_own_names(task.gold, f"{OF}{index + 1}") if index else task.gold
    return replace(
        task,
        prompt=opening,
        gold=rewritten(gold, renamed),
        user=user,
        now=first.now,
        system=first.system,
        seed=draw,
    )


def role_of(parts: Sequence[Task]) -> UserRole:
    """One user with all requests, in their order."""
    first, *later = [part.role for part in parts]
    then = list(first.then)
    for role in later:
        then.append(FollowUp("done", role.opening, role.knows, role.consents, fresh=True))
        then += role.then
    return replace(first, then=then)
