"""Pages that are made from the code: reference, and one page for each extension point."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, cast

from pydantic import TypeAdapter

import synth
from synth.__main__ import COMMANDS
from synth.core.config.compose import compose
from synth.config import RunConfig, flat, to_dict
from synth.core.dataset.columns import COLUMNS
from synth.plugins import EXTENSION_POINTS
from synth.core.tasks.yaml.json_schema import tasks_schema

ROOT = Path(__file__).resolve().parents[2]

Page = tuple[str, str]
"""A text, and the file of the repository that its links are relative to."""

LANGUAGES = {".py": "python", ".yaml": "yaml", ".sql": "sql", ".toml": "toml"}


def generated_pages() -> dict[str, Page]:
    """Return the pages by their places on the site."""
    reference = {
        "cli": cli_page(),
        "config": config_page(),
        "tasks-keys": tasks_page(),
        "columns": columns_page(),
        "errors": errors_page(),
        "python": python_page(),
    }
    pages = {
        f"reference/{name}.md": (text, f"docs/reference/{name}.md")
        for name, text in reference.items()
    }
    for name, text in door_pages().items():
        pages[f"extending/{name}.md"] = (text, "CONTRIBUTING.md")
    return pages


def cli_page() -> str:
    """The help of each command."""
    parts = ["# Command line", _shown("synth", "--help")]
    for name in COMMANDS:
        parts += [f"## synth {name}", _shown("synth", name, "--help")]
    return "\n\n".join(parts) + "\n"


def _shown(*words: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", *words],
        env=os.environ | {"COLUMNS": "100", "PYTHONPATH": str(ROOT), "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    return f"```text\n{done.stdout.rstrip()}\n```"


def config_page() -> str:
    """Every key of the config with its type and its default, by section."""
    schema = TypeAdapter(RunConfig).json_schema()
    defaults = flat(to_dict(compose([])[0].config))
    sections: dict[str, list[str]] = {}
    abouts: dict[str, str] = {"": ""}
    for key, kind, about in _keys(schema, schema, "", abouts):
        section = key.rpartition(".")[0]
        default = _json(defaults[key]) if key in defaults else ""
        row = f"| `{key}` | {kind} | {default} |"
        sections.setdefault(section, []).append(row + about)
    lines = [
        "# Config",
        "Every key of `synth run` with its type and the default of `configs/run.yaml`."
        " `synth run --cfg job` prints the config of a command line.",
    ]
    for section, rows in sections.items():
        lines += [f"## {section or 'The run'}", _plain(abouts.get(section, ""))]
        lines.append("| key | type | default |\n|---|---|---|\n" + "\n".join(rows))
    lines.append("## Groups\n\nA group's name chooses one of its files: `model=openai`.")
    for folder in sorted(path for path in (ROOT / "configs").iterdir() if path.is_dir()):
        files = sorted(folder.glob("*.yaml"))
        lines.append(f"### {folder.name}")
        lines += [f"`{folder.name}={file.stem}`\n\n{_code(file)}" for file in files]
    return "\n\n".join(line for line in lines if line) + "\n"


def _keys(
    part: Mapping[str, Any], whole: Mapping[str, Any], prefix: str, abouts: dict[str, str]
) -> Iterator[tuple[str, str, str]]:
    for name, value in part.get("properties", {}).items():
        key = f"{prefix}{name}"
        target = _resolved(value, whole)
        if target.get("properties"):
            abouts[key] = target.get("description", "")
            yield from _keys(target, whole, f"{key}.", abouts)
        else:
            yield key, _type(value, whole), ""


def _resolved(value: Mapping[str, Any], whole: Mapping[str, Any]) -> Mapping[str, Any]:
    reference = value.get("$ref") or (value.get("allOf") or [{}])[0].get("$ref")
    return whole["$defs"][reference.rpartition("/")[2]] if reference else value


def _type(value: Mapping[str, Any], whole: Mapping[str, Any]) -> str:
    value = _resolved(value, whole)
    if "enum" in value:
        return ", ".join(f"`{word}`" for word in value["enum"])
    if "const" in value:
        return f"`{value['const']}`"
    if "anyOf" in value:
        return " or ".join(dict.fromkeys(_type(item, whole) for item in value["anyOf"]))
    kind = str(value.get("type", "any"))
    if kind == "array":
        return f"list of {_type(value.get('items', {}), whole)}"
    bounds = {"minimum": "≥", "exclusiveMinimum": ">", "maximum": "≤", "exclusiveMaximum": "<"}
    limits = [f"{sign} {value[name]}" for name, sign in bounds.items() if name in value]
    limits = [limit for limit in limits if len(limit) < 12]
    words = {"object": "mapping", "string": "text", "null": "null", "boolean": "true or false"}
    return " ".join([words.get(kind, kind), *limits])


def _json(value: object) -> str:
    texts = {None: "null", True: "true", False: "false"}
    if value is None or isinstance(value, bool):
        return f"`{texts[value]}`"
    return f"`{value}`" if value != "" else ""


def tasks_page() -> str:
    """The JSON Schema of tasks.yaml as tables."""
    schema = cast("dict[str, Any]", tasks_schema())
    lines = [
        "# All keys of tasks.yaml",
        "Made from the JSON Schema that `synth schema` prints."
        " [tasks.yaml](tasks-yaml.md) says what the keys of a family are for.",
        "## The file",
        _schema_table(schema),
    ]
    for name, part in sorted(schema["$defs"].items()):
        lines += [f"## {name}", str(part.get("description", "")), _schema_table(part)]
    return "\n\n".join(line for line in lines if line) + "\n"


def _schema_table(part: Mapping[str, Any]) -> str:
    properties = cast("dict[str, Any]", part.get("properties") or {})
    if not properties:
        return f"Type: {_schema_type(part)}"
    rows = [
        f"| `{name}` | {_schema_type(value)} | {_cell(str(value.get('description', '')))} |"
        for name, value in properties.items()
    ]
    return "| key | type | meaning |\n|---|---|---|\n" + "\n".join(rows)


def _schema_type(value: Any) -> str:
    if not isinstance(value, dict):
        return "any"
    found = cast("dict[str, Any]", value)
    if "$ref" in found:
        name = str(found["$ref"]).rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    for word in ("anyOf", "oneOf", "allOf"):
        if word in found:
            kinds = dict.fromkeys(_schema_type(item) for item in found[word])
            return " or ".join(kinds)
    if "enum" in found:
        return ", ".join(f"`{item}`" for item in found["enum"])
    if "const" in found:
        return f"`{found['const']}`"
    kind = found.get("type", "any")
    if kind == "array":
        return f"list of {_schema_type(found.get('items', {}))}"
    return " or ".join(kind) if isinstance(kind, list) else str(kind)


def columns_page() -> str:
    """The columns of a dataset."""
    rows = [
        f"| `{col.name}` | {_cell(col.kind)} | {'yes' if col.null else ''} | {_cell(col.about)} |"
        for col in COLUMNS
    ]
    volatile = ", ".join(f"`{col.name}`" for col in COLUMNS if col.volatile)
    return (
        "# Columns\n\nOne row is one trajectory. JSON columns hold JSON text in Parquet, which"
        " `datasets` and `synth.load` decode.\n\n| column | type | may be null | meaning |\n"
        f"|---|---|---|---|\n{chr(10).join(rows)}\n\n"
        f"A repeated run gives the same values but for {volatile} and `config_digest`.\n"
    )


def errors_page() -> str:
    """The errors of both packages, and the exit codes."""
    return (
        "# Errors\n\nEach class is for one reader. The [commands](commands.md) page has the exit"
        " codes.\n\n## Pipeline\n\n::: synth.errors\n    options:\n      show_root_toc_entry: false\n"
        "\n## Worlds and tools\n\n::: envs.errors\n    options:\n      show_root_toc_entry: false\n"
    )


def python_page() -> str:
    """The public names of ``import synth``."""
    names = [name for name in synth.__all__ if name != "__version__"]
    functions = sorted(
        (name for name in names if name.islower()),
        key=lambda name: (name.removeprefix("a") in names and name[0] == "a", name),
    )
    types = [name for name in names if not name.islower()]
    parts = [
        "# Python",
        "The names that `import synth` offers. Everything else is private, but for the contracts"
        " of [extensions](../extending/index.md) and the classes of `envs` that a world imports.",
    ]
    for name in functions + types:
        found = getattr(synth, name)
        options = "show_root_heading: true\n      show_root_toc_entry: true\n      heading_level: 2"
        path = f"{found.__module__}.{found.__qualname__}"
        parts.append(f"::: {path}\n    options:\n      heading: synth.{name}\n      {options}")
    return "\n\n".join(parts) + "\n"


def door_pages() -> dict[str, str]:
    """A page for each extension point: its section of CONTRIBUTING, its example, its contract."""
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    sections = re.findall(r"^### (An? ([\w ]+))\n(.*?)(?=^##)", text, re.DOTALL | re.MULTILINE)
    groups = {point.kind: point.group for point in EXTENSION_POINTS}
    pages: dict[str, str] = {}
    for title, kind, body in sections:
        linked = dict.fromkeys(re.findall(r"\]\((examples/extensions/[\w./]+)\)", body))
        examples = [f"### {name}\n\n{_code(ROOT / name)}" for name in linked]
        parts = [f"# {title}", body.strip(), f"Entry points: `{groups[kind]}`."]
        parts += ["## Example", *examples]
        if contract := re.search(r"contract in `((?:synth|envs)/[\w/]+)\.py`", body):
            module = contract[1].replace("/", ".")
            parts.append(f"## Contract\n\n::: {module}")
        pages[kind.replace(" ", "-")] = "\n\n".join(parts) + "\n"
    return pages


def _code(file: Path) -> str:
    language = LANGUAGES.get(file.suffix, "text")
    return f"````{language}\n{file.read_text('utf-8').rstrip()}\n````"


def _plain(text: str) -> str:
    return re.sub(r":\w+:`~?([^`]+)`", r"`\1`", " ".join(text.split())).replace("``", "`")


def _cell(text: str) -> str:
    return _plain(text).replace("|", "\\|").replace("<", "&lt;")
