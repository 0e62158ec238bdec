"""Worlds are joined into an ordinary one: one database, prefixed tools, all rules and families."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest

from envs.types import RowChange
from envs.world.loader import load_world
from synth.core.foundation.shipped import find_world
from synth.errors import OperatorError
from synth.ext.authoring.joining import joined_files
from tests.e2e.command import synth

DESK = Path(__file__).parents[4] / "examples" / "joint" / "shop_desk"
JOINT = ",".join(re.findall(r"(?m)^- id: (\w+)", (DESK / "tasks.yaml").read_text("utf-8")))


def library(folder: Path, tasks: str = "") -> Path:
    shutil.copytree(find_world("library"), folder)
    text = (folder / "tasks.yaml").read_text("utf-8")
    (folder / "tasks.yaml").write_text(f"transient: forbid\n{text}{tasks}", encoding="utf-8")
    return folder


def test_tools_rules_and_families_of_all_parts_prove_themselves(tmp_path: Path):
    tasks = "\nread_before: {lend: [{find_book: book_id}]}\n"
    parts = [str(library(tmp_path / "books", tasks)), "calendar", str(library(tmp_path / "more"))]
    for folder in (tmp_path / "more").glob("*.*"):  # other tables, and families of the same names
        text = folder.read_text("utf-8")
        for table in ("members", "books", "loans"):
            text = text.replace(table, f"{table}_2").replace(f"$.{table}_2", f"$.{table}")
        folder.write_text(text.replace('"loans_2"', '"loans"'), encoding="utf-8")
    synth("join", *parts, "--out", "all", cwd=tmp_path)
    world = load_world(tmp_path / "all")
    assert all(tool.name.startswith(("books_", "calendar_", "more_")) for tool in world.tools)
    assert "`books_`, `calendar_`, `more_`" in world.policy
    families = "--families=books_lend_book,books_lend_unread,more_renew_all,my_day"
    done = synth("check", "all", "--tasks=1", families, cwd=tmp_path)
    assert "4 families prove themselves" in done.stdout


@pytest.mark.slow
@pytest.mark.parametrize(
    "proved", ["out_of_stock_by_mail", pytest.param(JOINT, marks=pytest.mark.long)]
)
def test_values_go_from_one_system_into_the_other_in_any_universe(tmp_path: Path, proved: str):
    synth("join", "shop", "mailbox", "calendar", str(DESK), "--out", "desk", cwd=tmp_path)
    job = ("env.path=desk", f"tasks.families=[{JOINT}]", "tasks.count=28", "tasks.universes=2")
    done = synth("run", *job, "runtime=inline", "output.dir=run", cwd=tmp_path)
    assert "28 of 28 rollouts in run" in done.stdout
    assert "100.0% successful" in done.stdout
    synth("check", "desk", "--tasks=1", f"--families={proved}", cwd=tmp_path)


def test_parts_that_cannot_be_joined_are_named(tmp_path: Path):
    one, other = library(tmp_path / "books"), library(tmp_path / "more")
    with pytest.raises(OperatorError, match="books and more both have the tables books, loans"):
        joined_files([one, other])
    with pytest.raises(OperatorError, match=r"`transient` .* None in library, forbid in mailbox"):
        joined_files([find_world("library"), find_world("mailbox")])


@pytest.mark.parametrize(("said", "passes"), [("€12.50 on 5 March", True), ("12,00 euros", False)])
def test_a_mail_carries_the_values_of_golds(said: str, passes: bool):
    def mail(body: str) -> RowChange:
        return RowChange("mails", "insert", {}, after={"body": body})

    end = SimpleNamespace(changes=[mail("LP-10101: €12.50, on 2026-03-05.").to_json()])
    evidence = SimpleNamespace(changes=[mail(f"LP-10101, {said}")], task=SimpleNamespace(end=end))
    gate = load_world(find_world("mailbox")).module("rewards").mails_carry_values
    assert gate(evidence)[0] is passes
