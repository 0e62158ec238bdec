"""Currencies, languages and countries: names, codes and signs that belong together in a row."""

from __future__ import annotations

import locale
from collections.abc import Mapping, Sequence
from functools import cache

from faker.config import AVAILABLE_LOCALES
from faker.providers.currency import Provider as Currencies
from faker.providers.date_time import Provider as Zones
from faker.providers.person import Provider as People

from envs.world.row_generator import Mix

_CURRENCIES = frozenset(
    """AUD BRL CAD CHF CNY CZK DKK EUR GBP HKD HUF ILS INR JPY KRW MXN NOK PLN RON SEK TRY USD
    ZAR""".split()  # noqa: SIM905
)
"""Those that most companies deal in; Faker has 162."""


@cache
def _standards() -> Sequence[Sequence[Mapping[str, str]]]:
    """The rows of each standard, by the providers of their values."""
    currencies = [
        {"currency_code": code, "currency_name": name, "symbol": Currencies.currency_symbols[code]}
        for code, name in Currencies.currencies
        if code in _CURRENCIES
    ]
    countries = [
        {"country": one.name, "country_code": one.alpha_2_code, "zone": one.timezones[0]}
        for one in Zones.countries
    ]
    return currencies, [*_languages()], countries


def _languages() -> Sequence[Mapping[str, str]]:
    """The languages that Python knows by name."""
    out = list[Mapping[str, str]]()
    for name in sorted({*People.language_names}):
        code, _, _ = locale.locale_alias.get(name.lower(), "").partition(".")
        own, _, _ = code.partition("_")
        known = [one for one in AVAILABLE_LOCALES if one.startswith(f"{own}_")]
        if own and known:
            place = code if code in known else max(known)
            out.append({"language_name": name, "language_code": own, "locale": place})
    return out


@cache
def standard_values(provider: str) -> Sequence[str]:
    """The values of a provider in its standard; none for another provider."""
    return [row[provider] for rows in _standards() for row in rows if provider in row]


def standard_mix(providers: Mapping[str, str], most: Mapping[str, int | None]) -> Mix | None:
    """The columns of a row that are of one standard, with the rows that are not too long for them;
    None without two. ``providers`` are of columns, ``most`` their most characters.

    >>> columns = {"iso": "currency_code", "sign": "symbol", "name": "currency_name"}
    >>> standard_mix(columns, {"name": 4}).weights
    {('EUR', '€', 'Euro'): 1}
    """
    for rows in _standards():
        columns = [column for column, one in providers.items() if one in rows[0]]
        if len({providers[column] for column in columns}) > 1:
            found = [tuple(row[providers[column]] for column in columns) for row in rows]
            lengths = [most.get(column) or 255 for column in columns]
            fitting = [
                row for row in found if all(len(v) <= n for v, n in zip(row, lengths, strict=True))
            ]
            return Mix(columns, dict.fromkeys(fitting, 1)) if fitting else None
    return None


def mix_of_values(values: Mapping[str, Sequence[object]]) -> Mix | None:
    """The columns whose values are of one standard in each row, with its rows; None without two.

    >>> mix_of_values({"a": ["EUR", "PLN"], "b": ["€", "zł"], "c": ["x", "y"]}).columns
    ['a', 'b']
    >>> mix_of_values({"a": ["EUR", "PLN"], "b": ["zł", "€"]})
    """
    for rows in _standards():
        providers = {
            column: provider
            for provider in rows[0]
            for column, own in values.items()
            if own and {*own} <= {row[provider] for row in rows}
        }
        mix = standard_mix(providers, {})
        if mix and {*zip(*map(values.__getitem__, mix.columns), strict=True)} <= {*mix.weights}:
            return mix
    return None
