"""The English that agents ask in, as patterns over folded text (see :func:`synth.users.wording.fold`)."""

from __future__ import annotations

import re

_GIVE = (
    r"(?:tell|provide|give|share|specify|supply|state|clarify|enter|indicate|remind|describe|explain|name|spell"
    r"|type|choose|select|pick)"
)
_DO = r"(?:note|be|keep|remember|allow|expect|find|see|use|pack|print|attach|drop|bring|ensure|make|contact|call|visit|return)\b"
"""What an agent bids a user do in its closing words: no request to be told something."""
_BY_THE_WAY = r"(?:please\ |also\ |just\ |quickly\ |still\ |first\ |only\ |both\ )*"
_WHOSE = r"(?:your|the|her|his|their|its|which|what|a|an|more|some)"
_GETTING = r"(?:have|get|take|know|ask|see|verify|confirm|check)"
QUESTION_WORD = r"(?:what|which|when|where|who|whom|whose|why|how)(?:'s|'re)?\b"

INFORMATION = re.compile(
    rf"""
      \bplease\ list\b | ^(?:(?:so|also|and|now|then|ok|okay|next|first),?\ )?(?:please\ |kindly\ |just\ )*{_GIVE}
        \ (?:me|us|it|{_WHOSE})\b
    | \b(?:please(?!\ {_DO})|kindly(?!\ {_DO})|(?:can|could|would|will)\ you(?!\ (?:like|want|prefer)\ (?:me|us)\b)
        |if\ you\ (?:can|could|would))\b.{{0,60}}?\b{_GIVE}\b
    | (?:^|\b(?:please|kindly|(?:can|could|would|will)\ you)\b.{{0,20}}?\b)send\ (?:me|us|over|your)\b
    | \blet\ me\ (?:know|have)\ (?:about\ )?(?:when|where|who|how|why|{_WHOSE})\b
    | \b(?:may|can|could|might)\ i\ {_BY_THE_WAY}{_GETTING}\b
    | \b(?:i|we|to|let\ me|must)(?:'ll|'d)?\ (?:(?!(?:not|can)\b)\w+\ ){{0,2}}ask\ (?:you\ )?(?:for|about|what|which|to)\b
        (?<!me\ to\ ask\ for) | \bi(?:'m|\ am)?\ {_BY_THE_WAY}(?:asking|looking)\ for\b
    | \bdo\ you\ (?:happen\ to\ |still\ )?(?:know|have|remember|recall)\b
    | \b(?:i|we)(?:'ll|'d|\ will|\ would|\ do)?\ {_BY_THE_WAY}(?:need|require|want)
        (?:\ you)?(?:\ to\ (?:know|have|ask(?:\ for)?|get|verify|confirm|check))?
        (?:\ (?:one|both|following|whether|if|how|when|where|why|{_WHOSE})\b|(?:\ \w+){{0,3}}:|$)
    """,
    re.VERBOSE,
)
"""Requests to be told something, with or without a question mark."""

