"""The English that agents ask in, as patterns over folded text (see :func:`synth.users.wording.fold`)."""

from __future__ import annotations

import re

_GIVE = (
    r"(?:tell|provide|give|share|specify|send|supply|state|clarify|enter|indicate|remind|describe|explain|name|spell"
    r"|type|choose|select|pick)"
)
_BY_THE_WAY = r"(?:please\ |also\ |just\ |quickly\ |still\ |first\ |only\ |both\ )*"
_WHOSE = r"(?:your|the|her|his|their|its|which|what|a|an|more|some)"
_GETTING = r"(?:have|get|take|know|ask|see|verify|confirm|check)"
QUESTION_WORD = r"(?:what|which|when|where|who|whom|whose|why|how)(?:'s|'re)?\b"

INFORMATION = re.compile(
    rf"""
      ^(?:(?:so|also|and|now|then|ok|okay|next|first),?\ )?(?:please\ |kindly\ |just\ )*{_GIVE}
        \ (?:me|us|it|{_WHOSE})\b
    | \b(?:please|kindly|(?:can|could|would|will)\ you(?!\ (?:like|want|prefer)\ (?:me|us)\b)|if\ you\ (?:can|could|would))\b
        .{{0,60}}?\b{_GIVE}\b
    | \blet\ me\ (?:know|have)\ (?:about\ )?(?:when|where|who|how|why|{_WHOSE})\b
    | \b(?:may|can|could|might)\ i\ {_BY_THE_WAY}{_GETTING}\b
    | \bask\ (?:you\ )?(?:for|about|what|which)\b | \bi(?:'m|\ am)?\ {_BY_THE_WAY}(?:asking|looking)\ for\b
    | \bdo\ you\ (?:happen\ to\ |still\ )?(?:know|have|remember|recall)\b
    | \b(?:i|we)(?:'ll|'d|\ will|\ would|\ do)?\ {_BY_THE_WAY}(?:need|require|want)
        (?:\ you)?(?:\ to\ (?:know|have|ask(?:\ for)?|get|verify|confirm|check))?
        (?:\ (?:one|both|following|{_WHOSE})\b|:|$)
    """,
    re.VERBOSE,
)
"""Requests to be told something, with or without a question mark."""

CONFIRMATION = re.compile(
    r"""
      \b(?:please|kindly|(?:can|could|would|will)\ you|let\ me|(?:i|we)(?:'d|\ would)?\ (?:need|want|like)(?:\ you)?\ to
        |(?:need|have)\ your)\b.{0,60}?\b(?:confirm|verify|double-check|check|confirmation)\b
    | ^(?:please\ )?confirm\b | \bconfirm(?:ed)?\s*\?
    """,
    re.VERBOSE,
)
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
    rf",? (?:and|but|or) (?:also )?(?={QUESTION_WORD}|(?:can|could|would|will|do) you\b|(?:may|can|shall|should) i\b)(?=.*\?)"
)
CHOICE = re.compile(r"\bwhich (?:one|of|option)\b|\beither\b|\bprefer\b|\boptions?\b|\balternatively\b")
ALTERNATIVES = re.compile(r"\bor\b")
BACKWARDS = re.compile(r"\b(?:it|that|this|them|those|these|so|all|everything)\b")
"""What a short question means by the sentences before it: "Stop it all the same?"."""
TAIL = re.compile(r"(?:,\s*)?(?:please|thanks?(?: you)?|if you don't mind|if possible|exactly|though)\s*(?=[?.!]|$)")

_ASSENTING = r"(?:like|want|wish|me|us|you|ok|okay|happy|fine|ready|safe|good|right|agree|permission|approval|confirmation|go-ahead)"
PREAMBLE = re.compile(
    r"\b(?:before|once|until|after|so(?: that)?|in order for me to)(?: i| we)?(?: can| could| may| will)? "
    r"(?:proceed\w*|go(?:ing)? ahead|continu\w+)"
    rf"|(?:\b(?!{_ASSENTING}\b)(?P<word>[\w'-]+)[,:;(]?\s+|^)(?:in order )?to (?:proceed|go ahead|continue)\b"
)
"""What a question only mentions on its way: "before I proceed", "I need your name to proceed"."""

_ACTS = rf"""
      \b(?:shall|should)\ (?:i|we)\b | \b(?:may|can|could)\ i\ (?!{_BY_THE_WAY}(?:{_GETTING}|help|assist)\b)
    | \b(?:want|like|prefer|need|(?:okay|ok|happy|fine)\ with)\ (?:me|us)\ to\b | \b(?:do\ you\ want|would\ you\ (?:like|prefer))\b
    | \b(?:proceed|go(?:ing)?\ ahead|go-ahead|continue|approv\w+|authori[sz]\w+|consent|permission|agree\w*)\b
    """
ACTION = re.compile(_ACTS, re.VERBOSE)
"""Whether to do something."""
_FINE = r"(?:ok|okay|right|correct|fine|good|alright|accurate|acceptable)"
AGREEMENT = re.compile(
    _ACTS
    + rf"""
    | \b(?:{_FINE}|yes|agreed)(?:\ (?:with|for|by|to)\ you)?\s*\?
    | \b(?:is|are|was)\ (?:that|this|it|these|those|they|all|everything|the\ \w+)(?:\ all|\ still)?\ (?:{_FINE}|what\ you)\b
    | \b(?:do|have|did)\ i\ (?:have|get|got|understand|understood)\b.{{0,30}}\b(?:right|correct)
    | \b(?:do|does)\ (?:that|this|it|everything|all)(?:\ all)?\ (?:look|sound|work|seem|suit)\b
    | \b(?:sounds?|looks?)\ {_FINE}\b | \bare\ you\ (?:{_FINE}|happy|sure|certain|ready)\b | \bcorrectly\b
    | \b(?:reply|say|answer|respond|type)\ (?:with\ )?(?:a\ )?(?:"|')?(?:yes|ok|confirm|y)\b
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
    | \b(?:happy|glad|here)\ to\ (?:help|assist)\b | \b(?:feel\ free|hesitate)\ to\b | \b(?:does|did)\ (?:that|this)\ help\b
    | \b(?:can|may|could|how\ (?:can|may|else)\ (?:can\ )?)\ ?i\ (?:further\ )?(?:help|assist)\b
    | \bhave\ a\ (?:great|good|nice|lovely|wonderful|pleasant)\b
    """,
    re.VERBOSE,
)
NOT_CLOSING = re.compile(
    rf"\b(?:can|could|would|will) you (?:please )?{_GIVE}\b|\byou (?:can|could) {_GIVE}\b"
    r"|\b(?:should|shall) (?:i|we)\b|\b(?:i|we) should\b|\b(?:me|us) to (?:proceed|go ahead|continue)\b"
    r"|\b(?:before|until) (?:i|we)\b|\bor (?:would|do|shall|should) (?:you|i|we)\b|\bor \w+ else\b"
)
"""Asks for something although it sounds like closing words."""
