"""Masking of a database whose columns have odd names: no real value reaches a file of the world."""

from __future__ import annotations

import json
import random
import re
import sqlite3
from pathlib import Path

import pytest

from synth.errors import OperatorError
from synth.ext.authoring.made_up import MadeUp
from synth.ext.authoring.mask import RealValues
from synth.ext.authoring.schema_sql import literal
from synth.ext.authoring.source import Extract, Source, from_url
from synth.ext.authoring.world import make_world

FIRST = "Zelda Ottokar Philippa Yusuf Henrietta Casimir Rosalind Thaddeus Beatrix Leopold".split()  # noqa: SIM905
LAST = "Quillfeather Vandermolen Osterhagen Brzezicki Featherstone Lindqvistson".split()  # noqa: SIM905
COUNT = 30
SCHEMA = """
CREATE TABLE parties (
  party_id INTEGER PRIMARY KEY, mail_addr TEXT NOT NULL UNIQUE, holder TEXT NOT NULL, tel TEXT NOT NULL,
  login TEXT NOT NULL UNIQUE, id_document TEXT UNIQUE, plate TEXT, account TEXT, place TEXT NOT NULL,
  "né le" DATE
);
CREATE TABLE payments (
  payment_id INTEGER PRIMARY KEY, login TEXT NOT NULL REFERENCES parties (login), payer_name TEXT NOT NULL,
  who TEXT, zusatz TEXT, amount NUMERIC NOT NULL CHECK (amount > 0),
  state TEXT NOT NULL CHECK (state IN ('open', 'paid'))
);
"""
PLACES = ("Florence", "Porto", "San Marino")
PARTIES = [
    (
        index + 1,
        f"{first.lower()}.{last.lower()}{index}@mailbox{index % 3}.org",
        f"{first} {last}",
        f"+49 30 {7301846 + 977 * index}",
        f"{first.lower()[:3]}{last.lower()}{index}",
        f"L0{index}X{4711 + 31 * index}",
        f"QV-{1730 + 7 * index}",
        "DE89 3704 0044 0532 0130 00",
        PLACES[index % 3],
        f"19{50 + index % 50}-03-02",
    )
    for index in range(COUNT)
    for first, last in [(FIRST[index % len(FIRST)], LAST[index * 7 % len(LAST)])]
]
PAYMENTS = [
    (
        number,
        party[4],
        party[2],
        None if number % 5 == 0 else party[2],
        f"Deposit {number}, asked by {party[2].split()[0]}; write to {party[1]}"[
            : 9 if number % 3 else None
        ],
        10 + number,
        "open" if number % 3 else "paid",
    )
    for number, party in enumerate(PARTIES, 1)
]
REAL = {str(value) for party in PARTIES for value in party[1:8]} | {
    stem for party in PARTIES for name in [party[2], party[2].lower()] for stem in name.split()
}


@pytest.fixture
def url(tmp_path: Path) -> str:
    with sqlite3.connect(tmp_path / "live.db") as db:
        db.executescript(SCHEMA)
        db.executemany(f"INSERT INTO parties VALUES ({', '.join('?' * 10)})", PARTIES)
        db.executemany(f"INSERT INTO payments VALUES ({', '.join('?' * 7)})", PAYMENTS)
    db.close()
    return f"sqlite:///{tmp_path / 'live.db'}"


def source_of(url: str, **part: object) -> Source:
    return from_url(url, Extract(**part), secret=False)  # pyright: ignore[reportArgumentType]


