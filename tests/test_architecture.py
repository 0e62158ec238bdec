"""The house keeps its shape: floors, wings, one door per dependency, lazy and light imports.

The sources are read as syntax trees; nothing of them is run.
"""

from __future__ import annotations

import ast
import functools
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.house import tree

ROOT = Path(__file__).parent.parent

# From the ground up. A module imports only from floors below its own; rooms on one floor never import
# each other. A room of `synth` is a folder of `synth/core`; a module at the root belongs to the room
# that SPINE gives it.
FLOORS: dict[str, list[set[str]]] = {
    "envs": [
        {"json_text", "errors", "closing", "quoting", "ledger", "session_settings", "unreadable"},
        {"types", "clock", "plugins"},
        {"metrics", "connection", "processes", "scripts", "sql_errors"},
        {"audit"},
        {"sandboxes"},
        {"tools"},
        {"environments"},
        {"world"},
        {"reseed", "testing"},
    ],
    "synth": [
        {"errors", "plugins"},
        {"types"},
        {"foundation", "language"},
        {"screen"},
        {"config", "tasks", "dataset"},
        {"personal", "renaming"},
        {"rewards", "models", "report"},
        {"agent", "users"},
        {"episode", "telemetry"},
        {"validation"},
        {"runner"},
        {"rerun", "testing"},
        {"api"},
        {"cli"},
        {"ext"},
        {"__main__"},
    ],
}

SPINE = {
    "task": "types",
    "user": "types",
    "verdict": "types",
    "source": "tasks",
    "transform": "tasks",
    "model": "models",
    "evidence": "rewards",
    "middleware": "agent",
    "plan": "runner",
    "prepare": "runner",
    "rollout": "runner",
    "worker": "runner",
    "dispatcher": "runner",
    "coordinator": "runner",
    "launch": "runner",
    "wrapper": "runner",
    "hook": "runner",
}
"""The modules at the root of `synth` whose room has another name."""

DOORS = {
    # The other rooms call compose.py; overrides.py and sweep.py are its parts.
    "hydra": ["synth/core/config/compose.py", "synth/core/config/overrides.py"],
    "omegaconf": ["synth/core/config/compose.py"],
    "ray": ["synth/core/runner/runtimes/ray.py", "synth/ext/telemetry/ray_metrics.py"],
    "argcomplete": ["synth/core/cli/completion.py"],
    "openai": ["synth/core/models/openai/request_template.py"],
    "pyarrow": ["synth/core/dataset/", "synth/ext/exporters/"],
    "duckdb": ["synth/core/dataset/"],
    "fsspec": ["synth/core/dataset/fsspec_filesystem.py"],
    "jinja2": ["synth/ext/exporters/rendering/"],
    "tokenizers": ["synth/ext/exporters/rendering/"],
    "faker": ["synth/core/tasks/fake.py", "synth/ext/authoring/standards.py"],
    "genai_prices": ["synth/core/config/price_table.py"],
    "opentelemetry": ["synth/ext/telemetry/otel/"],
    "huggingface_hub": ["synth/ext/hub/"],
    "detect_secrets": ["synth/ext/hub/scan.py"],
    "re2": ["synth/ext/middlewares/offload.py"],
    "mcp": ["synth/ext/serving/mcp/"],
    "mcp_types": ["synth/ext/serving/mcp/"],
    "uvicorn": ["synth/ext/serving/mcp/"],
    "starlette": ["synth/ext/serving/mcp/"],
    "sqlglot": [
        "envs/tools/sql/critic/",
        "envs/sandboxes/attached/one_query.py",
        "synth/ext/authoring/checks.py",
    ],
    "inflect": ["synth/ext/authoring/english.py"],
    "apsw": [
        "envs/sandboxes/",
        "envs/sandboxes/sqlite/guard.py",
        "envs/world/subprocess_service.py",
        "envs/scripts/engines.py",
    ],
    "psycopg": ["envs/connection.py", "envs/sandboxes/"],
    "pymysql": ["envs/connection.py", "envs/sandboxes/"],
}

