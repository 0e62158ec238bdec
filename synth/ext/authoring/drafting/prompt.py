"""The messages by which a model is asked for a family, and for a better one."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy

from envs.sandboxes.base import Template
from envs.types import Pins
from envs.world.loader import World
from synth.core.tasks.queries import Queries, select
from synth.ext.authoring.asking.questions import Refusal
from synth.ext.authoring.drafting.similarity import Signature
from synth.ext.authoring.tasks_file import family_text
from synth.task import Message


@dataclass(frozen=True)
class DraftOutcome:
    """The end of one draft. ``cause`` and ``reason`` are empty for a family that was kept; ``body``
    is that family, ``capacity`` the number of its tasks.
    """

    draft: int
    family: str | None
    attempts: int
    cause: str = ""
    reason: str = ""
    capacity: int = 0
    body: Mapping[str, Any] | None = None

    @property
    def kept(self) -> bool:
        return self.body is not None


NOTATION = """\
A task family is one YAML item. Every row of `ground` is one task; its columns are slots.

- id: snake_case_name            # new, unlike those of the families that there are
  about: One sentence on what the family tests.
  ground:                        # key: a column that tells the rows apart
    key: member_id
    sql: SELECT member_id, name, title FROM ...
  vary: {due: {date: ["2026-04-01", "2026-04-30"]}}   # optional slots; each must be used. Also
                                 # {int: [1, 9]}, {float: [1, 2, 0.1]}, {choice: [a, b]}
  cases: {free: NOT lent, taken: lent}   # optional: two or more SQL conditions over the grounding,
                                 # which cover each row exactly once, for tasks of different work
  user:
    says: ["A request with {name} and {due}.", "The same in other words, {name}, {due}."]
    knows: {dob: "Born {dob}."}  # optional: told only when gold has a step `ask: dob`
    agrees_if: {mentions: ["{title}", "{name}"]}   # optional: consent to a step `confirm: "..."`
  answer:                        # optional: the fields of a tool `submit`, for what is to be learnt
    loans: {type: array, items: integer, compare: set, description: The loans.}
    outcome: {enum: [done, refused], description: What came of it.}
  oracle:                        # SQL that computes a field of the answer, independently of gold;
    loans: SELECT loan_id FROM loans WHERE member_id = :member_id     # slots as :name
  gold:                          # the right solution, step by step
  - find_member: {name: "{name}"}          # a call of a tool, by the tool's name, with arguments
    save: {member: $.member_id}            # JSONPath into the result; used as $member
  - for_each: {loan: $loans, do: [{renew: {loan_id: $loan, due: "{due}"}}]}
  - if: "$count > 3"                       # optional conditions over saved values and {slots}
    do: [...]
    else: [...]
  - taken:                                 # steps of one case only
    - lend: {member_id: $member, book_id: $book}
      fails: conflict                      # the call is meant to fail with this category
  - submit: {loans: $loans, outcome: done} # once, if there is `answer`
  - say: "{title} is lent to {name}."      # the reply, last
  gates: [state, answer, {no_write_before: [confirm]}]   # only if gold asks or confirms

Rules that the proof enforces:
- A slot alone keeps its type: "{due}". Inside a longer text a saved value is {member}, too; alone
  it is $member. Quote every text that holds braces, a colon or $.
- Gold may use only what the user says, what earlier results gave (`save`), or constants of the
  policy. It must look up each id by a tool; the user does not say ids that only a database knows.
