"""Docstrings of the code for the site: references like ``:class:`~a.b.C` `` become code."""

from __future__ import annotations

import re
from typing import Any

import griffe

_ROLE = re.compile(r":(?:py:)?(?:class|func|meth|mod|data|attr|exc):`~?\.?([^`]+)`")


class DocstringRoles(griffe.Extension):
    """Rewrites the references of every docstring."""

    def on_object(self, *, obj: griffe.Object, **kwargs: Any) -> None:
        if obj.docstring is not None:
            text = _ROLE.sub(lambda found: f"`{found[1].rpartition('.')[2]}`", obj.docstring.value)
            obj.docstring.value = text.replace("::\n", ":\n")
