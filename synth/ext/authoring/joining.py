"""One world made of several: their tables in one database, their tools under prefixed names.

The result is an ordinary folder. Each part's Python and SQL lie in a subfolder, and the files at
the root put them together. A part without tools is about the parts before it: its texts name their
tools with the prefix, and its seed.py is given their rows.
"""

from __future__ import annotations

import ast
import json
import re
import textwrap
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from pathlib import Path
from typing import Any, cast

import yaml

from envs.environments.database import DatabaseExecutableEnvironment
from envs.plugins import ENGINES
from envs.tools.tool import Tool
from envs.types import Table
from envs.world.files import PHRASINGS, find_script, read_text, world_files
from envs.world.loader import load_world
from envs.world.world import World
from envs.world.world_file import read_world_file
from synth.errors import OperatorError

_INCLUDE = re.compile(r"^([ \t]*(?:source|\\i|\\include|\.read|\\\.)[ \t]+)", re.MULTILINE)
_INCLUDES = {"postgresql": r"\i", "mariadb": "source", "mysql": "source"}
"""How a script of an engine includes another one; ``.read`` elsewhere."""
_FAMILIES = re.compile(r"^families:[^\n]*\n(.*?)(?=^\w|\Z)", re.MULTILINE | re.DOTALL)
_FAMILY = re.compile(r"^(- id: *)(\w+)", re.MULTILINE)
_OWN = ("executors.py", "seed.py", "tasks.py", "rewards.py")
_COPIED = frozenset({".py", ".sql", ".json", ".csv", ".txt"})


@dataclass
class _Part:
    """A folder that is joined: its prefix, its files, and its world if it has tools."""

    folder: Path
    files: Mapping[str, Path]
    world: World | None = None
    tables: Mapping[str, Table] = field(default_factory=dict[str, Table])

    @property
    def name(self) -> str:
        return self.folder.name

    def text(self, file: str) -> str:
        """A file under the prefixed names of the tools; empty where there is none."""
        found = read_text(self.files[file]) if file in self.files else ""
        if self.world is None:
            return found
        return self.tool_names.sub(lambda name: f"{self.name}_{name.group()}", found)

    @cached_property
    def tool_names(self) -> re.Pattern[str]:
        """A pattern of the tools in its texts. A name that other words may have, such as a
        column's, is a tool's in the place of one only.
        """
        clear = "|".join(self.clear) or "(?!)"
        other = "|".join(tool.name for tool in self.tools if tool.name not in self.clear) or "(?!)"
        return re.compile(
            rf"(?<![\w.-])(?<!- id: )(?:{clear})(?![\w-])|(?<=`)(?:{other})(?=`)"
            rf"|(?<=- )(?:{other})(?=:)|(?<=\{{)(?:{other})(?=: *\{{)|(?<=name: )(?:{other})$"
            rf"|(?<=\")(?:{other})(?=\": *\{{)",
            re.MULTILINE,
        )

    @cached_property
    def tools(self) -> Sequence[Tool]:
        return () if self.world is None else self.world.tools

    @cached_property
    def clear(self) -> frozenset[str]:
        """The names that stand for a tool wherever they stand."""
        known = {one.name for table in self.tables.values() for one in table.columns}
        names = (tool.name for tool in self.tools if "_" in tool.name)
        return frozenset(name for name in names if name not in {*known, *self.tables})

    def script(self, stem: str, engine: str) -> str | None:
        """The name of the part's script for an engine."""
        home = self.folder if self.world is None else self.world.database
        found = find_script(home, stem, engine)
        return None if found is None else f"{self.name}/{found.name}"

    @cached_property
    def functions(self) -> dict[str, str]:
        """The families of its tasks.py, with what their docstrings say."""
        return {
            node.name: ast.get_docstring(node) or ""
            for node in ast.parse(self.text("tasks.py")).body
            if isinstance(node, ast.FunctionDef) and not node.name.startswith("_")
        }

    @cached_property
    def rules(self) -> dict[str, Any]:
        """Its tasks.yaml without the families."""
        rules: dict[str, Any] = yaml.safe_load(_FAMILIES.sub("", self.text("tasks.yaml"))) or {}
        return {**rules, "read_before": self._tools_in(rules.get("read_before", {}))}

    def _tools_in(self, value: Any) -> Any:
        """A rule about tools, in which every text that is a tool's name stands for the tool."""
        if isinstance(value, dict):
            return {
                self._tools_in(key): self._tools_in(item)
                for key, item in cast("dict[str, Any]", value).items()
            }
        if isinstance(value, list):
            return [self._tools_in(item) for item in cast("list[Any]", value)]
        return f"{self.name}_{value}" if value in {tool.name for tool in self.tools} else value

    @cached_property
    def families(self) -> str:
        found = _FAMILIES.search(self.text("tasks.yaml"))
        return textwrap.dedent(found[1]).strip("\n") if found else ""

    @cached_property
    def ids(self) -> list[str]:
        return [*(found[1] for found in _FAMILY.findall(self.families)), *self.functions]


