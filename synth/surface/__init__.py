"""Surfaces: the same tools, rules and data under other names."""

from synth.surface.layer import SurfaceLayer, opening_of, rules_of, tools_of
from synth.surface.making import SurfaceMaker, Surfaces, answers_of
from synth.surface.own_names import database_names
from synth.surface.translator import Translator, translator_of

__all__ = [
    "SurfaceLayer",
    "SurfaceMaker",
    "Surfaces",
    "Translator",
    "answers_of",
    "database_names",
    "opening_of",
    "rules_of",
    "tools_of",
    "translator_of",
]
