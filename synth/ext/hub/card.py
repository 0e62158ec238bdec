"""The whole card of a dataset: what the Hub reads, and what a reader wants to know first."""

from __future__ import annotations

import io
import re
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

import yaml
from rich.console import Console

from synth.coordinator import RunReport
from synth.core.config.rules import AGENT
from synth.core.dataset.reader import Dataset
from synth.core.dataset.store.atomic_files import disk
from synth.core.dataset.store.card import (
    columns_table,
    splits_and_configs,
    table,
    use_section,
    variety_section,
)
from synth.core.foundation.perturbations import USUAL_RATE
from synth.core.report.rates import histogram_of, wilson
from synth.core.screen import Screen
from synth.core.screen.transcript import show_trajectory
from synth.errors import OperatorError, SynthError
from synth.ext.hub.facts import Licences, RunFacts, licences, read_facts
from synth.hook import RunHook
from synth.prepare import PreparedRun

PLOTS = "card"
"""Folder of the plots, beside the card."""

CARD_ROWS = 5_000
"""Rows up to which a run writes its whole card when it ends; that reads every row."""

_FENCE = "~~~~~~"
_INSTALL = "pip install 'synth-worlds[hf]'"


def card_files(facts: RunFacts, declared: Licences, repo: str | None = None) -> dict[str, str]:
    """The card and its plots, by their paths in the dataset. ``repo`` is its name on the Hub."""
    plots = _plots(facts)
    sections = (
        _header(facts, declared),
        _title(facts, declared),
        _world(facts),
        _tools(facts),
        _reward(facts),
        _example(facts),
        _distributions(facts, list(plots)),
        variety_section(facts.manifest),
        _teacher(facts),
        _limits(facts),
        ["## Contamination", "", *(f"- {line}" for line in facts.overlap.lines()), ""],
        _use(repo),
        _citation(facts, repo),
        ["## Columns", "", *columns_table()],
    )
    text = "\n".join(line for section in sections for line in section)
    return {"README.md": text, **{f"{PLOTS}/{name}.svg": svg for name, svg in plots.items()}}


def write_card(facts: RunFacts, declared: Licences, repo: str | None = None) -> list[Path]:
    """Write the card and its plots into the run's directory; returns the files."""
    written: list[Path] = []
    for name, text in card_files(facts, declared, repo).items():
        file = facts.directory / name
        with disk(file):
            file.parent.mkdir(exist_ok=True)
            temporary = file.with_name(f".{file.name}.tmp")
            temporary.write_text(text, "utf-8")
            temporary.replace(file)
        written.append(file)
    return written


def complete_card(directory: Path) -> str | None:
    """Put the whole card in the place of a sealed run's short one, unless the run has more than
    ``CARD_ROWS`` rows. Returns what kept it from that, if anything did.
    """
    try:
        with Dataset.open(directory) as dataset:
            if dataset.count > CARD_ROWS:
                return None
        facts = read_facts(directory)
        write_card(facts, licences(facts))
    except (SynthError, OSError) as error:
        return f"the whole card was not written: {error}"
    return None


class CompleteCard(RunHook):
    """Writes the whole card of a run that has ended."""

    def sealed(self, report: RunReport, run: PreparedRun, console: Console) -> RunReport:
        if (problem := complete_card(report.directory)) is not None:
            raise OperatorError(problem)
        return report


def _header(facts: RunFacts, declared: Licences) -> list[str]:
    card = facts.card
    size, configs = splits_and_configs(facts.manifest, has_tasks=True)
    header: dict[str, Any] = {
        "pretty_name": card.pretty_name or f"Tool use in {facts.world}, verified",
        **({} if declared.data is None else {"license": declared.data}),
        "language": list(card.language),
        "task_categories": ["text-generation"],
        "tags": [
            *("tool-use", "function-calling", "agents", "synthetic", "trajectories"),
            *("verifiable-rewards", "sql", f"world:{facts.world}"),
        ],
        "library_name": "datasets",
        "size_categories": [size],
        "configs": configs,
    }
    text = yaml.safe_dump(header, sort_keys=False, allow_unicode=True, width=1_000)
    return ["---", text.rstrip("\n"), "---", ""]