def joined_files(folders: Sequence[Path]) -> dict[str, str]:
    """The files of a world that joins several, by their names in its folder.

    Raises OperatorError for parts that cannot be joined, and what a part that is wrong raises.
    """
    parts = [_part(folder) for folder in folders]
    if len({part.name for part in parts}) < len(parts):
        raise OperatorError("two parts have the same name, which is their prefix: rename a folder")
    for one, other in combinations(parts, 2):
        if tables := sorted(one.tables.keys() & other.tables.keys()):
            raise OperatorError(
                f"{one.name} and {other.name} both have the tables {', '.join(tables)}: rename"
                " them in one of the two, in its scripts, tools and tasks"
            )
    files = {
        f"{part.name}/{file}": _copied(part, file)
        for part in parts
        for file in part.files
        if Path(file).suffix in _COPIED
    }
    written = {
        **dict(_scripts(parts)),
        "seed.py": _seed(parts),
        "executors.py": _executors(parts),
        "tools.yaml": "\n".join(filter(None, map(_declared_tools, parts))),
        "tasks.py": _functions(parts),
        "rewards.py": "".join(
            f"from .{part.name}.rewards import *  # noqa: F403\n"
            for part in parts
            if "rewards.py" in part.files
        ),
        PHRASINGS: _phrasings(parts),
        "world.yaml": _world_file(parts),
        "policy.md": _policy(parts),
        "tasks.yaml": _tasks(parts),
    }
    return files | {file: text for file, text in written.items() if text}


def _part(folder: Path) -> _Part:
    """Read a folder. Raises OperatorError for one that cannot be joined."""
    name, files = folder.name, world_files(folder)
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name) or f"{name}.py" in _OWN:
        raise OperatorError(
            f"{name}: rename the folder, whose name becomes a prefix: a-z, 0-9 and _, and none of"
            f" {', '.join(_OWN)}"
        )
    if not {"executors.py", "tools.yaml"} & files.keys():
        return _Part(folder, files)
    world = load_world(folder)
    if world.databases or world.environment_class is not DatabaseExecutableEnvironment:
        raise OperatorError(f"{name}: only worlds of schema.sql and seed.sql can be joined")
    with world.template() as template:
        return _Part(folder, files, world, dict(template.tables))


def _copied(part: _Part, file: str) -> str:
    if file.endswith(".py"):
        return part.text(file)
    text = read_text(part.files[file])
    return _INCLUDE.sub(rf"\g<1>{part.name}/", text) if file.endswith(".sql") else text


def _scripts(parts: Sequence[_Part]) -> Iterator[tuple[str, str]]:
    """The schema and the seed for each engine for which a part has scripts of its own."""
    own = {name.split(".")[1] for part in parts for name in part.files if name.count(".") == 2}
    for stem in ("schema", "seed"):
        for engine in ("sqlite", *sorted(own & set(ENGINES.builtin))):
            found = [(part, part.script(stem, engine)) for part in parts]
            if all(script for part, script in found if part.world):
                word = _INCLUDES.get(engine, ".read")
                name = f"{stem}.sql" if engine == "sqlite" else f"{stem}.{engine}.sql"
                yield name, "".join(f"{word} {script}\n" for _, script in found if script)


def _seed(parts: Sequence[_Part]) -> str:
    """A seed.py if every part with rows has one."""
    seeded = [part for part in parts if any(file.startswith("seed") for file in part.files)]
    if not all("seed.py" in part.files for part in seeded):
        return ""
    imports = "".join(f"from .{part.name} import seed as {part.name}\n" for part in seeded)
    calls = "".join(
        f"    made += {part.name}.rows(universe, Random(random.random())"
        f"{'' if part.world else ', made'})\n"
        for part in seeded
    )
    return (
        f'"""The rows of all parts."""\n\nfrom random import Random\n\n{imports}\n\n'
        f"def rows(universe, random):\n    made = []\n{calls}    return made\n"
    )


def _executors(parts: Sequence[_Part]) -> str:
    """The tools of all executors.py. One whose function keeps its name is renamed here."""
    lines, renamed = list[str](), list[str]()
    for part in parts:
        if part.world is None or "executors.py" not in part.files:
            continue
        for name, tool in vars(part.world.module("executors")).items():
            if isinstance(tool, Tool):
                own = f"{part.name}_{tool.name}"
                clear = name == tool.name in part.clear
                lines.append(f"from .{part.name} import executors as {part.name}\n")
                renamed.append(
                    f"{own} = {part.name}.{own}\n"
                    if clear
                    else f'{own} = replace({part.name}.{name}, name="{own}")\n'
                )
    imports = "".join(dict.fromkeys(lines))
    return f"from dataclasses import replace\n\n{imports}\n{''.join(renamed)}" if lines else ""


