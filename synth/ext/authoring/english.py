"""Forms of English words. The import takes two seconds of CPU."""

from __future__ import annotations

from typing import Any, cast

import inflect

FORMS = cast("Any", inflect.engine())  # its annotations want its own word type
