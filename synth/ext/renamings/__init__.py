"""Surfaces: the same tools, rules and data under other names."""

from synth.ext.renamings.layer import SurfaceLayer, opening_of, rules_of, tools_of
from synth.ext.renamings.making import SurfaceMaker, Surfaces, answers_of
from synth.ext.renamings.own_names import database_names
from synth.ext.renamings.translator import Translator, translator_of

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