_LAZY = """
# a rollout is judged without the code of proofs
synth/ext/injection/gate.py synth.ext.injection.placing:InjectionValidation
# a tokenizer is an extra
synth/ext/exporters/exporting.py synth.ext.exporters.rendering.masks:TokenCount
# sqlglot is heavy, and few worlds ask the critic
envs/environments/executable.py envs.tools.sql.critic.masked:masked
envs/tools/sql/tool_set.py envs.tools.sql.critic.critic:criticise_on
synth/ext/text2sql/questions.py envs.tools.sql.critic:criticise
synth/ext/text2sql/questions.py envs.tools.sql.critic:read_query
synth/ext/text2sql/questions.py envs.tools.sql.critic:read_view
synth/ext/text2sql/questions.py envs.tools.sql.critic:doubts
synth/ext/text2sql/question.py envs.tools.sql.critic:read_query
synth/ext/text2sql/right_answers.py envs.tools.sql.critic:read_query
synth/ext/text2sql/right_answers.py envs.tools.sql.critic:settled
synth/ext/text2sql/validation.py envs.tools.sql.critic:weakened
synth/ext/text2sql/verifier.py envs.tools.sql.critic:read_query
envs/sandboxes/attached/access.py envs.sandboxes.attached.one_query:refusal
envs/sandboxes/attached/mariadb.py envs.sandboxes.attached.one_query:targets
# rollouts are judged without the code of proofs and attacks
synth/ext/text2sql/verifier.py synth.ext.text2sql.validation:SqlValidation
# faker is heavy, few worlds use it
synth/core/tasks/domains.py synth.core.tasks.fake:fake_values
# faker is heavy
synth/core/personal/formats.py synth.core.tasks.fake:first_names
# inflect takes two seconds, and each proof of a draft is a process that names nothing
synth/ext/authoring/names.py synth.ext.authoring.english:FORMS
synth/ext/authoring/names.py synth.ext.authoring.english:words_of
synth/ext/authoring/names.py synth.ext.authoring.english:is_mass
synth/ext/authoring/patterns/base.py synth.ext.authoring.english:proper
synth/ext/authoring/roles.py synth.ext.authoring.english:is_verb
synth/ext/authoring/names.py synth.ext.authoring.english:kind_of
synth/ext/authoring/roles.py synth.ext.authoring.english:kind_of
synth/ext/authoring/shape.py synth.ext.authoring.english:kind_of
synth/ext/authoring/names.py synth.ext.authoring.english:is_written
synth/ext/authoring/names.py synth.ext.authoring.english:is_rare
synth/ext/authoring/names.py synth.ext.authoring.english:is_verb
synth/ext/authoring/names.py synth.ext.authoring.english:is_only_verb
synth/ext/authoring/invented_rows.py synth.ext.authoring.english:is_rare
# the driver of an engine is imported where the engine is used
envs/sandboxes/sqlite/engine.py envs.sandboxes.sqlite.sandbox:SqliteTemplate
envs/sandboxes/server/engine.py envs.sandboxes.postgres.sandbox:PostgresTemplate
envs/sandboxes/server/engine.py envs.sandboxes.mariadb.sandbox:MariaDBTemplate
envs/sandboxes/attached/engine.py envs.sandboxes.attached.template:attach
envs/sandboxes/attached/engine.py envs.sandboxes.attached.access:settled
envs/sandboxes/attached/access.py envs.sandboxes.attached.sqlite:SqliteAccess
envs/sandboxes/attached/access.py envs.sandboxes.attached.postgres:PostgresAccess
envs/sandboxes/attached/access.py envs.sandboxes.attached.mariadb:MariaDBAccess
envs/sandboxes/attached/access.py envs.sandboxes.attached.duckdb:DuckDBAccess
envs/sandboxes/attached/access.py envs.sandboxes.attached.hive:HiveAccess
synth/core/runner/provenance.py envs.sandboxes.attached.description:differences
synth/core/config/database_target.py synth.core.config.server_url:server_url
# only answers that are queries are judged on other databases
envs/world/world.py envs.sandboxes.sqlite.altered_images:COPIES
envs/world/world.py envs.sandboxes.server.altered_rows:ALTERATIONS
# few experts err
synth/core/models/scripted/styles.py synth.core.models.scripted.fallible:FallibleModel
# a run without narration
synth/core/models/scripted/styles.py synth.core.models.scripted.narrating:Narrating
# a run without an endpoint has no rates
synth/coordinator.py synth.core.runner.rate_limits.governor:make_governor
synth/worker.py synth.core.runner.rate_limits.limiter:LeasedRateLimiter
# few runs keep an audit
synth/worker.py synth.core.runner.audit_files:AuditLog
# few tasks are shown under other names
synth/core/renaming/opening.py synth.core.renaming.translator:RenamingLayer
synth/core/renaming/opening.py synth.core.renaming.translator:translator_of
# few rollouts are unscored
synth/core/cli/end_report.py synth.core.dataset.reader:Dataset
# few users are asked anything
synth/core/users/scripted/user.py synth.core.users.scripted.reading:Reading
# few users have tools
synth/core/users/scripted/user.py synth.core.users.scripted.instructions:UserTools
# a run has no listener
synth/agent.py synth.core.agent.event_stream:EventStream
# HTML is for notebooks
synth/episode.py synth.core.screen.notebook:episode_html
synth/core/dataset/reader.py synth.core.screen.notebook:families_html
synth/core/dataset/reader.py synth.core.screen.notebook:trajectory_html
# most worlds declare their personal columns
synth/core/personal/people.py synth.core.personal.guess:guess_columns
# few runs are sent anywhere
synth/launch.py synth.core.dataset.upload:check_target
synth/core/runner/resuming.py synth.core.dataset.upload:check_target
synth/launch.py synth.core.dataset.upload:upload
# few are asked
synth/core/cli/launching.py synth.core.cli.consent_question:consent_by
# few runs are resumed
synth/core/cli/launching.py synth.core.runner.resuming:resume
# few commands are sweeps
synth/core/cli/launching.py synth.core.cli.sweep:sweep
# the `openai` package is heavy, and options are checked without it
synth/core/models/openai/factory.py synth.core.models.openai.model:OpenAIModel
# DuckDB is an extra
synth/core/dataset/reader.py synth.core.dataset.query:matching
# no run has reviews yet
synth/core/dataset/reader.py synth.core.dataset.reviews:Reviews
# fsspec is an extra
synth/core/dataset/upload.py synth.core.dataset.fsspec_filesystem:open_url
# jinja2 is an extra
synth/ext/exporters/exporting.py synth.ext.exporters.rendering.gate:RenderGate
# jinja2 and tokenizers are an extra
synth/ext/exporters/tokens.py synth.ext.exporters.rendering.masks:TokenMasks
# a plan without a recording is made without pyarrow
synth/core/runner/setup.py synth.core.models.replay.records:model_identity_at
# a table of prices is read where an endpoint is paid
synth/core/config/prices.py synth.core.config.price_table:lookup
# the SDK is an extra
synth/ext/serving/cli/mcp.py synth.ext.serving.mcp.transports:serve_stdio
synth/ext/serving/cli/mcp.py synth.ext.serving.mcp.transports:serve_http
# OpenTelemetry is an extra
synth/ext/telemetry/otel/__init__.py synth.ext.telemetry.otel.run_metrics:RunTelemetry
# OpenTelemetry is an extra, and workers make the spans
synth/ext/telemetry/otel/__init__.py synth.ext.telemetry.otel.spans:make
# huggingface_hub and detect-secrets are an extra
synth/ext/hub/cli/push.py synth.ext.hub.scan:scan
synth/ext/hub/cli/push.py synth.ext.hub.repository:push
synth/ext/hub/cli/pull.py synth.ext.hub.repository:pull
# a world is copied without the code of generation and proofs
synth/ext/authoring/cli/new.py synth.ext.authoring.world:make_world
synth/ext/authoring/cli/new.py synth.ext.authoring.reflect:reflect
synth/ext/authoring/cli/new.py synth.ext.authoring.roles:explained
synth/ext/authoring/cli/new.py synth.ext.authoring.roles:read_roles
synth/ext/authoring/cli/new.py synth.ext.authoring.source:Extract
synth/ext/authoring/cli/new.py synth.ext.authoring.source:from_files
synth/ext/authoring/cli/new.py synth.ext.authoring.source:from_url
# commands and options are completed without the config
synth/core/cli/completion.py synth.core.cli.override_completion:completions
# a mistake in a command is reported without the code of runs
synth/core/cli/run.py synth.core.config.compose:compose
synth/core/cli/run.py synth.core.config.compose:describe
synth/core/cli/run.py synth.core.config.compose:print_config
synth/core/cli/run.py synth.core.cli.dry_run:show
synth/core/cli/inspect.py synth.core.cli.recorded_suspects:suspects_of
synth/core/cli/inspect.py synth.core.cli.suspects:show_suspects
synth/core/cli/checking.py synth.core.cli.reseed:database_section
synth/core/cli/run.py synth.core.cli.preview:preview
synth/core/cli/run.py synth.core.cli.launching:start
synth/core/cli/run.py synth.core.cli.finished_run:say_if_complete
synth/core/cli/run.py synth.core.cli.launching:go_on
# few statements fail
envs/environments/database.py envs.sql_errors.classify:to_result
synth/core/tasks/queries.py envs.sql_errors.classify:to_result
# few tasks are judged by rows that a query returns
synth/core/tasks/queries.py envs.world.query:ask
synth/episode.py envs.world.query:ask
# most worlds are seeded by SQL
envs/world/world.py envs.world.seed_rows:universe_rows
envs/world/world.py envs.world.seed_rows:insert_rows
# few worlds run code of their own
envs/world/world.py envs.processes:pool_of
# few worlds have roles
envs/scripts/policy.py envs.scripts.roles:without_roles
# few queries run in a subprocess
envs/sandboxes/sqlite/sandbox.py envs.sandboxes.sqlite.subprocess_call:Question
# few replies hold calls in their text
synth/core/agent/completion_reading.py synth.core.agent.text_calls:find_calls
# few tasks are composed
synth/core/validation/prove.py synth.core.tasks.parts:joined_gold
synth/core/validation/prove.py synth.core.tasks.parts:joined_reply
synth/core/validation/prove.py synth.core.tasks.parts:without_repeats
# damage is looked for where a run is resumed
synth/core/dataset/store/run_writer.py synth.core.dataset.store.damage:known_digests
synth/core/dataset/store/run_writer.py synth.core.dataset.store.damage:damage_of
synth/core/dataset/store/run_writer.py synth.core.dataset.store.damage:mend_shard
synth/core/dataset/store/run_writer.py synth.core.dataset.store.damage:set_aside
synth/core/dataset/store/acquire.py synth.core.dataset.store.damage:set_aside
"""


