"""The shape of the code base in figures: ``python -m tests.house [--list] [PREFIX ...]``.

Prefixes such as ``synth/core/tasks`` limit what is counted; ``--list`` shows each finding. The figures
are the ones that CONTRIBUTING sets bounds for, and ``tests/test_house.py`` holds the bounds.
"""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests import house_plan
from tests.house_plan import ROOT, WINGS, tree

QUESTION_WORDS = frozenset(
    {"what", "whether", "where", "how", "who", "whom", "whose", "which", "when", "why"}
)
DUPLICATE_RUN = 6
"""Lines that have to be equal in a row to count as duplicated."""

OPENING_EXCEPTIONS: frozenset[str] = frozenset()
"""First lines of docstrings that may open with a question word."""

URL = re.compile(r"https?://")


@dataclass
class Figure:
    """One count, and the places that make it up."""

    name: str
    value: int | float
    places: list[str] = field(default_factory=list[str])


def files(prefixes: Sequence[str] = ()) -> list[Path]:
    found = house_plan.sources(*WINGS)
    wanted = [prefix.rstrip("/") for prefix in prefixes]
    return [path for path in found if not wanted or any(_below(path, prefix) for prefix in wanted)]


def _below(path: Path, prefix: str) -> bool:
    relative = path.relative_to(ROOT).as_posix()
    return relative == prefix or relative.startswith(f"{prefix}/") or relative == f"{prefix}.py"


def _place(path: Path, line: int = 0) -> str:
    relative = path.relative_to(ROOT).as_posix()
    return f"{relative}:{line}" if line else relative


def source_lines(paths: Sequence[Path]) -> int:
    return sum(len(path.read_text("utf-8").splitlines()) for path in paths)


def root_modules(paths: Sequence[Path]) -> list[Figure]:
    found = [
        path
        for path in paths
        if path.parent == ROOT / "synth" and path.stem not in {"__init__", "__main__"}
    ]
    return [Figure("modules at the root of synth", len(found), [_place(path) for path in found])]


def folder_sizes(paths: Sequence[Path]) -> list[Figure]:
    counts = Counter(path.parent for path in paths if path.name != "__init__.py")
    largest = counts.most_common(8)
    places = [f"{_place(folder)}: {count}" for folder, count in largest]
    return [Figure("files in the largest folder", max(counts.values(), default=0), places)]


def room_edges(paths: Sequence[Path]) -> list[Figure]:
    edges: set[tuple[str, str]] = set()
    for path in paths:
        own = ".".join(path.relative_to(ROOT).with_suffix("").parts[:2])
        for node in ast.walk(tree(path)):
            if (
                isinstance(node, ast.ImportFrom)
                and node.module
                and node.module.split(".")[0] in WINGS
            ):
                other = ".".join(node.module.split(".")[:2])
                if other != own:
                    edges.add((own, other))
    return [
        Figure(
            "imports between rooms", len(edges), sorted(f"{own} -> {other}" for own, other in edges)
        )
    ]


def docstrings(path: Path) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            text = ast.get_docstring(node)
            if text:
                yield getattr(node, "lineno", 1), text


def docstring_openings(paths: Sequence[Path]) -> list[Figure]:
    total, questions = 0, list[str]()
    for path in paths:
        for line, text in docstrings(path):
            total += 1
            opening = text.strip().splitlines()[0]
            first_word = re.split(r"\W+", opening, maxsplit=1)[0].lower()
            if first_word in QUESTION_WORDS and opening not in OPENING_EXCEPTIONS:
                questions.append(f"{_place(path, line)} {text.splitlines()[0][:70]}")
    share = round(100 * len(questions) / total, 1) if total else 0.0
    return [Figure("percent of docstrings that open with a question word", share, questions)]


def class_names(paths: Sequence[Path]) -> list[Figure]:
    found: dict[tuple[str, str], list[str]] = defaultdict(list)
    for path in paths:
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.ClassDef):
                found[path.relative_to(ROOT).parts[0], node.name].append(_place(path, node.lineno))
    twice = {key: places for key, places in found.items() if len(places) > 1}
    listed = [
        f"{wing}: {name} in {', '.join(places)}" for (wing, name), places in sorted(twice.items())
    ]
    return [Figure("class names used twice in a wing", len(twice), listed)]


def untyped_json(paths: Sequence[Path]) -> list[Figure]:
    found: list[str] = []
    for path in paths:
        text = path.read_text("utf-8")
        named = re.search(r"^Json\b.*=\s*\"?Any\"?", text, re.MULTILINE)
        imported = re.search(r"^from \S+ import [^#]*?\bJson\b", text, re.MULTILINE | re.DOTALL)
        if named or (imported and re.search(r"\bJson\b", text)):
            found.append(_place(path))
    return [Figure("modules with Json = Any", len(found), found)]


