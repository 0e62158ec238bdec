"""A world's Python, loaded by path as a package of its own with a unique name.

Two worlds never meet, and relative imports between the files of one world work.
"""

from __future__ import annotations

import ast
import importlib.util
import sys
import threading
import types
from dataclasses import dataclass
from pathlib import Path

from envs.errors import WorldError, last_place
from envs.tools.tool import ANNOTATED_ADVICE, UNHASHABLE

_importing = threading.RLock()


@dataclass(frozen=True, slots=True)
class WorldPackage:
    """The Python files of a folder as a package, named by the digest of the world's files."""

    folder: Path
    digest: str

    @property
    def name(self) -> str:
        return f"synth_world_{self.digest}"

    def has(self, module: str) -> bool:
        """True where the folder holds that module (``rules`` or ``lib.rules``)."""
        return self._file(module).is_file()

    def load(self, module: str) -> types.ModuleType:
        """Import one of the folder's modules, once per process.

        Raises :class:`~envs.errors.WorldError` with the file and line where its code fails.
        """
        with _importing:  # sys.modules holds a module before it is complete
            self._register()
            return self._load(module)

    def _file(self, module: str) -> Path:
        return self.folder.joinpath(*module.split(".")).with_suffix(".py")

    def _register(self) -> None:
        """Register the folder as an empty package, so that its modules can import each other."""
        known = sys.modules.get(self.name)
        if known is not None and list(getattr(known, "__path__", [])) == [str(self.folder)]:
            return
        prefix = f"{self.name}."
        for stale in [name for name in sys.modules if f"{name}.".startswith(prefix)]:
            del sys.modules[stale]
        package = types.ModuleType(self.name)
        package.__path__ = [str(self.folder)]
        sys.modules[self.name] = package

    def _load(self, name: str) -> types.ModuleType:
        dotted = f"{self.name}.{name}"
        if dotted in sys.modules:
            return sys.modules[dotted]
        file = self._file(name)
        _refuse_duplicate_functions(file)
        spec = importlib.util.spec_from_file_location(dotted, file)
        if spec is None or spec.loader is None:
            raise WorldError("not a Python file", file)
        module = importlib.util.module_from_spec(spec)
        sys.modules[dotted] = module
        try:
            spec.loader.exec_module(module)
        except (Exception, SystemExit) as error:
            del sys.modules[dotted]
            if isinstance(error, WorldError) and error.file is not None:
                raise
            raise _import_error(error, file) from error
        return module


def _import_error(error: BaseException, file: Path) -> WorldError:
    _, line = last_place(error, str(file)) or (None, None)
    if isinstance(error, WorldError):
        return WorldError(error.message, file, line)
    if isinstance(error, SyntaxError):
        return WorldError(f"{type(error).__name__}: {error.msg}", file, error.lineno)
    advice = ""
    if isinstance(error, TypeError) and UNHASHABLE in str(error):
        advice = f"; {ANNOTATED_ADVICE}"
    return WorldError(f"{type(error).__name__}: {error}{advice}", file, line)


def _refuse_duplicate_functions(file: Path) -> None:
    """Refuse two functions of one name: the first of two tools or families would vanish."""
    try:
        tree = ast.parse(file.read_bytes())
    except (OSError, SyntaxError, ValueError):  # importing it reports the error better
        return
    seen: set[str] = set()
    for node in tree.body:
        if not isinstance(node, ast.FunctionDef):
            continue
        if node.name in seen:
            raise WorldError(
                f"two functions are named {node.name!r}, and the second hides the first",
                file,
                node.lineno,
            )
        seen.add(node.name)
