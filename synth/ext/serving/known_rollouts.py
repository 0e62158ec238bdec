"""The model that ``synth serve-model`` serves: it answers for the rollouts of a run and identifies
each by its messages.

The scripted expert serves a plan's tasks, a replay the contents of a run's directory. No task, gold
or record is ever sent.
"""

from __future__ import annotations

import json
import re
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from envs.errors import EnvsError
from envs.world.template_cache import Templates
from synth.config import RunConfig, flat, to_dict
from synth.core.models.replay.records import Records
from synth.core.models.scripted.expert import ExpertConversation, ScriptedModel
from synth.core.models.scripted.styles import ScriptedOptions, make
from synth.core.renaming.opening import opening_of
from synth.core.runner.run_files import load_config
from synth.core.runner.setup import model_identity
from synth.core.validation.prove import prove_and_keep
from synth.errors import DatasetError, ModelRefusedRequest, OperatorError, TaskError
from synth.ext.serving.recorded_rollouts import (
    KnownRollout,
    RecordedRolloutIndex,
    RecordedVoice,
    turn_of,
)
from synth.model import Completion
from synth.plan import job
from synth.prepare import PreparedRun, prepare
from synth.task import Message, Task

_WORD = re.compile(r"[A-Za-z_/][\w./:@-]*")
_NOT_TEXT = frozenset({"null", "true", "false", "yes", "no", "on", "off", "nan", "inf"})
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


def _scripted(run: PreparedRun, templates: Templates) -> Iterator[KnownRollout]:
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


class _ScriptedVoice(KnownRollout):
    """The expert in one job of a plan, its mistake included if it makes one."""

    def __init__(self, model: ScriptedModel, planned: _Planned, seed: int) -> None:
        task = planned.task
        self.seed = seed
        self.opening = opening_of(task)
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
        "model.send_seed": True,
    }
    return [
        "synth",
        "run",
        *served.overrides,
        *(f"{key}={_value(value)}" for key, value in model.items()),
    ]


def plan_overrides(config: Mapping[str, Any]) -> list[str]:
    """Return the overrides by which a config differs from the defaults in the shared keys."""
    usual = flat(to_dict(RunConfig()))
    return [
        f"{'env' if key == 'env.name' else key}={_value(value)}"
        for key, value in flat(config).items()
        if key.startswith(_PLANNED) and value != usual[key]
    ]


def _value(value: object) -> str:
    """Return a value in the syntax of an override."""
    if isinstance(value, str):
        bare = _WORD.fullmatch(value) is not None and value.lower() not in _NOT_TEXT
        return (
            value
            if bare
            else "'" + re.sub(r"(\\*)'", r"\1\1\\'", re.sub(r"(\\+)$", r"\1\1", value)) + "'"
        )
    if isinstance(value, list):
        return f"[{','.join(_value(item) for item in cast('list[object]', value))}]"
    if isinstance(value, dict):
        pairs = cast("dict[str, object]", value).items()
        return f"{{{','.join(f'{key}:{_value(name)}' for key, name in pairs)}}}"
    return json.dumps(value)
