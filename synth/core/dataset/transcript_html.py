"""A transcript with its row changes as static HTML, for notebooks: no script, no request.

All text of the data is escaped, control characters and marks of direction included, so that nothing
in it can run or hide.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any, cast

LONG = 1_200
"""Characters of a text that stand open; the rest is folded."""

_STYLE = """<style>
.synth-row{font:13px/1.45 system-ui,sans-serif;max-width:60em}
.synth-row pre,.synth-row code,.synth-row td{font:12px/1.4 ui-monospace,monospace}
.synth-row pre{margin:.2em 0;white-space:pre-wrap;overflow-wrap:anywhere;background:transparent}
.synth-row .m{border-left:3px solid #8886;padding:.1em .8em;margin:.5em 0}
.synth-row .user{border-color:#2a9d4a}.synth-row .assistant{border-color:#2878c8}
.synth-row .tool{border-color:#c8921e}
.synth-row .who{font-weight:600;opacity:.75}
.synth-row table{border-collapse:collapse;margin:.2em 0 .6em}
.synth-row th,.synth-row td{text-align:left;padding:.1em .7em;border:1px solid #8884}
.synth-row .insert,.synth-row .pass{color:#1a8a3c}.synth-row .delete,.synth-row .fail{color:#c8321e}
.synth-row .update{color:#a8740a}
</style>"""

_SHOWN_CATEGORIES = {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"}
_JOINER = "\u200d"  # within an emoji


def trajectory_html(row: Mapping[str, Any]) -> str:
    """Render a row, or the columns of it that are given."""
    parts = [_head(row)]
    if "messages" in row:
        parts.append(_messages_html(row["messages"]))
    if "state_diff" in row:
        parts.append(_changes_html(row["state_diff"]))
    if row.get("verdicts"):
        parts.append(_verdicts(row["verdicts"]))
    return _framed(parts)


def _framed(parts: Iterable[str]) -> str:
    """Put rendered parts under the style sheet."""
    return f'{_STYLE}<div class="synth-row">{"".join(parts)}</div>'


def families_html(path: str, status: str, rows: Iterable[Mapping[str, Any]]) -> str:
    """Render a dataset: number of rows and mean reward of each family."""
    rewards: dict[str, list[float | None]] = {}
    for row in rows:
        rewards.setdefault(row["family"], []).append(row["reward"])
    lines: list[str] = []
    for family, found in sorted(rewards.items()):
        known = [reward for reward in found if reward is not None]
        mean = f"{sum(known) / len(known):.3f}" if known else "unscored"
        lines.append(f"<tr><td>{_text_html(family)}</td><td>{len(found)}</td><td>{mean}</td></tr>")
    count = sum(len(found) for found in rewards.values())
    table = (
        f"<table><tr><th>family</th><th>rows</th><th>mean reward</th></tr>{''.join(lines)}</table>"
    )
    return _framed([f"<p><b>{_text_html(path)}</b> {status}, {count} rows</p>", table])


def _messages_html(messages: Sequence[Mapping[str, Any]]) -> str:
    """Render the messages of a conversation, the system message folded."""
    return "".join(_message(message) for message in messages)


def _changes_html(changes: Sequence[Mapping[str, Any]]) -> str:
    """Render net row changes: a table of columns for each row."""
    title = f"Row changes ({len(changes)})" if changes else "Row changes: none"
    return f'<p class="who">{title}</p>{"".join(_change(change) for change in changes)}'


def _text_html(text: str) -> str:
    """Escape text; characters that would be hidden or change its direction are spelled out."""
    if text.isascii() and text.isprintable():
        return escape(text)
    spelled = (
        char
        if char in "\n\t" or char == _JOINER or unicodedata.category(char) not in _SHOWN_CATEGORIES
        else f"\\u{ord(char):04x}"
        for char in text
    )
    return escape("".join(spelled))


def _head(row: Mapping[str, Any]) -> str:
    facts = [
        str(row[name])
        for name in ("trajectory_id", "family", "case", "model", "stop_reason")
        if row.get(name) is not None
    ]
    if "reward" in row:
        reward = "unscored" if row["reward"] is None else f"reward {row['reward']:g}"
        facts.insert(1, reward)
    return f"<p><b>{' &middot; '.join(map(_text_html, facts))}</b></p>"


def _message(message: Mapping[str, Any]) -> str:
    role = str(message["role"])
    kind = role if role in {"user", "assistant", "tool"} else "system"
    name = f" {message['name']}" if message.get("name") else ""
    body = _text(str(message["reasoning_content"])) if message.get("reasoning_content") else ""
    body += _text(str(message["content"] or ""))
    for call in message.get("tool_calls") or ():
        function = call["function"]
        arguments = _text_html(_json(function["arguments"]))
        body += f"<pre>&rarr; <b>{_text_html(function['name'])}</b> {arguments}</pre>"
    who = f'<span class="who">{_text_html(role + name)}</span>'
    if kind == "system":
        return f'<details class="m"><summary>{who}</summary>{body}</details>'
    return f'<div class="m {kind}">{who}{body}</div>'


def _text(text: str) -> str:
    if not text:
        return ""
    if len(text) <= LONG:
        return f"<pre>{_text_html(text)}</pre>"
    rest = f"<details><summary>{len(text) - LONG:,} more characters</summary>"
    return (
        f"<pre>{_text_html(text[:LONG])}</pre>{rest}<pre>{_text_html(text[LONG:])}</pre></details>"
    )


def _change(change: Mapping[str, Any]) -> str:
    before = cast("Mapping[str, Any]", change.get("before") or {})
    after = cast("Mapping[str, Any]", change.get("after") or {})
    key = ", ".join(f"{name}={_json(value)}" for name, value in change["key"].items())
    operation = change["op"] if change["op"] in {"insert", "delete", "update"} else "update"
    names = dict.fromkeys((*before, *after))
    sides = [side for side in (before, after) if side]
    rows = "".join(
        f"<tr><td>{_text_html(name)}</td>"
        + "".join(
            f"<td>{_text_html(_json(side[name])) if name in side else '-'}</td>" for side in sides
        )
        + "</tr>"
        for name in names
    )
    heads = "<th>before</th><th>after</th>" if len(sides) == 2 else "<th>value</th>"
    return (
        f'<div><b class="{operation}">{operation}</b> <b>{_text_html(change["table"])}</b> '
        f"<code>{_text_html(key)}</code></div><table><tr><th>column</th>{heads}</tr>{rows}</table>"
    )


def _verdicts(verdicts: Sequence[Mapping[str, Any]]) -> str:
    rows: list[str] = []
    for verdict in verdicts:
        score = verdict["score"]
        word = "-" if score is None else "pass" if score >= 1 else "fail"
        rows.append(
            f'<tr><td class="{word}">{word}</td><td>{_text_html(verdict["verifier"])}</td>'
            f"<td>{'' if score is None else f'{score:g}'}</td>"
            f"<td>{_text_html(verdict['reason'] or '')}</td></tr>"
        )
    head = "<tr><th></th><th>verifier</th><th>score</th><th>reason</th></tr>"
    return f'<p class="who">Verdicts</p><table>{head}{"".join(rows)}</table>'


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def episode_html(
    messages: Sequence[Mapping[str, Any]], changes: Sequence[Mapping[str, Any]] | str
) -> str:
    """Render a conversation with its row changes, or with the text that says why there are none."""
    below = f"<p>{_text_html(changes)}</p>" if isinstance(changes, str) else _changes_html(changes)
    return _framed([_messages_html(messages), below])
