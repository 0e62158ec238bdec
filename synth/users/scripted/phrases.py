"""Patterns of the English that agents ask in, over folded text.

See :func:`synth.language.wording.fold`. :data:`SAMPLES` lists texts that each pattern matches
and texts that it does not match.
"""

from __future__ import annotations

import re

_GIVE = (
    r"(?:tell|provide|give|share|specify|supply|state|clarify|enter|indicate|remind|describe|explain|name|spell"
    r"|type|choose|select|pick)"
)
_DO = r"(?:note|be|keep|remember|allow|expect|find|see|use|pack|print|attach|drop|bring|ensure|make|contact|call|visit|return)\b"
"""Verbs of advice in closing words, which request no information."""
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
"""Statements that information is missing: they count as questions until it is told."""
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
"""Requests that are put off or lead elsewhere: they ask for nothing that was told already."""
AGAIN = re.compile(r"\b(?:again|once more|repeat|remind|sorry)\b")
INDIRECT = re.compile(
    r"\b(?:advise|tell (?:me|us)|let (?:me|us) know|specify|clarify|indicate|say|decide) "
    + QUESTION_WORD
)
"""Questions without a mark: "please advise how I should handle it"."""
OPEN = re.compile(
    r"\bhow (?:(?:would|do|should|shall|may|can|does) )?(?:you|i|we|that|this)(?:'d|'ll)?\b.{0,20}?"
    r"\b(?:like|want|wish|prefer|proceed|handle|continue|go on|sound)\b|\bwhat"
    r" (?:would|do|should|shall) (?:you|i|we)\b"
    r".{0,20}?\b(?:do|think|say)\b|\bwhich (?:one|option|of (?:these|them|the"
    r" two))?\b.{0,20}?\b(?:like|want|prefer)\b"
)
"""Questions that leave the act to the user: "How would you like to proceed?"."""
THOUGHT = re.compile(
    r"<(think|thinking|reasoning)>.*?(?:</\1>|\Z)|\A(?:(?!<think).)*</think>", re.DOTALL
)
"""Reasoning of a model before its answer."""
EXAMPLES = re.compile(r"\b(?:e\.g\b|eg\b|for example\b|for instance\b|such as\b|like:)[^)?!\n]*")
HOW_MANY = re.compile(r"\bhow (?:many|much|often|long|soon)\b")

_ANY = r"(?:the|any|more|some|further|additional|other|all|your|of|relevant|missing|necessary|required|needed|full|exact|these|those|few|me|specific)"
GENERIC = re.compile(
    rf"""
      (?:^|\b{_ANY}\ )(?:details?|information|info|particulars|specifics|context|data|facts)\b
    | \b(?:tell|give|share|say)\b.{{0,20}}?\b(?:more|everything|all\ (?:you|that\ you)\ know|a\ (?:bit|little)\ more)\b
    | \b(?:what|anything|something)\ (?:else|more)\b.{{0,20}}?\b(?:need|know|tell|share|give|have|require|provide)\b
    | \bwhat\ (?:do|would|should|must|can)\ (?:you|i)\ (?:\w+\ )?(?:need|know|tell)\b | \belaborate\b | \bmore\ specific\b
    | \b(?:what|which)\ (?:(?:details|information|info)\ )?(?:can|could|would|do)\ you\ (?:tell|share|give|have)\b
    """,
    re.VERBOSE,
)
"""Questions for whatever the user can add."""