- Every call of gold must succeed (or have `fails`) and must matter; nothing saved is left unused.
- What the user asks to learn is in `submit` with an `oracle`, and it differs between tasks.
- The reply states what was done, with the values of this task, and nothing about other people.
- Ordered lists of a result are ordered by the tool; do not rely on an order that it does not give.
- A family needs at least two tasks; five or more are better.
- Do not use the keys `source`, `honest` and `reply.unjudged`, gates of your own, or YAML aliases.
"""


SYSTEM = (
    "You write task families for a benchmark of tool-using agents. A family is proved before it is"
    " accepted: its gold solution is played on a real database, wrong agents must fail it, and"
    " honest ones must pass it. Answer with one ```yaml block that holds one family, as a list item"
    " that begins `- id:`, and nothing else."
)

SCHEMA_CHARS, POLICY_CHARS, CELL_CHARS, EXAMPLE_CHARS = 12_000, 8_000, 60, 4_000
EXAMPLES = 2
REASONS, REASON_CHARS = 6, 700
RARE_TOOLS = 3


def world_part(world: World, template: Template, engine: str, rows: int) -> str:
    """The world as the model sees it: schema, rows, tools and policy."""
    schema = world.script("schema", engine).read_text("utf-8")
    tools = [json.dumps(tool.to_openai()["function"], ensure_ascii=False) for tool in world.tools]
    parts = [
        ("The schema of the database", _clipped(schema, SCHEMA_CHARS)),
        ("Some rows of each table", _rows(template, rows) if rows else ""),
        ("The tools of the agent", "\n".join(tools)),
        ("The policy that the agent works under", _clipped(world.policy, POLICY_CHARS)),
    ]
    return "\n\n".join(f"## {title}\n\n{text.strip()}" for title, text in parts if text.strip())


def opening(
    world: str,
    tools: Sequence[str],
    draft: int,
    bodies: Sequence[Mapping[str, Any]],
    known: Sequence[Signature],
    left_out: Iterable[DraftOutcome],
) -> list[Message]:
    """The first messages for the draft of this number. ``world`` is the text of
    :func:`world_part`, ``bodies`` are the families of tasks.yaml.
    """
    names = [f"- {one.family} ({', '.join(_work(one))}): {one.request!r}" for one in known]
    tried = [f"- {out.family or 'a draft'}: {out.reason}" for out in list(left_out)[-8:]]
    parts = [
        ("The notation", NOTATION),
        ("Families of this world as examples", _examples(bodies, draft)),
        ("All families that there are", "\n".join(names)),
        ("Drafts that were not accepted", "\n".join(tried)),
    ]
    sections = [f"## {title}\n\n{text.strip()}" for title, text in parts if text.strip()]
    wish = "## Your task\n\nWrite one new family: work that none of those above asks for."
    if rare := _rare(tools, known):
        wish += f" Few families use {', '.join(rare)}."
    content = "\n\n".join([world, *sections, wish])
    return [{"role": "system", "content": SYSTEM}, {"role": "user", "content": content}]


def feedback(refusal: Refusal, numbered: str) -> str:
    """The message about an attempt that was not accepted. ``numbered`` is its family as
    it was read, with the lines that the reasons name.
    """
    reasons = [f"- {_clipped(reason, REASON_CHARS)}" for reason in refusal.reasons[:REASONS]]
    shown = f"\n\nYour family as it was read:\n\n{numbered}" if numbered else ""
    return (
        f"Not accepted ({refusal.cause}):\n" + "\n".join(reasons) + shown + "\n\nWrite the whole"
        " family again, mended, in one ```yaml block."
    )


def _examples(bodies: Sequence[Mapping[str, Any]], draft: int) -> str:
    """Some families, others for each draft."""
    plain = [{k: v for k, v in body.items() if k not in ("source", "honest")} for body in bodies]
    texts = [text for body in plain if len(text := family_text(body)) <= EXAMPLE_CHARS]
    chosen = [texts[(draft + index) % len(texts)] for index in range(min(EXAMPLES, len(texts)))]
    return "\n".join(chosen)


def _work(known: Signature) -> list[str]:
    return list(dict.fromkeys(tool for tools in known.tools for tool in tools))


def _rare(tools: Sequence[str], known: Sequence[Signature]) -> list[str]:
    """The tools that the fewest families use, if some are used less than others."""
    uses = Counter(tool for one in known for tool in _work(one))
    if len({uses[tool] for tool in tools}) < 2:
        return []
    return sorted(tools, key=lambda tool: (uses[tool], tool))[:RARE_TOOLS]


def _rows(template: Template, count: int) -> str:
    """The first rows of each table, as JSON; long values are cut."""

    def read(connection: sqlalchemy.Connection) -> list[str]:
        quote = connection.dialect.identifier_preparer.quote
        lines: list[str] = []
        for name in sorted(template.tables):
            table = template.tables[name]
            columns = ", ".join(quote(column.name) for column in table.columns)
            try:
                rows = select(
                    connection, f"SELECT {columns} FROM {table.written(quote)} LIMIT {count}"
                )
            except ValueError:  # bytes, which JSON does not hold
                continue
            for row in rows:
                cut = {
                    k: _clipped(v, CELL_CHARS) if isinstance(v, str) else v for k, v in row.items()
                }
                lines.append(f"{name}: {json.dumps(cut, ensure_ascii=False)}")
        return lines

    with template.open(Pins()) as sandbox:
        return "\n".join(Queries(sandbox, template).during(read))


def _clipped(text: str, most: int) -> str:
    return (
        text if len(text) <= most else f"{text[:most]} [... {len(text) - most:,} more characters]"
    )
