"""The word that was meant."""

import pytest

from synth.config import KEYS, SECTIONS
from synth.core.foundation.suggestions import hint, nearest, nearest_key


@pytest.mark.parametrize(
    ("key", "meant"),
    [
        ("tasks.cuont", "tasks.count"),
        ("count", "tasks.count"),
        ("temprature", "model.temperature"),
        ("modle.kind", "model.kind"),
        ("model.count", "tasks.count"),
        ("runtime.worker", "runtime.workers"),
        ("modle", "model"),
        ("sed", "seed"),
        ("zzz", None),
        ("budget.zzz", None),
    ],
)
def test_nearest_key(key, meant):
    assert nearest_key(key, (*KEYS, *SECTIONS)) == meant


def test_nearest_prefers_the_same_letters_in_another_case():
    assert nearest("Ray", ["rays", "ray"]) == "ray"
    assert nearest("x", []) is None
    assert hint(None) == ""
    assert hint("ray") == "; did you mean ray?"