def branches(function: ast.AST) -> int:
    """Cyclomatic complexity as radon counts it: boolean operators and comprehensions included."""
    count = 1
    for node in ast.walk(function):
        if isinstance(
            node,
            ast.If
            | ast.IfExp
            | ast.For
            | ast.AsyncFor
            | ast.While
            | ast.ExceptHandler
            | ast.Assert,
        ):
            count += 1
        elif isinstance(node, ast.BoolOp):
            count += len(node.values) - 1
        elif isinstance(node, ast.comprehension):
            count += 1 + len(node.ifs)
        elif isinstance(node, ast.match_case):
            count += 1
    return count


def complexity(paths: Sequence[Path]) -> list[Figure]:
    found: list[tuple[int, str]] = []
    for path in paths:
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                count = branches(node)
                if count > 15:
                    found.append((count, f"{_place(path, node.lineno)} {node.name}: {count}"))
    found.sort(reverse=True)
    return [_over(limit, found) for limit in (15, 20, 25)]


def _over(limit: int, found: Sequence[tuple[int, str]]) -> Figure:
    places = [place for count, place in found if count > limit]
    return Figure(f"functions over complexity {limit}", len(places), places)


def long_lines(paths: Sequence[Path]) -> list[Figure]:
    """Long lines, and apart from them those that are excused: URLs and tables of patterns.

    A table of patterns says so by ``# noqa: E501`` or by its file's entry in pyproject.toml.
    """
    tables = _pattern_tables()
    wrong, excused = list[str](), list[str]()
    for path in paths:
        listed = any(path.match(pattern) for pattern in tables)
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
            if len(line) > 100:
                fine = listed or URL.search(line) or "# noqa: E501" in line
                (excused if fine else wrong).append(_place(path, number))
    return [
        Figure("lines over 100 columns", len(wrong), wrong),
        Figure("lines over 100 columns in tables of patterns and URLs", len(excused), excused),
    ]


def _pattern_tables() -> list[str]:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    ignores: dict[str, list[str]] = settings["tool"]["ruff"]["lint"]["per-file-ignores"]
    return [pattern for pattern, rules in ignores.items() if "E501" in rules]


def loop_names(paths: Sequence[Path]) -> list[Figure]:
    total, found = 0, list[str]()
    for path in paths:
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.For | ast.AsyncFor | ast.comprehension):
                for name in ast.walk(node.target):
                    if isinstance(name, ast.Name):
                        total += 1
                        if name.id in {"each", "told"}:
                            found.append(_place(path, name.lineno))
    return [Figure("loop variables named each or told", len(found), found)]


def duplicate_lines(paths: Sequence[Path]) -> list[Figure]:
    seen: dict[tuple[str, ...], str] = {}
    repeated: set[str] = set()
    for path in paths:
        lines = [
            (number, line.strip())
            for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
            if re.search(r"\w", line) and not re.match(r"\s*(from|import|#|\"\"\")", line)
        ]
        for start in range(len(lines) - DUPLICATE_RUN + 1):
            window = lines[start : start + DUPLICATE_RUN]
            key = tuple(text for _, text in window)
            first = seen.setdefault(key, _place(path, window[0][0]))
            if first != _place(path, window[0][0]):
                repeated.update(_place(path, number) for number, _ in window)
    return [Figure(f"lines in equal runs of {DUPLICATE_RUN}", len(repeated), sorted(repeated))]


MEASURES: tuple[Callable[[Sequence[Path]], list[Figure]], ...] = (
    root_modules,
    folder_sizes,
    room_edges,
    docstring_openings,
    class_names,
    untyped_json,
    complexity,
    long_lines,
    loop_names,
    duplicate_lines,
)


def figures(prefixes: Sequence[str] = ()) -> list[Figure]:
    paths = files(prefixes)
    return [figure for measure in MEASURES for figure in measure(paths)]


def whole_house() -> list[Figure]:
    counted = {name: count() for name, count in house_plan.FIGURES.items()}
    return [
        Figure(name, len(value), value) if isinstance(value, list) else Figure(name, value)
        for name, value in counted.items()
    ]


def main(arguments: Sequence[str]) -> None:
    listing = "--list" in arguments
    prefixes = [word for word in arguments if not word.startswith("--")]
    paths = files(prefixes)
    print(f"{len(paths)} files, {source_lines(paths)} lines")
    for figure in (*(() if prefixes else whole_house()), *figures(prefixes)):
        print(f"{figure.value:>7}  {figure.name}")
        if listing:
            for place in figure.places:
                print(f"           {place}")


if __name__ == "__main__":
    main(sys.argv[1:])
