"""The user of a recorded run, played back: a run whose user was a model can be repeated without
asking it again.

Each rollout of the same plan finds its record by its seed, and its user gives the recorded answers.
The agent's words must be the recorded ones; otherwise the rollout is an error, because this user
never answered them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from synth.core.dataset.sanitize import sanitize
from synth.core.models.replay.records import ADVICE, Records
from synth.errors import DatasetError, ModelRefusedRequest, OperatorError
from synth.model import Model
from synth.plugins import extension
from synth.user import User, UserConversation, UserRole, UserTurn


class _RecordedUser(User):
    """The user of a run's directory; ``name`` is the recorded user's, because the words are its
    own.
    """

    def __init__(self, records: Records) -> None:
        if records.user is None:
            raise DatasetError(f"{records.path} holds no rollout with a user")
        self._records = records
        self.name = records.user

    def start(self, role: UserRole, seed: int) -> _RecordedTalk:
        return _RecordedTalk(self._records, role.opening, seed)


class _RecordedTalk(UserConversation):
    """One recorded rollout's user."""

    def __init__(self, records: Records, opening: str, seed: int) -> None:
        self._records, self._opening, self._seed = records, opening, seed
        self._turn = 0

    async def reply(self, text: str) -> UserTurn:
        where = f"{self._records.path}: the user of the rollout under seed {self._seed}"
        try:
            talk = self._records.talk(self._opening, self._seed)
        except DatasetError as error:
            raise ModelRefusedRequest(f"{where} cannot be read: {error}", False) from None
        if talk is None:
            raise ModelRefusedRequest(f"{where} is not there; {ADVICE}", False)
        if self._turn >= len(talk):
            raise ModelRefusedRequest(
                f"{where} spoke {len(talk)} times, and is asked once more", False
            )
        heard, turn = talk[self._turn]
        now = sanitize(text)[0]
        if now != heard:
            raise ModelRefusedRequest(
                f"{where} heard {heard[:200]!r}, and would now hear {now[:200]!r}", False
            )
        self._turn += 1
        return replace(turn)


@dataclass(frozen=True, slots=True)
class _ReplayUserOptions:
    """Options of ``users=replay``: the recorded run's directory."""

    path: str


@extension(_ReplayUserOptions, asks_model=False)
def make(options: _ReplayUserOptions, model: Model | None = None) -> _RecordedUser:
    """Build the user that ``users=replay`` names. Raises :class:`OperatorError`."""
    try:
        return _RecordedUser(Records(Path(options.path).expanduser()))
    except DatasetError as error:
        raise OperatorError(f"users.path: {error}") from None