def test_no_real_value_is_in_any_file_of_the_world(url: str) -> None:
    source = source_of(url)
    lines = [re.sub(r", such as .* -> [^(]*[^( ]", "", one.line) for one in source.decisions]
    assert lines == [
        "parties.mail_addr: email, masked",
        "parties.holder: name, masked",
        "parties.tel: phone, masked",
        "parties.login: identifier, masked",
        "parties.id_document: identifier, masked",
        "parties.plate: identifier, masked",
        "parties.account: identifier, masked",
        "parties.place: kept",
        "parties.né le: kept",
        "payments.login: identifier, masked",
        "payments.payer_name: name, masked",
        "payments.who: name, masked",
        "payments.zusatz: kept, personal values masked in 10 (free text: read it)",
        "payments.state: kept",
    ]
    world = make_world("parties", source, lambda line: None, proves=False)
    assert {"seed.sql", "seed.py", "world.yaml", "tasks.yaml"} <= world.files.keys()
    for name, text in world.files.items():
        assert [value for value in sorted(REAL) if value in text] == [], name
    assert "Florence" in world.files["seed.sql"]


def test_a_kept_column_that_is_named_like_a_person_is_to_be_looked_at(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "live.db") as db:
        db.executescript(
            "CREATE TABLE reviews (id INTEGER PRIMARY KEY, reviewer TEXT, author_type TEXT,"
            " store_city TEXT, customer TEXT);"
            "INSERT INTO reviews VALUES (1, 'desk 4', 'staff', 'Kiel', 'K-17');"
        )
    db.close()
    assert [one.line for one in source_of(f"sqlite:///{tmp_path / 'live.db'}").decisions] == [
        "reviews.reviewer: kept (named like a person: --mask-column reviews.reviewer masks it)",
        "reviews.author_type: kept",
        "reviews.store_city: kept",
        "reviews.customer: kept (named like a person: --mask-column reviews.customer masks it)",
    ]


def test_masked_rows_refer_to_each_other_and_stay_different(url: str) -> None:
    with source_of(url).engine.connect() as db:
        assert db.exec_driver_sql("PRAGMA foreign_key_check").fetchall() == []
        joined = "FROM payments JOIN parties USING (login) WHERE payer_name = holder"
        same = db.exec_driver_sql(f"SELECT COUNT(*) {joined}").scalar_one()
        counts = "COUNT(DISTINCT login), COUNT(DISTINCT mail_addr)"
        different = db.exec_driver_sql(f"SELECT {counts} FROM parties").one()
    assert (same, *different) == (COUNT, COUNT, COUNT)


def test_a_column_is_masked_on_demand(url: str) -> None:
    source = source_of(url, mask=["payments.zusatz", "parties.place=address", "parties.tel"])
    kinds = {one.column: one.kind for one in source.decisions if one.masked}
    assert (kinds["payments.zusatz"], kinds["parties.place"]) == ("other", "address")
    assert kinds["parties.tel"] == "phone"
    assert not [word for word in (*PLACES, "Deposit") if word in source.seed]
    assert source.personal["payments", "zusatz"] == "other"


def test_numbers_days_and_unique_columns_are_masked_on_demand(tmp_path: Path) -> None:
    days = [f"2024-03-{n + 1:02}" for n in range(1, 26)]
    rows = [(7 * n, days[n - 1], n % 10, chr(65 + n), f"976{n:012}") for n in range(1, 26)]
    with sqlite3.connect(tmp_path / "live.db") as db:
        rest = "day DATE NOT NULL, n INTEGER NOT NULL, code TEXT NOT NULL UNIQUE, chip TEXT"
        db.execute(f"CREATE TABLE t (id INTEGER PRIMARY KEY, {rest})")
        values = ", ".join(f"({', '.join(map(literal, row))})" for row in rows)
        db.execute(f"INSERT INTO t VALUES {values}")
    db.close()
    url = f"sqlite:///{tmp_path / 'live.db'}"
    source = source_of(url, mask=["t.id", "t.day=birth_date", "t.n", "t.code=identifier"])
    with source.engine.connect() as db:
        found = db.exec_driver_sql("SELECT id, date(day), n, code, chip FROM t").fetchall()
    assert len({row[0] for row in found}) == len({row[3] for row in found}) == len(rows)
    assert all(isinstance(row[0], int) and row[1] is not None for row in found)
    assert not {row[1] for row in found} <= {*days}
    assert max(row[1] for row in found) <= max(days), "nobody is born later than anybody was"
    assert {row[4] for row in found} == {row[4] for row in rows}, "some look like cards by chance"
    assert not {row[0] for row in found} & {row[0] for row in rows}


