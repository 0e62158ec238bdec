"""What a person sees on a terminal or in a notebook: lines, tables, one trajectory.

All values in a dataset were written by a model or a database: they pass through
:func:`.screen.safe` before they reach a terminal, and are never interpreted as markup.
"""

from synth.core.screen.screen import Screen, safe

__all__ = ["Screen", "safe"]