CONFIRMATION = re.compile(
    r"""
      \b(?:please|kindly|(?:can|could|would|will)\ you|let\ me|(?:i|we)(?:'d|\ would)?\ (?:need|want|like)(?:\ you)?\ to
        |(?:need|have)\ your)\b.{0,60}?\b(?:confirm|verify|double-check|check|confirmation)\b
    | ^(?:please\ )?confirm\b | \bconfirm(?:ed)?\s*\?
    """,
    re.VERBOSE,
)
STRONG_CONFIRMATION = re.compile(r"\b(?:confirm|verify|confirmation)\b")
"""Verbs of confirmation alone; others may ask the user to look at something: "please check your
mail".
"""
CONFIRM_ACT = re.compile(
    r"\bconfirm(?:ation)?(?: by replying)?\s*"
    r"(?:(?:that|whether|if|you|i|we|this|to|by|so|all|everything)\b|the"
    r" following\b|these\b|[:?.!]|$)"
)
"""Requests to confirm an act, or a list; "confirm your address" asks for a fact."""

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
    rf",? (?:and|but|or) (?:also )?(?={QUESTION_WORD}|(?:is|are) there\b|let me know\b|(?:can|could|would|will|do|are|did|have)"
    r" you\b|(?:may|can|shall|should) i\b)(?=.*\?)"
)
CHOICE = re.compile(
    r"\bwhich (?:one|of|option|would|do)\b|\beither\b|\bprefer\b|\boptions\b|\balternatively\b"
)
ALTERNATIVES = re.compile(r"\bor\b")
OTHER_THING = re.compile(
    r"\b(?:(?:shall|should) (?:i|we)|(?:would|do) you (?:like|want|prefer)|may i|can"
    r" i)\b(?:(?!\b(?:no|not|any|without|if)\b)[^.?!;:\n]){0,80}"
    r"\bor\b(?!"
    r" (?:not|no|would|do|does|should|shall|is|are|did|if|can|could|may|cancel|leave|have|want|just|something|anything|rather"
    r"|keep|wait|stop|change|proceed|adjust|modify|edit|review|revise|go|close|start|make|use|more|less|so|later|fewer|earlier|sooner"
    r"|below|above|under|over|whether|to)\b)"
)
"""Proposals of one thing or another ("Shall I book Monday or Tuesday?"), not of one act or
another.
"""
_SOME_OF_MANY = (
    r"(?:the|these|those|your|our|my|his|her|their|its|them|us|you|which|this|that|all|many|several|a|two|three|four|five"
    r"|\d+ [a-z]+|\w+'s)\b"
)
ONE_OF = re.compile(
    rf"\b(?:one|any|some|either) of (?:(?:the|these|those) following\b|(?!{_SOME_OF_MANY})\S)"
)
"""One of a list, left open: "one of aspirin, ibuprofen"; not "one of your orders"."""
BACKWARDS = re.compile(r"\b(?:it|that|this|them|those|these|so|all|everything)\b")
"""Pronouns by which a short question refers to earlier sentences: "Stop it all the same?"."""
TAIL = re.compile(
    r"(?:,\s*)?(?:please|thanks?(?: you)?|if you don't mind|if"
    r" possible|exactly|though)\s*(?=[?.!]|$)"
)

_ASSENTING = r"(?:like|want|wish|me|us|you|ok|okay|happy|fine|ready|safe|good|right|agree|permission|approval|confirmation|go-ahead)"
PREAMBLE = re.compile(
    r"\b(?:before|once|until|after|so(?: that)?|in order for me to)(?: i| we)?(?: can| could| may|"
    r" will)? "
    r"(?:proceed\w*|go(?:ing)? ahead|continu\w+)"
    rf"|(?:\b(?!{_ASSENTING}\b)(?P<word>[\w'-]{{1,40}})[,:;(]?\s+|^)(?:in order )?to (?:proceed|go"
    r" ahead|continue)\b"
)
"""Preambles of a question: "before I proceed", "I need your name to proceed"."""

