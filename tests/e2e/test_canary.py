"""A key that a tool of the world gives away is nowhere in what leaves the machine."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from synth.core.dataset.reader import Dataset
from synth.core.dataset.texts import stored_texts
from tests.e2e.command import synth
from tests.e2e.test_hub import environment
from tests.e2e.test_telemetry import KEY, ROOT, play
from tests.hub_stand_in import hub
from tests.otlp_collector import attributes, collector

pytestmark = pytest.mark.slow


@pytest.fixture
def leaking(tmp_path: Path) -> Path:
    """The library, with a tool that answers with the teacher's key by a mistake of its author."""
    world = Path(shutil.copytree(ROOT / "examples" / "library", tmp_path / "library"))
    code = (world / "executors.py").read_text("utf-8")
    leak = 'return dict(row) | {"note": os.environ.get("OPENAI_API_KEY", "none")}'
    changed = f"import os\n\n{code}".replace("return dict(row)", leak, 1)
    assert leak in changed
    (world / "executors.py").write_text(changed, "utf-8")
    return world


def texts_of(directory: Path) -> Iterator[str]:
    """Every text of a run: of its tables by their values, of other files as they are."""
    for file in sorted(directory.rglob("*")):
        if file.suffix == ".parquet":
            yield from (text for _, text in stored_texts(file))
        elif file.is_file():
            yield file.read_bytes().decode("latin-1")


def test_words_leave_where_they_are_asked_for_and_no_file_span_page_or_upload_holds_the_key(
    leaking: Path, tmp_path: Path
):
    with collector() as kept:
        rows = play(tmp_path, kept, "telemetry.otel.contents=true", world=f"env.path={leaking}")
    assert '"note":' in json.dumps(rows).replace('\\"', '"')  # the tool did answer with it
    chats = kept.named("chat")
    first = json.loads(attributes(chats[0])["gen_ai.input.messages"])
    assert first[0]["role"] == "system"
    openings = [row["messages"][0]["content"] for row in rows]
    assert first[0]["parts"][0]["content"] in openings
    tools = [attributes(span) for span in kept.named("execute_tool")]
    assert all(json.loads(tool["gen_ai.tool.call.arguments"]) is not None for tool in tools)
    assert any('"note":' in tool["gen_ai.tool.call.result"] for tool in tools)
    assert KEY.encode() not in b"".join(kept.raw)
    said: list[str] = []
    for words in (("view", "out"), ("card", "out")):
        done = synth(*words, cwd=tmp_path)
        said += [done.stdout, done.stderr]
    assert (tmp_path / "out" / "view.html").exists()
    assert not [text for text in (*texts_of(tmp_path / "out"), *said) if KEY in text]
    with Dataset.open(tmp_path / "out") as dataset:
        assert KEY not in json.dumps(list(dataset.rows()), default=str)
    with hub() as online:
        licences = ("--license", "mit", "--world-license", "mit", "--teacher-license", "mit")
        given = environment(online, tmp_path) | {"OPENAI_API_KEY": KEY}
        synth("push", "out", "acme/library", *licences, cwd=tmp_path, env=given)
        assert online.files["acme/library"]
        assert not [name for name, data in online.files["acme/library"].items() if KEY.encode() in data]  # fmt: skip
