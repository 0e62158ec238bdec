"""A rollout begins with the rows in the template's order, whatever was done in its sandbox before.

Queries have no ORDER BY here. Where PostgreSQL puts a row that the rollout itself changed is not
promised: it depends on when old versions of rows are removed.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

import pytest

from envs.sandboxes.base import Sandbox
from envs.types import Pins
from tests.unit.envs.sandboxes.calls import ServerTemplate, ask, built, call

Rows = list[tuple[object, ...]]

PARTS = "CREATE TABLE parts (keyed integer, number integer, PRIMARY KEY (keyed, number))"
TABLES = (
    "CREATE TABLE keyed (id integer PRIMARY KEY, name varchar(200), stock integer)",
    "CREATE INDEX keyed_name ON keyed (stock)",
    PARTS,
)
LOOSE = "CREATE TABLE loose (name varchar(40))"
READS = ("SELECT * FROM keyed", "SELECT * FROM parts", "SELECT name FROM keyed WHERE stock > 2")


def script(*, loose: bool) -> list[str]:
    keyed = ", ".join(f"({n}, '{'x' * (n % 150)}', {n % 7})" for n in (*range(400, 900), *range(9)))
    parts = ", ".join(f"({n}, {m})" for n in range(400, 440) for m in (3, 1, 2))
    names = ", ".join(f"('row {n}')" for n in range(50))
    rows = [f"INSERT INTO keyed VALUES {keyed}", f"INSERT INTO parts VALUES {parts}"]
    return [*TABLES, *rows, *([LOOSE, f"INSERT INTO loose VALUES {names}"] if loose else [])]


@pytest.fixture(params=["postgresql", "mariadb"])
def template(request: pytest.FixtureRequest) -> Iterator[ServerTemplate]:
    loose = request.node.get_closest_marker("loose") is not None
    with built(request.param, script(loose=loose)) as made:
        yield made


def history(seed: int) -> list[str]:
    """Calls that change, add and delete rows, new and old."""
    draw = random.Random(seed)
    calls: list[str] = []
    for step in range(draw.randint(1, 8)):
        row = draw.randint(440, 899)
        calls.append(
            draw.choice(
                [
                    f"UPDATE keyed SET stock = stock + 1 WHERE id = {row}",
                    f"UPDATE keyed SET name = '{'y' * draw.randint(0, 190)}' WHERE id = {row}",
                    f"DELETE FROM keyed WHERE id = {row}",
                    f"INSERT INTO keyed VALUES ({1000 + 10 * seed + step}, 'new', 3)",
                    f"UPDATE keyed SET stock = 5 WHERE id BETWEEN {row} AND {row + 30}",
                    f"DELETE FROM parts WHERE keyed = {draw.randint(400, 439)} AND number = 1",
                ]
            )
        )
    return calls


def play(sandbox: Sandbox, calls: Sequence[str], reads: Sequence[str] = READS) -> list[Rows]:
    """Make the calls; returns the rows that the reads found before them."""
    found = [ask(sandbox, read) for read in reads]
    for each in calls:
        call(sandbox, each)
    return found


def test_earlier_rollouts_leave_no_order(template: ServerTemplate):
    slots: set[str] = set()
    found: list[list[Rows]] = []
    for seed in range(12):
        with template.open(Pins()) as used:
            slots.add(used._slot.name)  # type: ignore[attr-defined]
            found.append(play(used, history(seed)))
    assert [rows for rows in found if rows != found[0]] == []
    assert len(slots) == 1, "the sandbox was not used again"


@pytest.mark.loose
def test_a_table_without_a_key_leaves_no_order(template: ServerTemplate):
    reads = ("SELECT * FROM loose",)
    calls = ["UPDATE loose SET name = 'changed' WHERE name = 'row 7'", "SELECT 2"]
    before: list[list[Rows]] = []
    for _ in range(3):
        with template.open(Pins()) as used:
            before.append(play(used, calls, reads))
    assert before[0] == before[1] == before[2]
