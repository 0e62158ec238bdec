"""Invented customers: their names by region, and where they live.

Names are pairs of a first and a last name. All pairs stand in one fixed order, and each universe
takes the next `PEOPLE` of them, so that no two universes share a full name. `seed.sql` uses none of
these last names.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from random import Random

from envs.tools.records import fold

PEOPLE = 47
"""Different names in one universe. A few of them are given to more than one customer."""

REGIONS: dict[str, tuple[str, str]] = {
    "IE": (
        """Aisling Brigid Ciara Declan Eamon Fergus Gráinne Iarla Kieran Lorcan Maeve Nuala
        Oisín Pádraig Róisín Saoirse Tadhg Úna Cormac Deirdre Fiadh Conor Orla Ruairí""",
        """Ahearne Boyle Cahill Doherty Egan Flanagan Geraghty Hickey Keane Lally Moriarty Nolan
        O'Dowd O'Malley Quirke Reilly Scully Tierney Ward Devlin Cusack Farrell McGrath Sheehan""",
    ),
    "DE": (
        """Anke Birgit Dörte Eckhard Falk Gesine Hannes Ilka Jörg Käthe Lennart Merle
        Nele Ole Philipp Ruth Silke Torsten Ulrike Volker Wiebke Jürgen Carsten Swantje""",
        """Ackermann Böhm Claasen Dreyer Engelhardt Fröhlich Grünwald Hübner Jansen Köhler Lorenz Möller
        Niemann Oelrich Pohl Rüdiger Schröder Thiele Uhlig Vogt Wendt Zöllner Brandt Kästner""",
    ),
    "FR": (
        """Adèle Bastien Célia Didier Éloïse Fabrice Gaëlle Hugo Inès Jérôme Lucie Maxence
        Noémie Odile Pascal Quentin Raphaël Solène Thibault Valérie Yann Zélie Aurélien Margaux""",
        """Aubert Bonnet Chevalier Delmas Estève Faure Gautier Hébert Jacquet Lemoine Mercier Noël
        Olivier Perrin Quéré Renaud Sauvage Texier Vasseur Brunet Collin Dufour Lacroix Marchand""",
    ),
    "ES": (
        """Alba Benito Carmen Diego Elvira Fermín Gonzalo Haizea Íñigo Jimena Lorenzo Macarena
        Nuria Óscar Paloma Ramiro Sofía Teresa Unai Verónica Xoán Yolanda Adrián Rocío""",
        """Aguirre Bermúdez Cordero Domínguez Echeverría Fuentes Galindo Herrero Iglesias Jurado Lozano Medina
        Navarro Orozco Pacheco Quiroga Redondo Sáez Toledo Urrutia Vidal Zamora Castaño Núñez""",
    ),
    "IT": (
        """Alessia Bruno Chiara Dario Elisa Fabio Ginevra Ivano Lorenza Marco Nicola Ornella
        Paolo Renata Silvia Tommaso Umberto Viola Wanda Zeno Federica Luca Serena Matteo""",
        """Amato Bellini Caruso Deluca Esposito Ferrante Gallo Inzaghi Lombardi Marchetti Neri Orsini
        Pellegrini Quaranta Ricci Santoro Testa Ungaro Vitale Zanetti Bianchi Conti D'Amico Moretti""",
    ),
    "PT": (
        """Afonso Beatriz Catarina Duarte Estela Filipa Gaspar Helena Iolanda João Leonor Mafalda
        Nélson Olívia Pilar Rui Salomé Tiago Vasco Simão Benedita Gonçalo Luísa Rafaela""",
        """Almeida Barbosa Coutinho Duarte Esteves Fonseca Guimarães Henriques Leitão Magalhães Nogueira Oliveira
        Pinheiro Queirós Rebelo Saraiva Tavares Valadares Brandão Cordeiro Faria Lobato Mourão Simões""",
    ),
    "PL": (
        """Agata Bogdan Celina Dawid Edyta Filip Grażyna Hubert Iwona Jacek Kamila Leszek
        Magda Natalia Olga Paweł Rafał Stanisław Tymon Urszula Wanda Zofia Michał Żaneta""",
        """Adamczyk Borkowska Czarnecki Dąbrowska Filipek Górska Jabłoński Kaczmarek Lewandowska Łuczak Mazur Nowicka
        Olszewski Pawlak Rutkowska Sobczak Tomczyk Urban Wilk Zając Gajda Kubiak Małek Szymańska""",
    ),
    "SE": (
        """Agneta Bengt Cecilia Dag Ebba Folke Göran Hedda Ingrid Jonatan Kerstin Linnéa
        Måns Nils Oskar Pernilla Ragnar Sigrid Tove Ulf Viggo Åsa Örjan Malin""",
        """Ahlgren Bergström Cederquist Dahlberg Ekström Forsberg Grönlund Hedström Isaksson Kjellberg Lövgren Månsson
        Nordin Palmgren Rydberg Sandström Törnqvist Ullman Viklund Wikström Åkerman Öberg Norling Holmgren""",
    ),
    "NL": (
        """Annelies Bram Corrie Dirk Esmée Floris Geert Hilde Ilse Joris Klaas Lotte
        Marloes Noor Pieter Renske Sjoerd Teun Veerle Wouter Yvette Zita Daan Femke""",
        """Aalbers Bakker Cornelissen Dijkstra Elzinga Fokkema Groen Hoekstra Jaspers Kuipers Lammers Mulder
        Nijhuis Postma Roelofs Smeets Terpstra Veenstra Wagenaar Zijlstra Bosman Drost Hendriks Vermeer""",
    ),
    "CZ": (
        """Alžběta Bohdan Dana Evžen Filoména Gustav Hynek Ivana Jiří Kateřina Ladislav Miluše
        Nela Ondřej Pavla Radim Soňa Tereza Václav Xenie Zdeněk Žofie Matěj Bára""",
        """Adámek Beneš Čapek Doležal Fiala Havlík Jelínek Kučera Lukáš Malý Němec Ondráček
        Pokorný Říha Sýkora Tichý Urbánek Vlček Zeman Bartoš Hájek Kříž Marek Šimek""",
    ),
}
"""By country: first names, and last names. No first name begins with another one of its region."""