_FINE = r"(?:ok|okay|right|correct|fine|good|alright|all\ right|accurate|acceptable)"
_AWAITED = r"""
      \bi(?:'ll|'d|'m|\ will|\ would|\ am|\ shall|\ plan)\b.*\bunless\ (?:you|i\ hear)\b(?!.*\belse\b)
    | \bunless\ (?:you|i\ hear)\b(?!.*\belse\b).*\bi(?:'ll|'d|'m|\ will|\ would|\ am|\ shall|\ plan)\b | \bif\ (?:you\ (?:agree|confirm|approve)|(?:that|this|it)(?:'s|\ is)\ (?:ok|okay|fine|alright))\b
    | \b(?:once|when|after|as\ soon\ as|until)\ you(?:(?:'ve|\ have)\ (?:confirm|approv|agre)ed|\ (?:confirm|approve|agree))\b
    | \b(?:await\w*|wait(?:ing)?\ for|pending)\ (?:your|a|an)\ (?:\w+\ )?(?:confirmation|approval|yes|ok|okay|go-ahead|consent)\b
    | \b(?:need|want|require|have)\ (?:your|an?)\ (?:\w+\ )?["']?yes\b | \b(?:reply|say|answer|respond|type)\b.{0,12}["']?\b(?:yes|ok|okay|confirm|y)\b["']?
    """
AWAITED = re.compile(_AWAITED, re.VERBOSE)
"""Statements that wait for a yes, or for no objection."""
_ACTS = rf"""
      \b(?:shall|should)\ (?:i|we)\b | \b(?:may|can|could)\ i\ (?!{_BY_THE_WAY}(?:{_GETTING}|help|assist)\b)
    | \b(?:may|can|could)\ (?:i|we)\s*\?
    | \b(?:want|like|prefer|need|(?:okay|ok|happy|fine)\ with)\ (?:me|us)\ to\b | \b(?:do\ you\ want|would\ you\ (?:like|prefer))\b
    | \b(?:proceed|go(?:ing)?\ ahead|go-ahead|continue|approv\w+|authori[sz]\w+|consent|permission|agree\w*|objections?)\b
    | \byou\ accept\b | {_AWAITED}
    """
ACTION = re.compile(_ACTS, re.VERBOSE)
"""Questions for permission to act."""
PREFERENCE = re.compile(
    r"\b(?:would|do) you (?:like|prefer|want)\b(?! (?:me|us|to)\b)|\byou accept\b"
)
"""Questions for a preference of the user, not for an act of the agent."""
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
"""Questions for permission to act, or for the correctness of something."""
ASKS = re.compile(
    r"\b(?:please|kindly|let me know|(?:i|we)(?:'ll| will)?(?: also| still| just| first)?"
    r" need|wait(?:ing)? for)\b"
)
"""Words that make a sentence without a question mark a request for agreement."""

_OTHER = (
    r"(?:alternatives?|substitutes?|something (?:else|similar|different|comparable)"
    r"|(?:an)?other (?:options?|choices?|possibilit\w+|solutions?|ones?)"
    r"|(?:different|similar|comparable) (?:options?|ones?))"
)
OTHER_WORDS = re.compile(rf"\b{_OTHER}\b")
"""Words for something in the place of another thing."""
OTHER_OFFER = re.compile(
    r"\b(?:(?:would|do) you (?:like|want|prefer)|(?:shall|should|may|can|could) (?:i|we)"
    rf"|are you interested in|interested in|how about|what about)\b[^.?!\n]{{0,60}}?\b{_OTHER}\b"
    rf"|\b(?:let me know|tell me) (?:if|whether) you[^.?!\n]{{0,40}}?\b{_OTHER}\b"
)
"""Offers of something in the place of what the user wants."""

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
    r"|\b(?:should|shall) (?:i|we)\b|\b(?:i|we) should\b|\b(?:me|us) to (?:proceed|go"
    r" ahead|continue)\b"
    r"|\bif you (?:have|know) (?:the|her|his|their|your|its)\b|\b(?:before|until) (?:i|we)\b|\bor"
    r" \w+ else\b|\belse (?:that )?(?:i|we) (?:should|need|must|ought|have to)\b"
    r"|\bwhat else (?:do|can|could|should|would) (?:you|i|we)\b(?! (?:help|do for|assist))|\bor"
    r" (?:would|do|shall|should) (?:you|i|we)\b"
    r"|\b(?:proceed|confirm|choose|pick|specify|either of|one of (?:these|those|them)|(?:need|ready for) me to)\b"
)
"""Requests that sound like closing words."""

