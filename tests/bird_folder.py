"""A folder as BIRD publishes it, small: three databases, thirty questions, and the oddities of the
real one.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

SCHOOLS = """
CREATE TABLE schools (CDSCode TEXT PRIMARY KEY, `School Name` TEXT, County TEXT, `Enrollment (K-12)` REAL, Virtual TEXT);
CREATE TABLE frpm (CDSCode TEXT PRIMARY KEY REFERENCES schools (CDSCode), `Percent (%) Eligible Free (K-12)` REAL, Meals REAL);
CREATE INDEX by_county ON schools (County);
INSERT INTO schools VALUES ('01', 'Alder', 'Fresno', 400, 'N'), ('02', 'Birch', 'Fresno', 120, 'F'),
  ('03', 'Cedar', 'Alameda', 900, 'N'), ('04', 'Doña Ana', 'Alameda', NULL, 'N'), ('05', 'Elm', 'Kern', 310, NULL),
  ('06', 'Fir', 'Kern', 75, 'F'), ('07', 'Gum', 'Fresno', 640, 'N'), ('08', 'Hazel', 'Alameda', 505, 'N');
INSERT INTO frpm VALUES ('01', 0.55, 220), ('02', 0.1, 12), ('03', 0.35, 315), ('04', 0.8, 40), ('05', NULL, NULL),
  ('06', 0.25, 19), ('07', 0.6, 384);
"""
RACES = """
CREATE TABLE drivers (driverId INTEGER PRIMARY KEY, surname TEXT, nationality TEXT, dob DATE);
CREATE TABLE races (raceId INTEGER PRIMARY KEY, year INTEGER, name TEXT, date DATE);
CREATE TABLE results (resultId INTEGER PRIMARY KEY, raceId INTEGER REFERENCES races, driverId INTEGER REFERENCES drivers,
  "order" INTEGER, points REAL, time TEXT);
INSERT INTO drivers VALUES (1, 'Hamm', 'British', '1985-01-07'), (2, 'Rossi', 'Italian', '1979-02-16'),
  (3, 'Vogt', 'German', '1987-07-03'), (4, 'O''Dell', 'British', '1990-10-10'), (5, 'Sato', 'Japanese', NULL);
INSERT INTO races VALUES (1, 2008, 'Grand Prix A', '2008-03-16'), (2, 2008, 'Grand Prix B', '2008-03-23'),
  (3, 2009, 'Grand Prix A', '2009-03-29'), (4, 2009, 'Grand Prix C', '2009-04-05');
INSERT INTO results VALUES (1, 1, 1, 1, 10, '1:34:50.616'), (2, 1, 2, 2, 8, '+5.478'), (3, 1, 3, 3, 6, NULL),
  (4, 2, 2, 1, 10, '1:31:18.555'), (5, 2, 1, 2, 8, '+19.570'), (6, 2, 4, 3, 6, '+38.450'), (7, 3, 3, 1, 10, '1:33:15.784'),
  (8, 3, 4, 2, 8, '+0.807'), (9, 3, 1, NULL, 0, NULL), (10, 4, 4, 1, 5, '55:30.622'), (11, 4, 3, 2, 4, NULL);
"""
CARDS = """
CREATE TABLE cards (id INTEGER PRIMARY KEY, name TEXT, rarity TEXT, mana REAL, isPromo INTEGER);
CREATE TABLE rulings (id INTEGER PRIMARY KEY, card INTEGER, text TEXT, FOREIGN KEY (card) REFERENCES cards (id));
CREATE VIEW rare_cards AS SELECT * FROM cards WHERE rarity = 'rare';
INSERT INTO cards VALUES (1, 'Ancestor''s Chosen', 'uncommon', 7, 0), (2, 'Angel of Mercy', 'uncommon', 5, 1),
  (3, 'Aven', 'rare', 2, 0), (4, 'Ballista "X"', 'rare', NULL, 1), (5, 'Blaze', 'common', 1, 0), (6, 'Aven', 'common', 3, 0);