def _reasons(table: str) -> Iterator[tuple[tuple[str, str], str]]:
    """The rows of a table, with the line above them that begins with ``#``."""
    reason = ""
    for line in table.split("\n"):
        if line.startswith("# "):
            reason = line[2:]
        elif line:
            file, target = line.split()
            yield (file, target), reason


LAZY = dict(_reasons(_LAZY))
"""Imports that are put off until they are needed: (file, ``module:attribute``) and the reason.

Each such text in the code is a row here. The extension points of `envs/plugins.py` and
`synth/plugins.py`, and the commands of `synth/__main__.py`, are tables of their own.
"""

CORE_IMPORTS_EXT = {("synth/testing/exporter_conformance.py", "exporters")}
"""Imports that still have to become extension points: (file, capability)."""

EXT_IMPORTS_EXT = {
    ("authoring", "variety"),
    ("evaluation", "judge"),
    ("exporters", "hub"),
    ("hub", "exporters"),
    ("serving", "hub"),
    ("serving", "middlewares"),
    ("serving", "view"),
}
"""Capabilities that build on another one."""

PLUGINS = ("envs/plugins.py", "synth/plugins.py")

IMPORTERS = {
    "envs/plugins.py": "the resolver of extensions and of the table above",
    "envs/world/package.py": "a world's Python files are modules loaded by file path",
    "envs/processes/zygote.py": "a bare process imports the one service that its parent names",
    "envs/__init__.py": "public names are imported when they are first used (PEP 562)",
    "synth/__init__.py": "public names are imported when they are first used (PEP 562)",
    "envs/connection.py": "asks whether a driver is installed, without importing it",
}
"""Files that may use `importlib` (its `metadata` and `resources` are free), with the reason."""

