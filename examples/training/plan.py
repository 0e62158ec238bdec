"""What a study is: its file, read and checked."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError


class BadStudy(Exception):
    """A study, or a folder of one, that cannot be gone on with; says why."""


class Part(BaseModel):
    model_config = ConfigDict(extra="forbid")


class HeldOut(Part):
    """Tasks that no training row is about."""

    families: Annotated[list[str], Field(min_length=1)]
    universes: str = "100-102"
    renamings: str | None = None
    overrides: list[str] = []


class Point(Part):
    """A model: trained on ``rows`` rows, which `synth run` and `synth export` made with these
    options beside the study's. Without rows it is the untrained model. With ``after`` the training
    begins with that point's model, and with ``pass_rate`` the rows are of tasks that it passes at
    such a rate, by the study's ``practice``.
    """

    rows: Annotated[int, Field(ge=0)]
    run: list[str] = []
    export: list[str] = []
    after: str | None = None
    pass_rate: tuple[float, float] | None = None


class Study(Part):
    """``world`` is a folder beside the one of the study's file; ``train`` are options of train.py."""

    world: Path
    run: list[str]
    export: list[str] = []
    train: list[str] = []
    seeds: Annotated[list[int], Field(min_length=1)] = [0]
    tasks: Annotated[int, Field(ge=1)] = 30
    eval_seed: int = 3
    held_out: Annotated[dict[str, HeldOut], Field(min_length=1)]
    practice: HeldOut | None = None
    points: Annotated[dict[str, Point], Field(min_length=1)]
    compare: list[tuple[str, str]]


def read_study(
    file: Path, scale: float, tasks: int | None, seeds: str | None, points: str | None
) -> Study:
    """The study in a file, in the size that is asked for. Raises BadStudy."""
    try:
        study = Study.model_validate(yaml.safe_load(file.read_text("utf-8")))
    except OSError as problem:
        raise BadStudy(f"{file}: {problem.strerror}") from None
    except UnicodeDecodeError as problem:
        raise BadStudy(f"{file} is not UTF-8: {problem.reason} at byte {problem.start}") from None
    except yaml.YAMLError as problem:
        raise BadStudy(f"{file} is not YAML: {problem}") from None
    except ValidationError as problem:
        lines = (f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in problem.errors())
        raise BadStudy("\n".join([f"{file}:", *lines])) from None
    study.world = (file.parent.parent / study.world).resolve()
    if not study.world.is_dir():
        raise BadStudy(f"{file}: world: {study.world} is not a folder")
    unknown = [name for pair in study.compare for name in pair if name not in study.points]
    if unknown:
        raise BadStudy(f"{file}: compare: unknown point {', '.join(unknown)}")
    for _, after in study.compare:
        if study.points[after].rows == 0:
            raise BadStudy(f"{file}: compare: {after} is untrained, so it comes first of its pair")
    trained: list[str] = []
    for name, point in study.points.items():
        if point.after is not None and point.after not in trained:
            raise BadStudy(
                f"{file}: points.{name}.after: {point.after} is not a trained point before it"
            )
        if point.pass_rate is not None and None in (point.after, study.practice):
            raise BadStudy(
                f"{file}: points.{name}.pass_rate needs `after` and the study's `practice`"
            )
        trained += [name] if point.rows else []
    for name in (*study.points, *study.held_out):
        if not name.replace("-", "").replace("_", "").isalnum():
            raise BadStudy(f"{file}: {name!r}: a name is of letters, digits, - and _")
    return _sized(study, scale, tasks, seeds, points)


def _sized(
    study: Study, scale: float, tasks: int | None, seeds: str | None, points: str | None
) -> Study:
    if not (math.isfinite(scale) and scale > 0):
        raise BadStudy("--scale is a number above 0")
    for point in study.points.values():
        point.rows = math.ceil(point.rows * scale)
    if tasks is not None:
        if tasks < 1:
            raise BadStudy("--tasks is a number of at least 1")
        study.tasks = tasks
    if seeds is not None:
        if not all(part.isdecimal() for part in seeds.split(",")):
            raise BadStudy(f"--seeds is of the form 0,1,2, not {seeds}")
        study.seeds = list(dict.fromkeys(map(int, seeds.split(","))))
    if points is not None:
        names = points.split(",")
        if unknown := [name for name in names if name not in study.points]:
            raise BadStudy(f"--points: {', '.join(unknown)}; there are {', '.join(study.points)}")
        for name in reversed(study.points):
            if name in names and (before := study.points[name].after):
                names.append(before)
        study.points = {name: study.points[name] for name in study.points if name in names}
        study.compare = [pair for pair in study.compare if set(pair) <= set(names)]
    return study
