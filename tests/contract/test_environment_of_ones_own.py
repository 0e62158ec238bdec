"""The contract of environments whose state is outside of the database: the two examples, and
environments that break it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from envs.errors import ExecutorError
from envs.testing import EnvironmentConformance
from envs.testing.environment_conformance import Call

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(autouse=True)
def _importable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(EXAMPLES))


class TestLookUpTable(EnvironmentConformance):
    world = EXAMPLES / "extensions" / "glossary"

    def writes(self) -> Sequence[Call]:
        return [
            ("define", {"word": "folio", "meaning": "A leaf."}),
            ("define", {"word": "recto", "meaning": "The right page."}),
        ]

    def refusals(self) -> Sequence[Call]:
        return [("look_up", {"word": "verso"})]


class TestService(EnvironmentConformance):
    world = EXAMPLES / "extensions" / "inventory"

    def writes(self) -> Sequence[Call]:
        return [("reserve", {"sku": "L-1", "customer": "Ada", "count": n}) for n in (2, 3)]

    def refusals(self) -> Sequence[Call]:
        return [("reserve", {"sku": "L-1", "customer": "Ada", "count": 99})]


GLOSSARY = EXAMPLES / "extensions" / "glossary"
BROKEN = {
    "shared": (
        """
class Broken(LookUpTable):
    meanings = {}
    def start(self, rows):
        self.meanings.clear()
        self.meanings.update({row["word"]: row["meaning"] for row in rows["entry"]})
""",
        "test_environments_are_apart",
    ),
    "ordered": (
        """
class Broken(LookUpTable):
    def start(self, rows):
        super().start(rows)
        self.first = rows["entry"][0]["word"]
    def snapshot(self):
        if "recto" in self.meanings:
            self.meanings["recto"] = self.first
        return super().snapshot()
""",
        "test_equal_calls_give_equal_rows",
    ),
    "counting": (
        """
class Broken(LookUpTable):
    starts = 0
    def start(self, rows):
        super().start(rows)
        type(self).starts += 1
    def snapshot(self):
        if "recto" in self.meanings:
            self.meanings["recto"] = str(self.starts)
        return super().snapshot()
""",
        "test_equal_calls_give_equal_rows",
    ),
    "deaf": (
        """
class Broken(LookUpTable):
    def snapshot(self):
        return {"entry": self.seed}
    def start(self, rows):
        super().start(rows)
        self.seed = rows["entry"]
""",
        "test_a_write_is_told_row_by_row",
    ),
    "obliging": (
        """
class Broken(LookUpTable):
    def start(self, rows):
        super().start(rows)
        self.meanings = Lenient(self.meanings)
class Lenient(dict):
    def __contains__(self, word):
        return True
    def __missing__(self, word):
        return "unknown"
""",
        "test_a_refusal_leaves_nothing",
    ),
    "touchy": (
        """
class Broken(LookUpTable):
    def stop(self):
        del self.meanings
""",
        "test_stopping_and_closing_twice_is_safe",
    ),
    "forgetful": (
        """
class Broken(LookUpTable):
    def start(self, rows):
        self.meanings = {row["word"]: row["meaning"] for row in rows["entry"][:3]}
""",
        "test_it_goes_on_from_its_own_rows",
    ),
}
"""By name, an environment that breaks the contract, and the test that says so."""


@pytest.mark.parametrize("name", BROKEN)
def test_an_environment_that_breaks_the_contract_fails(name: str, tmp_path: Path):
    code, test = BROKEN[name]
    for file in GLOSSARY.iterdir():
        if file.is_file():
            (tmp_path / file.name).write_bytes(file.read_bytes())
    (tmp_path / "world.yaml").write_text("environment: environment.Broken\n")
    head = "from extensions.environment import LookUpTable\n"
    (tmp_path / "environment.py").write_text(head + code)

    class Broken(TestLookUpTable):
        world = tmp_path

    found: list[str] = []
    for each in (each for each in dir(Broken) if each.startswith("test_")):
        try:
            getattr(Broken(), each)()
        except (AssertionError, ExecutorError, AttributeError):
            found.append(each)
    assert test in found


def test_the_calls_of_a_contract_test_have_to_write():
    class Idle(TestLookUpTable):
        def writes(self) -> Sequence[tuple[str, Mapping[str, Any]]]:
            return [("look_up", {"word": "folio"})]

    with pytest.raises(AssertionError, match="look_up changed no row"):
        Idle().test_a_write_is_told_row_by_row()
