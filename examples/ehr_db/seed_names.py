"""Names for invented people: first names and surnames that go together, dealt so that no two
universes share one.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd
from string import ascii_uppercase

PER_UNIVERSE = 66
"""Full names that one universe uses: those of its clinicians, and those of its patients."""

STRIDE = 104_729
"""A prime: steps of this length through the list visit every name once, and neighbours have nothing
in common.
"""

ORIGINS: Sequence[tuple[str, str, str]] = (
    (
        (
            "Abimbola Bukola Chiamaka Damilola Ebele Folake Ifeoma Kehinde Ngozi Oluchi Titilayo"
            " Yetunde"
        ),
        "Adebayo Babatunde Chinedu Emeka Femi Gbenga Ikenna Kelechi Obinna Segun Tunde Uche",
        (
            "Abiola Adeyemi Akande Balogun Chukwu Ekwueme Ezeani Ilesanmi Nnamdi Obasanjo Ogundele"
            " Soyinka"
        ),
    ),
    (
        (
            "Beatriz Carmen Dolores Esperanza Guadalupe Inés Jimena Lorena Mónica Paloma Ximena"
            " Yolanda"
        ),
        (
            "Alejandro Bernardo Cristóbal Esteban Fernando Gonzalo Ignacio Joaquín Leandro Mateo Ramón"
            " Santiago"
        ),
        (
            "Aguirre Barrientos Cárdenas Domínguez Escobar Guzmán Herrera Ibarra Montoya Peñalver"
            " Quiñones Valdés"
        ),
    ),
    (
        (
            "Agnieszka Barbara Dorota Ewelina Grażyna Halina Izabela Katarzyna Małgorzata Renata"
            " Urszula Zofia"
        ),
        (
            "Bogdan Czesław Dariusz Grzegorz Jarosław Krzysztof Mirosław Przemysław Ryszard Sławomir"
            " Tadeusz Zbigniew"
        ),
        (
            "Bielak Czarnecki Dudek Grabarz Jabłoński Kozak Leśniak Mazurek Ostrowski Pawlak Sobczak"
            " Zawada"
        ),
    ),
    (
        "Asha Bhavna Chitra Deepika Gayatri Jyoti Lakshmi Meenakshi Nandini Pooja Rukmini Sunita",
        "Anand Bhaskar Devendra Ganesh Harish Kiran Manoj Naveen Prakash Rajesh Suresh Vikram",
        "Banerjee Chaudhary Deshpande Ghosh Iyer Joshi Kulkarni Menon Nair Pillai Reddy Tripathi",
    ),
    (
        "Astrid Birgitta Elin Freja Gudrun Hedda Ingeborg Kerstin Linnéa Märta Signe Åsa",
        "Anders Bengt Einar Fredrik Göran Håkan Ivar Knut Leif Magnus Sven Torbjörn",
        (
            "Andreasen Bergström Dahl Ekdahl Fjeldstad Grönlund Hovland Kvist Nyström Rasmussen"
            " Sandvik Åkesson"
        ),
    ),
    (
        (
            "Adelheid Brigitte Dorothea Elfriede Gerlinde Hannelore Jutta Käthe Liselotte Mechthild"
            " Roswitha Ursel"
        ),
        (
            "Albrecht Burkhard Dietmar Eberhard Gernot Helmut Joachim Klaus Lothar Rüdiger Siegfried"
            " Wolfgang"
        ),
        (
            "Baumgärtner Drechsler Eichhorn Fuchs Grünwald Hoffmeister Köhler Lindemann Pfeiffer"
            " Schäfer Vogel Zimmer"
        ),
    ),
    (
        "Amina Basma Dalia Farah Ghada Hanan Khadija Layla Mariam Nadia Rania Samira",
        "Adel Bilal Fadi Ghassan Hisham Jamal Khaled Mahmoud Nabil Rashid Tariq Ziad",
        "Abboud Bakri Darwish Farouk Ghanem Hamdan Khoury Mansour Nasser Qasim Sabbagh Tawfiq",
    ),
    (
        "Akiko Chiyo Emiko Fumiko Haruka Kaori Mayumi Natsuki Reiko Sachiko Yoko Yumiko",
        "Daisuke Fumio Haruto Isamu Katsuro Makoto Naoki Ryota Shigeru Takashi Yasuo Yuji",
        (
            "Aoki Fujita Hashimoto Inoue Kobayashi Matsuda Nakagawa Okamoto Sakamoto Takeda Watanabe"
            " Yoshida"
        ),
    ),
    (
        "Bronagh Ciara Deirdre Eimear Fionnuala Gráinne Muireann Niamh Orlaith Róisín Sinéad Úna",
        "Brendan Cormac Declan Eamon Fergus Lorcan Malachy Niall Oisín Ronan Séamus Tiernan",
        (
            "Brannigan Callaghan Delaney Fallon Hennessy Kavanagh McGrath O'Dwyer O'Leary O'Shea"
            " Rafferty Tierney"
        ),
    ),
    (
        (
            "Bridget Cordelia Daphne Felicity Gwendolyn Harriet Imogen Lavinia Millicent Philippa"
            " Rosalind Winifred"
        ),
        (
            "Alistair Barnaby Clement Dudley Everett Godfrey Humphrey Jasper Lionel Montague Percival"
            " Rupert"
        ),
        (
            "Bancroft Cartwright Dunmore Fairfax Hathaway Kingsley Loxley Merriweather Prescott"
            " Radcliffe Stanhope Wycliffe"
        ),
    ),
    (
        (
            "Adélaïde Blandine Clémence Delphine Éloïse Ghislaine Joséphine Laurence Mireille Noémie"
            " Sylvie Yvonne"
        ),
        (
            "Amaury Benoît Cédric Didier Étienne Gaspard Jérôme Lucien Maxence Olivier Quentin"
            " Thibault"
        ),
        (
            "Arnaud Beaumont Chevalier Duval Fontaine Girard Lambert Moreau Perrin Rousseau Vasseur"
            " Villeneuve"
        ),
    ),
    (
        "Bai Chunhua Fang Guiying Huilan Jinjing Lihua Meifeng Qiaoling Shuzhen Xiuying Yanmei",
        "Aiguo Bolin Dehua Guangli Haoran Jianguo Kaiwen Mingde Ruolan Shaoqi Weimin Zhihao",
        "Cao Deng Feng Gao Huang Jiang Luo Pan Qiu Shen Tang Xie",
    ),
)
"""Female names, male names, surnames; a first name goes with the surnames of its line."""


def full_names(taken: frozenset[str]) -> list[tuple[str, str]]:
    """Every ``(full name, sex)`` that the lines above can make, without those that are taken."""
    made = [
        (f"{first} {last}", sex)
        for women, men, surnames in ORIGINS
        for sex, firsts in (("female", women), ("male", men))
        for first in firsts.split()
        for last in surnames.split()
    ]
    return [(name, sex) for name, sex in made if name not in taken]


def names_of(universe: int, taken: frozenset[str]) -> list[tuple[str, str]]:
    """The ``(full name, sex)`` pairs of one universe: no other universe has any of them, nor does
    ``taken``.

    Once all pairs of first name and surname are used up, they come again with a middle initial,
    then with the next.
    """
    pool = full_names(taken)
    assert gcd(STRIDE, len(pool)) == 1
    dealt: list[tuple[str, str]] = []
    for number in range(universe * PER_UNIVERSE, (universe + 1) * PER_UNIVERSE):
        lap, place = divmod(number, len(pool))
        name, sex = pool[place * STRIDE % len(pool)]
        if lap > 0:
            first, last = name.split(" ")
            name = f"{first} {ascii_uppercase[lap - 1]}. {last}"
        dealt.append((name, sex))
    return dealt
