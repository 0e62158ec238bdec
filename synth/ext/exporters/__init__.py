"""Exporters: a dataset in the form that one trainer or service reads.

The shipped ones are rows of :data:`synth.plugins.EXPORTERS`. Another distribution
adds its own by an entry point of the group ``synth.exporters``; any exporter can be named
``package.module:attribute``.
"""

from __future__ import annotations

from synth.errors import OperatorError
from synth.ext.exporters.base import Example, Exporter, Row
from synth.plugins import EXPORTERS, PluginError

__all__ = ["Example", "Exporter", "Row", "find_exporter"]


def find_exporter(name: str) -> type[Exporter]:
    """Import the exporter of that short name, entry point or import path.

    Raises :class:`~synth.errors.OperatorError` for an unknown name, with the nearest one, and for
    what is not a subclass of :class:`Exporter`.
    """
    try:
        found: object = EXPORTERS.load(name)
    except PluginError as error:
        raise OperatorError(f"--to: {error}") from None
    if isinstance(found, type) and issubclass(found, Exporter):
        return found
    raise OperatorError(
        f"--to: {name!r} must name a subclass of synth.ext.exporters.Exporter, not {found!r}"
    )
