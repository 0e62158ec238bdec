"""A model that answers for the rollouts of a run, without being told which is which: what ``synth serve-model`` serves.

The scripted expert serves a plan's tasks, a replay what a run's directory holds. No task, gold or record is ever sent.
"""

from __future__ import annotations

import json
import re
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, cast

from envs.errors import EnvsError
from envs.templates import Templates
from synth.admission.proof import prove_and_keep
from synth.config import RunConfig, flat
from synth.errors import DatasetError, ModelRefusedRequest, OperatorError, TaskError
from synth.models.erring import make
from synth.models.records import Records
from synth.models.repertoire import RecordedVoice, Repertoire, Voice, turn_of
from synth.models.scripted import ScriptedConversation, ScriptedModel
from synth.plan import job
from synth.preparation import Run, database_place, prepare, spoken
from synth.run_files import load_config
from synth.types import Completion, Message, Task

Json = Any

_WORD = re.compile(r"[A-Za-z_/][\w./:@-]*")
_NOT_TEXT = frozenset({"null", "true", "false", "yes", "no", "on", "off", "nan", "inf"})
_PLANNED = ("seed", "env.", "tasks.", "users.", "agent.", "database.")
"""The keys that a run must share with what is served: they decide what is asked, and what the model is shown."""


@dataclass(frozen=True)
class Served:
    """What is ready to be served: its name, the handler, how much it knows, and the config of the run to be played."""

    name: str
    repertoire: Repertoire
    about: str
    config: RunConfig


@contextmanager
def open_served(config: RunConfig) -> Generator[Served]:
    """The model that a config names, ready to answer for the rollouts that the config plans, or has recorded.

    Raises :class:`OperatorError` for a model that cannot be served, and what planning raises.
    """
    if config.model.kind == "replay" and config.model.path is not None:
        name, _ = spoken(config)
        records, recorded = _records(Path(config.model.path).expanduser())
        voices = [RecordedVoice(records, key, opening) for key, opening in records.openings()]
        about = f"{len(voices)} recorded rollouts of {recorded.env.name or recorded.env.path}"
        yield Served(name, Repertoire(voices), about, recorded)
    elif config.model.kind == "scripted":
        run = prepare(config)
        with Templates(run.world, config.database.engine, place=database_place(config)) as templates:
            voices = list(_scripted(run, templates))
            about = f"{len(voices)} rollouts of {run.plan.tasks} tasks of {run.world.name}"
            yield Served(config.model.name or "scripted", Repertoire(voices), about, config)
    else:
        raise OperatorError(
            f"model={config.model.kind} cannot be served: what can is model=scripted and model=replay model.path=DIR;"
            " an endpoint that there is already goes into the run's model.base_url"
        )


def _records(path: Path) -> tuple[Records, RunConfig]:
    try:
        return Records(path), load_config(path, {})
    except DatasetError as error:
        raise OperatorError(f"model.path: {error}") from None


def _scripted(run: Run, templates: Templates) -> Iterator[Voice]:
    config, plan = run.config, run.plan
    model = make(asdict(config.model), spoken(config)[1], None)
    for at in range(plan.tasks):
        task = _Planned(plan.task(at), run, templates)
        for sample in range(plan.samples):
            seed = job(at * plan.samples + sample, task.task, plan.samples, plan.seed).seed
            yield ScriptedVoice(model, task, seed)


class _Planned:
    """A task of the plan, proved when it is first asked about: mistakes are drawn from what gold was seen to do."""

    def __init__(self, task: Task, run: Run, templates: Templates) -> None:
        self.task = task
        self._run, self._templates = run, templates
        self._proved: tuple[Task, Sequence[Json]] | None = None

    async def proved(self) -> tuple[Task, Sequence[Json]]:
        """The proved task and the tools of its episode. Raises :class:`ModelRefusedRequest` where it cannot be proved."""
        if self._proved is None:
            try:
                with self._templates.use(self.task.universe) as template:
                    task, gold = await prove_and_keep(self.task, self._run.world, template, self._run.limits)
            except (TaskError, EnvsError) as error:
                raise ModelRefusedRequest(f"the task that opens like this is not sound: {error}", False) from None
            self._proved = task, gold.tools
        return self._proved


class ScriptedVoice(Voice):
    """The expert in one job of a plan, its mistake included where it makes one."""

    def __init__(self, model: ScriptedModel, planned: _Planned, seed: int) -> None:
        task = planned.task
        self.seed = seed
        system: list[Message] = [{"role": "system", "content": task.system}] if task.system else []
        self.opening = [*system, {"role": "user", "content": task.prompt}]
        self._model, self._planned = model, planned

    async def tools(self) -> Sequence[Json]:
        return (await self._planned.proved())[1]

    async def said(self, messages: Sequence[Message]) -> bool:
        conversation = await self._conversation()
        for at, each in enumerate(messages):
            if each["role"] == "assistant":
                try:
                    own = conversation.next_turn(messages[:at])
                except TaskError:
                    return False
                if turn_of(_message(own)) != turn_of(each):
                    return False
        return True

    async def answer(self, messages: Sequence[Message]) -> Completion:
        conversation = await self._conversation()
        try:
            return conversation.next_turn(messages)
        except TaskError as error:
            raise ModelRefusedRequest(f"the expert cannot go on: {error}", False) from None

    async def _conversation(self) -> ScriptedConversation:
        task, tools = await self._planned.proved()
        return self._model.start(task, tools, self.seed)


def _message(completion: Completion) -> Message:
    calls = [
        {"function": {"name": each.name, "arguments": json.loads(each.arguments)}} for each in completion.tool_calls
    ]
    return {"role": "assistant", "content": completion.content, "tool_calls": calls}


def run_command(served: Served, url: str, api_key_env: str | None) -> list[str]:
    """The words of the ``synth run`` that plays what is served."""
    model: dict[str, Json] = {
        "model": "openai",
        "model.name": served.name,
        "model.base_url": url,
        "model.api_key_env": api_key_env,
        "model.send_seed": True,
    }
    return ["synth", "run", *_planned(served.config), *(f"{key}={_value(value)}" for key, value in model.items())]


def _planned(config: RunConfig) -> Iterator[str]:
    """The overrides by which a config differs from the defaults in what a run shares with what is served."""
    usual = flat(RunConfig())
    for key, value in flat(config).items():
        if key.startswith(_PLANNED) and value != usual[key]:
            yield f"{'env' if key == 'env.name' else key}={_value(value)}"


def _value(value: Json) -> str:
    """A value as an override writes it."""
    if isinstance(value, str):
        bare = _WORD.fullmatch(value) is not None and value.lower() not in _NOT_TEXT
        return value if bare else "'" + re.sub(r"(\\*)'", r"\1\1\\'", re.sub(r"(\\+)$", r"\1\1", value)) + "'"
    if isinstance(value, list):
        return f"[{','.join(_value(each) for each in cast('list[Json]', value))}]"
    if isinstance(value, dict):
        pairs = cast("dict[str, Json]", value).items()
        return f"{{{','.join(f'{key}:{_value(each)}' for key, each in pairs)}}}"
    return json.dumps(value)
