"""PostgreSQL's statements that name roles, which a script does not make: the same statements
without them.

A role is the server's, and a script fills one database of it. Whoever works in the sandbox stands
for them all.
"""

from __future__ import annotations

import re

from envs.scripts.lexis import Lexis, rewrite_code

_I = re.IGNORECASE
_NAME = r'(?:"(?:[^"]|"")+"|[\w$]+)'
_NOT_A_ROLE = r"(?:CURRENT_USER|CURRENT_ROLE|SESSION_USER|PUBLIC)\b"

_PUBLIC = re.compile(r'^(CREATE\s+SCHEMA)\s+("public"|public)(?![\w$"])', _I)
_NAMED_SCHEMA = re.compile(
    rf"^(CREATE\s+SCHEMA\s+(?:IF\s+NOT\s+EXISTS\s+)?(?!AUTHORIZATION\b){_NAME})"
    rf"\s+AUTHORIZATION\s+{_NAME}",
    _I,
)
_SCHEMA_OF_ROLE = re.compile(
    rf"^(CREATE\s+SCHEMA\s+(?:IF\s+NOT\s+EXISTS\s+)?)AUTHORIZATION\s+(?!{_NOT_A_ROLE})(?={_NAME})",
    _I,
)
_POLICY_ROLES = re.compile(
    rf"\b(?P<renamed>RENAME\s+)?TO\s+(?!{_NOT_A_ROLE}){_NAME}(?:\s*,\s*{_NAME})*(?=\s*(?:\bUSING\b"
    rf"|\bWITH\s+CHECK\b|\Z))",
    _I,
)

_TEXT = r"'(?:[^']|'')*+'"
_ACT = (
    r"(?:(?:CREATE|ALTER|DROP)\s+(?:ROLE|GROUP|USER(?!\s+MAPPING))\b|(?:GRANT|REVOKE)\b"
    r"|ALTER\s+DEFAULT\s+PRIVILEGES\b"
    r"|(?:REASSIGN|DROP)\s+OWNED\b|ALTER\s+[^;']*?\sOWNER\s+TO\b)"
)
_IN_BLOCK = re.compile(
    rf"{_TEXT}|(?P<act>(?<![\w.$\"])(?:{_ACT}"
    rf"|EXECUTE\s+(?:format\s*\(\s*)?(?=[eE]?'\s*{_ACT}))(?:[^;']|{_TEXT})*+;)",
    _I,
)


def without_roles(text: str, lexis: Lexis) -> str:
    """CREATE SCHEMA, CREATE or ALTER POLICY and DO without the roles that they name or make; any
    other statement as it is.

    A policy for a role holds for everybody. A block's own acts on roles and rights become NULL
    statements.
    """
    head = text[:13].upper().split()
    match head[:2]:
        case ["CREATE", "SCHEMA"]:
            text = _NAMED_SCHEMA.sub(r"\1", _PUBLIC.sub(r"\1 IF NOT EXISTS \2", text))
            return _SCHEMA_OF_ROLE.sub(r"\1", text)
        case ["CREATE" | "ALTER", "POLICY"]:
            return rewrite_code(text, lexis, lambda run: _POLICY_ROLES.sub(_for_everybody, run))
        case ["DO", *_]:
            return _block(text, lexis)
        case _:
            return text


def _for_everybody(found: re.Match[str]) -> str:
    return found.group() if found["renamed"] else "TO PUBLIC"


def _block(text: str, lexis: Lexis) -> str:
    body = next((mark for mark in lexis.marks(text) if mark.kind == "string"), None)
    if body is None:
        return text
    literal = text[body.start : body.end]
    quote = literal[: literal.index("$", 1) + 1] if literal[0] == "$" else "'"
    if not literal.startswith(quote) or not literal.endswith(quote):
        return text
    inside = literal[len(quote) : -len(quote)]
    if quote == "'":
        inside = inside.replace("''", "'")
    plain = _without_comments(inside, lexis)
    changed = _IN_BLOCK.sub(lambda found: "NULL;" if found["act"] else found.group(), plain)
    if changed == plain:
        return text
    if quote == "'":
        changed = changed.replace("'", "''")
    return f"{text[: body.start]}{quote}{changed}{quote}{text[body.end :]}"


def _without_comments(text: str, lexis: Lexis) -> str:
    parts: list[str] = []
    pos = 0
    for mark in lexis.marks(text):
        if mark.kind == "comment":
            parts += [text[pos : mark.start], " "]
            pos = mark.end
    return "".join([*parts, text[pos:]])