def _declared_tools(part: _Part) -> str:
    """A part's tools.yaml, with executors of its own named in its subfolder."""

    def path(found: re.Match[str]) -> str:
        own = f"{found[2].replace('.', '/')}.py" in part.files
        return f"{found[1]}{part.name}.{found[2]}." if own else found.group()

    return re.sub(r"(executor: *)([\w.]+)\.(?=\w)", path, part.text("tools.yaml"))


def _functions(parts: Sequence[_Part]) -> str:
    taken = _collisions(parts)
    imports = [
        f"from .{part.name} import tasks as {part.name}\n" for part in parts if part.functions
    ]
    made = [
        f"\n\ndef {_id(part, name, taken)}(db):\n    {about!r}\n    return {part.name}.{name}(db)\n"
        for part in parts
        for name, about in part.functions.items()
    ]
    return "".join([*imports, *made])


def _phrasings(parts: Sequence[_Part]) -> str:
    """Other words of the users, under the ids of their families."""
    taken = _collisions(parts)
    lines = [(part, line) for part in parts for line in part.text(PHRASINGS).splitlines() if line]
    read = [(part, json.loads(line)) for part, line in lines]
    made = [{**one, "family": _id(part, one["family"], taken)} for part, one in read]
    return "".join(f"{json.dumps(one, ensure_ascii=False)}\n" for one in made)


def _collisions(parts: Sequence[_Part]) -> set[str]:
    """The ids of families that several parts have."""
    return {
        name
        for name, count in Counter(one for part in parts for one in part.ids).items()
        if count > 1
    }


def _id(part: _Part, name: str, taken: Collection[str]) -> str:
    return f"{part.name}_{name}" if name in taken else name


def _world_file(parts: Sequence[_Part]) -> str:
    found: dict[str, Any] = {}
    licences = {read_world_file(part.folder).license for part in parts if part.world}
    if len(licences) == 1 and (licence := licences.pop()):
        found["license"] = licence
    columns = {
        name: {"pii": traits.pii}
        for part in parts
        if part.world
        for name, traits in part.world.columns.items()
    }
    if columns:
        found["columns"] = columns
    return yaml.safe_dump(found, sort_keys=False) if found else ""


def _policy(parts: Sequence[_Part]) -> str:
    systems = [f"`{part.name}_`" for part in parts if part.world]
    first = (
        "You work with several systems. A tool's name begins with its system:"
        f" {', '.join(systems)}. The rules of all of them hold."
    )
    texts = [(part.name, part.text("policy.md").strip()) for part in parts]
    rules = [
        text if text.startswith("# ") else f"# {name}\n\n{text}" for name, text in texts if text
    ]
    return "\n\n".join([first, *rules]) + "\n"


def _tasks(parts: Sequence[_Part]) -> str:
    """One tasks.yaml. Raises OperatorError for rules of which there can be one only."""
    rules: dict[str, Any] = {}
    for key in ("now", "transient"):
        said = {part.name: part.rules.get(key) for part in parts if part.world or key in part.rules}
        if len(set(said.values())) > 1:
            words = ", ".join(f"{value} in {name}" for name, value in said.items())
            raise OperatorError(f"`{key}` of tasks.yaml must be the same in all parts: {words}")
        if (value := next(iter(said.values()))) is not None:
            rules[key] = value
    for part in parts:
        for key in ("compare", "read_before", "form"):
            if key in part.rules:
                rules.setdefault(key, {}).update(_spelled_out(part, part.rules[key]))
    taken = _collisions(parts)
    header = yaml.safe_dump(rules, sort_keys=False, width=120, allow_unicode=True)
    families = [
        _FAMILY.sub(
            lambda found, part=part: found[1] + _id(part, found[2], taken),
            f"# {part.name}\n\n{part.families}\n",
        )
        for part in parts
        if part.families
    ]
    return "\n".join([f"{header}\nfamilies:\n", *families])


def _spelled_out(part: _Part, rules: Mapping[str, Any]) -> dict[str, Any]:
    """Rules of a part in which no ``*`` stands for the tables of another one."""
    found: dict[str, Any] = {}
    for name, rule in sorted(rules.items(), key=lambda item: not item[0].startswith("*.")):
        table, _, column = name.partition(".")
        if table != "*" or part.world is None:
            found[name] = rule
            continue
        for known in part.tables.values():
            if any(one.name == column for one in known.columns):
                found[f"{known.name}.{column}"] = rule
    return found
