"""Tasks of a world as the environment of TRL's ``GRPOTrainer``.

TRL is not imported here: its ``environment_factory`` takes any class whose methods are tools. ::

    with TrlTasks("library", count=64) as tasks:
        trainer = GRPOTrainer(
            model=...,
            args=GRPOConfig(...),
            train_dataset=datasets.Dataset.from_list(tasks.rows()),
            environment_factory=tasks.environment,
            reward_funcs=[tasks.reward],
        )
        trainer.train()
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Literal, Union, cast

from envs.closing import Closing
from envs.world.loader import load_world
from envs.world.template_cache import Templates
from synth.core.api.threads import call
from synth.core.foundation.hashing import canonical
from synth.core.foundation.shipped import find_world
from synth.core.tasks.families import FamilyTasks
from synth.core.validation.prove import prove
from synth.episode import Episode
from synth.errors import OperatorError
from synth.plan import Plan
from synth.rewards import check_reward_families
from synth.task import Message, Task

_TYPES: Mapping[str, Any] = {
    "string": str,
    "integer": int,
    "number": float,
    "boolean": bool,
    "array": list,
    "object": dict,
    "null": None,
}

Offer = tuple[str, Mapping[str, Any]]
"""A family, and the name, description and parameters of a tool that its tasks have."""


class TrlTasks(Closing):
    """``count`` proved tasks of a world (a shipped name or a folder) and their environments.

    Only families without a user who answers can be played: TRL has no turn for one. ``families``
    None: all of those. The samples of a group get the same task, hence the same gold. Close it, or
    use it as a context manager. Raises :class:`OperatorError` for a family that cannot be played,
    and what :func:`synth.core.api.episodes.open` raises.
    """

    def __init__(
        self,
        world: str | Path,
        families: Sequence[str] | None = None,
        *,
        count: int = 64,
        seed: int = 0,
        universe: int = 0,
    ) -> None:
        self._world = load_world(find_world(str(world)))
        self._held = ExitStack()
        templates = Templates(self._world, "sqlite")
        self._held.callback(templates.close)
        try:
            self._template = self._held.enter_context(templates.use(universe))
            known = FamilyTasks(self._world, self._template, families, universe)
            check_reward_families(self._world, known.all_families)
            source = FamilyTasks(self._world, self._template, _silent(known, families), universe)
            plan = Plan.make([source], count, 1, seed)
            self.tasks: list[Task] = [self._proved(plan.task(index)) for index in range(count)]
            offers = self._offers()
        except BaseException:
            self._held.close()
            raise
        self.environment = _environment(self, offers)
        """A class for ``environment_factory``: ``reset`` and a method for each tool."""

    def _proved(self, task: Task) -> Task:
        return call(lambda _: asyncio.run(prove(task, self._world, self._template)))

    def _offers(self) -> list[Offer]:
        """The tools of each kind of task: what ``submit`` takes depends on the family."""
        kinds = {
            (task.family, canonical(task.submit_parameters)): number
            for number, task in enumerate(self.tasks)
        }
        offers: list[Offer] = []
        for (family, _), number in kinds.items():
            with self.open(number) as episode:
                offers += [(family, tool["function"]) for tool in episode.tools]
        return offers

    def rows(self) -> list[dict[str, Any]]:
        """The rows of the training set: ``prompt`` (messages) and ``task``, its number."""
        rows: list[dict[str, Any]] = []
        for number, task in enumerate(self.tasks):
            system = [{"role": "system", "content": task.system}] if task.system else []
            prompt = [*system, {"role": "user", "content": task.prompt}]
            rows.append({"prompt": prompt, "task": number})
        return rows

    def open(self, number: int) -> Episode:
        """An episode on a task, in a fresh sandbox. Raises :class:`OperatorError` beyond the
        last.
        """
        if not 0 <= number < len(self.tasks):
            raise OperatorError(f"task is a number from 0 to {len(self.tasks) - 1}, not {number}")
        return Episode(self.tasks[number], self._world, self._template)

    def reward(
        self,
        completions: Sequence[Sequence[Message]],
        environments: Sequence[TrlEnvironment],
        **_: object,
    ) -> list[float | None]:
        """A reward function: each rollout's reward by the verifiers; None if one could not judge.

        The last words of a completion count as the answer to the user.
        """
        return [
            environment.rollout.finish(_last_words(completion))
            for completion, environment in zip(completions, environments, strict=True)
        ]

    def close(self) -> None:
        """Let go of the template. Environments that are open break."""
        self._held.close()


class _TrlRollout:
    """The task that an environment has, in its sandbox."""

    def __init__(self, tasks: TrlTasks) -> None:
        self._tasks = tasks
        self._episode: Episode | None = None
        self._reward: float | None = None

    def begin(self, task: int) -> None:
        """Begin with a task in a fresh sandbox."""
        if self._episode is not None:
            self._episode.close()
        self._episode = self._reward = None
        self._episode = self._tasks.open(task)

    def call(self, tool: str, arguments: Mapping[str, object]) -> str:
        """Call a tool; returns what the model is shown."""
        episode = self._episode
        if episode is None:
            raise OperatorError("the environment has no task yet: reset() comes first")
        return call(lambda _: asyncio.run(episode.call(tool, arguments))).result.content()

    def finish(self, text: str) -> float | None:
        """Say the last words, judge, and give the sandbox back. Again, it says the same."""
        episode, self._episode = self._episode, None
        if episode is not None:
            with episode:
                call(lambda _: asyncio.run(episode.say(text)))
                self._reward = episode.score().reward
        return self._reward


class TrlEnvironment:
    """An environment as TRL has it: methods of its class are tools, except ``reset``."""

    tasks: TrlTasks

    def __init__(self) -> None:
        self.rollout = _TrlRollout(self.tasks)

    def reset(self, task: int, **_: object) -> None:
        """Begin with a task in a fresh sandbox."""
        self.rollout.begin(task)


def _silent(source: FamilyTasks, asked: Sequence[str] | None) -> list[str]:
    """The families whose tasks need no answer of a user. Raises :class:`OperatorError`."""
    talkative = [family.id for family in source.families if family.talks]
    names = [family.id for family in source.families if not family.talks]
    if asked is not None and talkative:
        raise OperatorError(
            f"{', '.join(talkative)}: TRL has no turn for the user's answer; `synth serve-env` has"
        )
    if not names:
        raise OperatorError("every family of this world has a user who answers, which TRL lacks")
    return names


def _environment(tasks: TrlTasks, offers: Sequence[Offer]) -> type[TrlEnvironment]:
    tools: dict[str, list[Offer]] = {}
    for family, function in offers:
        tools.setdefault(function["name"], []).append((family, function))
    families = {family for family, _ in offers}
    methods = {name: _method(_merged(versions, families)) for name, versions in tools.items()}
    if "reset" in methods or "get_reward" in methods:
        raise OperatorError("a tool called reset or get_reward cannot be a method for TRL")
    return type("SynthEnvironment", (TrlEnvironment,), {"tasks": tasks, **methods})


def _merged(versions: Sequence[Offer], families: set[str]) -> dict[str, Any]:
    """One function for a tool whose arguments differ between families: it takes the arguments
    of each, and needs what each needs. The descriptions name the families where they do not agree.
    """
    taken: dict[str, list[Offer]] = {}
    for family, function in versions:
        for key, schema in function["parameters"].get("properties", {}).items():
            taken.setdefault(key, []).append((family, schema))
    needed: list[Sequence[str]] = [
        function["parameters"].get("required", ()) for _, function in versions
    ]
    own = {family for family, _ in versions}
    properties = {
        key: _merged_property(schemas) | {"description": _described(key, schemas, own)}
        for key, schemas in taken.items()
    }
    name = versions[0][1]["name"]
    return {
        "name": name,
        "description": _described(name, versions, families),
        "parameters": {"properties": properties, "required": set(needed[0]).intersection(*needed)},
    }


def _merged_property(schemas: Sequence[Offer]) -> dict[str, Any]:
    """The choices or types of an argument in all families."""
    if all("enum" in schema for _, schema in schemas):
        return {"enum": list(dict.fromkeys(v for _, schema in schemas for v in schema["enum"]))}
    return {"type": list(dict.fromkeys(t for _, schema in schemas for t in _types(schema)))}


def _described(name: str, versions: Sequence[Offer], families: set[str]) -> str:
    """The description that all these families share, or each with its families."""
    owners: dict[str, set[str]] = {}
    for family, schema in versions:
        owners.setdefault(_one_line(schema.get("description", name)), set()).add(family)
    return " ".join(
        text if own == families else f"{text} (Only in tasks of {', '.join(sorted(own))}.)"
        for text, own in owners.items()
    )


def _method(function: Mapping[str, Any]) -> Callable[..., str]:
    """A method that calls a tool; its signature and docstring are what TRL makes a schema of.

    Wrong arguments reach the tool, whose answer says what is wrong with them.
    """
    name, schema = function["name"], function["parameters"]
    properties: Mapping[str, Any] = schema.get("properties", {})
    required = schema.get("required", ())

    def method(self: TrlEnvironment, **arguments: object) -> str:
        return self.rollout.call(name, arguments)

    parameters = [inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)]
    notes: dict[str, Any] = {}
    lines = [_one_line(function.get("description", name)), "", "Args:"]
    for key in sorted(properties, key=lambda key: key not in required):
        notes[key] = _annotation(properties[key], needed=key in required)
        empty = inspect.Parameter.empty if key in required else None
        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        parameters.append(inspect.Parameter(key, kind, default=empty, annotation=notes[key]))
        lines.append(f"    {key}: {_one_line(properties[key].get('description', key))}")
    method.__name__ = method.__qualname__ = name
    method.__doc__ = "\n".join(lines if properties else lines[:1])
    method.__annotations__ = {**notes, "return": str}
    signature = inspect.Signature(parameters, return_annotation=str)
    setattr(method, "__signature__", signature)  # noqa: B010  # no declared attribute
    return method


def _annotation(schema: Mapping[str, Any], *, needed: bool) -> Any:
    choices = schema.get("enum")
    if choices and all(isinstance(choice, str) for choice in choices):
        found: Any = cast("Any", Literal)[tuple(choices)]
    else:
        found = cast("Any", Union)[tuple(_TYPES.get(kind, str) for kind in _types(schema))]
    return found if needed else found | None


def _types(schema: Mapping[str, Any]) -> list[str]:
    kinds: object = schema.get("type", "string")
    return cast("list[str]", kinds) if isinstance(kinds, list) else [str(kinds)]


def _one_line(text: object) -> str:
    return " ".join(str(text).split()) or "-"


def _last_words(completion: Sequence[Message]) -> str:
    """The content of the last message if it is the assistant's and makes no call."""
    last = completion[-1] if completion else {}
    if last.get("role") != "assistant" or last.get("tool_calls"):
        return ""
    content = last.get("content")
    return content if isinstance(content, str) else ""
