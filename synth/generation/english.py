"""The forms of English words. To import this takes two seconds."""

from __future__ import annotations

from typing import Any, cast

import inflect

FORMS = cast("Any", inflect.engine())  # its annotations want its own word type