INSERT INTO rulings VALUES (1, 1, 'First.'), (2, 1, 'Second.'), (3, 3, '100% sure: yes'), (4, 4, NULL), (5, 2, 'Third.');
"""
DATABASES = {"california_schools": SCHOOLS, "formula_1": RACES, "card_games": CARDS}


def _rows(text: str) -> Iterator[tuple[str, str, str, str, str | None]]:
    """The questions of a table: database, question, evidence, SQL, difficulty."""
    for line in text.strip().splitlines():
        database, question, evidence, sql, difficulty = line.split(" | ")
        yield database, question, evidence, sql, None if difficulty == "-" else difficulty


ASKED = [
    *_rows("""
california_schools | How many schools are in Fresno? |  | SELECT COUNT(*) FROM schools WHERE County = 'Fresno' | simple
california_schools | List the names of the schools in Alameda. |  | SELECT `School Name` FROM schools WHERE County = 'Alameda' | simple
california_schools | What is the highest eligible free rate in Fresno? | rate = Percent (%) Eligible Free (K-12) | SELECT `Percent (%) Eligible Free (K-12)` FROM frpm WHERE CDSCode IN (SELECT CDSCode FROM schools WHERE County = 'Fresno') ORDER BY `Percent (%) Eligible Free (K-12)` DESC LIMIT 1 | simple
california_schools | Which schools are virtual? | virtual means Virtual = 'F' | SELECT T1.`School Name` FROM schools AS T1 WHERE T1.Virtual = 'F' | -
california_schools | Average enrollment per county. | enrollment = Enrollment (K-12) | SELECT County, AVG(`Enrollment (K-12)`) FROM schools GROUP BY County | moderate
california_schools | Meals per enrolled pupil of the school Alder? | Meals / Enrollment (K-12) | SELECT T2.Meals / T1.`Enrollment (K-12)` FROM schools AS T1 INNER JOIN frpm AS T2 ON T1.CDSCode = T2.CDSCode WHERE T1.`School Name` = 'Alder' | moderate
california_schools | Which school has no meal data at all? |  | SELECT T1.`School Name` FROM schools T1 LEFT JOIN frpm T2 ON T1.CDSCode = T2.CDSCode WHERE T2.CDSCode IS NULL | moderate
california_schools | Percentage of virtual schools? | percentage = virtual / all * 100 | SELECT CAST(SUM(IIF(Virtual = 'F', 1, 0)) AS REAL) * 100 / COUNT(CDSCode) FROM schools | challenging
california_schools | Name {one} county with more than 2 schools, in words like {this}. |  | SELECT County FROM schools GROUP BY County HAVING COUNT(*) > 2 | moderate
california_schools | Is the name Doña Ana known? Its county, please. |  | SELECT County FROM schools WHERE `School Name` = 'Doña Ana' | simple
formula_1 | Who are the British drivers? | British: nationality = 'British' | SELECT surname FROM drivers WHERE nationality = 'British' | simple
formula_1 | Points of Hamm over all races. |  | SELECT SUM(T2.points) FROM drivers AS T1 INNER JOIN results AS T2 ON T1.driverId = T2.driverId WHERE T1.surname = 'Hamm' | simple
formula_1 | Which drivers won a race in 2009? | won: order = 1 | SELECT DISTINCT T1.surname FROM drivers T1 JOIN results T2 ON T1.driverId = T2.driverId JOIN races T3 ON T3.raceId = T2.raceId WHERE T3.year = 2009 AND T2.`order` = 1 | moderate
formula_1 | How many races were there in each year? |  | SELECT year, COUNT(raceId) FROM races GROUP BY year | simple
formula_1 | Winning time of Grand Prix B of 2008? |  | SELECT T1.time FROM results T1 JOIN races T2 ON T1.raceId = T2.raceId WHERE T2.year = 2008 AND T2.name = 'Grand Prix B' AND T1.`order` = 1 | moderate
formula_1 | Drivers born after 1984? | born after 1984: STRFTIME('%Y', dob) > '1984' | SELECT surname FROM drivers WHERE STRFTIME('%Y', dob) > '1984' | simple
formula_1 | Who scored most points in 2008? |  | SELECT T1.surname FROM drivers T1 JOIN results T2 ON T1.driverId = T2.driverId JOIN races T3 ON T3.raceId = T2.raceId WHERE T3.year = 2008 GROUP BY T1.driverId ORDER BY SUM(T2.points) DESC, T1.surname LIMIT 1 | challenging
formula_1 | How many results have no time? |  | SELECT COUNT(*) FROM results WHERE time IS NULL | simple
formula_1 | Driver with an unknown birthday? |  | SELECT surname FROM drivers WHERE dob IS NULL | simple
formula_1 | Nationality of O'Dell? |  | SELECT nationality FROM drivers WHERE surname = "O'Dell" | -
card_games | How many rulings does Ancestor's Chosen have? |  | SELECT COUNT(*) FROM rulings WHERE card = (SELECT id FROM cards WHERE name = 'Ancestor''s Chosen') | simple
card_games | Names of the rare cards, each once. |  | SELECT DISTINCT name FROM rare_cards | simple
card_games | What does the ruling of Aven say? |  | SELECT T2.text FROM cards T1 JOIN rulings T2 ON T2.card = T1.id WHERE T1.name = 'Aven' | simple
card_games | Average mana of promo cards and of the others? | promo: isPromo = 1 | SELECT isPromo, AVG(mana) FROM cards GROUP BY isPromo | moderate
card_games | Which cards have no ruling? |  | SELECT name FROM cards WHERE id NOT IN (SELECT card FROM rulings) | moderate
card_games | Which card has the highest mana? |  | SELECT name FROM cards ORDER BY mana DESC LIMIT 1 | simple
""")
]
BROKEN = [
    *_rows("""
