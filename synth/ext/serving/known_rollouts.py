"""The model that ``synth serve-model`` serves: it answers for the rollouts of a run and identifies
each by its messages; a server keeps no state, and requests carry no job id.

The scripted expert serves a plan's tasks, a replay the contents of a run's directory. No task, gold
or record is ever sent. The opening messages identify the task; tasks with equal openings are
distinguished by their tools. Samples of a task are distinguished by the request's ``seed``
(``model.send_seed=true`` sends it). Without one, requests with the same messages are given in turn
to the samples with the same history: each sample is then played once, in some rollout of its task,
unless a client asks twice or stops halfway.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from envs.errors import EnvsError
from envs.world.template_cache import Templates
from synth.config import RunConfig, flat, to_dict
from synth.core.config.overrides import override_lines
from synth.core.foundation.hashing import canonical, digest
from synth.core.models import recap as recaps
from synth.core.models.openai.wire import canonical_message
from synth.core.models.recap import read_request, without_recap
from synth.core.models.replay.model import ReplayedConversation
from synth.core.models.replay.records import Key, Records
from synth.core.models.scripted.expert import ExpertConversation, ScriptedModel
from synth.core.models.scripted.styles import ScriptedOptions, make
from synth.core.renaming.opening import opening_of
from synth.core.runner.run_files import load_config
from synth.core.runner.setup import model_identity
from synth.core.validation.prove import prove_and_keep
from synth.errors import DatasetError, ModelRefusedRequest, OperatorError, TaskError
from synth.model import Completion, wire_seed
from synth.plan import job
from synth.prepare import PreparedRun, prepare
from synth.task import Message, Task


class _KnownRollout(ABC):
    """One known rollout: its opening messages, its job's seed, and its answers."""

    opening: Sequence[Message]
    seed: int

    @abstractmethod
    async def tools(self) -> Sequence[object]:
        """Return the tools that its model is offered."""

    @abstractmethod
    async def said(self, messages: Sequence[Message]) -> bool:
        """Tell whether the assistant's turns among these messages are its own."""

    @abstractmethod
    async def answer(self, messages: Sequence[Message]) -> Completion:
        """Return its next completion. Raises :class:`~synth.errors.ModelError` if it has none for
        these messages.
        """


class RecordedRolloutIndex:
    """Handler for :func:`synth.ext.serving.openai_server.serve` that answers for all the rollouts
    it is given.

    A conversation whose first turns are left out is identified by its opening, a request for a
    summary by the user's request.
    """

    def __init__(self, voices: Iterable[_KnownRollout]) -> None:
        self._by_opening: dict[str, list[_KnownRollout]] = {}
        for rollout in voices:
            for key in (_opening(rollout.opening), _asked(rollout.opening)):
                self._by_opening.setdefault(key, []).append(rollout)
        self._dealt: Counter[str] = Counter()

    async def __call__(self, request: dict[str, Any]) -> Completion:
        messages = [canonical_message(message) for message in request["messages"]]
        voice = await self._choose(request, messages)
        return await voice.answer(messages)

    async def _choose(self, request: dict[str, Any], messages: Sequence[Message]) -> _KnownRollout:
        summary = read_request(messages)
        if summary is not None:
            messages = summary.messages
        first = recaps.opening_of(messages)
        opening = without_recap(messages[:first])[0]
        known = self._by_opening.get(_opening(opening) if summary is None else _asked(opening), [])
        if not known:
            raise ModelRefusedRequest(
                "no task that is served opens like this: serve the world, tasks, universes and"
                " seed that the run plans",
                False,
            )
        known = await _preferred(known, request)
        if len(known) > 1 and first < len(messages):
            known = [rollout for rollout in known if await rollout.said(messages)]
        if not known:
            raise ModelRefusedRequest(
                "the assistant's turns in this conversation are not those of any served rollout",
                False,
            )
        return known[0] if len(known) == 1 else self._deal(messages, known)

    def _deal(self, messages: Sequence[Message], known: Sequence[_KnownRollout]) -> _KnownRollout:
        """Choose among rollouts with the same history: each is used once in a round."""
        key = digest(messages)
        self._dealt[key] += 1
        return known[(self._dealt[key] - 1) % len(known)]


