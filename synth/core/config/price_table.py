"""The price table of the package `genai-prices`: data that ships with it, no network."""

from __future__ import annotations

from decimal import Decimal
from urllib.parse import urlsplit

from genai_prices import Usage, calc_price
from genai_prices.types import TieredPrices

OPENAI = "https://api.openai.com/v1"


def lookup(name: str, base_url: str | None) -> tuple[float, float, float] | None:
    """US dollars per million tokens of input, output and cached input; None for an unknown model.

    The endpoint decides who is paid: a model of the same name on a server of one's own is unknown.
    Of prices that rise with the length of the prompt this is the first tier.
    """
    address = base_url or OPENAI
    try:
        found = calc_price(Usage(), name, provider_api_url=address).model_price
    except (LookupError, ValueError):
        return None
    if urlsplit(address).hostname in {"localhost", "127.0.0.1", "::1"}:
        return None
    paid, generated = _first_tier(found.input_mtok), _first_tier(found.output_mtok)
    if paid is None or generated is None:
        return None
    cached = _first_tier(found.cache_read_mtok)
    return paid, generated, paid if cached is None else cached


def _first_tier(price: Decimal | TieredPrices | None) -> float | None:
    if isinstance(price, TieredPrices):
        return float(price.base)
    return None if price is None else float(price)