@pytest.mark.parametrize(
    ("part", "message"),
    [
        ({"mask": ["parties.hodler"]}, "--mask-column parties.hodler: no such column; did you"),
        ({"mask": ["parties.place=adress"]}, "is one of name, email.*did you mean address"),
        ({"mask": ["payments.state"]}, "its values are a fixed set"),
        ({"mask": ["parties.tel"], "keep": ["parties.tel"]}, "both name parties.tel"),
    ],
)
def test_what_cannot_be_masked_is_refused(url: str, part: dict[str, list[str]], message: str):
    with pytest.raises(OperatorError, match=message):
        source_of(url, **part)


def test_a_column_that_is_kept_stays_with_those_that_refer_to_it(url: str) -> None:
    source = source_of(url, keep=["parties.login"])
    lines = [one.line for one in source.decisions if one.column.endswith("login")]
    assert lines == [
        "parties.login: identifier, kept as you asked",
        "payments.login: identifier, kept as you asked",
    ]
    assert PARTIES[0][4] in source.seed


@pytest.mark.parametrize(
    ("text", "prose", "clean"),
    [
        ("Ida called, so did NOWAK.", True, "Mary called, so did Smith."),
        ("Ida Falls", False, "Ida Falls"),
        ("for Nowak, Ida", True, "for Mary Smith"),
        ("Nowak, Ida", False, "Mary Smith"),
        ("for Nowak, Ida", False, "for Nowak, Ida"),
        ("+49 30 1234 (home)", True, "+12 34 5678 (home)"),
        ("idaho and idas", True, "idaho and idas"),
        ("<ida@firm.example>", False, "<mary@example.org>"),
    ],
)
def test_known_values_are_found_in_texts(text: str, prose: bool, clean: str) -> None:
    known = RealValues(random.Random(1))
    known.learn("name", {"Ida Nowak": "Mary Smith"})
    known.learn("phone", {"+49 30 1234": "+12 34 5678"})
    known.learn("email", {"ida@firm.example": "mary@example.org"})
    assert known.replaced(text, prose=prose) == clean


def test_an_address_that_no_column_knows_does_not_stay_in_a_text() -> None:
    text = "mail zoe.q@clinic.org or call +49 30 901820 77"
    clean = RealValues(random.Random(1)).replaced(text, prose=True)
    assert re.match(r"mail \S+@example\.org or ", clean)
    assert not re.search("clinic|901820", clean)


def test_a_name_of_one_word_stays_one_in_a_column_of_any_name() -> None:
    made = MadeUp("name", random.Random(1))
    made.learn("vorname", ["Ada", "Zoë", "Mary Ann"], distinct=True)
    made.learn("besitzer", ["Ada Kern", "Ben Roth"], distinct=True)
    words = [len(str(made.values[name]).split()) for name in ("Ada", "Zoë", "Ada Kern")]
    assert words == [1, 1, 2]


def test_an_address_in_json_keeps_its_keys() -> None:
    made, real = (
        MadeUp("address", random.Random(1)),
        '{"street": "12 Elm Road", "n": 7, "own": true}',
    )
    made.learn("address", [real], distinct=False)
    street, number, own = json.loads(str(made.values[real])).values()
    assert (street, own) == (made.values["12 Elm Road"], True) != ("12 Elm Road", True)
    assert isinstance(number, int)


def test_a_form_with_no_value_left_gets_a_longer_one() -> None:
    made = MadeUp("identifier", random.Random(1))
    real = [str(number) for number in range(10)]
    made.learn("code", real, distinct=True)
    assert len(set(made.values.values())) == 10
    assert not {*made.values.values()} & {*real}
