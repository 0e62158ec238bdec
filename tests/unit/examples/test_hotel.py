"""The hotel of the training example: small enough for a small model, and proved."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.e2e.command import synth

HOTEL = Path(__file__).parents[3] / "examples" / "training" / "hotel"


@pytest.mark.slow
def test_the_hotel_proves_itself_in_universes_that_training_never_meets(tmp_path: Path):
    done = synth("check", str(HOTEL), "--tasks", "2", cwd=tmp_path)
    assert "19 families prove themselves" in done.stdout
