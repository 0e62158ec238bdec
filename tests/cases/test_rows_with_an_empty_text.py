"""Issue 35, case 23: a row whose text is empty is named by nothing that is said.

prisma/migrate#514: a SET column holds '' in one row; the amount of another row was "misplaced".
"""

from __future__ import annotations

import pytest

from envs.types import ToolResult
from synth.core.rewards.reply.facts import beside_another_row
from synth.core.types.reply import Fact
from synth.evidence import CallRecord

ROWS = [{"opts": "gift,insured", "gross": "11.90"}, {"opts": "", "gross": "24.40"}]


@pytest.mark.parametrize(("said", "wrong"), [("gross 11.90", 0), ("gift,insured: 24.40", 1)])
def test_an_empty_text_is_no_name(said: str, wrong: int) -> None:
    facts = [Fact("gross", ["11.90"]), Fact("gross", ["24.40"])]
    call = CallRecord(
        "list_rows", {}, ok=True, category=None, read_only=True, result=ToolResult(ROWS)
    )
    assert len([*beside_another_row([said], facts, [call])]) == wrong