def _title(facts: RunFacts, declared: Licences) -> list[str]:
    counts = facts.manifest["counts"]
    name = facts.card.pretty_name or f"Tool use in {facts.world}, verified"
    summary = (
        f"{counts['rows']} conversations in which an agent works on a database with tools. Every"
        " rollout had a fresh database of its own; its final state was compared row by row with"
        " that of the task's reference solution, which was proved before."
    )
    if facts.manifest["status"] != "complete":
        summary += f" The run was stopped early: {counts['jobs']} were planned."
    passed = sum(family["outcomes"].get("success", 0) for family in counts["families"].values())
    if facts.rewards:
        low_high = wilson(passed, len(facts.rewards))
        summary += (
            f" {passed} of {len(facts.rewards)} scored rollouts solved their task"
            f" ({passed / len(facts.rewards):.1%}; 95%: {low_high.low:.1%} to {low_high.high:.1%})."
        )
    rows = [
        ("data", declared.data or "not declared"),
        ("world", declared.world or "not declared"),
        ("teacher's words", declared.teacher or "not declared"),
    ]
    splits = [(split, part["rows"]) for split, part in counts["splits"].items()]
    families = [
        (name, part["rows"], part["mean_reward"]) for name, part in counts["families"].items()
    ]
    return [
        f"# {name}",
        "",
        summary,
        "",
        *table(("licence of", ""), rows),
        *table(("split", "rows"), splits),
        *table(("family of tasks", "rows", "mean reward"), families),
    ]


def _world(facts: RunFacts) -> list[str]:
    about = facts.about_world() or "The world's files are in `world/`; it has no README."
    schema = facts.world_text.get("schema.sql", "")
    tables = re.findall(r"(?im)^\s*create\s+table\s+(?:if\s+not\s+exists\s+)?\W?(\w+)", schema)
    lines = [f"## The world `{facts.world}`", "", about, ""]
    if tables:
        lines += [f"{len(tables)} tables: {', '.join(f'`{name}`' for name in tables)}.", ""]
    if len(facts.universes) > 1:
        count = len(facts.universes)
        lines += [f"Its rows are of {count} universes: databases of the same schema.", ""]
    return lines


def _tools(facts: RunFacts) -> list[str]:
    rows = [(f"`{name}`", " ".join(text.split())) for name, text in sorted(facts.tools.items())]
    return ["## The tools", "", *table(("tool", "what the model is told"), rows)]


def _reward(facts: RunFacts) -> list[str]:
    judged = [
        *((f"`{name}`", "must pass", count) for name, count in facts.gates.most_common()),
        *((f"`{name}`", "weighs in", count) for name, count in facts.scores.most_common()),
    ]
    return [
        "## How a reward is made",
        "",
        (
            "A rollout has the reward 1 if it passes every gate (and of a world's own scores their"
            " weighted mean), else 0. Nothing in it is the opinion of a model: gates compare"
            " database rows, submitted answers and calls, and what was said with what was done."
            " `verdicts` has the reason of each; a rollout that could not be judged has none."
        ),
        "",
        *table(("verdict", "", f"rows of {len(facts.turns)}"), judged),
    ]


def _example(facts: RunFacts) -> list[str]:
    row = facts.example
    if row is None:
        return []
    out = io.StringIO()
    screen = Screen(out, terminal=False)
    shown = [message for message in row["messages"] if message["role"] != "system"]
    show_trajectory(screen, row, messages=shown, header=False)
    return [
        "## One example",
        "",
        (
            f"Row `{row['trajectory_id']}`, family `{row['family']}`, without its system message."
            " The rows that a call changed stand below its result."
        ),
        "",
        f"{_FENCE}text",
        out.getvalue().strip("\n").replace(_FENCE, "~~~"),
        _FENCE,
        "",
    ]


def _plots(facts: RunFacts) -> dict[str, str]:
    values: Mapping[str, tuple[str, Sequence[float]]] = {
        "rewards": ("rewards", facts.rewards),
        "turns": ("turns of the model", facts.turns),
        "tool-calls": ("tool calls", facts.calls),
        "output-tokens": ("output tokens", facts.tokens),
    }
    return {name: histogram(title, found) for name, (title, found) in values.items() if found}


def _distributions(facts: RunFacts, plots: Sequence[str]) -> list[str]:
    stops = ", ".join(f"{name} {count}" for name, count in facts.stops.most_common())
    images = " ".join(f"![{name}]({PLOTS}/{name}.svg)" for name in plots)
    return ["## Distributions", "", images, "", f"How rollouts ended: {stops}.", ""]


def _teacher(facts: RunFacts) -> list[str]:
    model, users = facts.config.model, facts.config.users
    identity = facts.manifest["identity"]
    sampling = {"temperature": model.temperature, "top_p": model.top_p}
    drawn = ", ".join(f"{name} {value:g}" for name, value in sampling.items() if value is not None)
    replay = model.kind == "replay"
    unnamed = "sampled as its rows say" if replay else "sampling as the endpoint sets it"
    teacher = (
        "the scripted expert, which plays the reference solution"
        if model.kind == "scripted"
        else f"`{identity['model']}` ({drawn or unnamed})"
    )
    played = facts.config.endpoint(users.model or AGENT).name
    user = {"scripted": "by rules", "none": "there is none"}.get(
        users.kind, f"`{played}`" if users.kind == "simulated" and played else users.kind
    )
    rows = [
        ("teacher", teacher),
        ("user", user),
        ("seed", identity["seed"]),
        ("samples of each task", facts.config.tasks.samples),
        ("synth", facts.manifest["versions"].get("synth-worlds", "unknown")),
        *((f"digest of {name}", f"`{value}`") for name, value in facts.manifest["digests"].items()),
    ]
    return ["## Teacher and origin", "", *table(("", ""), rows)]


