"""Destination of a worker's audit: files in the run's ``logs/``, or its standard error where the
run's
directory is out of reach.

A file is never cut: when it is large the next begins. Each line is there when its call returns, and
a line that cannot be written breaks its rollout, which is tried again as after any broken
infrastructure.
"""

from __future__ import annotations

import itertools
import logging
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, Any, Literal, NoReturn

from envs.audit import LOGGER, Audit
from envs.errors import SandboxError

AuditLevel = Literal["info", "debug"]

PART_BYTES = 100_000_000
"""How large a file grows before the next begins."""

_LEVELS: Mapping[AuditLevel, int] = {"info": logging.INFO, "debug": logging.DEBUG}


class AuditLog:
    """A worker's audit. ``run_dir`` None: lines go to standard error. What listens to
    ``envs.audit`` hears them too. ``scrub`` hides secrets in a line.
    """

    def __init__(
        self,
        run: str,
        worker: str,
        level: AuditLevel,
        run_dir: Path | None,
        scrub: Callable[[str], str] = str,
    ) -> None:
        self._about = {"run": run, "worker": worker}
        self._begun = itertools.count(1)
        self._handler: logging.Handler = (
            _ToStream(sys.stderr)
            if run_dir is None
            else _Parts(run_dir / "logs", f"audit-{worker}")
        )
        self._handler.setFormatter(_Scrubbed(scrub))
        # Of this worker alone, and in nobody's table: a process may have several, one after the
        # other.
        self._logger = logging.Logger(LOGGER.name, _LEVELS[level])  # noqa: LOG001
        self._logger.parent = LOGGER
        self._logger.addHandler(self._handler)

    def start(self, about: Mapping[str, object]) -> Audit:
        """The audit of one rollout. ``attempt`` counts those that this worker began, also of one
        job again.
        """
        return Audit(self._logger, {**self._about, **about, "attempt": next(self._begun)})

    def close(self) -> None:
        """Safe to call twice."""
        self._handler.close()


class _Scrubbed(logging.Formatter):
    """Writes the message alone, without the run's secrets."""

    def __init__(self, scrub: Callable[[str], str]) -> None:
        super().__init__("%(message)s")
        self._scrub = scrub

    def format(self, record: logging.LogRecord) -> str:
        return self._scrub(super().format(record))


class _ToStream(logging.StreamHandler[Any]):
    def handleError(self, record: logging.LogRecord) -> NoReturn:  # noqa: N802
        _refuse()


class _Parts(logging.FileHandler):
    """Writes NAME.jsonl in the folder, then NAME-2.jsonl and so on; the first line makes the
    folder.
    """

    def __init__(self, folder: Path, name: str) -> None:
        self._folder, self._name, self._part = folder, name, 1
        super().__init__(folder / f"{name}.jsonl", encoding="utf-8", delay=True)

    def _open(self) -> Any:
        self._folder.mkdir(exist_ok=True)
        return super()._open()

    def emit(self, record: logging.LogRecord) -> None:
        try:
            super().emit(record)
            stream: IO[str] | None = self.stream
            if stream is not None and stream.tell() >= PART_BYTES:
                stream.close()
                self._part += 1
                self.baseFilename = str(
                    self._folder.absolute() / f"{self._name}-{self._part}.jsonl"
                )
                self.stream = self._open()
        except OSError:
            self.handleError(record)

    def handleError(self, record: logging.LogRecord) -> NoReturn:  # noqa: N802
        _refuse()


def _refuse() -> NoReturn:
    error = sys.exc_info()[1]
    reason = error.strerror if isinstance(error, OSError) else type(error).__name__
    raise SandboxError(f"the audit cannot be written: {reason}") from error
