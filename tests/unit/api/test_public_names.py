"""The public names of ``import synth``: pinned, documented, complete in both forms."""

from __future__ import annotations

import inspect
import subprocess
import sys
from pathlib import Path

import pytest

import synth

ROOT = Path(__file__).parents[3]

FUNCTIONS = ("check", "export", "grade", "load", "open", "replay", "run")
TYPES = (
    "Dataset", "Episode", "ExportReport", "GradeReport", "ReplayReport", "Run", "RunConfig",
    "Score", "Task", "Trajectory", "WorldReport",
)  # fmt: skip
ASYNC = tuple(f"a{name}" for name in FUNCTIONS if name != "load")


def test_the_public_names_are_these():
    """A name that is added here is a promise; a name that is taken away breaks somebody."""
    assert sorted(synth.__all__) == sorted((*FUNCTIONS, *ASYNC, *TYPES, "__version__"))


def test_completion_lists_the_public_names_alone():
    assert dir(synth) == sorted(synth.__all__)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_no_package_or_module_has_the_name_of_a_public_function(name: str):
    assert not (ROOT / "synth" / name).exists()
    assert not (ROOT / "synth" / f"{name}.py").exists()


@pytest.mark.parametrize("name", [*FUNCTIONS, *ASYNC])
def test_a_function_is_typed_and_says_what_it_raises(name: str):
    function = getattr(synth, name)
    signature = inspect.signature(function)
    missing = [p.name for p in signature.parameters.values() if p.annotation is p.empty]
    assert not missing
    assert signature.return_annotation is not signature.empty
    text = inspect.getdoc(function) or ""
    assert "Raises" in text or "errors" in text


@pytest.mark.parametrize("name", ASYNC)
def test_both_forms_take_the_same_arguments(name: str):
    assert inspect.iscoroutinefunction(getattr(synth, name))
    forms = (getattr(synth, name), getattr(synth, name[1:]))
    first, second = (inspect.signature(form).parameters for form in forms)
    assert list(first.values()) == list(second.values())


@pytest.mark.parametrize("name", TYPES)
def test_a_type_has_a_docstring(name: str):
    assert inspect.getdoc(getattr(synth, name))


def test_reading_a_dataset_starts_neither_hydra_nor_ray():
    code = (
        "import synth, sys; synth.load, synth.Dataset;"
        " print([name for name in ('hydra', 'ray', 'openai', 'rich') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
