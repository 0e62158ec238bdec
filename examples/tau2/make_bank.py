"""What make_worlds.py makes of the bank's records, tasks and policy."""

from __future__ import annotations

import json
import re
import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any


def columns_of(schema: Path) -> dict[str, dict[str, str]]:
    """The columns of each table with their types."""
    with closing(sqlite3.connect(":memory:")) as tables:
        tables.executescript(schema.read_text("utf-8"))
        names = tables.execute("SELECT name FROM sqlite_schema WHERE sql > ''").fetchall()
        return {
            name: {row[1]: row[2] for row in tables.execute(f"PRAGMA table_info({name})")}
            for (name,) in names
        }


def bank_task(
    task: Mapping[str, Any],
    columns: Mapping[str, Mapping[str, str]],
    records: Mapping[str, Mapping[str, Mapping[str, Any]]],
) -> dict[str, Any]:
    """A task in which the required documents are read first, and a tool that the benchmark reaches
    by another one is called itself.
    """
    needed = defaultdict[str, list[str]](list)
    for document in task["required_documents"]:
        needed[records["documents"][document]["topic"]].append(document)
    calls = [call("list_documents", topics=sorted(needed))]
    calls += [call("read_documents", document_ids=needed[topic]) for topic in sorted(needed)]
    criteria = task["evaluation_criteria"]
    calls += filter(None, map(direct, criteria["actions"]))
    given = (task["initial_state"] or {}).get("initialization_data") or {}
    added = {
        table: [
            typed(columns[table], key, {**records.get(table, {}).get(key, {}), **record})
            for key, record in part["data"].items()
        ]
        for table, part in (given.get("agent_data") or {}).items()
    }
    return {
        **task,
        "initial_state": {"initialization_data": added and {"rows": added}},
        "evaluation_criteria": criteria | {"actions": calls},
        "user_scenario": {"instructions": divided(task["user_scenario"]["instructions"])},
    }


def typed(columns: Mapping[str, str], key: str, record: Mapping[str, Any]) -> dict[str, Any]:
    """A record with its key as the first column, and sums such as $1,200.00 as numbers."""
    row = {next(iter(columns)): key, **record}
    return {
        name: float(value.replace("$", "").replace(",", ""))
        if columns[name] == "REAL" and isinstance(value, str)
        else value
        for name, value in row.items()
    }


OPENING = re.compile(r'(?:Opening|Start)[^:"]*: *"([^"]+)"')
KNOWN = re.compile(r"(?m)^(?:You are |Verification info|Information you know|Your [\w ]+ is )")
LABELS = re.compile(
    r"(?m)^(?:Your (?:situation|goal)|Verification info|Information you know[^:\n]*"
    r"|Here are your behavior guidelines): *"
)


def divided(text: str) -> dict[str, str]:
    """What a customer says first, knows, and is to do, from one text with headings."""
    text = re.sub(r"(?m)^#+ .*$|^\s*(?:\d+\.|-) +|\*\*|^-+$", "", text)
    text = re.sub(r"You are playing the role of [^.]*\.\s*", "", text)
    text = re.sub(r"Your character(?: is|:)(?: You are)?", "You are", text)
    opening = OPENING.search(text)
    parts = re.split(r"\n\s*\n", text.replace(opening[0], "") if opening else text)
    known = [part for part in parts if KNOWN.search(part)]
    rest = [part for part in parts if part not in known and LABELS.sub("", part).strip()]
    return {
        "reason_for_call": opening[1] if opening else LABELS.sub("", rest.pop(0)).strip(),
        "known_info": LABELS.sub("", "\n".join(known)).strip(),
        "task_instructions": LABELS.sub("", "\n".join(rest)).strip(),
    }


def call(name: str, **arguments: Any) -> dict[str, Any]:
    return {"name": name, "arguments": arguments}


def direct(action: Mapping[str, Any]) -> dict[str, Any] | None:
    """The call that an action makes by another tool; None for one that only unlocks a tool. The
    time of a verification is the clock's.
    """
    name, given = action["name"], action["arguments"]
    if name.endswith(("discoverable_agent_tool", "discoverable_user_tool")):
        if not name.startswith("call_"):
            return None
        name = given.get("agent_tool_name") or given["discoverable_tool_name"]
        given = json.loads(given.get("arguments", "{}"))
    arguments = {
        name: value
        for name, value in given.items()
        if value is not None and name != "time_verified"
    }
    return {"name": name, "arguments": arguments, "requestor": action["requestor"]}


def bank_policy(domain: Path, topics: Iterable[str]) -> str:
    """The bank's policy without what it says of tools that are unlocked, and the topics."""
    header, more = (
        (domain / "prompts" / "components" / f"{name}.md").read_text("utf-8").strip()
        for name in ("policy_header", "additional_instructions")
    )
    own = more[more.index("### Authenticating Users") :]
    base = (
        "### Knowledge Base\n\nIts topics are listed here; `list_documents` has the documents of a"
        " topic. A tool that a document names for the customer is the customer's own: ask the"
        " customer to use it."
    )
    listed = "\n".join(f"- {topic}" for topic in topics)
    return f"{header}\n\n{own}\n\n{base}\n\n{listed}\n"