HEAVY = (
    "argcomplete", "hydra", "omegaconf", "ray", "openai", "pyarrow", "duckdb", "apsw",
    "sqlalchemy", "sqlglot", "inflect", "wordsegment", "pydantic", "faker", "rich",
)  # fmt: skip


def modules(wing: str) -> list[Path]:
    return [path for path in sorted((ROOT / wing).rglob("*.py")) if "_shipped" not in path.parts]


def place(file: Path) -> str:
    return file.relative_to(ROOT).as_posix()


@functools.cache
def imports(file: Path) -> list[tuple[str, ast.stmt, bool]]:
    """Every imported module, its statement, and whether the statement is inside a function."""
    inside = {
        id(inner)
        for outer in ast.walk(tree(file))
        if isinstance(outer, ast.FunctionDef | ast.AsyncFunctionDef)
        for inner in ast.walk(outer)
    }
    found = list[tuple[str, ast.stmt, bool]]()
    for node in ast.walk(tree(file)):
        if isinstance(node, ast.Import):
            found += [(alias.name, node, id(node) in inside) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}: relative import"
            found.append((f"{node.module}", node, id(node) in inside))
    return found


@functools.cache
def targets(file: Path) -> list[tuple[str, int]]:
    """Every text of the form ``module:attribute`` with a module of ours, and its line."""
    return [
        (node.value, node.lineno)
        for node in ast.walk(tree(file))
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and re.fullmatch(r"(?:envs|synth)(?:\.\w+)*:\w+(?:\.\w+)*", node.value)
    ]