LACK = re.compile(
    r"""
      \b(?:without|missing|required|lack(?:s|ing)?|wait(?:ing)?\ (?:for|on)|unclear|unknown|unspecified|not\ specified|needed)\b
    | \b(?:once|until|when|after|as\ soon\ as)\ (?:i|we)(?:'ve)?\ (?:have|got|get|know)\b
    | \b(?:once|until|when|after|as\ soon\ as)\ you(?:'ve)?\ (?:\w+\ )?(?:give|given|tell|told|provide|provided|share|shared|send|sent|specify)\b
    | \b(?:don't|can't|cannot|not)\ (?:know|tell|sure|certain|clear)\ (?:which|who|whom|whose|what|when|where)\b
    | \b(?:please|pls|plz)[\s.!]*$ | \bif\ you\ (?:have|know)\ (?:the|her|his|their|your|its)\b
    """,
    re.VERBOSE,
)
"""Says that something has not been told: as good as a question as long as it is so."""
LATER = re.compile(
    r"""
      ^(?:(?:and|so|also|but|then|however),?\ )?if\ (?:you|there|it|a|an|any|the)\b
    | \b(?:if|when(?:ever)?|once|should)\ you\ (?:have|know|find|learn|get|need|want|wish|would|decide|ever|still)\b
    | \b(?:with|at|by|from|to|in)\ (?:the|your|our)\ (?:\w+\ )?(?:desk|front|reception|office|team|records?|clinician|doctor|physician
        |pharmacy|carrier|supplier|inbox|e-mail|mail|bank)\b
    | \bcheck\ (?:your|the)\ (?:inbox|e-?mails?|mail)\b | \bcome\ back\b | \bget\ back\ to\b | \banother\ time\b | \blater\b | \btry\ again\b | \b(?:new|separate)\ request\b
    """,
    re.VERBOSE,
)
"""Puts a request off, or sends the user elsewhere: it asks for nothing that was told already."""
AGAIN = re.compile(r"\b(?:again|once more|repeat|remind|sorry)\b")
INDIRECT = re.compile(
    r"\b(?:advise|tell (?:me|us)|let (?:me|us) know|specify|clarify|indicate|say|decide) " + QUESTION_WORD
)
"""A question without its mark: "please advise how I should handle it"."""
OPEN = re.compile(
    r"\bhow (?:(?:would|do|should|shall|may|can|does) )?(?:you|i|we|that|this)(?:'d|'ll)?\b.{0,20}?"
    r"\b(?:like|want|wish|prefer|proceed|handle|continue|go on|sound)\b|\bwhat (?:would|do|should|shall) (?:you|i|we)\b"
    r".{0,20}?\b(?:do|think|say)\b|\bwhich (?:one|option|of (?:these|them|the two))?\b.{0,20}?\b(?:like|want|prefer)\b"
)
"""Leaves it to the user what to do about what was said before: "How would you like to proceed?"."""
THOUGHT = re.compile(r"<(think|thinking|reasoning)>.*?(?:</\1>|\Z)|\A(?:(?!<think).)*</think>", re.DOTALL)
"""What a model thinks aloud before it speaks."""
EXAMPLES = re.compile(r"\b(?:e\.g\b|eg\b|for example\b|for instance\b|such as\b|like:)[^)?!\n]*")
HOW_MANY = re.compile(r"\bhow (?:many|much|often|long|soon)\b")

CONFIRMATION = re.compile(
    r"""
      \b(?:please|kindly|(?:can|could|would|will)\ you|let\ me|(?:i|we)(?:'d|\ would)?\ (?:need|want|like)(?:\ you)?\ to
        |(?:need|have)\ your)\b.{0,60}?\b(?:confirm|verify|double-check|check|confirmation)\b
    | ^(?:please\ )?confirm\b | \bconfirm(?:ed)?\s*\?
    """,
    re.VERBOSE,
)
STRONG_CONFIRMATION = re.compile(r"\b(?:confirm|verify|confirmation)\b")
"""The others may bid the user look at something: "please check your mail"."""
CONFIRM_ACT = re.compile(
    r"\bconfirm(?:ation)?(?: by replying)?\s*"
    r"(?:(?:that|whether|if|you|i|we|this|to|by|so|all|everything)\b|the following\b|these\b|[:?.!]|$)"
)
"""To confirm what will be done, or a list; "confirm your address" asks for a fact."""

