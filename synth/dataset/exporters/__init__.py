"""Exporters: a dataset in the form that one trainer or service reads.

``EXPORTERS`` is the table of the shipped ones, one file each. A user's own is named ``package.module:attribute``.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping

from synth.dataset.exporters.base import Example, Exporter, Row
from synth.dataset.exporters.job import ExportReport, export
from synth.dataset.exporters.openai_jsonl import OpenAIJsonl
from synth.dataset.exporters.trl_sft import TrlSft
from synth.errors import OperatorError
from synth.nearest import hint, nearest

__all__ = ["EXPORTERS", "Example", "ExportReport", "Exporter", "Row", "export", "find_exporter"]

EXPORTERS: Mapping[str, type[Exporter]] = {cls.name: cls for cls in (TrlSft, OpenAIJsonl)}


def find_exporter(name: str) -> type[Exporter]:
    """The exporter of that name in the table, or at ``package.module:attribute``.

    Raises OperatorError with the nearest name and the list, or with what is wrong with the import path.
    """
    if name in EXPORTERS:
        return EXPORTERS[name]
    if ":" in name:
        return _imported(name)
    known = "\n".join(f"  {cls.name:<14} {cls.description}" for cls in EXPORTERS.values())
    raise OperatorError(
        f"no exporter is called {name!r}{hint(nearest(name, EXPORTERS))}\n{known}\n  package.module:attribute   an exporter of your own"
    )


def _imported(path: str) -> type[Exporter]:
    module_name, _, attribute = path.partition(":")
    if not module_name or not attribute or module_name.startswith("."):
        raise OperatorError(f"{path!r} is no import path of the form package.module:attribute")
    try:
        module = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        raise OperatorError(
            f"cannot import {module_name!r} for the exporter {path!r}: {error}; "
            "is it installed, or is its folder on PYTHONPATH?"
        ) from error
    except Exception as error:
        # Somebody else's module runs here: whatever it raises is the operator's to read, not a crash of ours.
        raise OperatorError(f"importing {module_name!r} failed: {type(error).__name__}: {error}") from error
    found: object = getattr(module, attribute, None)
    if isinstance(found, type) and issubclass(found, Exporter):
        return found
    what = f"{module_name} has no {attribute}" if found is None else f"it is {found!r}"
    raise OperatorError(f"{path!r} must name a subclass of synth.dataset.exporters.Exporter, but {what}")
