"""Size and speed of the viewer's page of a run, in headless Chromium.

    uv run python -m tests.bench.viewer [DIR] [--serve]

Without a directory 2,000 trajectories of the scripted expert are made first, with ``--serve``
20,000. First paint is the browser's own mark; a filter's time goes from the change of the control
to the next frame. The least of five openings is shown, as others may use the machine.
"""

from __future__ import annotations

import argparse
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

from synth.ext.view.cli import main as view
from tests.e2e.command import COMMAND, synth

REPEATS = 5

_PAINT = "performance.getEntriesByName('first-contentful-paint')[0].startTime"
_READY = """() => new Promise((done) => {
  const look = () => (document.body.dataset.ready ? done(performance.now()) : setTimeout(look, 5));
  look();
})"""
_FILTER = """(value) => new Promise((done) => {
  const control = document.querySelector('select[aria-label=Family]');
  const began = performance.now();
  control.value = value;
  control.dispatchEvent(new Event('change'));
  requestAnimationFrame(() => setTimeout(() => done(performance.now() - began)));
})"""
_SEARCH = """(words) => new Promise((done) => {
  const control = document.querySelector('input[type=search]');
  const before = document.querySelector('.count').textContent;
  const began = performance.now();
  control.value = words;
  control.dispatchEvent(new Event('input'));
  const look = () => (document.querySelector('.count').textContent !== before
    ? done(performance.now() - began) : setTimeout(look, 2));
  look();
})"""


def measure(browser: Any, address: str) -> dict[str, float]:
    """Milliseconds of one opening of the page."""
    page = browser.new_context(viewport={"width": 1280, "height": 900}).new_page()
    page.goto(address)
    found = {"ready": page.evaluate(_READY), "first paint": page.evaluate(_PAINT)}
    families = page.locator("select[aria-label=Family] option")
    values = families.evaluate_all("all => all.slice(1, 4).map((one) => one.value)")
    found["filter"] = max(page.evaluate(_FILTER, value) for value in [*values, ""])
    found["first search"] = page.evaluate(_SEARCH, "heart rate")
    found["next search"] = page.evaluate(_SEARCH, "heart rates")
    page.context.close()
    return found


@contextmanager
def opened(run: Path, home: Path, *, serve: bool) -> Iterator[str]:
    """The address of a run's page: of a file, or of the server, in a process of its own."""
    if serve:
        command = [*COMMAND, "view", str(run), "--serve"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
            assert server.stdout is not None
            try:
                yield server.stdout.readline().strip()
            finally:
                server.send_signal(signal.SIGINT)
        return
    file = home / "view.html"
    view([str(run), "--out", str(file)])
    print(f"{file.stat().st_size / 1e6:.2f} MB")
    yield file.as_uri()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("directory", nargs="?", type=Path)
    parser.add_argument("--serve", action="store_true", help="the local server, not a file")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        home = Path(name)
        run = options.directory
        if run is None:
            job = ("env=ehr_db", "tasks.count=2000", "seed=7", "output.dir=out")
            samples = ("tasks.samples=10",) if options.serve else ()
            done = synth("run", *job, *samples, cwd=home)
            assert done.returncode == 0, done.stderr
            run = home / "out"
        with opened(run, home, serve=options.serve) as address, sync_playwright() as playwright:
            browser = playwright.chromium.launch(
                executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
            )
            runs = [measure(browser, address) for _ in range(REPEATS)]
            browser.close()
    for what in runs[0]:
        print(f"{what:14}{min(run[what] for run in runs):8.0f} ms")


if __name__ == "__main__":
    main()
