"""A guess of the columns that hold personal data, by their names and by samples of their content.

Content comes first: a column of texts most of which are e-mail addresses, telephone, account or
card numbers, or names of people is personal whatever it is called. Otherwise its name and its content
have to agree. Names are read in any case and word by word: ``FirstName``, ``mail_addr``, ``payer``.
A column called ``name`` counts in a table of people: by the table's own name, or because it has a
column that only people have. People who are known for their works, such as authors, do not count.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache

from anyascii import anyascii

from envs.types import Table
from synth.core.personal.formats import MOST_OF, are_people, kind_of_content
from synth.core.personal.people import Sample


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_PEOPLE = re.compile(
    r"""^(?:patient|customer|client|member|user|person|people|employee|student|teacher|pupil|guest|passenger
    |subscriber|donor|tenant|applicant|candidate|clinician|doctor|physician|nurse|borrower|reader|cardholder
    |account_?holder|resident|attendee|participant|contact|staff|lead|driver|player|citizen|beneficiary
    |lecturer|professor|instructor|pilot|agent|manager|owner|buyer|seller
    |therapist|surgeon|visitor|volunteer|trainer|coach|recipient|sender|referee|salesperson
    |kunden?|benutzer|mitarbeiter|patienten|cliente|usuario|empleado|utilisateur|employe|clienti|utenti
    |klienty|pol_zovateli|sotrudniki|patsienty|gu_ke|ke_hu|yong_hu|she_yuan|yuan_gong)s?$""",
    re.VERBOSE,
)
"""Names of tables whose rows are people; those in other letters as they are transliterated."""

_NAME = _words("name nom nombre nome naam namn imya ming_qian ming_zi i_leum")
"""Words for a name, of a person or a thing."""

_BY_NAME = (
    ("email", re.compile(r"(?:^|_)e_?mail(?:_?address)?$|^courriel$|^you_xiang$|^pochta$")),
    (
        "phone",
        re.compile(
            r"(?:^|_)(?:phone|telephone|mobile|cell|fax)(?:_?(?:number|no|nr))?$"
            r"|^(?:telefono|handy(?:nummer)?|dian_hua(?:_fan_hao|_hao_ma)?|shou_ji)$"
        ),
    ),
    (
        "birth_date",
        re.compile(
            r"^(?:dob|birth_?da(?:te|y)|date_?of_?birth|born(?:_on)?|date_(?:de_)?naissance|geburtsdatum"
            r"|fecha_(?:de_)?nacimiento|data_di_nascita|data_rozhdeniya|sheng_nian_yue_ri|chu_sheng_ri_qi)$"
        ),
    ),
    (
        "identifier",
        re.compile(
            r"^(?:ssn|social_security(?:_number)?|passport(?:_?(?:no|number))?|national_id|tax_?id|iban|mrn"
            r"|(?:credit_?)?card_?number|insurance_?(?:no|number)|driv(?:er|ing)s?_?licen[cs]e(?:_?(?:no|number))?)$"
        ),
    ),
    (
        "address",
        re.compile(
            r"^(?:street|address|(?:street|home|postal)_?address|address_?line_?\d?"
            r"|adresse|direccion|indirizzo|endereco|adres|zhu_suo|d[ei]_zhi)$"
        ),
    ),
    (
        "name",
        re.compile(
            r"^(?:(?:full|first|last|given|family|middle|maiden)_?name|[fl]_?name|sur_?name|fore_?name"
            r"|(?:patient|customer|client|member|user|employee|student|guest|passenger|contact|holder)_?name"
            r"|prenom|nom_de_famille|vorname|(?:nach|familien)name|apellidos?|cognome|sobrenome|voornaam"
            r"|achternaam|imie|nazwisko|(?:for|efter)namn|familiya|otchestvo|fio|shi_ming|xing_ming|seongmyeong)$"
        ),
    ),
)

_WHOSE = re.compile(
    r"billing|bill|shipping|ship|to|delivery|postal|home|work|contact|private|primary|personal"
    r"|cust|emp|usr|pat|stud|client|customer|employee|user|member|guest|patient|student|passenger"
)

_BY_WORD = (
    ("email", _words("mail mails email emails")),
    (
        "phone",
        _words("phone phones telephone telefon tel telno phoneno mobile cell fax msisdn whatsapp"),
    ),
    ("birth_date", _words("birth birthday birthdate dob born")),
    (
        "identifier",
        _words("ssn passport iban plate licence license document idcard identity taxid insurance"),
    ),
    ("address", _words("street address addr addresses strasse")),
)
"""Words of a column's name that make it personal if its content agrees."""

