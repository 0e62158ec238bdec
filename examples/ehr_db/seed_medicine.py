"""Plausible contents of a chart: conditions and their drugs, usual doses, allergies, ranges of
laboratory values.

Enough to invent coherent charts with, and no source for treating anybody. Drugs, classes and tests
bear the names that the formulary in seed.sql gives them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

DOSES: Mapping[str, Sequence[tuple[float, int]]] = {
    "acetaminophen": ((500, 3), (1000, 3)),
    "allopurinol": ((100, 1), (300, 1)),
    "amlodipine": ((5, 1), (10, 1)),
    "amoxicillin": ((500, 3),),
    "amoxicillin clavulanate": ((875, 2),),
    "apixaban": ((5, 2),),
    "atorvastatin": ((10, 1), (20, 1), (40, 1)),
    "azithromycin": ((250, 1),),
    "bisoprolol": ((2.5, 1), (5, 1)),
    "cephalexin": ((500, 4),),
    "doxycycline": ((100, 2),),
    "empagliflozin": ((10, 1), (25, 1)),
    "enalapril": ((10, 1), (5, 2), (20, 1)),
    "escitalopram": ((10, 1), (20, 1)),
    "ferrous sulfate": ((325, 1), (325, 2)),
    "furosemide": ((20, 1), (40, 1), (40, 2)),
    "gabapentin": ((300, 3), (600, 3)),
    "glipizide": ((5, 1), (10, 1), (10, 2)),
    "hydrochlorothiazide": ((12.5, 1), (25, 1)),
    "ibuprofen": ((400, 3), (600, 2)),
    "lamotrigine": ((100, 2), (150, 2)),
    "levetiracetam": ((500, 2), (750, 2)),
    "levothyroxine": ((0.05, 1), (0.075, 1), (0.088, 1), (0.1, 1), (0.125, 1)),
    "lisdexamfetamine": ((30, 1), (50, 1)),
    "lisinopril": ((10, 1), (20, 1), (40, 1)),
    "lorazepam": ((0.5, 2),),
    "losartan": ((50, 1), (100, 1)),
    "metformin": ((500, 2), (850, 2), (1000, 2)),
    "methylphenidate": ((10, 2), (20, 2)),
    "metoprolol": ((25, 2), (50, 2)),
    "montelukast": ((10, 1),),
    "naproxen": ((250, 2), (500, 2)),
    "nitrofurantoin": ((100, 2),),
    "omeprazole": ((20, 1),),
    "oxycodone": ((5, 3),),
    "pantoprazole": ((40, 1),),
    "penicillin v": ((500, 2),),
    "propranolol": ((40, 2),),
    "ramipril": ((2.5, 1), (5, 1), (10, 1)),
    "rivaroxaban": ((20, 1),),
    "rosuvastatin": ((5, 1), (10, 1), (20, 1)),
    "sertraline": ((50, 1), (100, 1)),
    "sitagliptin": ((100, 1),),
    "sumatriptan": ((50, 1),),
    "tamsulosin": ((0.4, 1),),
    "tramadol": ((50, 3),),
    "valsartan": ((80, 1), (160, 1)),
    "warfarin": ((3, 1), (4, 1), (5, 1), (7.5, 1)),
    "zolpidem": ((5, 1), (10, 1)),
}
"""Usual orders of each drug: one dose in mg, and doses per day."""


@dataclass(frozen=True)
class Condition:
    """A problem: one of ``codes``, and of each of ``lines`` one drug that the chart permits.

    ``days`` is how long ago it began (from, to); None: years ago. ``over`` says that it is resolved
    and its drug was taken to the end. ``sex`` is given where only one sex has it.
    """

    codes: Sequence[str]
    lines: Sequence[Sequence[str]] = ()
    days: tuple[int, int] | None = None
    over: bool = False
    sex: str | None = None


ACE = ("lisinopril", "ramipril", "enalapril")
ARB = ("losartan", "valsartan")
STATINS = ("atorvastatin", "rosuvastatin", "atorvastatin")
SSRIS = ("sertraline", "escitalopram")

CONDITIONS: Mapping[str, Condition] = {
    "anemia": Condition(("D50.9",), (("ferrous sulfate",),), days=(60, 400)),
    "anxiety": Condition(("F41.1",), (SSRIS,)),
    "asthma": Condition(("J45.909",), (("montelukast",),)),
    "attention": Condition(("F90.0", "F90.2"), (("methylphenidate", "lisdexamfetamine"),)),
    "attention, untreated": Condition(("F90.0", "F90.2")),
    "back pain": Condition(("M54.50",), (("ibuprofen", "naproxen", "acetaminophen"),)),
    "back pain, inflamed": Condition(("M54.50",), (("ibuprofen", "naproxen"),)),
    "chronic pain": Condition(("G89.29", "G89.4"), (("tramadol", "oxycodone"),)),
    "copd": Condition(("J44.9",)),
    "depression": Condition(("F32.A", "F33.1"), (SSRIS,)),
    "diabetes": Condition(("E11.9",), (("metformin",),)),
    "diabetes, high": Condition(
        ("E11.65",), (("metformin",), ("glipizide", "empagliflozin", "sitagliptin"))
    ),
    "embolism": Condition(("I26.99",), (("rivaroxaban", "apixaban"),), days=(40, 240)),
    "epilepsy": Condition(("G40.909",), (("levetiracetam", "lamotrigine"),)),
    "fibrillation, new": Condition(("I48.91",), days=(4, 15)),
    "fibrillation": Condition(
        ("I48.91",), (("warfarin", "apixaban", "rivaroxaban"), ("metoprolol", "bisoprolol"))
    ),
    "gout": Condition(("M10.9",), (("allopurinol",),)),
    "hay fever": Condition(("J30.2",), (("montelukast",),)),
    "heart failure": Condition(
        ("I50.9",), (("furosemide",), ("bisoprolol", "metoprolol"), (*ACE, *ARB))
    ),
    "hypertension": Condition(("I10",), ((*ACE, "amlodipine", *ARB),)),
    "hypertension, two drugs": Condition(
        ("I10",), ((*ACE, *ARB), ("amlodipine", "hydrochlorothiazide"))
    ),
    "insomnia": Condition(("G47.00",), (("zolpidem",),)),
    "insomnia, untreated": Condition(("G47.00",)),
    "kidney": Condition(("N18.30",)),
    "knee": Condition(("M17.11",), (("naproxen", "ibuprofen", "acetaminophen"),)),
    "lipids": Condition(("E78.5",), (STATINS,)),
    "migraine": Condition(("G43.909",), (("sumatriptan", "propranolol"),)),
    "neuropathy": Condition(("G62.9",), (("gabapentin",),)),
    "osteoporosis": Condition(("M81.0",)),
    "prostate": Condition(("N40.1",), (("tamsulosin",),), sex="male"),
    "reflux": Condition(("K21.9",), (("omeprazole", "pantoprazole"),)),
    "thrombosis": Condition(
        ("I82.409",), (("apixaban", "rivaroxaban", "warfarin"),), days=(40, 220)
    ),
    "thyroid": Condition(("E03.9",), (("levothyroxine",),)),
    "valve": Condition(("Z95.2",), (("warfarin",),)),
    "cellulitis": Condition(("L03.90",), (("cephalexin", "doxycycline"),), days=(4, 12)),
    "pharyngitis": Condition(
        ("J02.0",), (("penicillin v", "amoxicillin", "azithromycin"),), days=(3, 9)
    ),
    "pneumonia": Condition(("J18.9",), (("doxycycline", "amoxicillin"),), days=(4, 12)),
    "sinusitis": Condition(
        ("J01.90",), (("amoxicillin clavulanate", "doxycycline"),), days=(4, 12)
    ),
    "urinary": Condition(("N39.0",), (("nitrofurantoin",),), days=(3, 7)),
    "urinary, over": Condition(("N39.0",), (("nitrofurantoin",),), days=(60, 160), over=True),
    "pharyngitis, over": Condition(
        ("J02.0",), (("penicillin v", "amoxicillin"),), days=(60, 160), over=True
    ),
}

PROFILES: Sequence[tuple[int, int, Sequence[str]]] = (
    (3, 55, ("diabetes", "hypertension", "lipids")),
    (3, 52, ("diabetes, high", "hypertension, two drugs", "lipids")),
    (3, 48, ("diabetes, high", "hypertension")),
    (2, 44, ("diabetes, high",)),
    (2, 60, ("diabetes", "neuropathy")),
    (1, 50, ("diabetes", "knee")),
    (1, 58, ("hypertension, two drugs", "lipids", "prostate")),
    (1, 50, ("hypertension", "lipids")),
    (1, 42, ("hypertension",)),
    (3, 58, ("hypertension", "fibrillation, new")),
    (2, 55, ("back pain, inflamed", "fibrillation, new")),
    (2, 64, ("fibrillation", "hypertension", "lipids")),
    (2, 70, ("fibrillation", "heart failure")),
    (1, 66, ("fibrillation", "copd")),
    (2, 60, ("valve", "lipids")),
    (2, 48, ("thrombosis", "hypertension")),
    (1, 46, ("embolism", "kidney")),
    (1, 66, ("heart failure", "osteoporosis")),
    (1, 68, ("hypertension", "kidney", "prostate")),
    (2, 40, ("thyroid",)),
    (1, 45, ("thyroid", "reflux")),
    (2, 30, ("depression",)),
    (2, 35, ("anxiety", "insomnia, untreated")),
    (1, 33, ("anxiety",)),
    (1, 40, ("depression", "insomnia")),
    (2, 22, ("attention",)),
    (2, 20, ("attention, untreated",)),
    (1, 28, ("migraine",)),
    (1, 25, ("epilepsy",)),
    (1, 45, ("reflux", "gout")),
    (2, 38, ("back pain",)),
    (2, 45, ("chronic pain",)),
    (1, 26, ("anemia",)),
    (1, 21, ("hay fever",)),
    (1, 24, ("asthma", "pharyngitis, over")),
    (1, 23, ("urinary, over",)),
    (2, 27, ("cellulitis",)),
    (1, 31, ("pharyngitis",)),
    (1, 36, ("pneumonia",)),
    (2, 24, ("sinusitis",)),
    (2, 29, ("urinary",)),
)
"""How many patients have these problems together, and how old they are at least."""

RARE = frozenset({"thrombosis", "embolism", "valve", "fibrillation, new"})
"""Conditions that few have and some task families are about: those patients share no name, and
their charts are open.
"""

APART: Sequence[frozenset[str]] = (
    frozenset({"ace inhibitors", "angiotensin receptor blockers"}),
    frozenset({"nsaids", "anticoagulants"}),
    frozenset({"nsaids", "loop diuretics"}),
    frozenset({"ssris", "opioids"}),
    frozenset({"benzodiazepines", "opioids"}),
)
"""Classes of which a chart of the seed holds no two."""

ALLERGIES: Sequence[tuple[int, str, Sequence[tuple[str, str]]]] = (
    (4, "penicillins", (("rash", "moderate"), ("hives", "moderate"), ("anaphylaxis", "severe"))),
    (2, "sulfonamide antibiotics", (("rash", "moderate"), ("angioedema", "severe"))),
    (2, "nsaids", (("hives", "moderate"), ("bronchospasm", "severe"))),
    (1, "macrolides", (("nausea", "mild"), ("rash", "moderate"))),
    (1, "fluoroquinolones", (("unknown", "moderate"), ("rash", "mild"))),
    (2, "amoxicillin", (("rash", "mild"), ("hives", "moderate"))),
    (1, "cephalexin", (("hives", "moderate"),)),
    (1, "cefuroxime", (("rash", "mild"),)),
    (1, "erythromycin", (("nausea", "mild"),)),
    (1, "doxycycline", (("nausea", "mild"), ("rash", "moderate"))),
    (1, "ciprofloxacin", (("rash", "moderate"),)),
    (1, "trimethoprim sulfamethoxazole", (("hives", "moderate"),)),
    (1, "aspirin", (("hives", "moderate"),)),
    (1, "codeine", (("nausea", "moderate"),)),
    (2, "latex", (("rash", "mild"), ("hives", "moderate"))),
    (1, "peanut", (("anaphylaxis", "severe"),)),
    (1, "shellfish", (("angioedema", "severe"), ("hives", "moderate"))),
    (1, "iodinated contrast", (("hives", "moderate"),)),
)
"""How many patients react to a substance, and how it may have shown."""

LABS_OF: Mapping[str, Sequence[str]] = {
    "ace inhibitors": ("potassium", "creatinine"),
    "angiotensin receptor blockers": ("potassium", "creatinine"),
    "anticoagulants": ("hemoglobin", "creatinine"),
    "biguanides": ("HbA1c", "creatinine"),
    "iron preparations": ("hemoglobin",),
    "loop diuretics": ("potassium",),
    "statins": ("LDL",),
    "thiazide diuretics": ("potassium",),
    "thyroid hormones": ("TSH",),
    "warfarin": ("INR",),
}
"""Tests that go with a drug or its class."""

VALUES: Mapping[str, tuple[float, float, int, int]] = {
    "HbA1c": (5.9, 7.4, 1, 4),
    "INR": (1.5, 4.1, 1, 4),
    "LDL": (62, 148, 0, 2),
    "TSH": (0.6, 4.9, 2, 2),
    "creatinine": (0.7, 1.25, 2, 2),
    "hemoglobin": (11.8, 15.8, 1, 1),
    "potassium": (3.7, 5.1, 1, 2),
}
"""Lowest and highest value of a test where nothing else is known, its decimals, and how many
results a chart has.
"""

UNUSUAL: Mapping[tuple[str, str], tuple[float, float]] = {
    ("HbA1c", "E11.65"): (7.6, 11.4),
    ("creatinine", "N18.30"): (1.5, 2.1),
    ("hemoglobin", "D50.9"): (9.6, 11.9),
}
"""Ranges of values that a diagnosis explains."""