SAMPLES: tuple[tuple[re.Pattern[str], tuple[str, ...], tuple[str, ...]], ...] = (
    (
        INFORMATION,
        ("please tell me your name", "may i have the order number?", "i need your address"),
        ("please note that shipping is free", "i will cancel it"),
    ),
    (LACK, ("the dose is missing.", "waiting for the date"), ("the dose is 5 mg.",)),
    (
        LATER,
        ("if you find it, let me know.", "please check with the desk.", "come back another time"),
        ("what is the order number?",),
    ),
    (AGAIN, ("could you say that again?", "sorry?"), ("what is it?",)),
    (
        INDIRECT,
        ("please advise how i should handle it", "let me know which one"),
        ("please handle it",),
    ),
    (OPEN, ("how would you like to proceed?", "what should i do?"), ("shall i proceed?",)),
    (THOUGHT, ("<think>42</think>yes", "hm</think>yes"), ("i think so",)),
    (EXAMPLES, ("an id, for example lp-11410",), ("an id",)),
    (HOW_MANY, ("how many do you want?",), ("how do you want it?",)),
    (
        GENERIC,
        (
            "could you share the details?",
            "please provide more information",
            "what else do you need from me?",
            "is there anything else that i should know?",
            "tell me more",
        ),
        ("what is your insurance information?", "which details", "is there anything else?"),
    ),
    (CONFIRMATION, ("please confirm your address", "could you verify it?"), ("it was confirmed.",)),
    (STRONG_CONFIRMATION, ("please confirm",), ("please check your mail",)),
    (
        CONFIRM_ACT,
        ("please confirm that i should cancel it", "please confirm:"),
        ("confirm your address",),
    ),
    (LEAD, ("what is your name?", "and which one?"), ("is it what you want?",)),
    (TRAIL, ("you want it when?",), ("when do you want it?",)),
    (AUXILIARY, ("is it right?", "and can you say?"), ("aspirin 5 mg for ada?",)),
    (TWO_QUESTIONS, ("may i go ahead, and what is your name?",), ("may i go ahead?",)),
    (CHOICE, ("which one?", "either of them"), ("is it right?",)),
    (ALTERNATIVES, ("keep it or close it?",), ("keep it?",)),
    (
        OTHER_THING,
        ("shall i book monday or tuesday?",),
        ("shall i book it or cancel it?", "shall i book monday?"),
    ),
    (ONE_OF, ("one of aspirin, ibuprofen", "any of the following"), ("one of your orders",)),
    (BACKWARDS, ("stop it all the same?",), ("stop aspirin?",)),
    (TAIL, ("your name, please?", "your name thanks"), ("please say your name",)),
    (
        PREAMBLE,
        ("before i proceed, what is it?", "i need your name to proceed"),
        ("would you like to proceed?",),
    ),
    (
        AWAITED,
        (
            "i'll order it unless you object",
            "once you confirm, it is done",
            "waiting for your approval",
        ),
        ("i ordered it.",),
    ),
    (ACTION, ("shall i cancel it?", "do you want me to stop?"), ("is that right?",)),
    (PREFERENCE, ("would you like a window seat?",), ("would you like me to book it?",)),
    (AGREEMENT, ("is that right?", "shall i go ahead?", "reply with yes"), ("what is your name?",)),
    (ASKS, ("please do", "let me know"), ("it is done.",)),
    (OTHER_WORDS, ("an alternative", "something similar"), ("the other order",)),
    (
        OTHER_OFFER,
        (
            "would you like an alternative?",
            "shall i offer you something else?",
            "are you interested in other options?",
            "should i look for a similar one?",
            "let me know if you want an alternative.",
        ),
        (
            "would you like a blue one?",
            "is there anything else?",
            "shall i cancel it? alternatives cost more.",
        ),
    ),
    (
        CLOSING,
        ("is there anything else?", "have a nice day", "feel free to ask"),
        ("what is your name?",),
    ),
    (
        NOT_CLOSING,
        ("can you tell me anything else?", "should i go on?"),
        ("is there anything else?",),
    ),
)
"""Each pattern with texts that it matches and texts that it does not match."""
