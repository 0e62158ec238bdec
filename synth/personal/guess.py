"""A guess of the columns that hold personal data, by their names and by samples of their content.

A column is guessed only if its name and its content agree. Names are read in any case, with or
without a word before them that says whose they are: ``FirstName``, ``cust_email``,
``BillingAddress``. A column called ``name`` counts in a table of people: by the table's own name,
or because it has a column that only people have.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from envs.types import Table

Sample = Callable[[str, str], Sequence[object]]
"""Some values of a column of a table."""

_PEOPLE = re.compile(
    r"""^(?:patient|customer|client|member|user|person|people|employee|student|teacher|pupil|guest|passenger
    |subscriber|donor|tenant|applicant|candidate|clinician|doctor|physician|nurse|borrower|reader|cardholder
    |account_?holder|resident|attendee|participant|contact|staff|lead|driver|player|citizen|beneficiary
    |courier|lecturer|professor|instructor|pilot|agent|manager|owner|buyer|seller
    |therapist|surgeon|visitor|volunteer|trainer|coach|recipient|sender|referee|salesperson)s?$""",
    re.VERBOSE,
)
"""Names of tables whose rows are people."""

_BY_NAME = (
    ("email", re.compile(r"(?:^|_)e_?mail(?:_?address)?$")),
    ("phone", re.compile(r"(?:^|_)(?:phone|telephone|mobile|cell|fax)(?:_?(?:number|no|nr))?$")),
    ("birth_date", re.compile(r"^(?:dob|birth_?da(?:te|y)|date_?of_?birth|born(?:_on)?)$")),
    (
        "identifier",
        re.compile(
            r"^(?:ssn|social_security(?:_number)?|passport(?:_?(?:no|number))?|national_id|tax_?id|iban|mrn"
            r"|(?:credit_?)?card_?number|insurance_?(?:no|number)|driv(?:er|ing)s?_?licen[cs]e(?:_?(?:no|number))?)$"
        ),
    ),
    (
        "address",
        re.compile(r"^(?:street|address|(?:street|home|postal)_?address|address_?line_?\d?)$"),
    ),
    (
        "name",
        re.compile(
            r"^(?:(?:full|first|last|given|family|middle|maiden)_?name|[fl]_?name|sur_?name|fore_?name"
            r"|(?:patient|customer|client|member|user|employee|student|guest|passenger|contact|holder)_?name)$"
        ),
    ),
)

_WHOSE = re.compile(
    r"billing|bill|shipping|ship|to|delivery|postal|home|work|contact|private|primary|personal"
    r"|cust|emp|usr|pat|stud|client|customer|employee|user|member|guest|patient|student|passenger"
)

_CONTENT = {
    "email": re.compile(r"^[^@\s]+@[^@\s]+\.[^@\s]+$"),
    "phone": re.compile(r"^(?=(?:\D*\d){6})[\d\s()+./x-]+$"),
    "birth_date": re.compile(r"^(?:\d{4}-\d{2}-\d{2}|\d{1,2}[./-]\d{1,2}[./-]\d{2,4})"),
    "identifier": re.compile(r"^(?=.*\d)[\w -]{4,}$"),
    "address": re.compile(r"^(?=.*[^\W\d_]{2})(?=.*\d|.* ).{5,}$"),
    "name": re.compile(r"^(?=.*[^\W\d_]{2})[^\d@]{2,80}$"),
}

_ENOUGH = 0.8
"""The share of a sample that has to look like the kind."""


def guess_columns(tables: Mapping[str, Table], sample: Sample) -> dict[tuple[str, str], str]:
    """Map (table, column) to a kind of personal data."""
    guessed: dict[tuple[str, str], str] = {}
    for table in tables.values():
        by_name = {
            column.name: kind
            for column in table.columns
            for kind, pattern in _BY_NAME
            if any(pattern.search(name) for name in _readings(table.name, column.name))
        }
        own = _snake(table.name)
        person = any(_PEOPLE.match(noun) for noun in (own, own.rpartition("_")[2]))
        if person or {"email", "birth_date"} & set(by_name.values()):
            by_name |= {
                column.name: "name"
                for column in table.columns
                if _readings(table.name, column.name)[-1] == "name"
            }
        for column, kind in by_name.items():
            if _looks_like(kind, sample(table.name, column)):
                guessed[table.name, column] = kind
    return guessed


def _snake(name: str) -> str:
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|[^0-9A-Za-z]+", "_", name)
    return spaced.strip("_").lower()


def _readings(table: str, column: str) -> list[str]:
    """A column's name in snake case, and without the words that say whose it is: those of
    ``_WHOSE`` and the beginnings of the table's own name (``cust`` in ``customers``).
    """
    name, own = _snake(column), _snake(table)
    words = name.split("_")
    while len(words) > 1 and (_WHOSE.fullmatch(words[0]) or own.startswith(words[0])):
        words = words[1:]
    return list(dict.fromkeys([name, "_".join(words)]))


def _looks_like(kind: str, values: Sequence[object]) -> bool:
    texts = [str(value).strip() for value in values if value is not None]
    fitting = [text for text in texts if _CONTENT[kind].search(text)]
    return bool(texts) and len(fitting) >= _ENOUGH * len(texts)
