"""README.md of a generated world: what the world is, where it comes from, and the account."""

from __future__ import annotations

from envs.ledger import Entry, Ledger

_TEXT = """\
# {name}

A world for `synth run`, made by `synth new` from {origin}.

## Account

What the source holds, and what became of it.

| | found | used | changed | left out |
|---|---|---|---|---|
{counts}
{entries}"""


def write_readme(name: str, origin: str, ledger: Ledger) -> str:
    """The text of the file, with every entry of the account."""
    return _TEXT.format(
        name=name,
        origin=origin,
        counts="".join(
            f"| {kind} | " + " | ".join(f"{count:,}" for count in counts.values()) + " |\n"
            for kind, counts in ledger.counts().items()
        ),
        entries="".join(f"- {_line(entry)}\n" for entry in ledger.entries),
    )


def _line(entry: Entry) -> str:
    several = f" ({entry.count:,})" if entry.count > 1 else ""
    line = f"{entry.outcome}: {entry.kind} `{entry.name}`{several}: {entry.why}"
    return " ".join(line.split())
