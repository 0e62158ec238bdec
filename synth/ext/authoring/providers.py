"""Names of columns of texts, and the providers that make such values."""

from __future__ import annotations

import re
from collections.abc import Sequence

from synth.core.personal.guess import is_of_people
from synth.ext.authoring.shape import NAMED, ColumnShape, TableShape

_ADDRESSES = (
    (r"user_?name|login|(?:^|_)user", "user_name"),
    (r"(?:^|_)ip(?:v[46])?(?:_|$)|remote_(?:host|addr)|sock(?:et)?(?:_info)?$", "ipv4"),
    (r"(?:^|_)mac(?:_|$)", "mac_address"),
    (r"user_?agent", "user_agent"),
    (r"host|domain", "hostname"),
    (r"ur[il]|link|web(?:_?(?:site|page))?|home_?page", "uri"),
    (r"(?<!pro)file|path", "file_path"),
)
"""Names of columns by which programs find somebody or something."""

_STANDARDS = (
    (r"country_?\w*code|nation_code", "country_code"),
    (r"country|nationality", "country"),
    (r"(?:^|_)curr(?:ency)?(?:_|$)", "currency_code"),
    (r"locale", "locale"),
    (r"lang(?:uage)?", "language_code"),
    (r"(?:^|_)time_?zone", "zone"),
)
"""Names of columns of what a standard lists."""


def _ending(names: Sequence[tuple[str, str]]) -> str:
    return rf"(?:{'|'.join(name for name, _ in names)})s?(?:_?(?:name|addr(?:ess)?|code|\d+))*$"


ADDRESS_END, STANDARD_END = _ending(_ADDRESSES), _ending(_STANDARDS)
"""The ends of names of a login, a host, a link or a file, and of what a standard lists: these are
``sip_user``, ``host_name`` and ``link_2``, and not ``profile`` or ``domain_notes``.
"""

_PROVIDERS = (
    (r"e?mail(?!_?(?:host|server|domain|port))", "ascii_safe_email"),
    (r"(?:first|given|fore)_?name|(?:^|_)f_?name", "first_name"),
    (r"(?:last|family|sur)_?name|(?:^|_)l_?name", "last_name"),
    (r"nick|_by$|sender|creator|owner", "user_name"),
    (r"company|organi[sz]ation|firm|vendor|supplier|manufacturer", "company"),
    (r"(?:language|locale)_(?:name|title)|name_(?:language|locale)", "language_name"),
    (r"currency_(?:name|title)$", "currency_name"),
    (r"city|town|place|locality", "city"),
    (r"(?:^|_)(?:state|province|region)$", "state"),
    (r"zip|post_?code|postal", "postcode"),
    (r"phone|mobile|fax", "basic_phone_number"),
    *_ADDRESSES,
    *_STANDARDS,
    (r"street|address", "street_address"),
    (r"(?:^|_)symbol$", "symbol"),
    (r"job_?title|profession|occupation|^position", "job"),
    (r"colou?r", "color_name"),
    (r"(?:^|_)isbn", "isbn13"),
    (r"(?:^|_)(?:ean|gtin|upc)(?:_|$)", "ean13"),
    (r"(?:^|_)iban", "iban"),
)
"""Names of columns of texts, with the provider of their values."""

_MACHINE = r"host_?name|domain|(?:^|_)(?:mac|mx|hwaddr|subnet|port|netmask|dns)(?:_|$)"
"""Names of columns that a machine in a network has."""

_THINGS = frozenset(
    {"city", "company", "country", "currency", "language", "manufacturer", "supplier", "vendor"}
)
"""Nouns by which the names of their rows are made up."""


def _is_of_network(shape: TableShape) -> bool:
    """True for a row with the name of a machine and without a place: its address is a number."""
    labels = [column.label for column in shape.columns]
    return any(re.search(_MACHINE, one) for one in labels) and not any(
        re.search(r"street|city|zip|postal|country", one) for one in labels
    )


def provider_of(shape: TableShape, column: ColumnShape) -> str | None:
    """The provider for a column, by its name without the noun of its table; None if none fits."""
    label = column.label.removeprefix(f"{shape.noun.one}_")
    if label == "address" and shape.noun.one.endswith("mail"):
        label = "email"
    if NAMED.fullmatch(label) or label.endswith("code"):
        label = f"{shape.noun.one if shape.noun.one in _THINGS else ''}_{label}"
    provider = next((to for name, to in _PROVIDERS if re.search(name, label)), None)
    if provider == "street_address" and _is_of_network(shape):
        return "ipv4"
    if provider is None and is_of_people(shape.name) and NAMED.search(column.label):
        return "name"
    return provider
