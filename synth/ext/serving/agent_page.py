"""The page of ``synth serve-agent``: self-contained, and only its own script and style may run."""

from __future__ import annotations

import base64
import hashlib
from importlib.resources import files

from synth.ext.view.page import asset


def _asset(name: str) -> str:
    return (files("synth.ext.serving") / "assets" / name).read_text("utf-8")


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


_SCRIPT = f'"use strict";\n{asset("json.js")}{_asset("agent.js")}'
_STYLE = _asset("agent.css")

POLICY = (
    f"default-src 'none'; script-src {_digest(_SCRIPT)}; style-src {_digest(_STYLE)};"
    " connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""The content security policy, sent as a header."""


def page() -> bytes:
    """The page as HTML."""
    text = _asset("agent.html").replace("{{style}}", _STYLE).replace("{{script}}", _SCRIPT)
    return text.encode()