def defines(target: str) -> bool:
    """Whether the module of ``module:attribute`` exists and binds the attribute's first name."""
    module, _, attribute = target.partition(":")
    base = ROOT.joinpath(*module.split("."))
    file = next((f for f in (base / "__init__.py", base.with_suffix(".py")) if f.is_file()), None)
    if file is None:
        return False
    bound = set()
    for node in tree(file).body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            bound.add(node.name)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            bound |= {alias.asname or alias.name for alias in node.names}
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            written = node.targets if isinstance(node, ast.Assign) else [node.target]
            bound |= {name.id for name in written if isinstance(name, ast.Name)}
    return attribute.split(".")[0] in bound


def room(file: Path) -> str:
    return room_of(*file.relative_to(ROOT).with_suffix("").parts)


def room_of(wing: str, name: str, *rest: str) -> str:
    if (wing, name) == ("synth", "core"):
        return rest[0]
    return SPINE.get(name, name) if wing == "synth" else name


def floor(wing: str, name: str) -> int:
    found = [number for number, rooms in enumerate(FLOORS[wing]) if name in rooms]
    assert len(found) == 1, f"{wing}/{name} is on no floor; give it one in this test"
    return found[0]


@pytest.mark.parametrize("wing", FLOORS)
def test_modules_import_only_from_floors_below(wing: str):
    wrong = []
    for file in modules(wing):
        own = room(file)
        if own == "__init__":
            continue
        for target, node, _ in imports(file):
            head, *rest = target.split(".")
            if head != wing or not rest or "ext" in (rest[0], own):
                continue
            other = room_of(head, *rest)
            if other != own and floor(wing, other) >= floor(wing, own):
                wrong.append(f"{file.relative_to(ROOT)}:{node.lineno} imports {target}")
    assert not wrong


def test_the_world_wing_knows_nothing_of_the_pipeline():
    wrong = [
        f"{file}:{node.lineno}"
        for file in modules("envs")
        for target, node, _ in imports(file)
        if target.split(".")[0] == "synth"
    ]
    assert not wrong


