"""earendil-works/pi#8943, oceanbase/powercontext#91: integers past 2**53 keep all digits, in a page, a
page with a server, a new world, its runs, their replay and exports.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.chromium import opened
from tests.e2e.command import synth
from tests.e2e.test_view_in_browser import serving
from tests.sample_rows import asks, call, result, row, says, user, write_run

KEY, LEAST, MOST = 2512292042121000001, -(2**63), 2**63 - 1
NUMBERS = {"key": KEY, "list": [LEAST, {"most": MOST}], "safe": 2**53 - 1, "share": 0.1 + 0.2}
TEXT = f'{{"quoted": "\\"12345678901234567 and 98765432109876543", "key": {KEY}}}'

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run whose row has such integers in arguments, results and row changes."""
    changed = {"table": "docks", "op": "update", "key": {"id": KEY}}
    changes = [changed | {"before": {"next": MOST}, "after": {"next": LEAST}}]
    messages = [
        user("Look."),
        asks(call("c1", "look", **NUMBERS)),
        result("c1", "look", NUMBERS),
        asks(call("c2", "look", key=KEY)),
        {"role": "tool", "tool_call_id": "c2", "name": "look", "content": TEXT},
        says("Seen."),
    ]
    effect = {"call": 1, "id": "c2", "name": "look", "changes": changes}
    shown = row(0, messages=messages, state_diff=changes, call_changes=[effect])
    return write_run(tmp_path_factory.mktemp("large") / "run", [shown])


@pytest.mark.parametrize("served", [False, True], ids=["file", "serve"])
def test_the_viewer_shows_every_digit(browser: Any, run: Path, tmp_path: Path, served: bool):
    if not served:
        text = opened(browser, tmp_path, run).inner_text("body")
    else:
        with serving(run) as url:
            page = browser.new_page()
            page.goto(url)
            page.wait_for_selector("article, .call")
            text = page.inner_text("body")
            page.close()
    for number, count in ((KEY, 5), (LEAST, 3), (MOST, 3), (2**53 - 1, 2)):
        assert text.count(str(number)) >= count
    assert "0.30000000000000004" in text
    assert "12345678901234567 and 98765432109876543" in text
    assert "$int" not in text


def test_a_world_with_such_keys_is_made_played_and_exported(tmp_path: Path):
    (tmp_path / "schema.sql").write_text(
        "CREATE TABLE senders (sender_id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);"
        "CREATE TABLE parcels (parcel_id INTEGER PRIMARY KEY, weight_g INTEGER NOT NULL,"
        " sender_id INTEGER NOT NULL REFERENCES senders (sender_id));"
        f"INSERT INTO senders VALUES ({KEY}, 'Alder Books'), ({KEY + 1}, 'Birch Tools');"
        f"INSERT INTO parcels VALUES ({KEY}, 12, {KEY}), ({KEY + 1}, 80, {KEY}),"
        f" ({KEY + 2}, 45, {KEY + 1}), ({MOST}, 77, {KEY + 1})"
    )
    job = ("env.path=w", "tasks.count=16", "tasks.universes=2", "output.dir=run", "runtime=inline")
    for words, wanted in (
        (
            ("new", "w", "--from", "schema.sql", "--patterns", "create,look_up,change"),
            "left out create_parcel: the gold call create_parcel",
        ),
        (("run", *job), "16 of 16 rollouts in run"),
        (("replay", "run"), "as recorded"),
        (("export", "run", "--to", "openai-jsonl"), "16 examples from 16 rows"),
    ):
        done = synth(*words, cwd=tmp_path)
        assert wanted in done.stdout + done.stderr
    (file,) = tmp_path.glob("*.jsonl")
    long = {int(number) for number in re.findall(r"\d{16,}", file.read_text())}
    assert long & {KEY, KEY + 1, KEY + 2, MOST}
    assert max(long) <= MOST
