"""The contract of an honest agent: it plays gold in a style of its own, does all the work, and must
earn the full reward.

A class without arguments, an entry point of the group ``synth.honest_agents``. ``synth check``
plays every one that is installed on each proved task, or those that ``--honest`` names. A family
that rightly refuses one says so in tasks.yaml: ``honest: {except: {narrates: "the reason"}}``.

:class:`synth.testing.HonestAgentConformance` tests the contract.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from envs.plugins import Contract
from envs.sandboxes.base import Template
from envs.tools.tool import Tool
from envs.types import Limits, ToolOutcome
from envs.world.loader import World
from synth.core.models.scripted.expert import ExpertConversation
from synth.core.types.steps import Step
from synth.episode import Episode, Score
from synth.model import Conversation
from synth.rewards import Evidence
from synth.task import Message, Task


@dataclass(frozen=True)
class ProvedTask:
    """A task with its gold as it was played, and the ``evidence`` of it.

    ``task.gold`` holds the steps. Calls of gold are in ``evidence.calls``, in order, with
    arguments, result and row changes.
    """

    task: Task
    evidence: Evidence
    world: World
    template: Template
    limits: Limits

    @property
    def tools(self) -> Mapping[str, Tool]:
        """The world's tools by name."""
        return {tool.name: tool for tool in self.world.tools}

    def expert(
        self, steps: Sequence[Step], kind: Callable[..., ExpertConversation] = ExpertConversation
    ) -> Conversation:
        """The scripted expert, playing these steps in the place of gold's. ``kind`` makes a
        subclass of it with another manner of playing them.
        """
        return kind(replace(self.task, gold=list(steps)), retries=None)

    async def try_out(self, calls: Sequence[tuple[str, Mapping[str, object]]]) -> list[ToolOutcome]:
        """The outcomes of calls on a fresh sandbox, which is thrown away.

        Raises :class:`~envs.errors.ExecutorError` if a call breaks a tool.
        """
        with Episode(self.task, self.world, self.template, self.limits) as episode:
            return [await episode.call(tool, arguments) for tool, arguments in calls]

    def may_call(self) -> Iterator[Tool]:
        """The tools that no gate of the task forbids."""
        gate = self.task.gate("forbidden_calls")
        forbidden = set[str]() if gate is None else {str(name) for name in gate.options or ()}
        return (tool for tool in self.world.tools if tool.name not in forbidden)


@dataclass(frozen=True)
class HonestResult:
    """The end of an honest agent's rollout.

    ``lost`` is the reason for less than the full reward, empty if it was earned; ``lost_to`` names
    the rewards that gave less. ``messages`` are the agent's, ``stuck`` says why it went no
    further.
    """

    lost: str
    lost_to: frozenset[str]
    evidence: Evidence
    score: Score
    messages: Sequence[Message]
    stuck: str = ""


class HonestAgent(Contract, ABC):
    """Plays gold in another style. Constructed without arguments, it keeps no state.

    ``name`` completes the sentence "an agent that ...": ``reads_more``, ``narrates``. It is the
    key in the report and in a family's ``honest: except:``.
    """

    name: ClassVar[str]

    @abstractmethod
    async def start(self, proved: ProvedTask) -> Conversation | None:
        """Open a conversation that does the task's work in this style.

        None if the style makes no difference to this task: it is then not counted.
        """

    def applies(self, proved: ProvedTask, result: HonestResult) -> bool:
        """Tell of a rollout that did not earn the full reward whether the style fits the task.

        False takes the agent out of the count, for what only the rollout shows: writes that were
        to change places depend on each other.
        """
        return True