card_games | Any card? |  | SELECT name FROM cards LIMIT 1 | simple
card_games | Cards of the set X? |  | SELECT name FROM cards WHERE setCode = 'X' | simple
formula_1 | Drivers from Peru? |  | SELECT surname FROM drivers WHERE nationality = 'Peruvian' | simple
formula_1 | A driver by lot? |  | SELECT surname FROM drivers ORDER BY RANDOM() LIMIT 1 | simple
""")
]
"""What no query can be measured by: any row, a column that is not there, nothing found, dice."""

DESCRIPTIONS = {
    ("california_schools", "schools.csv"): (
        "original_column_name,column_name,column_description,data_format,value_description\n"
        "CDSCode,,CDSCode,text,\n"
        '"Virtual ",virtual,"whether the school is virtual",text,"F = exclusively virtual\n\nN ='
        ' not virtual"\n'
        "County,,the county \u2013 as the state spells it,text,\n"
    ).encode("cp1252"),
    ("california_schools", "frpm.csv"): (
        "\ufefforiginal_column_name,column_name,column_description,data_format,value_description\n"
        "Percent (%) Eligible Free (K-12),rate,share of pupils,real,0 to 1\n"
    ).encode(),
    (
        "formula_1",
        "drivers.csv",
    ): b"original_column_name,column_name,column_description,data_format,value_description\n"
    b"nationality,,na\xefve word \x81 for a country,text,\n",
    ("card_games", "cards.csv"): b"",
}


def questions() -> list[dict[str, Any]]:
    """As dev.json holds them: some without an id, some without a difficulty."""
    out: list[dict[str, Any]] = []
    for at, (db, question, evidence, sql, difficulty) in enumerate([*ASKED, *BROKEN]):
        entry: dict[str, Any] = {
            "db_id": db,
            "question": question,
            "evidence": evidence,
            "SQL": sql,
        }
        if at % 7 != 3:
            entry["question_id"] = at
        if difficulty is not None:
            entry["difficulty"] = difficulty
        out.append(entry)
    return out


def bird_folder(folder: Path) -> Path:
    """Write the folder."""
    for name, script in DATABASES.items():
        home = folder / "dev_databases" / name
        (home / "database_description").mkdir(parents=True)
        with sqlite3.connect(home / f"{name}.sqlite") as raw:
            raw.executescript(script)
        raw.close()
    for (name, file), data in DESCRIPTIONS.items():
        (folder / "dev_databases" / name / "database_description" / file).write_bytes(data)
    (folder / "dev.json").write_text(json.dumps(questions(), ensure_ascii=False, indent=1), "utf-8")
    return folder
