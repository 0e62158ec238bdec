"""The promises of a command of another distribution as tests: subclass, name it ``Test...``."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable

import pytest

from synth.errors import OperatorError

OPERATOR = 2
"""The exit code for something that the operator has to mend."""


class CommandConformance(ABC):
    """Contract tests of a command. ``main`` is required."""

    @abstractmethod
    def main(self) -> Callable[[list[str]], int]:
        """The function that the entry point names."""

    def test_help_is_printed_on_standard_output(self, capsys: pytest.CaptureFixture[str]) -> None:
        with pytest.raises(SystemExit) as left:
            self.main()(["--help"])
        assert left.value.code in {0, None}
        assert "usage: synth " in capsys.readouterr().out

    def test_an_unknown_option_is_refused(self, capsys: pytest.CaptureFixture[str]) -> None:
        with pytest.raises((OperatorError, SystemExit)) as left:
            self.main()(["--no-such-option"])
        if isinstance(left.value, SystemExit):
            assert left.value.code == OPERATOR
            assert capsys.readouterr().err
