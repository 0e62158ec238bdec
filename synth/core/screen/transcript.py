"""One trajectory for people: messages, calls and results, row changes and verdicts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, cast

from synth.core.foundation.json_leaves import parsed
from synth.core.screen.screen import Screen, cell, json_line, laid_out, reason_of, safe_line


@dataclass(frozen=True, slots=True)
class _ToolUse:
    """One call; ``category`` is the kind of error or None, ``index`` the position of the message
    with the result (None: the call was never answered).
    """

    name: str
    category: str | None
    index: int | None


def tool_uses(
    messages: Iterable[Mapping[str, Any]], events: Iterable[Mapping[str, Any]]
) -> Iterator[_ToolUse]:
    """Yield the calls of a conversation in order.

    A failure is taken from the ``tool_result`` events if there are any, because the text that the
    model saw may be prose (``agent.error_style=plain``). Without events, a result ``{"status":
    "error", ...}`` is a failure.
    """
    categories = _categories(events)
    waiting: dict[str, str] = {}
    for index, message in enumerate(messages):
        for call in message.get("tool_calls") or ():
            waiting[call["id"]] = call["function"]["name"]
        if message["role"] != "tool":
            continue
        call_id = message.get("tool_call_id", "")
        name = waiting.pop(call_id, None)
        if name is not None:
            known = call_id in categories
            category = categories[call_id] if known else _error_category(message["content"])
            yield _ToolUse(name, category, index)
    for name in waiting.values():
        yield _ToolUse(name, None, None)


def _error_category(result: object) -> str | None:
    """Return the category of an error result, given as JSON or as text; None for anything else."""
    if isinstance(result, str):
        if '"error"' not in result:
            return None
        result = parsed(result)
    if not isinstance(result, dict):
        return None
    fields = cast("dict[str, object]", result)
    return str(fields.get("category") or "unknown") if fields.get("status") == "error" else None


def _categories(events: Iterable[Mapping[str, Any]]) -> dict[str, str | None]:
    """Return the error category of each call id with a ``tool_result`` event; None stands for a
    success.
    """
    return {
        event["id"]: _error_category(event["result"])
        for event in events
        if event.get("event") == "tool_result"
    }


_ROLE_STYLE = {"system": "magenta", "user": "green", "assistant": "cyan", "tool": "yellow"}
_OUTCOME_STYLE = {"success": "green", "failure": "red"}
_ABSENT = "-"  # a column absent from one side of an update; a null value is printed as null


def show_trajectory(
    screen: Screen,
    row: Mapping[str, Any],
    *,
    messages: Sequence[Mapping[str, Any]] | None = None,
    header: bool = True,
) -> None:
    """Print a row of the dataset with row changes and all messages, or those that are given."""
    if header:
        _header(screen, row)
    shown = row["messages"] if messages is None else messages
    changed = {call["id"]: call["changes"] for call in row["call_changes"]}
    show_messages(screen, shown, changed, row["events"])
    show_row_changes(screen, row["state_diff"])
    if row["submitted"] is not None:
        screen.heading("Submitted")
        _value(screen, row["submitted"], indent=2)
    _verdicts(screen, row["verdicts"])


def show_messages(
    screen: Screen,
    messages: Sequence[Mapping[str, Any]],
    changed: Mapping[str, Sequence[Mapping[str, Any]]] = MappingProxyType({}),
    events: Sequence[Any] = (),
) -> None:
    """Print messages; below a result the rows that its call ``changed``."""
    errors = {use.index: use.category for use in tool_uses(messages, events)}
    for index, message in enumerate(messages):
        _message(screen, index + 1, message, errors.get(index))
        if message["role"] == "tool":
            _changes(screen, changed.get(message.get("tool_call_id") or "", ()), indent=4)


def show_row_changes(screen: Screen, changes: Sequence[Mapping[str, Any]]) -> None:
    """Print net row changes under their heading."""
    screen.heading(f"Row changes ({len(changes)})" if changes else "Row changes: none")
    _changes(screen, changes, indent=2)


def show_error(screen: Screen, error: Mapping[str, Any]) -> None:
    """Print a rollout that ended in an infrastructure error."""
    screen.parts(
        [(error["trajectory_id"], "bold"), ("  infrastructure error, not in the data", "red")]
    )
    screen.table(
        ("", ""), [(name, cell(value)) for name, value in error.items() if name != "message"]
    )
    screen.heading("Message")
    screen.line(error["message"], indent=2)


def _header(screen: Screen, row: Mapping[str, Any]) -> None:
    reward = "unscored" if row["reward"] is None else f"reward {row['reward']:g}"
    outcome = f"{row['outcome']}, {reward}" if row["reward"] is not None else reward
    screen.parts(
        [
            (row["trajectory_id"], "bold"),
            ("  ", ""),
            (outcome, _OUTCOME_STYLE.get(row["outcome"], "yellow")),
        ]
    )
    calls = f"{row['num_tool_calls']} tool calls, {row['num_tool_errors']}"
    family = row["family"] if row["case"] is None else f"{row['family']} ({row['case']})"
    facts = [
        ("family", family),
        ("task", row["task_id"]),
        ("job", f"{row['job_index']}, sample {row['sample_index']}, seed {row['seed']}"),
        ("world", f"{row['env']}, universe {row['universe']}, split {row['split']}"),
        ("model", row["model"]),
        ("stopped", row["stop_reason"]),
        ("turns", f"{row['num_turns']}, {calls} of them failed"),
    ]
    if names := row["renaming_names"]:
        renamed = ", ".join(f"{own} = {shown}" for own, shown in names["tools"].items())
        facts.append(("renaming", f"{row['renaming']}: {renamed}"))
    if reason := reason_of(row["verdicts"]):
        facts.append(("why", reason))
    if row["blame"] is not None:
        facts.append(("blame", row["blame"]))
    if row["segments"]:
        facts.append(
            (
                "contexts",
                f"{len(row['segments'])} differ from the transcript below; --json prints them",
            )
        )
    if row["sanitized"]:
        facts.append(
            ("sanitized", "values that readers cannot hold are in events only; --json prints them")
        )
    screen.table(("", ""), facts)


def _message(screen: Screen, number: int, message: Mapping[str, Any], category: str | None) -> None:
    role = message["role"]
    title: list[tuple[str, str]] = [
        (f"{number} ", "dim"),
        (role, f"bold {_ROLE_STYLE.get(role, '')}"),
    ]
    if role == "tool":
        title.append((f"  {message.get('name') or ''}  {message.get('tool_call_id') or ''}", "dim"))
        if category is not None:
            title.append((f"  error: {category}", "red"))
    if message.get("train") is False:
        title.append(("  not trained on", "yellow"))
    screen.line()
    screen.parts(title)
    if reasoning := message.get("reasoning_content"):
        screen.line("reasoning", "dim", indent=2)
        screen.line(reasoning, "italic", indent=4)
    if content := message["content"]:
        if role == "tool":
            _tool_content(screen, content)
        else:
            screen.line(content, indent=2)
    for call in message.get("tool_calls") or ():
        function = call["function"]
        screen.parts(
            [(f"-> {safe_line(function['name'])}", "bold"), (f"  {safe_line(call['id'])}", "dim")],
            indent=2,
        )
        _value(screen, function["arguments"], indent=5)


def _tool_content(screen: Screen, content: str) -> None:
    """Print a result: JSON that is too long for a line is laid out, everything else is printed
    unchanged.
    """
    value = parsed(content)
    if isinstance(value, (dict, list)) and len(content) > _line_width(screen, 2):
        _value(screen, cast("object", value), indent=2)
    else:
        screen.line(content, indent=2)


def _value(screen: Screen, value: object, *, indent: int) -> None:
    """Print JSON, on one line if it fits."""
    screen.line(laid_out(value, _line_width(screen, indent)), indent=indent)


def _line_width(screen: Screen, indent: int) -> int:
    return min(screen.width, 100) - indent  # a pipe has no width, but its reader has


def _changes(screen: Screen, changes: Sequence[Mapping[str, Any]], *, indent: int) -> None:
    """Print the rows changed by one call or by the whole rollout."""
    for change in changes:
        key = ", ".join(f"{name}={_quoted(value)}" for name, value in change["key"].items())
        style = {"insert": "green", "delete": "red"}.get(change["op"], "yellow")
        screen.parts(
            [(change["op"], style), (f" {change['table']} ", "bold"), (key, "")], indent=indent
        )
        before = cast("Mapping[str, Any]", change.get("before") or {})
        after = cast("Mapping[str, Any]", change.get("after") or {})
        if change["op"] == "update":
            rows = [
                (
                    name,
                    *(_quoted(side[name]) if name in side else _ABSENT for side in (before, after)),
                )
                for name in dict.fromkeys((*before, *after))
            ]
            screen.table(("column", "before", "after"), rows, indent=indent + 2)
        else:
            screen.table(
                ("", ""),
                [(name, _quoted(value)) for name, value in (before or after).items()],
                indent=indent + 2,
            )


def _quoted(value: object) -> str:
    """Format a cell of a row; strings have quotes, so that 5 differs from "5", null from ""."""
    return safe_line(json_line(value))


def _verdicts(screen: Screen, verdicts: Sequence[Mapping[str, Any]]) -> None:
    screen.heading("Verdicts" if verdicts else "Verdicts: none")
    for verdict in verdicts:
        score = verdict["score"]
        word, style = (
            ("-", "yellow")
            if score is None
            else ("pass", "green")
            if score >= 1
            else ("fail", "red")
        )
        kind = "gate" if verdict["gate"] else f"weight {verdict['weight']:g}"
        value = "not judged" if score is None else f"{score:g}"
        screen.parts(
            [(f"{word:<5}", style), (verdict["verifier"], "bold"), (f"  {value} ({kind})", "dim")],
            indent=2,
        )
        if verdict["reason"]:
            screen.line(verdict["reason"], indent=7)
        detail: Mapping[str, Any] = verdict.get("detail") or {}
        if shown := {key: value for key, value in detail.items() if value}:
            _value(screen, shown, indent=7)
