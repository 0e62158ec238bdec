"""What a person looks at: a dataset's summary, a listing of its rows, one trajectory.

Numbers are gathered as plain data (:mod:`.summary`), apart from how they are shown (:mod:`.table`, :mod:`.transcript`).
Everything that comes out of a dataset was written by a model or a database: it passes :func:`.screen.safe` before it
reaches a terminal, and is never read as markup.
"""

from synth.report.screen import Screen, safe
from synth.report.summary import summarize
from synth.report.table import show_listing, show_summary
from synth.report.transcript import show_error, show_trajectory

__all__ = ["Screen", "safe", "show_error", "show_listing", "show_summary", "show_trajectory", "summarize"]
