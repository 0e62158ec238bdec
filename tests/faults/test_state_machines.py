"""State machines of the journal and of the lock: whatever is done in whatever order, the model and
the files agree.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from synth.core.dataset.store.journal import ROW, Journal, Segment, frame
from synth.core.dataset.store.lock import RunLock, is_held
from synth.errors import ResumeRefused
from tests.faults.promises import promise

QUIET = settings(
    max_examples=40,
    stateful_step_count=30,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)
LONG = settings(QUIET, max_examples=2_000, stateful_step_count=60, derandomize=False)


@dataclass
class Frame:
    """A frame as it was written; one with bits flipped since is not whole."""

    index: int
    payload: bytes
    start: int
    end: int
    flipped: frozenset[tuple[int, int]] = frozenset()

    @property
    def whole(self) -> bool:
        return not self.flipped


class JournalMachine(RuleBasedStateMachine):
    """One segment that is written, torn, flipped and reopened."""

    def __init__(self) -> None:
        super().__init__()
        self.home = tempfile.TemporaryDirectory()
        self.journal = Journal(Path(self.home.name))
        self.path = self.journal.shard_path(0)
        self.frames: list[Frame] = []

    def teardown(self) -> None:
        self.journal.close()
        self.home.cleanup()

    @rule(index=st.integers(0, 4), text=st.text(max_size=40))
    def append(self, index: int, text: str) -> None:
        payload = text.encode("utf-8", "replace")
        start = self.frames[-1].end if self.frames else 0
        self.journal.append(self.path, ROW, index, payload)
        end = start + len(frame(ROW, index, payload))
        self.frames.append(Frame(index, payload, start, end))

    @rule()
    def sync(self) -> None:
        self.journal.sync()

    @precondition(lambda self: bool(self.frames))
    @rule(share=st.floats(0, 1, exclude_min=True))
    def tear(self, share: float) -> None:
        """Die within the last write: its tail is missing."""
        last = self.frames.pop()
        size = last.end - max(1, int((last.end - last.start) * share))
        with self.path.open("r+b") as file:
            file.truncate(size)
        self.reopen()

    @precondition(lambda self: bool(self.frames))
    @rule(garbage=st.text(min_size=1, max_size=40))
    def leave_garbage(self, garbage: str) -> None:
        """Die within a write that left something else behind."""
        with self.path.open("ab") as file:
            file.write(garbage.encode("utf-8", "replace"))
        self.reopen()

    @precondition(lambda self: bool(self.frames))
    @rule(place=st.floats(0, 1, exclude_max=True), bit=st.integers(0, 7))
    def flip(self, place: float, bit: int) -> None:
        """Flip a bit anywhere: the frame around it is lost, and no other."""
        offset = int(self.frames[-1].end * place)
        data = bytearray(self.path.read_bytes())
        data[offset] ^= 1 << bit
        self.path.write_bytes(data)
        for known in self.frames:
            if known.start <= offset < known.end:
                known.flipped ^= {(offset, bit)}  # flipped twice, it is as it was
        self.reopen()

    @rule()
    def reopen(self) -> None:
        """Begin another session, which repairs the segment first."""
        self.journal.close()
        self.journal = Journal(Path(self.home.name))
        if self.path.exists():
            self.journal.repair(self.path).close()
        while self.frames and not self.frames[-1].whole:
            self.frames.pop()

    @invariant()
    def holds_what_the_model_holds(self) -> None:
        if not self.path.exists():
            assert not self.frames
            return
        segment = Segment(self.path)
        expected = {known.index: known.payload for known in self.frames if known.whole}
        assert {index: segment.read(index) for index in segment.frames} == expected
        assert segment.end == segment.size == (self.frames[-1].end if self.frames else 0)
        segment.close()


class LockMachine(RuleBasedStateMachine):
    """Writers that come and go, and readers that look."""

    def __init__(self) -> None:
        super().__init__()
        self.home = tempfile.TemporaryDirectory()
        self.path = Path(self.home.name) / "lock"
        self.holder: RunLock | None = None

    def teardown(self) -> None:
        if self.holder is not None:
            self.holder.release()
        self.home.cleanup()

    @rule()
    def acquire(self) -> None:
        if self.holder is None:
            self.holder = RunLock(self.path)
            return
        with pytest.raises(ResumeRefused, match=r"is being written by process \d+ on "):
            RunLock(self.path)

    @precondition(lambda self: self.holder is not None)
    @rule(remove=st.booleans())
    def release(self, remove: bool) -> None:
        assert self.holder is not None
        self.holder.release(remove=remove)
        self.holder.release()  # twice does no harm
        self.holder = None

    @precondition(lambda self: self.holder is None)
    @rule(content=st.binary(max_size=30))
    def leave_a_dead_lock(self, content: bytes) -> None:
        """A process was killed: its file stays, with any content, and nobody holds it."""
        self.path.write_bytes(content)

    @invariant()
    def readers_see_a_writer_exactly_while_there_is_one(self) -> None:
        assert is_held(self.path) == (self.holder is not None)


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("synth.core.dataset.store.lock._PAUSE_S", 0.0)


def run(machine: type[RuleBasedStateMachine], how: settings) -> None:
    case = type(machine.__name__, (machine.TestCase,), {"settings": how})
    case("runTest").runTest()


JOURNAL = "A torn or flipped journal loses the frames that were hit, and no other"
LOCK = "One writer at a time; a dead writer's lock holds nobody up"


@promise(JOURNAL)
def test_the_journal_is_what_its_model_is() -> None:
    run(JournalMachine, QUIET)


@promise(LOCK)
def test_the_lock_is_what_its_model_is() -> None:
    run(LockMachine, QUIET)


@pytest.mark.long
@promise(JOURNAL)
def test_the_journal_is_what_its_model_is_at_length() -> None:
    run(JournalMachine, LONG)


@pytest.mark.long
@promise(LOCK)
def test_the_lock_is_what_its_model_is_at_length() -> None:
    run(LockMachine, LONG)
