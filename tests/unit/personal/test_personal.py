"""Personal columns, declared and guessed, and the people found by them."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from envs.errors import WorldError
from envs.types import Column, Table
from envs.world.loader import load_world
from synth.core.personal import People, people_of
from synth.core.personal.guess import guess_columns
from synth.core.personal.people import PersonalColumn

EXAMPLES = Path(__file__).parents[3] / "examples"


def people(folder: Path) -> People | None:
    world = load_world(folder)
    with world.template("sqlite") as template:
        return people_of(world, template)


def copy(folder: Path, name: str, columns: str | None) -> Path:
    made = shutil.copytree(EXAMPLES / name, folder / name)
    (made / "world.yaml").unlink()
    if columns is not None:
        (made / "world.yaml").write_text(columns, "utf-8")
    return made


class TestColumns:
    def test_names_and_contents_give_them_away(self, tmp_path: Path):
        found = people(copy(tmp_path, "ehr_db", None))
        assert found is not None
        assert {(column.name, column.kind) for column in found.columns} == {
            ("patients.name", "name"),
            ("patients.dob", "birth_date"),
            ("patients.mrn", "identifier"),
            ("clinicians.name", "name"),
        }
        assert not any(column.declared for column in found.columns)

    def test_a_product_and_a_drug_have_no_personal_name(self, tmp_path: Path):
        found = people(copy(tmp_path, "shop", None))
        assert found is not None
        assert {column.name for column in found.columns} == {
            "customers.name",
            "customers.email",
            "addresses.street",
        }

    def test_names_are_read_in_any_case_and_with_a_word_before_them(self):
        columns = {
            "FirstName": "Ida",
            "cust_email": "ida@firm.example",
            "c_name": "Ida Nowak",
            "HomePhone": "+49 30 123456",
            "BillingAddress": "12 Elm Road",
            "DateOfBirth": "1970-04-05",
            "fname": "Ida",
            "Company": "Elm Works",
            "CustomerID": "AB-1234",
        }
        table = Table("Customers", tuple(Column(name, "") for name in columns))
        found = guess_columns({"Customers": table}, lambda _, column: [columns[column]])
        assert {column: kind for (_, column), kind in found.items()} == {
            "FirstName": "name",
            "cust_email": "email",
            "c_name": "name",
            "HomePhone": "phone",
            "BillingAddress": "address",
            "DateOfBirth": "birth_date",
            "fname": "name",
        }

    @pytest.mark.parametrize(
        ("column", "values", "kind"),
        [
            ("mail_addr", ["a@b.org", "c@d.org", "none"], "email"),
            ("kontakt", ["0171 1234567", "030/901820"], "phone"),
            ("reached_by", ["+44 20 7946 0991", "(212) 736-5000"], "phone"),
            ("tel", ["7301846", "7301999"], "phone"),
            ("account", ["DE89 3704 0044 0532 0130 00"], "identifier"),
            ("paid_with", ["4111 1111 1111 1111"], "identifier"),
            ("who", ["Ida Nowak", "van den Berg, Anna", "Dr. Priya Sharma"], "name"),
            ("vorname", ["Ida", "Jon", "Anna", "Peter", "Maria"], "name"),
            ("login", ["ida.n", "jon7"], "identifier"),
            ("id_document", ["L01X4711"], "identifier"),
            ("plate", ["AB-C 123"], "identifier"),
            ("birth_year", [1970, 1981], "birth_date"),
            ("payer_name", ["Xq Zwv"], "name"),
            ("destination", ["San Jose", "Santa Cruz", "New Delhi", "Addis Ababa"], None),
            ("colour", ["Ruby", "Amber", "Jade", "Violet", "Rose", "Olive"], None),
            ("author", ["Jane Austen", "Mark Twain"], None),
            ("title", ["Annie Hall", "Jackie Brown"], None),
            ("code", ["2024-000123", "2024-000124"], None),
            ("isbn", ["0306406152", "978-0306406157"], None),
            ("ip", ["192.168.100.200", "10.10.100.201"], None),
            ("size", ["100 200 300", "120 220 320"], None),
            ("placed", ["2024-03-01", "2024-03-02"], None),
            ("last_login", ["2024-03-01 10:00"], None),
            ("owner", ["Sales Team", "Core Platform"], None),
            ("licence", ["MIT", "GPL-3.0"], None),
            ("passport_id", [100000, 100001], None),
            ("month", ["April", "May", "June", "January", "August"], None),
        ],
    )
    def test_contents_come_first_and_things_have_no_personal_name(
        self, column: str, values: list[object], kind: str | None
    ):
        table = Table("entries", (Column(column, ""),))
        found = guess_columns({"entries": table}, lambda *_: values)
        assert found.get(("entries", column)) == kind

    def test_a_declaration_takes_the_place_of_the_guess(self, tmp_path: Path):
        text = "columns:\n  patients.name: {pii: name}\n"
        found = people(copy(tmp_path, "ehr_db", text))
        assert found is not None
        assert list(found.columns) == [PersonalColumn("patients", "name", "name")]

    def test_a_column_that_is_none_is_not_guessed(self, tmp_path: Path):
        text = "columns:\n  members.name: {pii: none}\n"
        assert people(copy(tmp_path, "library", text)) is None

    @pytest.mark.parametrize(
        ("text", "line", "words"),
        [
            ("columns:\n  patients.nam: {pii: name}\n", 2, "did you mean 'patients.name'?"),
            ("columns:\n  patients.name: {pii: nome}\n", 2, "of name, email, phone"),
            ("columns:\n  name: {pii: name}\n", 2, "is not of the form table.column"),
            ("columns: {}\n", 1, "maps table.column to its traits"),
        ],
    )
    def test_a_mistake_has_its_line(self, tmp_path: Path, text: str, line: int, words: str):
        with pytest.raises(WorldError) as caught:
            people(copy(tmp_path, "ehr_db", text))
        assert words in caught.value.message
        assert caught.value.line == line


@pytest.fixture(scope="module")
def patients() -> People:
    found = people(EXAMPLES / "ehr_db")
    assert found is not None
    return found


class TestPeople:
    def test_they_are_found_in_any_form(self, patients: People):
        person, values = next(iter(patients.raw.items()))
        name = dict(values)["name"]
        assert person in patients.in_text(f"| Name |\n|---|\n| **{name.upper()}** |")

    def test_a_result_is_about_the_people_of_its_keys(self, patients: People):
        key = next(iter(patients.keys["patient_id"]))
        assert patients.in_data([{"patient_id": int(key), "heart_rate": 70}]) == {("patients", key)}
        assert patients.in_data({"heart_rate": int(key)}) == set()

    def test_an_address_belongs_to_its_customer(self):
        found = people(EXAMPLES / "shop")
        assert found is not None
        kinds = {kind for values in found.raw.values() for kind, _ in values}
        assert kinds == {"name", "email", "address"}
        assert {table for table, _ in found.raw} == {"customers"}


@pytest.mark.parametrize(
    "text", ["Fatima El-Sayed", "El-Sayed, Fatima", "F. El-Sayed", "Mrs El-Sayed"]
)
def test_a_name_is_found_in_each_of_its_forms(text: str):
    people = People([])
    people.add("Fatima El-Sayed", "name", ("patients", "1"))
    assert people.in_text(f"It was {text} who had it.") == {("patients", "1")}
    assert people.in_text("It was G. El-Sayed, of the Sayed family.") == set()


def test_a_value_of_one_letter_is_nobody():
    people = People([])
    people.add("I", "identifier", ("users", "1"))
    assert people.in_text("I have looked it up.") == set()