async def _preferred(
    known: Sequence[_KnownRollout], request: Mapping[str, Any]
) -> Sequence[_KnownRollout]:
    """Keep the rollouts with the request's seed, then those with its tools, if there are any."""
    seed = request.get("seed")
    known = [rollout for rollout in known if wire_seed(rollout.seed) == seed] or known
    if len(known) <= 1:
        return known
    offered = canonical(request.get("tools", []))
    return [
        rollout for rollout in known if canonical(list(await rollout.tools())) == offered
    ] or known


def _opening(messages: Sequence[Message]) -> str:
    return canonical([[message["role"], message["content"]] for message in messages])


def _asked(messages: Sequence[Message]) -> str:
    """Return the opening without the system's part, which no request for a summary holds."""
    return f"asked {_opening([message for message in messages if message['role'] != 'system'])}"


def turn_of(message: Message) -> str:
    """Return text and calls of an assistant message, without the ids of the calls."""
    calls = [call["function"] for call in message.get("tool_calls", ())]
    return canonical([message["content"], [[call["name"], call["arguments"]] for call in calls]])


class RecordedVoice(_KnownRollout):
    """A rollout of a recorded run."""

    def __init__(self, records: Records, key: Key, opening: Sequence[Message]) -> None:
        self._records, self._key = records, key
        self.opening, self.seed = opening, key[1]

    async def tools(self) -> Sequence[object]:
        return ReplayedConversation.of(self._records, self._key).record.tools

    async def said(self, messages: Sequence[Message]) -> bool:
        now = [turn_of(message) for message in messages if message["role"] == "assistant"]
        recorded = ReplayedConversation.of(self._records, self._key).record.messages
        was = [turn_of(message) for message in recorded if message["role"] == "assistant"]
        recap = without_recap(messages)[1]
        left_out = recap.turns if recap is not None else 0
        return now == was[left_out : left_out + len(now)]

    async def answer(self, messages: Sequence[Message]) -> Completion:
        return await ReplayedConversation.of(self._records, self._key).complete(messages)


_PLANNED = ("seed", "env.", "tasks.", "users.", "agent.", "database.")
"""Keys that a run must share with the served config: they determine tasks, and the messages that
the model is shown.
"""


@dataclass(frozen=True)
class Served:
    """A model ready to be served: its name, its handler, a description, and the overrides by which
    the run to be played differs from the defaults.
    """

    name: str
    repertoire: RecordedRolloutIndex
    about: str
    overrides: Sequence[str]


@contextmanager
def open_served(config: RunConfig) -> Generator[Served]:
    """Open the model that a config names, for the rollouts that the config plans, or has recorded.

    Raises :class:`OperatorError` for a model that cannot be served, and the exceptions of planning.
    """
    if config.model.kind == "replay" and config.model.path is not None:
        name, _ = model_identity(config.model)
        records, recorded = _records(Path(config.model.path).expanduser())
        voices = [RecordedVoice(records, key, opening) for key, opening in records.openings()]
        about = f"{len(voices)} recorded rollouts of {recorded.env.name or recorded.env.path}"
        yield Served(name, RecordedRolloutIndex(voices), about, plan_overrides(to_dict(recorded)))
    elif config.model.kind == "scripted":
        run = prepare(config)
        with Templates(run.world, run.spec.engine, place=run.spec.target) as templates:
            voices = list(_scripted(run, templates))
            about = f"{len(voices)} rollouts of {run.plan.tasks} tasks of {run.world.name}"
            name, planned = config.model.name or "scripted", plan_overrides(run.spec.record)
            yield Served(name, RecordedRolloutIndex(voices), about, planned)
    else:
        raise OperatorError(
            f"model={config.model.kind} cannot be served: what can is model=scripted and"
            " model=replay model.path=DIR;"
            " an endpoint that there is already goes into the run's model.base_url"
        )