_LOGINS = _words("login username userid nick nickname user_name login_name screen_name")

_ROLES = re.compile(
    r"(?:card)?holder|payer|payee|debtor|creditor|insured|signatory|signer|spouse|partner|owner|kin"
    r"|guardian|mother|father|beneficiary|assignee|requester|reporter|reviewer|caller|author(?:i[sz]ed)?_?by"
)
"""Words for the part that a person has in a row, besides ``_PEOPLE``."""

_CREDITED = _words(
    "author artist composer director actor writer performer band singer editor translator"
)
"""People who are named with their works, in public."""

_THINGS = _words("""carrier shipper airline bank currency language nation organization organisation
    title product item article city town country county region state province place venue airport
    station hotel restaurant model brand company firm vendor supplier manufacturer publisher label
    track album song book film movie game series genre category topic subject course team department
    store shop branch location building room street school university drug medicine color colour material
    isbn ean upc gtin sku barcode version ip url path file hash uuid""")
"""Words for what has a name or a number and is nobody."""

_CONTENT = {
    "email": re.compile(r"^[^@\s]+@[^@\s]+\.[^@\s]+$"),
    "phone": re.compile(r"^(?=(?:\D*\d){6})[\d\s()+./x-]+$"),
    "birth_date": re.compile(
        r"^(?:\d{4}-\d{2}-\d{2}|\d{1,2}[./-]\d{1,2}[./-]\d{2,4}|(?:19|20)\d\d$)"
    ),
    "identifier": re.compile(r"^(?=.*\d)[\w -]{4,}$"),
    "address": re.compile(r"^(?=.*[^\W\d_]{2})(?=.*\d|.* ).{5,}$"),
    "name": re.compile(r"^(?=.*[^\W\d_]{2})[^\d@]{2,80}$"),
    "login": re.compile(r"^(?=.*[^\W\d_])[\w.+-]{2,40}$"),
}


def guess_columns(tables: Mapping[str, Table], sample: Sample) -> dict[tuple[str, str], str]:
    """Map (table, column) to a kind of personal data."""
    guessed: dict[tuple[str, str], str] = {}
    for table in tables.values():
        names = [column.name for column in table.columns]
        values = {name: [v for v in sample(table.name, name) if v is not None] for name in names}
        found = {name: kind for name in names if (kind := _by_content(table, name, values[name]))}
        by_name = _by_name(table.name, names, set(found.values()))
        for name in names:
            kind = by_name.get(name)
            if kind is None or not _looks_like(kind, values[name]):
                kind = found.get(name) or _by_words(name, values[name])
            if kind is not None:
                guessed[table.name, name] = kind
    return guessed


def _by_name(table: str, columns: Sequence[str], found: set[str]) -> dict[str, str]:
    """The kinds that the names of columns tell; ``found`` are kinds that contents tell."""
    kinds = {
        column: kind
        for column in columns
        for kind, pattern in _BY_NAME
        if any(pattern.search(reading) for reading in _readings(table, column))
    }
    only_people = {"email", "birth_date"}
    marks = set(kinds.values()) | (set[str]() if _nouns(table) & _THINGS else found)
    if is_of_people(table) or only_people & marks:
        kinds |= {column: "name" for column in columns if _readings(table, column)[-1] in _NAME}
    return kinds


def is_of_things(name: str) -> bool:
    """True for a table or a column of places, firms or products by its name."""
    return bool(_nouns(name) & _THINGS)


