"""Surfaces: the same tools, rules and data under other names."""

from synth.ext.renamings.making import SurfaceMaker, Surfaces, answers_of
from synth.ext.renamings.own_names import database_names

__all__ = ["SurfaceMaker", "Surfaces", "answers_of", "database_names"]
