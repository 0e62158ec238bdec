"""Tools that look something up in the reference tables: drugs, their dangers, and diagnosis
codes.
"""

from __future__ import annotations

from typing import Annotated, Any

from sqlalchemy import Connection

from envs import ToolError, tool
from envs.tools.records import fold, rows

from .records import MATCHES, classes_of, require_drug, require_patient


@tool(read_only=True)
def lookup_drug(
    db: Connection, name: Annotated[str, {"minLength": 1, "maxLength": 60}]
) -> dict[str, Any]:
    """Look up a drug in the formulary: classes, maximum daily dose, whether it is controlled,
    indications.

    Args:
        name: Generic or brand name.
    """
    drug = require_drug(db, name)
    indications = rows(
        db,
        "SELECT i.code, c.title FROM drug_indications i JOIN icd10_codes c ON c.code = i.code"
        " WHERE i.drug_id = :drug ORDER BY i.code",
        drug=drug["drug_id"],
    )
    return {
        "name": drug["name"],
        "classes": classes_of(db, drug["drug_id"]),
        "max_daily_mg": drug["max_daily_mg"],
        "controlled": bool(drug["controlled"]),
        "indications": indications,
    }


@tool(read_only=True)
def check_allergies(
    db: Connection, patient_id: int, name: Annotated[str, {"minLength": 1, "maxLength": 60}]
) -> dict[str, Any]:
    """Say which of a patient's recorded allergies stand against a drug, through its classes too.

    Args:
        patient_id: The patient's id.
        name: Generic or brand name of the drug.
    """
    require_patient(db, patient_id)
    drug = require_drug(db, name)
    return {"name": drug["name"], "conflicts": allergy_conflicts(db, patient_id, drug["drug_id"])}


def allergy_conflicts(db: Connection, patient_id: int, drug_id: int) -> list[str]:
    """The recorded substances that forbid a drug for a patient, in the order in which they were
    recorded.
    """
    found = rows(
        db,
        "SELECT a.substance FROM allergies a JOIN allergy_conflicts x"
        " ON x.patient_id = a.patient_id AND x.substance = a.substance"
        " WHERE a.patient_id = :patient AND x.drug_id = :drug ORDER BY a.allergy_id",
        patient=patient_id,
        drug=drug_id,
    )
    return [each["substance"] for each in found]


@tool(read_only=True)
def search_codes(
    db: Connection, words: Annotated[str, {"minLength": 1, "maxLength": 120}]
) -> dict[str, Any]:
    """Search the ICD-10 codes that this practice uses.

    Args:
        words: Words of the title, in any order, or the beginning of a code.
    """
    wanted = fold(words).split()[:8]
    if not wanted:
        raise ToolError(
            "Give at least one word of the title, or the beginning of a code.", category="invalid"
        )
    parts = " AND ".join(f"LOWER(title) LIKE :word{index}" for index in range(len(wanted)))
    found = rows(
        db,
        f"SELECT code, title FROM icd10_codes WHERE ({parts}) OR"
        " LOWER(code) LIKE :code ORDER BY code",
        code=words.strip().casefold().replace("%", "").replace("_", "") + "%",
        **{f"word{index}": f"%{word}%" for index, word in enumerate(wanted)},
    )
    return {"count": len(found), "codes": found[:MATCHES]}