def _records(path: Path) -> tuple[Records, RunConfig]:
    try:
        return Records(path), load_config(path, {})
    except DatasetError as error:
        raise OperatorError(f"model.path: {error}") from None


def _scripted(run: PreparedRun, templates: Templates) -> Iterator[_KnownRollout]:
    plan, own = run.plan, run.spec.model
    model = make(cast("ScriptedOptions", own.options), own.sampling, None)
    for index in range(plan.tasks):
        task = _Planned(plan.task(index), run, templates)
        for sample in range(plan.samples):
            seed = job(index * plan.samples + sample, task.task, plan.samples, plan.seed).seed
            yield _ScriptedVoice(model, task, seed)


class _Planned:
    """A task of the plan, proved when it is first requested: mistakes are drawn from gold's
    recorded effects.
    """

    def __init__(self, task: Task, run: PreparedRun, templates: Templates) -> None:
        self.task = task
        self._run, self._templates = run, templates
        self._proved: tuple[Task, Sequence[object]] | None = None

    async def proved(self) -> tuple[Task, Sequence[object]]:
        """Return the proved task and the tools of its episode. Raises :class:`ModelRefusedRequest`
        if it cannot be proved.
        """
        if self._proved is None:
            try:
                with self._templates.use(self.task.universe) as template:
                    task, gold = await prove_and_keep(
                        self.task, self._run.world, template, self._run.spec.limits
                    )
            except (TaskError, EnvsError) as error:
                raise ModelRefusedRequest(
                    f"the task that opens like this is not sound: {error}", False
                ) from None
            self._proved = task, gold.tools
        return self._proved


class _ScriptedVoice(_KnownRollout):
    """The expert in one job of a plan, its mistake included if it makes one."""

    def __init__(self, model: ScriptedModel, planned: _Planned, seed: int) -> None:
        self.seed = seed
        self.opening = opening_of(planned.task)
        self._model, self._planned = model, planned

    async def tools(self) -> Sequence[object]:
        return (await self._planned.proved())[1]

    async def said(self, messages: Sequence[Message]) -> bool:
        conversation = await self._conversation()
        for index, message in enumerate(messages):
            if message["role"] == "assistant":
                try:
                    own = conversation.next_turn(messages[:index])
                except TaskError:
                    return False
                if turn_of(_message(own)) != turn_of(message):
                    return False
        return True

    async def answer(self, messages: Sequence[Message]) -> Completion:
        conversation = await self._conversation()
        try:
            return conversation.next_turn(messages)
        except TaskError as error:
            raise ModelRefusedRequest(f"the expert cannot go on: {error}", False) from None

    async def _conversation(self) -> ExpertConversation:
        task, tools = await self._planned.proved()
        return self._model.start(task, tools, self.seed)


def _message(completion: Completion) -> Message:
    calls = [
        {"function": {"name": call.name, "arguments": json.loads(call.arguments)}}
        for call in completion.tool_calls
    ]
    return {"role": "assistant", "content": completion.content, "tool_calls": calls}


def run_command(served: Served, url: str, api_key_env: str | None) -> list[str]:
    """Return the words of the ``synth run`` command that plays the served rollouts."""
    model: dict[str, object] = {
        "model": "openai",
        "model.name": served.name,
        "model.base_url": url,
        "model.api_key_env": api_key_env,
    }
    return ["synth", "run", *served.overrides, *override_lines(model), "model.send_seed=true"]


def plan_overrides(config: Mapping[str, Any]) -> list[str]:
    """Return the overrides by which a config differs from the defaults in the shared keys."""
    usual = flat(to_dict(RunConfig()))
    return override_lines(
        {
            "env" if key == "env.name" else key: value
            for key, value in flat(config).items()
            if key.startswith(_PLANNED) and value != usual[key]
        }
    )