def _limits(facts: RunFacts) -> list[str]:
    lines = [facts.card.limits] if facts.card.limits else []
    if facts.config.model.kind == "scripted":
        lines.append("The agent's words are templates of the scripted expert, not a model's.")
    if facts.config.users.kind == "scripted":
        lines.append("Users speak by rules, so their wording varies less than people's.")
    model = facts.config.model
    usual = USUAL_RATE if model.mistakes else None
    if share := usual if model.mistake_rate is None else model.mistake_rate:
        lines.append(f"In a share of {share:g} of the rollouts a mistake was made on purpose.")
    universes = len(facts.universes)
    lines.append(
        f"All rows are of one world with {universes} universe{'s' if universes > 1 else ''},"
        " so counts of tasks say more about breadth than counts of rows."
    )
    found = facts.manifest["counts"]["errors"]
    if found:
        lines.append(f"{found} rollouts broke by infrastructure; `errors.parquet` has them.")
    return ["## Known limits", "", *(f"- {line}" for line in lines), ""]


def _use(repo: str | None) -> list[str]:
    if repo is None:
        return use_section("path/to/this/directory", [_INSTALL])
    return use_section(repo, [_INSTALL, f"synth pull {repo} out/pulled"], "out/pulled")


def _citation(facts: RunFacts, repo: str | None) -> list[str]:
    digest = facts.manifest["digests"]["plan"]
    entry = facts.card.citation or "\n".join(
        [
            f"@misc{{synth_{facts.world}_{str(digest)[:8]},",
            f"  title = {{{facts.card.pretty_name or f'Tool use in {facts.world}'}}},",
            f"  howpublished = {{{f'Hugging Face dataset {repo}' if repo else 'synth-worlds'}}},",
            f"  year = {{{str(facts.manifest['sealed_at'])[:4]}}},",
            f"  note = {{made with synth, plan {digest}}}",
            "}",
        ]
    )
    return ["## Citation", "", "```bibtex", entry.replace("```", ""), "```", ""]


WIDTH, HEIGHT = 320, 150
_LEFT, _TOP, _BOTTOM = 8, 26, 20

_STYLE = (
    "text{font:11px system-ui,sans-serif;fill:#57606a}.t{font-weight:600}"
    "rect{fill:#0f766e}line{stroke:#57606a}"
    "@media(prefers-color-scheme:dark){text{fill:#9da7b3}rect{fill:#2dd4bf}line{stroke:#9da7b3}}"
)


def histogram(title: str, values: Sequence[float]) -> str:
    """A histogram of values, at most 20 bars, with the number above each of few bars."""
    found = histogram_of(values)
    edges, counts = found.edges, found.counts
    most = max(counts)
    room = (WIDTH - 2 * _LEFT) / len(counts)
    floor = HEIGHT - _BOTTOM
    parts = [
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}"'
            f' width="{WIDTH}" height="{HEIGHT}" role="img" aria-label="{escape(title)}">'
        ),
        f"<title>{escape(title)}</title><style>{_STYLE}</style>",
        f'<text class="t" x="{_LEFT}" y="14">{escape(title)}</text>',
    ]
    for index, count in enumerate(counts):
        tall = (floor - _TOP - 12) * count / most
        x = _LEFT + index * room
        parts.append(
            f'<rect x="{x + 1:.1f}" y="{floor - tall:.1f}" width="{room - 2:.1f}"'
            f' height="{tall:.1f}"><title>{_label(edges, index)}: {count}</title></rect>'
        )
        if len(counts) <= 8 and count:
            parts.append(
                f'<text x="{x + room / 2:.1f}" y="{floor - tall - 3:.1f}"'
                f' text-anchor="middle">{count}</text>'
            )
    parts += [
        f'<line x1="{_LEFT}" y1="{floor}" x2="{WIDTH - _LEFT}" y2="{floor}"/>',
        f'<text x="{_LEFT}" y="{HEIGHT - 6}">{edges[0]:g}</text>',
        f'<text x="{WIDTH - _LEFT}" y="{HEIGHT - 6}" text-anchor="end">{edges[-1]:g}</text></svg>',
    ]
    return "\n".join(parts) + "\n"


def _label(edges: Sequence[float], index: int) -> str:
    return f"from {edges[index]:g}" if index < len(edges) else f"{edges[-1]:g}"
