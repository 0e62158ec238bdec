"""Two rules of the airline's policy as checks of what the agent says."""

import datetime as dt
import re

from synth.rewards import Evidence, gate

FREE = {"regular": (0, 1, 2), "silver": (1, 2, 3), "gold": (2, 3, 4)}
"""Free bags of each passenger in basic economy, economy and business."""
CABINS = ("basic economy", "economy", "business")
EACH = re.compile(r"\b(?:each|every|per) passenger\b")
BAGS = re.compile(r"\b(\d+)\W{0,4}(?:free|complimentary)\W{1,4}(?:checked )?bags?\b")
DAY = re.compile(r"\b(?:since|because|given that)\b[^;]*\bwithin (?:the )?(?:last )?24[- ]hours?\b")
DENIES = re.compile(r"\b(?:not|unless|without|no)\b|n't\b")


def values(evidence: Evidence, name: str) -> set[str]:
    """The values under a name in the results of calls."""
    shown = [call.result.payload() for call in evidence.calls if call.ok and call.result]
    return {one[name] for one in shown if isinstance(one, dict) and one.get(name)}


def sentences(evidence: Evidence) -> list[str]:
    text = "\n".join(words.text for words in evidence.spoken).lower().replace("*", "")
    return [
        one for one in re.split(r"(?<=[.!?])\s|\n", text) if "?" not in one and " if " not in one
    ]


@gate
def free_bags(evidence: Evidence) -> tuple[bool, str]:
    """A number of free bags for each passenger is that of the membership and the cabin."""
    for level in values(evidence, "membership"):
        for text in filter(EACH.search, sentences(evidence)):
            if "total" in text:
                continue
            places = [place for place, cabin in enumerate(CABINS) if cabin in text] or range(3)
            right = {FREE[level][place] for place in places}
            if wrong := {int(number) for number in BAGS.findall(text)} - right:
                return False, f"{wrong.pop()} free bags for a {level} member: {text[:200]}"
    return True, ""


@gate
def first_day(evidence: Evidence) -> tuple[bool, str]:
    """Only a reservation of the last 24 hours is said to be one."""
    now = dt.datetime.fromisoformat(evidence.task.now)
    made = [dt.datetime.fromisoformat(value) for value in values(evidence, "created_at")]
    said = (text for text in sentences(evidence) if not DENIES.search(text))
    claim = next(filter(DAY.search, said), None)
    recent = any(now - dt.timedelta(days=1) <= one <= now for one in made)
    return not (made and claim and not recent), f"none was made within 24 hours: {claim}"
