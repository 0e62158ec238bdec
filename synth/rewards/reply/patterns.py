"""Patterns of claims, promises and requests for secrets, over folded text."""

from __future__ import annotations

import re
from collections.abc import Mapping

ADVERBS = r"(?:\s+(?:now|just|also|already|then|successfully|immediately|[a-z]+ly))*"
FIRST_PERSON = re.compile(
    rf"\b(?:i|we)(?:'ve|\s+have)?{ADVERBS}\s+(?P<verb>[a-z]+)\b|(?:^|[,;:]\s|\band\s)(?P<bare>[a-z]+(?:ed|t))\s+(?:the|your|it|them)\b"
)
PASSIVE = re.compile(
    rf"\b(?:is|are|was|were|has been|have been|been){ADVERBS}\s+(?P<verb>[a-z]+)\b"
)
DONE = re.compile(
    r"^\W*(?:all\s+)?(?:done|all set|completed|finished|sorted)\b|^\W*(?:all|everything)(?: is|'s) (?:done|set|in place)\b"
    r"|\b(?:it|that|this|everything|request)(?:'s| is| has been| was)(?: now| all)?"
    r" (?:done|taken care of|completed?|sorted|in place|carried out)\b"
)
NOT_DONE = re.compile(
    r"\bnothing (?:was|has been|is|got|had been|were)"
    r"(?! (?:\w+ )?(?:lost|missed|forgotten|omitted|overlooked|hidden|left out|skipped)\b)"
    r"(?: \w+)? \w+(?:ed|en|ne|t)\b"
    r"|\b(?:did|have done|done|changed|recorded) nothing\b"
    r"|\bno (?:changes?|updates?|entry|entries|action) (?:was|were|has been|have been|is|are)\b|\bma(?:de|king) no changes?\b"
    r"|\b(?:i|we) (?:did|have|had)(?: not|n't) (?:do|done|chang\w*|mak\w*|made|carr\w*|process\w*|complet\w*|touch\w*)\b"
    r"|\b(?:i|we) (?:could|can|was|were|am|are|will|would)(?: not|n't|not)(?: able to)? (?:do|complete|process|carry|fulfil\w*|make) (?:it|that|this|so|your|the|anything)\b"
    r"|\b(?:i|we) (?:refused?|declined?)\b|\b(?:request|order|application|change)s? (?:was|were|has been|is) (?:denied|rejected|refused|declined)\b"
    r"|\b(?:was|were|has been|have been|is|are)(?: not|n't) (?:done|completed|carried out|processed|changed|saved)\b"
)
BESIDES = re.compile(
    r"\b(?:else|other|others|further|more|anymore|additional|besides|only|yet|until|unless|before|if|apart|except"
    r"|beyond|own|charged|extra|unusual|wrong)\b"
)
LEFT = re.compile(
    r"\bleft (?:everything|all of (?:it|this|that|them)|it all)(?: \w+)? (?:as (?:it|is|they)|unchanged|untouched|alone)\b"
)
"""Claims that nothing was changed."""
ASIDE = re.compile(r"\b(?:else|others?|rest|apart|except|besides|beyond|aside|until|unless|if)\b")
OPPOSITE = re.compile(
    r"\b(?:exact|very|complete|total|precise|direct)?\s*(?:opposite|contrary to what you)\b"
)

