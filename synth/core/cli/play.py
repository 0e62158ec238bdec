"""``synth play``: a task played by hand in the terminal, with the score at the end."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable, Mapping
from typing import Any

from envs.world.loader import load_world
from synth.core.cli.command import Arguments, command
from synth.core.foundation.shipped import find_world
from synth.core.renaming.opening import rules_of
from synth.core.screen import Screen
from synth.core.tasks.families import FamilyTasks
from synth.core.validation.prove import prove
from synth.episode import Episode, Score
from synth.errors import OperatorError
from synth.task import Task

HELP = """synth play

Play a task by hand: you are the agent.

arguments:
  WORLD               a world's folder, or the name of one that ships
  FAMILY              the family of the task
options:
  --task N|0          the number of the task [default: 0]
  --universe N|0      the universe [default: 0]

example:
  synth play library lend_book

A line is a call, `find_member name="Ada Kern"` or `find_member {"name": "Ada Kern"}`, or else
words to the user. /tools lists the tools, /score judges what you have done so far, /end (or
Ctrl-D) ends the task and judges it.
"""

ReadLine = Callable[[], str | None]
"""The next line of the player; None at the end."""


@command(HELP)
def main(options: Arguments) -> int:
    """Play one task; 0 if it is solved, 1 if it is not."""
    world = load_world(find_world(options.world))
    screen = Screen()
    with world.template(universe=options.universe) as template:
        source = FamilyTasks(world, template, [options.family], options.universe)
        capacity = source.capacity(options.family)
        if options.task >= capacity:
            raise OperatorError(f"--task {options.task}: {options.family} has {capacity} tasks")
        task = source.task(options.family, options.task, 0)
        task = asyncio.run(prove(task, world, template))
        with Episode(task, world, template) as episode:
            score = asyncio.run(_Game(episode, task, screen, _reader(screen)).play())
    return 0 if score.solved else 1


def _reader(screen: Screen) -> ReadLine:
    """Lines of the terminal, with a prompt and the history of readline, or of a pipe."""

    def read() -> str | None:
        try:
            return input("> " if screen.terminal and sys.stdin.isatty() else "")
        except EOFError:
            return None

    return read


class _Game:
    """One task, played line by line."""

    def __init__(self, episode: Episode, task: Task, screen: Screen, read: ReadLine) -> None:
        self._episode, self._task, self._screen, self._read = episode, task, screen, read
        functions: list[Mapping[str, Any]] = [tool["function"] for tool in episode.tools]
        self._tools = {str(function["name"]): function for function in functions}

    async def play(self) -> Score:
        """Play until the user leaves or the player ends; print and return the score."""
        self._screen.line(rules_of(self._task))
        self._screen.line(f"\nuser: {self._task.prompt}", "bold")
        self._screen.line("(/tools lists the tools, /end ends and judges)")
        while not self._episode.done and (line := self._read()) is not None:
            if line.strip() == "/end":
                break
            await self._line(line.strip())
        score = self._episode.score()
        self._judged(score)
        return score

    async def _line(self, line: str) -> None:
        word, _, rest = line.partition(" ")
        if not line:
            return
        if line == "/tools":
            self._list_tools()
        elif line == "/score":
            self._judged(self._episode.score())
        elif word.startswith("/"):
            self._screen.line(f"unknown command {word}: /tools, /score, /end")
        elif word in self._tools:
            await self._call(word, rest.strip())
        else:
            turn = await self._episode.say(line)
            self._screen.line(f"user: {turn.text}" if turn.text else "(the user leaves)", "bold")

    async def _call(self, tool: str, text: str) -> None:
        try:
            arguments = read_arguments(text)
        except ValueError as error:
            self._screen.line(f"{tool}: {error}")
            return
        outcome = await self._episode.call(tool, arguments)
        self._screen.line(outcome.content, indent=2)

    def _list_tools(self) -> None:
        for name, function in self._tools.items():
            properties: Mapping[str, Any] = function["parameters"].get("properties", {})
            required = function["parameters"].get("required", ())
            shown = ", ".join(item if item in required else f"[{item}]" for item in properties)
            self._screen.line(f"{name}({shown}): {function.get('description', '')}", indent=2)

    def _judged(self, score: Score) -> None:
        for verdict in score.verdicts:
            value = "unscored" if verdict.score is None else f"{verdict.score:g}"
            self._screen.line(f"{verdict.verifier}: {value}, {verdict.reason}")
        reward = "none" if score.reward is None else f"{score.reward:g}"
        self._screen.line(f"reward {reward}: {'solved' if score.solved else 'not solved'}", "bold")


def read_arguments(text: str) -> dict[str, object]:
    """The arguments of a call: a JSON object, or ``name=value`` pairs whose values are JSON or else
    plain words.

    Raises ValueError for anything else.
    """
    if not text:
        return {}
    if text.startswith("{"):
        try:
            read: dict[str, object] = json.loads(text)
        except json.JSONDecodeError as error:
            raise ValueError(f"not JSON: {error}") from None
        return read
    found: dict[str, object] = {}
    decoder = json.JSONDecoder()
    while text:
        name, equals, rest = text.partition("=")
        if not equals or not name.isidentifier():
            raise ValueError(f"{text!r} is not of the form name=value")
        try:
            value, end = decoder.raw_decode(rest)
            if rest[end : end + 1].strip():
                raise ValueError(rest)
        except ValueError:
            word, _, _ = rest.partition(" ")
            value, end = word, len(word)
        found[name], text = value, rest[end:].strip()
    return found
