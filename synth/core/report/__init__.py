"""Reports for people: the summary of a dataset, a listing of its rows, one trajectory.

:mod:`.summary` collects the numbers as plain data, :mod:`.table` and :mod:`.transcript` print them.
All values in a dataset were written by a model or a database: they pass through
:func:`.screen.safe` before they reach a terminal, and are never interpreted as markup.
"""

from synth.core.report.screen import Screen, safe

__all__ = ["Screen", "safe"]
