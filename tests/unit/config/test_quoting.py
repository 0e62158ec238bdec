"""Values on the command line are quoted as Hydra reads them."""

from __future__ import annotations

import pytest
from hydra.core.override_parser.types import Quote, QuotedString

from synth.core.config.quoting import quoted_value


@pytest.mark.parametrize(
    "value",
    ["a,b", 'say "hi"', "back\\slash,", "end,\\", 'a\\"b', "{x: 1}", "it's $x", '\\\\"', '"', ",\n\\\n"],
)  # fmt: skip
def test_a_value_is_quoted_as_hydra_quotes_it(value: str):
    assert quoted_value(value) == QuotedString(value, Quote.double).with_quotes()


def test_a_plain_word_stays_plain():
    assert quoted_value("/tmp/my world-1.0") == "/tmp/my world-1.0"
