"""The tools of this world, in the order in which a model is shown them."""

from __future__ import annotations

from .charting import (
    add_allergy,
    add_diagnosis,
    raise_alert,
    record_vitals,
    resolve_diagnosis,
    update_allergies,
)
from .formulary import check_allergies, lookup_drug, search_codes
from .ordering import (
    book_followup,
    change_dose,
    complete_followup,
    prescribe_medication,
    stop_medication,
)
from .reading import (
    find_clinicians,
    find_patients,
    get_patient,
    list_diagnoses,
    list_followups,
    list_labs,
    list_medications,
    list_patients,
    list_vitals,
    search_labs,
    search_medications,
)

__all__ = [
    "add_allergy",
    "add_diagnosis",
    "book_followup",
    "change_dose",
    "check_allergies",
    "complete_followup",
    "find_clinicians",
    "find_patients",
    "get_patient",
    "list_diagnoses",
    "list_followups",
    "list_labs",
    "list_medications",
    "list_patients",
    "list_vitals",
    "lookup_drug",
    "prescribe_medication",
    "raise_alert",
    "record_vitals",
    "resolve_diagnosis",
    "search_codes",
    "search_labs",
    "search_medications",
    "stop_medication",
    "update_allergies",
]
