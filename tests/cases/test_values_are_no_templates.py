"""Issue 29: a title with ``{`` or ``$`` broke the shipped example and generated families.

Values reach texts, arguments and SQL through slots, whatever they look like.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from synth.core.validation.check import Options
from synth.core.validation.report import FamilyReport
from synth.core.validation.world import check_world
from synth.ext.authoring.folder import write_files
from synth.ext.authoring.source import from_files
from synth.ext.authoring.world import make_world

LIBRARY = Path(__file__).parents[2] / "examples" / "library"
TITLES = {"'Solaris'": "'{title}'", "'Ubik'": "'$member'", "'Walden'": "'5$ {off} :x}'"}


def reports_of(folder: Path, *families: str) -> list[FamilyReport]:
    found = list[FamilyReport]()
    check_world(folder, Options(families=families or None), found.append)
    return found


def faults(found: list[FamilyReport]) -> list[str]:
    return [problem for report in found for problem in (*report.problems, *report.surviving)]


def test_the_shipped_family_in_python_takes_any_title(tmp_path: Path):
    folder = shutil.copytree(LIBRARY, tmp_path / "library")
    seed = (folder / "seed.sql").read_text()
    for title, odd in TITLES.items():
        seed = seed.replace(title, odd)
    (folder / "seed.sql").write_text(seed)
    found = reports_of(folder, "lend_unread")
    assert faults(found) == []
    assert found[0].capacity == 2


def test_a_pasted_value_is_told_to_become_a_slot(tmp_path: Path):
    folder = shutil.copytree(LIBRARY, tmp_path / "library")
    (folder / "seed.sql").write_text((folder / "seed.sql").read_text().replace("Walden", "{x"))
    code = (folder / "tasks.py").read_text()
    (folder / "tasks.py").write_text(code.replace('"{second}"}', "second}"))
    options = Options(families=("lend_unread",))
    notes = check_world(folder, options, lambda report: None).notes
    assert 'write the slot, "{second}", in the place of its value' in "\n".join(notes)


def test_generated_families_take_any_name_and_state(tmp_path: Path):
    script = """
CREATE TABLE "{boxes}" (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE items (
  id INTEGER PRIMARY KEY, "{boxes}_id" INTEGER NOT NULL REFERENCES "{boxes}" (id),
  name TEXT NOT NULL UNIQUE, state TEXT NOT NULL CHECK (state IN ('{new}', '$sent', 'a:b'))
);
INSERT INTO "{boxes}" VALUES (1, '{box} one'), (2, '$box two'), (3, '}} three');
INSERT INTO items VALUES (1, 1, '{item}', '{new}'), (2, 1, '$item', '$sent'), (3, 2, '{{x}}', 'a:b'),
  (4, 2, ':x', '{new}'), (5, 3, 'y}', '$sent'), (6, 3, '$$z', 'a:b');
"""
    file = tmp_path / "schema.sql"
    file.write_text(script)
    patterns = ["for_each", "change", "list_children"]
    made = make_world("w", from_files([file]), print, patterns=patterns)
    assert "list_children" in {draft.pattern for draft in made.proofs.kept}
    assert made.proofs.left_out == {}
    folder = tmp_path / "w"
    folder.mkdir()
    write_files(folder, made.files)
    assert faults(reports_of(folder)) == []