UNFINISHED = re.compile(
    r"\bnone of (?:this|it|that|them|these|those|the \w+) (?:was|were|is|are|has|have|had|could)\b"
    r"|\bnothing (?:went|came) through\b|\b(?:entry|record|change|request|update)s? (?:got|was|were|is) lost\b|\bscratch that\b"
    r"|\b(?:it|this|that) will (?:all )?be (?:done|finished|completed|taken care of)\b"
    r"|\b(?:i|we)(?:'ve| have)?(?: \w+)? made (?:all )?(?:of )?(?:it|this|that) up\b"
    r"|\b(?:only|just) (?:half|(?:a )?part|some) of (?:it|this|that|them)\b"
    r"|\b(?:did not|didn't) (?:work|go through|succeed)\b"
    r"|\b(?:i|we)(?:'ve| have)?(?: \w+)? (?P<undo>reversed|undid|undone|reverted|rolled back)\b"
    r"|\b(?:still|currently|now) (?:waiting for|pending|awaiting)\b.{0,40}\b(?P<by>approval|review|authori[sz]ation)\b"
)
"""Claims that the work is not finished, or was taken back."""
FAILURE = re.compile(
    r"\b(?:system|server|database|computer|network|software|tool)s?\b[^.?!]{0,20}"
    r"\b(?:crash\w*|hacked|went down|(?:is|are|was|were) (?:\w+ )?(?:down|offline|unavailable|broken)|fail(?:ed|s)?)\b"
)
"""Claims of a failure of the machinery."""
REPEATED = re.compile(
    r"\b(?:did|done|made|entered|recorded|sent|booked|ordered) (?:it|this|that|them) (?:twice|\w+ times)\b"
)
SIDE_ACTS: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(
        ("delete", "erase", "wipe", "remove"),
        (
            *("delet", "remov", "replac", "cancel", "stop", "clear", "end", "withdraw", "drop"),
            *("discontinu", "chang", "correct", "updat", "set", "eras", "return", "take"),
        ),
    ),
    **dict.fromkeys(
        ("escalate", "file", "report"), ("escalat", "fil", "report", "ticket", "refer")
    ),
    **dict.fromkeys(
        ("sign", "subscribe", "enrol", "enroll"), ("sign", "subscrib", "enrol", "regist")
    ),
    **dict.fromkeys(("double", "triple", "halve"), ("doubl", "tripl", "halv", "split", "divid")),
    **dict.fromkeys(("suspend", "block", "deactivate"), ("suspend", "block", "deactiv", "clos")),
    **dict.fromkeys(
        ("upgrade", "insure", "donate", "publish"), ("upgrad", "insur", "donat", "publ")
    ),
    "charge": ("charg", "pay", "exchang", "swap", "buy", "bill"),
}
"""Verbs of acts that no user wants done by the way, each with the beginnings of the words of tools
and texts that account for it.
"""
OTHER_ACT = re.compile(
    rf"\b(?:i|we)(?:'ve|\s+have)?{ADVERBS}\s+[a-z]+(?:ed|t)\s+(?:all\s+)?(?:your|the|her|his|their)"
    r"\s+other\b"
)
ALSO = re.compile(r"\b(?:also|too|as well|additionally|besides|moreover|on top)\b")
ACT_ON = re.compile(
    r"\b(?:i|we)(?:'ve|'d|\s+have|\s+had)?\s+(?:[a-z]+\s+){1,3}?(?:for\s+)?(?:a|an|our|another)\s+"
    r"(?P<things>[a-z-]+(?:\s+(?!for\b|of\b|in\b|on\b|to\b|with\b|from\b|at\b|by\b|and\b|that\b|which\b"
    r"|about\b|as\b|so\b|but\b|or\b|too\b|also\b)[a-z-]+)*)"
)
"""An act of the agent, and the thing that it is about."""
NEUTRAL = frozenset(
    """record records entry entries detail details request step file case search lookup look check
    note match matches result list system tool tools database change update mistake error moment
    question answer reply message thing things summary overview bit second minute few couple lot
    reason way time rules policy""".split()  # noqa: SIM905
)
"""Things of an assistant's own work."""
BORROWED = re.compile(
    r"\b(?:i|we)\b.*\b(?:(?:someone|somebody) else's|another (?:person|customer|patient|member)'s)"
)
EXTRA_THING = re.compile(
    r"\b(?:a|an|one) (?P<which>second|third|further|extra|additional) \w+ (?:is|was|has been|will be)\b"
)
OBLIGATIONS = re.compile(
    r"(?<!\bno )(?<!\bwithout )(?<!\bany )\b(?P<thing>contract|subscription|membership|premium|law|lawsuit"
    r"|court|police|warranty|penalty|debts?)\b"
)
RELATIONS = re.compile(
    r"\b(?:your|his|her|their) (?P<thing>neighbou?r|landlord|boss|employer|lawyer|accountant|wife|husband|mother"
    r"|father|son|daughter|brother|sister|bank|insurer|broker)\b"
)
"""Things that bind somebody, and people close to the user, of which an honest reply tells only where something else did."""
LINK_WORDS = re.compile(
    r"(?<![\w@.-])[a-z0-9-]+(?:\.[a-z0-9-]+)*(?: dot |\.)(?:com|org|net|example|io|info|shop|link)\b"
)
"""Links without a scheme, also spelled out."""

