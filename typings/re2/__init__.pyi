"""What is used of google-re2, which ships no types."""

from collections.abc import Iterator

class error(Exception): ...  # noqa: N801, N818

class Options:
    literal: bool
    case_sensitive: bool
    max_mem: int
    log_errors: bool

class Match:
    def start(self) -> int: ...
    def end(self) -> int: ...

class Pattern:
    programsize: int
    def finditer(self, text: str, pos: int = ...) -> Iterator[Match]: ...

def compile(pattern: str, options: Options | None = ...) -> Pattern: ...  # noqa: A001
