"""Versions of extensions: recorded, compared by workers and by a resume, part of the digest."""

from __future__ import annotations

import pytest

from synth.config import from_dict
from synth.core.config.fingerprints import fingerprint, fingerprinted
from synth.core.runner.provenance import check_installed, check_unchanged, records
from synth.errors import OperatorError, ResumeRefused
from synth.plugins import Extension

PYTEST = Extension("model", "mine", "my_models:Mine", "pytest", "0.0.1")


def test_a_worker_with_another_version_refuses_and_names_both():
    with pytest.raises(OperatorError) as refused:
        check_installed([PYTEST], "worker a-1")
    assert f"worker a-1 has pytest {pytest.__version__}, the driver has 0.0.1" in str(refused.value)
    check_installed([Extension("model", "scripted", "a:b")], "worker a-1")


def test_a_worker_without_the_distribution_refuses():
    missing = Extension("model", "mine", "a:b", "no-such-distribution", "2")
    with pytest.raises(OperatorError, match="has no-such-distribution not installed, the driver"):
        check_installed([missing], "worker a-1")


def test_a_resume_with_another_version_is_refused():
    other = Extension("model", "mine", "my_models:Mine", "pytest", "0.0.2")
    recorded = records([PYTEST, Extension("user", "scripted", "a:b")])
    assert [row["name"] for row in recorded] == ["mine"]
    check_unchanged(recorded, [PYTEST])
    with pytest.raises(ResumeRefused, match=r"model 'mine': pytest 0\.0\.1 -> pytest 0\.0\.2"):
        check_unchanged(recorded, [other])


def test_the_digest_of_a_config_follows_the_version_of_its_extensions():
    kept = fingerprinted(from_dict({"env": {"name": "shop"}}))
    shipped = Extension("model", "scripted", "a:b")
    assert fingerprint(kept) == fingerprint(kept, [shipped])
    assert fingerprint(kept) != fingerprint(kept, [PYTEST])