def names_somebody(table: str, column: str) -> bool:
    """True for the name of a column that would hold a person's data, whatever its content is."""
    words = _snake(column).split("_")
    if words[-1] in _ABOUT or is_of_things(column):
        return False
    named = any(p.search(one) for _, p in _BY_NAME for one in _readings(table, column))
    known = any(_PEOPLE.match(word) or _ROLES.fullmatch(word) for word in words)
    return named or known or is_login(column) or any(more & {*words} for _, more in _BY_WORD)


def is_login(column: str) -> bool:
    """True for the name of a column of logins."""
    words = _snake(column).split("_")
    return words[-1] in _LOGINS or "_".join(words[-2:]) in _LOGINS


def _by_content(table: Table, column: str, values: Sequence[object]) -> str | None:
    """The kind of personal data that the values of a column are by themselves."""
    texts = [value.strip() for value in values if isinstance(value, str)]
    if len(texts) < len(values):
        return None
    words, owner = _nouns(column), _nouns(table.name)
    kind = kind_of_content([text for text in texts if text])
    generic = words <= {"name", "label", "description", "full", "display", "code", "number"}
    things = words & _THINGS or (generic and owner & (_THINGS | _CREDITED))
    if kind == "name" and (things or words & _CREDITED):
        return None
    if kind in {"phone", "identifier"} and words & _THINGS:
        return None
    return kind


def _by_words(column: str, values: Sequence[object]) -> str | None:
    """The kind that a word of a column's name tells, if the content agrees."""
    words = _snake(column).split("_")
    if is_login(column):
        return "identifier" if _looks_like("login", values) else None
    if {"ip", "mac", "url", "web", "wallet"} & {*words} or words[-1] in _ABOUT:
        return None
    text = all(isinstance(value, str) for value in values)
    for kind, known in _BY_WORD:
        # a number may be the key of a row elsewhere, and so may an id
        key = not text if kind == "identifier" else words[-1] == "id"
        if known & {*words} and not key and _looks_like(kind, values):
            return kind
    return "name" if _is_somebody(words, values) else None


def _is_somebody(words: Sequence[str], values: Sequence[object]) -> bool:
    """True for a column such as ``payer`` or ``payer_name`` that holds names of people."""
    named = len(words) > 1 and words[-1] == "name"
    noun = words[-2] if named else words[-1]
    if not _PEOPLE.match(noun) and not _ROLES.fullmatch(noun):
        return False
    if named:
        return _looks_like("name", values)
    return are_people([text for value in values if (text := str(value).strip())], _FEW)


_FEW = 0.2
"""The share of known first names that is enough where the column's name speaks of a person."""

_ABOUT = _words("type kind status count at on time verified state place class")
"""Last words of a column that is about personal data and does not hold it."""


def is_of_people(table: str) -> bool:
    """True for a table whose rows are people, by its name."""
    own = _snake(table)
    return any(_PEOPLE.match(noun) for noun in (own, own.rpartition("_")[2]))


def _nouns(name: str) -> set[str]:
    """The words of a name, with their singular where an s ends them."""
    words = set(_snake(name).split("_"))
    return (
        words
        | {word.removesuffix("s") for word in words}
        | {word[:-3] + "y" for word in words if word.endswith("ies")}
    )


@cache
def _snake(name: str) -> str:
    """A name in snake case and Latin letters: ``prénom`` is ``prenom``, ``氏名`` ``shi_ming``."""
    latin = anyascii(name)
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|[^0-9A-Za-z]+", "_", latin)
    return spaced.strip("_").lower()


def _readings(table: str, column: str) -> list[str]:
    """A column's name in snake case, without the words that say whose it is: ``_WHOSE`` and the
    beginnings of the table's own name (``cust`` in ``customers``).
    """
    name, own = _snake(column), _snake(table)
    words = name.split("_")
    while len(words) > 1 and (_WHOSE.fullmatch(words[0]) or own.startswith(words[0])):
        words = words[1:]
    return list(dict.fromkeys([name, "_".join(words)]))


def _looks_like(kind: str, values: Sequence[object]) -> bool:
    texts = [text for value in values if value is not None and (text := str(value).strip())]
    fitting = [text for text in texts if _CONTENT[kind].search(text)]
    return len(fitting) > MOST_OF * len(texts)