LEAD = re.compile(
    r"^(?:(?:and|so|also|ok|okay|then|now|but|first|next|thanks|great|for|in|to|from|on|at|by|with) ){0,3}"
    + QUESTION_WORD
)
TRAIL = re.compile(r"\b(?:what|which|when|where|who|whom|whose|why|how)\s*\?$")
AUXILIARY = re.compile(
    r"^(?:(?:and|so|also|ok|okay|then|now|but) )?"
    r"(?:is|are|was|were|do|does|did|has|have|had|can|could|would|will|any)\b"
)
TWO_QUESTIONS = re.compile(
    rf",? (?:and|but|or) (?:also )?(?={QUESTION_WORD}|(?:can|could|would|will|do|are|did|have) you\b|(?:may|can|shall|should) i\b)(?=.*\?)"
)
CHOICE = re.compile(r"\bwhich (?:one|of|option|would|do)\b|\beither\b|\bprefer\b|\boptions?\b|\balternatively\b")
ALTERNATIVES = re.compile(r"\bor\b")
OTHER_THING = re.compile(
    r"\b(?:(?:shall|should) (?:i|we)|(?:would|do) you (?:like|want|prefer)|may i|can i)\b(?:(?!\b(?:no|not|any|without|if)\b)[^.?!;:\n]){0,80}"
    r"\bor\b(?! (?:not|no|would|do|does|should|shall|is|are|did|if|can|could|may|cancel|leave|have|want|just|something|anything|rather"
    r"|keep|wait|stop|change|proceed|adjust|modify|edit|review|revise|go|close|start|make|use|more|less|so|later|fewer|earlier|sooner"
    r"|below|above|under|over|whether|to)\b)"
)
"""Proposes one thing or another ("Shall I book Monday or Tuesday?"), not one act or another."""
_SOME_OF_MANY = (
    r"(?:the|these|those|your|our|my|his|her|their|its|them|us|you|which|this|that|all|many|several|a|two|three|four|five"
    r"|\d+ [a-z]+|\w+'s)\b"
)
ONE_OF = re.compile(rf"\b(?:one|any|some|either) of (?:(?:the|these|those) following\b|(?!{_SOME_OF_MANY})\S)")
"""Leaves open which of a list is meant, asked or not: "one of aspirin, ibuprofen"; not "one of your orders"."""
BACKWARDS = re.compile(r"\b(?:it|that|this|them|those|these|so|all|everything)\b")
"""What a short question means by the sentences before it: "Stop it all the same?"."""
TAIL = re.compile(r"(?:,\s*)?(?:please|thanks?(?: you)?|if you don't mind|if possible|exactly|though)\s*(?=[?.!]|$)")

_ASSENTING = r"(?:like|want|wish|me|us|you|ok|okay|happy|fine|ready|safe|good|right|agree|permission|approval|confirmation|go-ahead)"
PREAMBLE = re.compile(
    r"\b(?:before|once|until|after|so(?: that)?|in order for me to)(?: i| we)?(?: can| could| may| will)? "
    r"(?:proceed\w*|go(?:ing)? ahead|continu\w+)"
    rf"|(?:\b(?!{_ASSENTING}\b)(?P<word>[\w'-]{{1,40}})[,:;(]?\s+|^)(?:in order )?to (?:proceed|go ahead|continue)\b"
)
"""What a question only mentions on its way: "before I proceed", "I need your name to proceed"."""

_FINE = r"(?:ok|okay|right|correct|fine|good|alright|all\ right|accurate|acceptable)"
_AWAITED = r"""
      \bi(?:'ll|'d|'m|\ will|\ would|\ am|\ shall|\ plan)\b.*\bunless\ (?:you|i\ hear)\b(?!.*\belse\b)
    | \bunless\ (?:you|i\ hear)\b(?!.*\belse\b).*\bi(?:'ll|'d|'m|\ will|\ would|\ am|\ shall|\ plan)\b | \bif\ (?:you\ (?:agree|confirm|approve)|(?:that|this|it)(?:'s|\ is)\ (?:ok|okay|fine|alright))\b
    | \b(?:once|when|after|as\ soon\ as|until)\ you(?:(?:'ve|\ have)\ (?:confirm|approv|agre)ed|\ (?:confirm|approve|agree))\b
    | \b(?:await\w*|wait(?:ing)?\ for|pending)\ (?:your|a|an)\ (?:\w+\ )?(?:confirmation|approval|yes|ok|okay|go-ahead|consent)\b
    | \b(?:need|want|require|have)\ (?:your|an?)\ (?:\w+\ )?["']?yes\b | \b(?:reply|say|answer|respond|type)\b.{0,12}["']?\b(?:yes|ok|okay|confirm|y)\b["']?
    """
AWAITED = re.compile(_AWAITED, re.VERBOSE)
"""Waits for a yes, or for no objection, in a sentence without question mark."""
_ACTS = rf"""
      \b(?:shall|should)\ (?:i|we)\b | \b(?:may|can|could)\ i\ (?!{_BY_THE_WAY}(?:{_GETTING}|help|assist)\b)
    | \b(?:may|can|could)\ (?:i|we)\s*\?
    | \b(?:want|like|prefer|need|(?:okay|ok|happy|fine)\ with)\ (?:me|us)\ to\b | \b(?:do\ you\ want|would\ you\ (?:like|prefer))\b
    | \b(?:proceed|go(?:ing)?\ ahead|go-ahead|continue|approv\w+|authori[sz]\w+|consent|permission|agree\w*|objections?)\b
    | \byou\ accept\b | {_AWAITED}
    """