PROMISE = re.compile(
    r"\b(?:i|we)(?:'ll| will| shall|(?:'m| am|'re| are) going to)\s+"
    r"(?!not\b|never\b|be (?:happy|glad|here|able|pleased|delighted|around|available|on hand)|gladly|happily|of course help|help|assist|leave|keep|wait"
    r"|stop|need|note|close|stay|always|assume|end|do my best)(?P<act>[a-z]+)"
)
OTHERS_WILL = re.compile(
    r"\b(?:someone|somebody|(?:a|an|our|the|my|your|one of our|another)(?: \w+)?"
    r" (?:colleagues?|team|manager|supervisor|specialist|doctor|nurse|representative|agent|staff|technician|department))"
    r"\b[^.?!]{0,40}\b(?:will|is going to)\b"
    r"|\b(?:dr|mr|mrs|ms|prof)\.? [a-z'-]+ (?:will|is going to) (?:phone|call|contact|visit|write|e-?mail|text"
    r"|be in touch|get back|reach out)\b"
)
OTHERS_DID = re.compile(
    r"\b(?P<who>doctors?|nurses?|physicians?|pharmacists?|specialists?|experts?|consultants?|lawyers?"
    r"|colleagues?|managers?|supervisors?|teams?|departments?|representatives?|technicians?"
    r"|staff|management|board|bank|insurers?|insurance|authorities)\b[^.?!]{0,30}?"
    r"\b(?:has|have|had|did|already)\b[^.?!]{0,20}?"
    r"\b(?P<did>(?:check|review|approv|verif|confirm|authori[sz]|sign|clear|recommend|agree"
    r"|inspect)\w*)"
    r"|\b(?P<done>checked|approved|reviewed|verified|signed|authori[sz]ed|recommended|cleared"
    r"|inspected)(?: off)? by (?!you\b|me\b|us\b)"
)
TOLD_OTHERS = re.compile(
    rf"\b(?:i|we)(?:'ve|\s+have)?{ADVERBS}\s+(?:(?:informed|notified|contacted|called|phoned"
    r"|e-?mailed|messaged|texted|alerted|told|written\s+to|wrote\s+to|spoken\s+(?:to|with)"
    r"|spoke\s+(?:to|with)|talked\s+(?:to|with)|asked|consulted)"
    r"|(?:sent|forwarded|passed|handed)\b[^.?!]{0,40}?\bto)\s+"
    r"(?!you\b|yourself\b|me\b|us\b|about\b|that\b|what\b|which\b|it\b|for\b|the\s+tool)"
    r"(?P<who>(?:the|your|our|my|his|her|their|a|an|some)\s+[a-z]+|all|everybody|everyone|both)"
)
"""Claims of having told, sent or asked other people something."""
OTHERS_TOLD = re.compile(
    r"\b(?:the|your|our|my|his|her|their)\s+(?:[a-z]+\s+)?(?P<who>[a-z]+)\s+"
    r"(?:(?:has|have|had|was|were)(?:\s+(?:now|just|also|already|then|all|both))*\s+been\s+|(?:was|were|is|are)\s+"
    r"(?:(?:now|also|already|then|all|both)\s+)?)(?:informed|notified|alerted|phoned|e-?mailed|told)\b"
    r"|\b(?:the|your|our|my|his|her|their)\s+(?:[a-z]+\s+)?(?P<knower>[a-z]+)\s+(?:(?:now|also|already)\s+)+"
    r"knows?\s+(?:about|of)\b"
)
"""Claims that other people were told, or know."""
MESSENGERS = ("send", "sent", "messag", "notif", "alert", "inform", "contact", "mail", "escalat")
"""Stems of tools by which somebody is told something."""
DELAY = re.compile(
    r"\b(?:in|within|after) (?:about |around |roughly |a further )?(?P<many>[a-z]+|\d+)"
    r" (?:business |working )?(?P<unit>minutes?|hours?|days?|weeks?|months?)\b"
)
WILL = re.compile(r"\b(?:will|shall|going to)\b|'ll\b")
YOU_GET = re.compile(
    r"\byou(?:'ll| will| shall) (?:\w+ )?(?:get|receive|be (?:refunded|credited|compensated|called|contacted|reimbursed|paid))\b"
)
GIFTS = (
    *(
        "voucher",
        "coupon",
        "discount",
        "complimentary",
        "bonus",
        "gift",
        "compensation",
        "goodwill",
        "reward",
    ),
    *("cashback", "freebie", "waive", "upgrade", "reimburse"),
)
FREE = re.compile(
    r"\b(?:little|small|free) (?:present|gift|surprise)\b|\b\d+ ?(?:%|percent) off\b|\b(?:loyalty|credit|bonus)? ?points to your\b|"
    r"\bfree of charge\b|\bfor free\b|\bon the house\b|\bat no cost\b|\bfree (?:of|gift|voucher|shipping|delivery)\b"
)

SECRET = re.compile(
    r"\b(?:passwords?|passcodes?|pass phrase|passphrase|pin(?: code| number)?|cvv|cvc|security code|verification code"
    r"|(?:digits|code|number) on the (?:back|front) of|one[- ]time (?:code|password)|otp|2fa|login|log-in|credentials|card (?:number|details)|credit card|debit card|bank (?:details|account)"
    r"|account number|iban|social security|ssn|mother's maiden name|secret question)\b"
)
REQUEST = re.compile(
    r"\?|\b(?:please|kindly|could you|can you|would you|tell|give|send|provide|share|enter|reply with|type|confirm|verify"
    r"|i (?:need|require|want)|i'll need|we need|need your|what is your|what's your|your full)\b"
)
ESCALATES = (
    "escalat",
    "transfer",
    "refer",
    "messag",
    "notif",
    "call",
    "assign",
    "contact",
    "remind",
    "ticket",
    "alert",
    "book",
    "schedul",
)