PLACES = {
    "IE": (
        ("Shop Street", "Eyre Terrace", "Barrack Lane"),
        (("Galway", "H91 ???"), ("Cork", "T12 ???")),
    ),
    "DE": (
        ("Lindenallee", "Am Mühlgraben", "Kantstraße"),
        (("Leipzig", "04###"), ("Bremen", "28###")),
    ),
    "FR": (
        ("rue des Tanneurs", "allée du Port", "rue Hoche"),
        (("Nantes", "44###"), ("Dijon", "21###")),
    ),
    "ES": (
        ("Calle del Olmo", "Avenida del Puerto", "Calle Ancha"),
        (("Valencia", "46###"), ("Cádiz", "11###")),
    ),
    "IT": (
        ("Via Mascarella", "Corso Garibaldi", "Via dei Mille"),
        (("Bologna", "40###"), ("Torino", "10###")),
    ),
    "PT": (
        ("Rua da Boavista", "Largo do Paço", "Rua Direita"),
        (("Braga", "4710-###"), ("Évora", "7000-###")),
    ),
    "PL": (
        ("ulica Ogrodowa", "ulica Długa", "aleja Kasztanowa"),
        (("Poznań", "61-###"), ("Lublin", "20-###")),
    ),
    "SE": (("Storgatan", "Parkvägen", "Hamngatan"), (("Uppsala", "753 ##"), ("Malmö", "211 ##"))),
    "NL": (
        ("Kerkstraat", "Oude Gracht", "Molenweg"),
        (("Utrecht", "35## ??"), ("Groningen", "97## ??")),
    ),
    "CZ": (("Husova", "Na Poříčí", "Lipová"), (("Brno", "602 ##"), ("Plzeň", "301 ##"))),
}
"""By country: streets, and cities with their postcodes, in which # stands for a digit and ? for a
letter.
"""


@dataclass(frozen=True)
class Person:
    name: str
    email: str
    country: str


def _name(number: int) -> tuple[str, str]:
    """The name at a place of the fixed order, and its country. Now and then two neighbours share
    the last name.
    """
    country = list(REGIONS)[number % len(REGIONS)]
    first, last = (each.split() for each in REGIONS[country])
    turn, place = divmod(number // len(REGIONS), len(first) * len(last))
    shift, given = divmod(place, len(first))
    family = last[(shift + given - (given % 6 == 5)) % len(last)]
    second = "" if turn == 0 else f"{first[(given + turn) % len(first)]} "
    return f"{first[given]} {second}{family}", country


def people(universe: int, random: Random) -> list[Person]:
    """The customers of a universe: among them three names that several people have, and one spelt
    in two ways.
    """
    names = [_name(universe * PEOPLE + number) for number in range(PEOPLE)]
    shared = [each for each in names if _plain(each[0]) != each[0]]
    umlaut = next(
        (each for each in names if each[1] == "DE" and each[0] != _spelt_out(each[0])), None
    )
    names += [(_plain(shared[0][0]), shared[0][1]), shared[0], shared[1], random.choice(names[:10])]
    if umlaut is not None:
        names.append((_spelt_out(umlaut[0]), umlaut[1]))
    random.shuffle(names)
    made: list[Person] = []
    taken: set[str] = set()
    for name, country in names:
        words = fold(name).split()
        local = f"{words[0]}.{words[-1]}"
        while local in taken:
            local = f"{words[0]}.{words[-1]}{random.randint(61, 99)}"
        taken.add(local)
        made.append(
            Person(name, f"{local}@example.{random.choice(('com', 'org', 'net'))}", country)
        )
    return made


def _plain(name: str) -> str:
    """The name as somebody without accents on the keyboard writes it."""
    apart = unicodedata.normalize("NFKD", name.replace("ł", "l").replace("Ł", "L"))
    return "".join(each for each in apart if not unicodedata.combining(each))


def _spelt_out(name: str) -> str:
    return name.replace("ä", "ae").replace("ö", "oe").replace("ü", "ue")


def place(country: str, random: Random) -> dict[str, str]:
    """An address: street, postcode, city, country."""
    streets, cities = PLACES[country]
    city, postcode = random.choice(cities)
    drawn = {"#": "0123456789", "?": "ADEFHKNPRTVWXY"}
    number, street = random.randint(1, 140), random.choice(streets)
    return {
        "street": f"{street} {number}",
        "postcode": "".join(random.choice(drawn.get(each, each)) for each in postcode),
        "city": city,
        "country": country,
    }