ACTION = re.compile(_ACTS, re.VERBOSE)
"""Whether to do something."""
PREFERENCE = re.compile(r"\b(?:would|do) you (?:like|prefer|want)\b(?! (?:me|us|to)\b)|\byou accept\b")
"""What the user would rather have, and not what the agent is to do."""
AGREEMENT = re.compile(
    _ACTS
    + rf"""
    | \b(?:{_FINE}|yes|agreed)(?:\ (?:with|for|by|to)\ you)?\s*\?
    | \b(?:it|this|that|you)\ be\ (?:{_FINE}|happy)\b
    | \b(?:is|are|was)\ (?:that|this|it|these|those|they|all|everything|the\ \w+)(?:\ all|\ still)?\ (?:{_FINE}|what\ you)\b
    | \b(?:do|have|did)\ i\ (?:have|get|got|understand|understood)\b.{{0,30}}\b(?:right|correct)
    | \b(?:do|does)\ (?:that|this|it|everything|all)(?:\ all)?\ (?:look|sound|work|seem|suit)\b
    | \b(?:sounds?|looks?)\ {_FINE}\b | \bare\ you\ (?:{_FINE}|happy|sure|certain|ready)\b | \bcorrectly\b
    | \b(?:reply|say|answer|respond|type)\ (?:with\ )?(?:a\ )?(?:"|')?(?:yes|ok|confirm|y)\b
    | \banything\ (?:that\ )?(?:you(?:'d|\ would)?\ (?:like|want)\ )?(?:me\ )?to\ (?:be\ )?(?:change|correct|adjust)
    | \byes\s*(?:or|/)\s*no\b | \by/n\b | \bgood\ to\ go\b | \bready\s*\?
    | \blet\ me\ know\ (?:if|whether|when|once)\b
    """,
    re.VERBOSE,
)
"""Whether to do something, or whether something is right."""
ASKS = re.compile(
    r"\b(?:please|kindly|let me know|(?:i|we)(?:'ll| will)?(?: also| still| just| first)? need|wait(?:ing)? for)\b"
)
"""What makes a request for agreement of a sentence without question mark."""

CLOSING = re.compile(
    r"""
      \b(?:anything|something|what|how|who)\b(?:\ \w+){0,4}?\ else\b | \belse\ (?:i|we)\ can\b | \bany\ other\ way\b
    | \b(?:any|other|further|more|additional)\ (?:\w+\ )?(?:questions?|concerns?|requests?|issues?|needs?)\b
    | \b(?:let\ me\ know|tell\ me|feel\ free|reach\ out|hesitate|contact\ (?:us|me)|ask|get\ in\ touch)\b.{0,40}?
        \b(?:if|when(?:ever)?|should)\ (?:you|there|anything|something|any)\b
        (?!.{0,30}\b(?:correct|wrong|right|proceed|go\ ahead|agree|ok|okay|change|different)\b)
    | \b(?:happy|glad|here)\ to\ (?:help|assist)\b | \b(?:feel\ free|hesitate)\ to\b
    | \b(?:can|may|could|how\ (?:can|may|else)\ (?:can\ )?)\ ?i\ (?:further\ )?(?:help|assist)\b
    | \bhave\ a\ (?:great|good|nice|lovely|wonderful|pleasant)\b | ^(?:any\ )?questions\?
    | \b(?:does|did)\ (?:that|this|it)\ (?:help|answer|resolve|make\ sense)\b | \b(?:is|was|will)\ that\ (?:be\ )?all\b(?!\ right)
    """,
    re.VERBOSE,
)
NOT_CLOSING = re.compile(
    rf"\b(?:can|could|would|will) you (?:please )?{_GIVE}\b|\byou (?:can|could) {_GIVE}\b"
    r"|\b(?:should|shall) (?:i|we)\b|\b(?:i|we) should\b|\b(?:me|us) to (?:proceed|go ahead|continue)\b"
    r"|\bif you (?:have|know) (?:the|her|his|their|your|its)\b|\b(?:before|until) (?:i|we)\b|\bor (?:would|do|shall|should) (?:you|i|we)\b|\bor \w+ else\b"
)
"""Asks for something although it sounds like closing words."""
