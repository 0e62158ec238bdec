"""Rows, datasets, runs and episodes in a notebook: HTML in which nothing of the data can run."""

from __future__ import annotations

import asyncio
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace

import synth
from synth.core.dataset.columns import COLUMNS
from synth.core.dataset.reader import Trajectory
from synth.core.screen.notebook import episode_html, trajectory_html

EVIL = "<img src=x onerror=alert(1)><script>alert(1)</script>\"'&\u202e\x1b[31m"


class Tags(HTMLParser):
    """Collects the tags and attributes of a page, and checks that tags are closed in order."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.open: list[str] = []
        self.text = ""
        self.feed(page)
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes.update(name for name, _ in attrs)
        if tag != "br":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def evil_row() -> Trajectory:
    call = {"id": EVIL, "function": {"name": EVIL, "arguments": {EVIL: EVIL}}}
    return Trajectory(
        {column.name: EVIL if column.kind == "str" else None for column in COLUMNS},
        trajectory_id=EVIL,
        family=EVIL,
        reward=0.5,
        call_changes=[],
        events=[],
        messages=[
            {"role": "system", "content": EVIL},
            {"role": "user", "content": EVIL * 100},
            {"role": "assistant", "content": EVIL, "reasoning_content": EVIL, "tool_calls": [call]},
            {"role": "tool", "name": EVIL, "content": EVIL},
            {"role": EVIL, "content": EVIL},
        ],
        state_diff=[
            {
                "op": EVIL,
                "table": EVIL,
                "key": {EVIL: EVIL},
                "before": {EVIL: None},
                "after": {EVIL: EVIL},
            }
        ],
        verdicts=[
            {"verifier": EVIL, "score": 0.0, "reason": EVIL, "gate": True, "detail": {EVIL: EVIL}}
        ],
    )


def test_nothing_in_a_row_becomes_a_tag_or_hides():
    row = evil_row()
    some = Trajectory(trajectory_id=EVIL, messages=row["messages"])
    for page in (
        trajectory_html(row),
        trajectory_html(some),
        episode_html(row["messages"], row["state_diff"]),
        episode_html(row["messages"], EVIL),
    ):
        tags = Tags(page)
        assert tags.tags <= {"pre", "span"}
        assert tags.attributes == {"style"}
        assert "<img src=x onerror=alert(1)>" in tags.text
        assert "\x1b" not in page
        assert "\u202e" not in page


def test_a_row_shows_its_transcript_beside_its_row_changes(tmp_path: Path):
    four = SimpleNamespace(tolist=lambda: 4)  # as NumPy's numbers have it
    tasks, output = {"count": four}, {"dir": tmp_path}
    run = synth.run(env="library", tasks=tasks, runtime="inline", output=output, progress=False)
    row = run.dataset[0]
    text = Tags(row._repr_html_()).text
    for message in row["messages"]:
        if message["role"] != "system":
            assert message["content"] in text
    assert "insert loans" in text
    assert "pass" in text
    assert row["trajectory_id"] in repr(row)
    assert "lend_book" in Tags(run.dataset._repr_html_()).text
    assert "4 rows" in repr(run.dataset)
    assert "4 of 4 rollouts" in Tags(run._repr_html_()).text
    assert "complete" in repr(run)


def test_an_episode_shows_what_has_happened_so_far():
    with synth.open("library") as episode:
        asyncio.run(episode.call("lend", {"member_id": 1, "book_id": 1}))
        text = Tags(episode._repr_html_()).text
        assert episode.messages[-1]["content"] in text
        assert "Row changes" in text
        assert "1 calls" in repr(episode)
    assert episode._repr_html_()