def test_every_dependency_has_one_door():
    wrong = []
    for file in [*modules("envs"), *modules("synth")]:
        for target, node, _ in imports(file):
            doors = DOORS.get(target.split(".")[0])
            if doors is not None and not place(file).startswith(tuple(doors)):
                wrong.append(f"{place(file)}:{node.lineno} imports {target}")
    assert not wrong


def capability(name: str) -> str | None:
    """The capability that a path of a module or a dotted name belongs to."""
    parts = re.split(r"[./]", name)
    return parts[2] if parts[:2] == ["synth", "ext"] and len(parts) > 2 else None


def imports_of_capabilities() -> set[tuple[str, str]]:
    """Every (file, capability) where a module imports a capability that it is not part of."""
    found = {
        (place(file), other)
        for file in modules("synth")
        if place(file) != "synth/__init__.py"
        for target, _, _ in imports(file)
        if (other := capability(target)) is not None
    }
    found |= {(file, other) for file, target in LAZY if (other := capability(target)) is not None}
    return {(file, other) for file, other in found if capability(file) != other}


def test_core_and_spine_import_no_capability():
    found = {(file, other) for file, other in imports_of_capabilities() if not capability(file)}
    assert found == CORE_IMPORTS_EXT, "the table below may only become shorter"


def test_a_capability_imports_no_other():
    found = {(capability(file), other) for file, other in imports_of_capabilities()}
    assert {pair for pair in found if pair[0]} == EXT_IMPORTS_EXT


def test_no_import_hides_inside_a_function():
    wrong = [
        f"{place(file)}:{node.lineno} imports {target}"
        for file in [*modules("envs"), *modules("synth")]
        for target, node, inside in imports(file)
        if inside
    ]
    assert not wrong


def lazy_imports() -> set[tuple[str, str]]:
    return {
        (place(file), target)
        for file in [*modules("envs"), *modules("synth")]
        if place(file) not in PLUGINS
        for target, _ in targets(file)
    }


def test_every_lazy_import_is_in_the_table():
    missing = lazy_imports() - set(LAZY)
    assert not missing, "add a row with the reason to LAZY in this file"
    assert all(LAZY.values())


def test_lazy_imports_and_built_in_extensions_lead_somewhere():
    wrong = [
        f"{place(file)}:{line} {target}"
        for file in [*modules("envs"), *modules("synth")]
        for target, line in targets(file)
        if not defines(target)
    ]
    assert not wrong


def test_a_lazy_import_keeps_to_the_floors():
    """An import that is put off is still an import. Commands are the exception: they are chosen by
    the command line, which stands above them.
    """
    wrong = []
    for file, target in LAZY:
        wing, own = file.split("/")[0], room(ROOT / file)
        head, *rest = target.partition(":")[0].split(".")
        other = room_of(head, *rest)
        if head != wing or own in {other, "__init__"}:
            assert (wing, head) != ("envs", "synth")
        elif other != "ext" and floor(wing, other) >= floor(wing, own):
            wrong.append(f"{file} resolves {target}")
    assert not wrong


def test_modules_are_imported_by_name_in_the_resolver_only():
    wrong = {
        place(file)
        for file in [*modules("envs"), *modules("synth")]
        for node in ast.walk(tree(file))
        if (isinstance(node, ast.ImportFrom) and node.module == "importlib")
        or (
            isinstance(node, ast.Import)
            and any(alias.name in {"importlib", "importlib.util"} for alias in node.names)
        )
        or (isinstance(node, ast.Name) and node.id == "__import__")
    }
    assert wrong == set(IMPORTERS)


def test_no_room_has_a_name_that_says_nothing():
    nothing = {"utils", "util", "helpers", "helper", "common", "misc"}
    assert not [
        file for file in [*modules("envs"), *modules("synth")] if nothing & {*file.parts, file.stem}
    ]


@pytest.mark.parametrize("wing", FLOORS)
def test_importing_a_wing_stays_light(wing: str):
    code = f"import {wing}, sys; print([name for name in {HEAVY!r} if name in sys.modules])"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "[]"
