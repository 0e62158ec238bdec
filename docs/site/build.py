"""Build the documentation site: ``python docs/site/build.py`` writes ``out/site``.

The pages of docs/ are staged in ``out/pages`` together with the pages that are made from the code
(:mod:`generated`): reference, one page for each extension point, and the files of the repository
that pages link to. Zensical builds the stage; a link or an anchor that leads nowhere ends the build.
"""

from __future__ import annotations

import posixpath
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
STAGE = ROOT / "out" / "pages"

sys.path[:0] = [str(ROOT), str(DOCS / "site")]

from generated import generated_pages
from notebook_page import notebook_page

MOVED = {
    "README.md": "index.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
}
"""Pages at the root of the repository, and their places on the site."""

LANGUAGES = {
    "py": "python",
    "yaml": "yaml",
    "yml": "yaml",
    "sql": "sql",
    "toml": "toml",
    "md": "markdown",
    "Dockerfile": "docker",
}
_LINK = re.compile(
    r"(?<!!)\[((?:[^\[\]]|\[[^\]]*\])*)\]\((?!https?:|mailto:|#)([^)#\s]+)(#[^)\s]*)?\)"
)
_IMAGE = re.compile(r"!\[([^\]]*)\]\((?!https?:)([^)\s]+)\)")


class Stage:
    """The pages of the site by place, as they are collected; links are rewritten on the way."""

    def __init__(self) -> None:
        self.pages: dict[str, str] = {}

    def collect(self) -> None:
        """Collect every page."""
        for name, place in MOVED.items():
            self.add(place, (ROOT / name).read_text("utf-8"), name)
        for path in sorted(DOCS.rglob("*.md")):
            source = path.relative_to(ROOT).as_posix()
            self.add(source.removeprefix("docs/"), path.read_text("utf-8"), source)
        for path in sorted(DOCS.rglob("*.ipynb")):
            source = path.relative_to(ROOT).as_posix()
            place = source.removeprefix("docs/").replace(".ipynb", ".md")
            self.add(place, notebook_page(path), source)
        for place, (text, source) in generated_pages().items():
            self.add(place, text, source)

    def add(self, place: str, text: str, source: str) -> None:
        """Add a page whose links are relative to ``source`` in the repository."""
        self.pages[place] = ""  # a page may link to itself
        text = _IMAGE.sub(lambda found: self._image(found, place, source), text)
        self.pages[place] = _LINK.sub(lambda found: self._link(found, place, source), text)

    def _link(self, found: re.Match[str], place: str, source: str) -> str:
        text, target, anchor = found[1], found[2], found[3] or ""
        path = posixpath.normpath(posixpath.join(posixpath.dirname(source), target))
        return f"[{text}]({_relative(self._place_of(path), place)}{anchor})"

    def _image(self, found: re.Match[str], place: str, source: str) -> str:
        path = posixpath.normpath(posixpath.join(posixpath.dirname(source), found[2]))
        return f"![{found[1]}]({_relative(path.removeprefix('docs/'), place)})"

    def _place_of(self, path: str) -> str:
        """The place of a file of the repository on the site."""
        if path in MOVED:
            return MOVED[path]
        if path.startswith("docs/"):
            return path.removeprefix("docs/").replace(".ipynb", ".md")
        place = f"source/{path}.md"
        if place not in self.pages:
            self._add_source(path, place)
        return place

    def _add_source(self, path: str, place: str) -> None:
        file = ROOT / path
        if not file.exists():
            raise SystemExit(f"a page links to {path}, which does not exist")
        if file.is_dir():
            names = _tracked(path)
            listed = "\n".join(f"- [{name}]({name})" for name in names)
            self.add(place, f"# {path}\n\n{listed}\n", f"{path}/x")
        elif file.suffix == ".md":
            self.add(place, file.read_text("utf-8"), path)
        else:
            language = LANGUAGES.get(file.suffix.removeprefix(".") or file.name, "text")
            self.pages[place] = f"# {path}\n\n````{language}\n{file.read_text('utf-8')}````\n"

    def config(self) -> str:
        """mkdocs.yml with paths from out/, and with the pages of docs/ that its nav leaves out."""
        text = (ROOT / "mkdocs.yml").read_text("utf-8").rstrip()
        known = set(re.findall(r"[\w/.-]+\.md", text))
        more = [place for place in self.pages if place not in known and place[:7] != "source/"]
        if more:
            text += "\n- More:\n" + "\n".join(f"  - {place}" for place in sorted(more))
        for path in ("out/pages", "out/site"):
            text = text.replace(path, path.removeprefix("out/"))
        return text.replace("paths: [.]", "paths: [..]").replace("docs/site/", "../docs/site/")

    def write(self) -> None:
        """Write the stage, with the style sheet and the pictures of docs/."""
        shutil.rmtree(STAGE, ignore_errors=True)
        for place, text in self.pages.items():
            file = STAGE / place
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, "utf-8")
        shutil.copyfile(DOCS / "site" / "site.css", STAGE / "site.css")
        for picture in [*DOCS.rglob("*.svg"), *DOCS.rglob("*.png")]:
            file = STAGE / picture.relative_to(DOCS)
            file.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(picture, file)

    def write_for_agents(self, site: Path) -> None:
        """Write ``llms.txt``, a list of the pages, and ``llms-full.md``, all of them as one."""
        pages = {
            place: text
            for place, text in self.pages.items()
            if not place.startswith(("source/", "changelog"))
        }
        order = sorted(pages, key=lambda place: (place != "index.md", "/" in place, place))
        titles = {place: _title(pages[place]) for place in order}
        intro = "# synth\n\n> Verified tool-use training data from real databases.\n\n"
        whole = "All of it as one page: [llms-full.md](llms-full.md)\n\n## Pages\n\n"
        listed = [f"- [{titles[place]}]({place.removesuffix('.md')}.html)" for place in order]
        (site / "llms.txt").write_text(intro + whole + "\n".join(listed) + "\n", "utf-8")
        texts = [f"<!-- {place} -->\n\n{pages[place].strip()}\n" for place in order]
        (site / "llms-full.md").write_text("\n".join(texts), "utf-8")


def _title(text: str) -> str:
    found = re.search(r"^#+ (.+)$", text, re.MULTILINE)
    return found[1] if found else "synth"


def _relative(place: str, origin: str) -> str:
    return posixpath.relpath(place, posixpath.dirname(origin) or ".")


def _tracked(folder: str) -> list[str]:
    """The files directly and indirectly below a folder that are in the repository."""
    shown = subprocess.run(
        ["git", "ls-files", folder], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return [name.removeprefix(f"{folder}/") for name in shown.stdout.splitlines()]


def main() -> int:
    """Stage and build; returns the exit code."""
    stage = Stage()
    stage.collect()
    stage.write()
    config = ROOT / "out" / "mkdocs.yml"
    config.write_text(stage.config(), "utf-8")
    command = [sys.executable, "-m", "zensical", "build", "-f", str(config), "--strict", "--clean"]
    done = subprocess.run(command, cwd=ROOT, check=False, capture_output=True, text=True)
    sys.stdout.write(done.stdout + done.stderr)
    if done.returncode or "No issues found" not in done.stdout + done.stderr:
        return 1
    stage.write_for_agents(ROOT / "out" / "site")
    print(f"{len(stage.pages)} pages in {ROOT / 'out' / 'site'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
