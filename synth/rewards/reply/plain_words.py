"""Plain words: those that an assistant may use in any conversation, because they name no thing and
no act outside of it.

A word belongs here if no sentence that is made of such words alone can tell of an event. Things
(a car, a letter, a lawyer), gifts, people and acts that change something (send, charge, install)
do not belong here: they have to be known from the conversation.
"""

from __future__ import annotations

from synth.language.wording import stem

_GRAMMAR = """
a about above according across after afterwards again against ah ahead ain all almost alone along
already alright also although altogether always am among an and another any anybody anyone anything
anyway apart are aren around as at away back be because been before beforehand behind being below
beneath beside besides between beyond both but by can cannot concerning could couldn despite did
didn do does doesn doing don done down dozen due during each earlier early eight eighteen eighty
either eleven else enough etc even ever every everybody everyone everything except few fewer
fifteen fifth fifty first five for forth forty four fourteen fourth from fully further furthermore
furthest had hadn half has hasn have haven having he hence her here hers herself him himself his
hmm how however hundred i if in indeed inside instead into is isn it its itself just lastly late
later least less let like likewise little many may maybe me meantime meanwhile might million mine
minus more moreover most much must mustn my myself near neither never next nine nineteen ninety no
nobody none nope nor not nothing now nowadays of off often oh ok okay on once one ones only onto or
other others otherwise our ours ourselves out outside over own per percent perhaps please plus
quite rather re really regarding regardless same second seven seventeen seventy shall she should
shouldn since six sixteen sixty so some somebody somehow someone something sometimes somewhat soon
sooner still straight such ten than that the their theirs them themselves then there therefore
these they third thirteen thirty this those though thousand three thrice through throughout thus
till to today together tomorrow too toward towards twelve twenty twice two under unless unlike
until up upfront upon us usually very via vs was wasn we well were weren what whatever when where
whereas whether which whichever while who whom whose why will with within without won would wouldn
yeah yep yes yesterday yet you your yours yourself yourselves zero
"""
_COURTESY = """
absolutely afraid afternoon ago annoyance annoyed annoying apologies apologise apologising
apologize apologizing apology appreciate appreciated appreciation assurance assure assured awesome
bear best bit bot bother brilliant bye care cheers confusing confusion congratulations cool crossed
day dear deepest delighted disappointed disappointing disappointment enjoy evening excellent excuse
faithfully fantastic fine fingers forgive frank frankly frustrated frustrating frustration glad
gladly good goodbye goodness gotcha grateful great greetings happily happy hassle heads hello hey
hi hiccup honest honestly hope hopefully inconvenience inconvenient kind kindly lovely luck madam
mix mixup morning mr mrs ms nice night noted pardon patience patient perfect pleased pleasure
regards regret rest roger safe sec sincere sincerely sincerest sir smooth sorry sounds stress
stressful super sweet thank thankful thanks trouble understand understanding understood unfortunate
unfortunately upset upsetting warm warmest welcome wish wishes wonderful worried worries worry
"""
_OWN_WORK = """
abide absence absent abundance accept acceptable accident accomplish accomplished accord accordance
accurate accurately achieve acknowledge acquainted act action actions activity actually adapt add
additional additionally address adhere admit advice advise affairs affect agent aggregate agree
agreed agreement ai alias aliases alike allow alter alternative alternatives ambiguity ambiguous
amid amongst amount analyse analysis analyze angle anomaly answer answers anticipate anticipated
apparently appear appears applicable applied applies apply approach appropriate area arise
arithmetic arrange arrive arrow article ascend ascending aside ask asked asking aspect assess
assessment assist assistance assistant assume assumption asterisk attempt attention authorise
authorised authorize authorized automated automatic automatically avail await aware awkward
backdrop ballpark base based basically basis bearer beat become began begin behalf behave belong
blank block body bold bottom bound boundary bracket brackets brevity brief briefly bring broad
broken bullet busy calculate calculation call called careful carefully carry case cases category
caught cause caution caveat certain certainly chance change changes chase chat check checks
cheerful chime choice choose chosen circumstance circumstances cite claim clarification clarify
clean clear clear-cut clearance clearly clerical clockwork close clue code coherent coincide
collect column columns combine come comfort comfortable command comment common comparable compare
comparison complete completed completely comprehensive compute concern concerns concise conclude
conclusion concrete condition confidence confident confidential confidentiality confirm
confirmation conflict conform conscious consequently consider consistent constant constraint
constraints contain content context continue contradict contrary convenience convenient
conversation convey conveyed cooperate cooperation core correct correctly correspond corresponding
count couple course courteous cover create credible criteria criterion crucial cte cumbersome
curious current currently data database date deal dealt decide decimal decision decline deduce deep
deeper default definitely definition deliberate delve demand denominator deny depend dependable
depth descend descending describe description desire desired detail details detect determine
deviate deviation differ difference different differently dig diligence diligent direct directly
discern disclose discover discrepancy discretion discuss display disregard distinct divide divided
division dot double double-check doubt downside downward dug duly duplicate duplicates eager ease
easier easiest easily easy edge edit effect effort elaborate element eliminate email emphasise
emphasize empty encounter end endeavour ended engage english enquiry ensure enter entire entirely
entirety entries entry equal equivalent error escape especially essential essentially evaluate
evidence evident evidently exact exactly examine examined example exceed exception exclude
exclusively execute executed exhaustive exist existing expect expectation expectations explain
explanation explicit explicitly explore express extent extra extract eye eyeball eyes face fact
factor fail fair fairly fairness fall false familiar far fast fault favour feature feedback feel
feelings fell fetch field figure figures file fill filter final finalise finalize finally find
finding findings finish firm firsthand fit fix fixed flag flow fluke focus follow following follows
forget forgot form formal formality format formatting former formula fortunate fortunately found
foundation fraction fresh front fulfil fulfilled full fundamental fuss future gather general
generally get gets getting gist give given gives gladden glance glean glitch go goes going gone got
grain granted grasp ground group grouped guess guidance guide guideline guidelines hand handed
handful handle handled hands handy happen hard haste headline hear heard heart held help helpful
helps hesitate hidden high higher highest highlight hint hit hits hold hooray hunch hurry id idea
identified identify ignore ignored illustrate imagine immediate immediately impact implication
implicit implicitly imply important importantly impossible impression inaccurate inclined include
included includes including inclusive incomplete inconsistent incorrect independent indicate
individual infer inferred info inform information inherent initial initially inkling inner input
inquire inquiry insight insist inspect instance instant instantly instruct instruction instructions
intact integer integrity intend intention interact interest interim internal interpret
interpretation interruption intervene intervention intuitive invalid investigate involve involved
irregularity isolate issue issues item itemise itemised items job join judge judgement keep kept
kidding knew know knowledge known label lack language large larger last latest latter lay layout
lead learn leave leeway left legible legitimate length level liberty lie lies light likely limit
limits line lines list listed literal live local locate logic logical long longer look looked
looking looks lookup lookups loop lot loud low lower lowest made main mainly make makes making
manage mandate mandatory manner manual manually map mapping mark match matches math maths matter
matters maximum mean meaningful means meant measure median medium meet mention mentioned mere
merely mess message met method methodology mind mindful minimal minimum minor minute mislead
misleading missing mission mistake misunderstand misunderstanding model modest moment mostly move
multiplied multiply name named namely narrow narrowed naturally nature nearest neat necessarily
necessary need needed needs negative nested neutral new newer newest news nitty normal normally
note notes notice nuance null number numbers numerator numeric nutshell obey objection objective
obliged observe obstacle obtain obvious obviously occasion occur odd oddity odds old older oldest
onward oops open operation opinion opportunity option options order ordinary origin original
originally ought outcome outer outlier outline outlined output outright overall overridden override
overrule oversight overview pace page paragraph paraphrase part partial partially particular
particularly pass passage past paste patch path pattern pause peace people percentage period
permission permit permitted person perspective phew phrase phrasing pick picture pinpoint pity
place plain plainly plan plausible plea point points policy polite ponder pop popped position
positive possibility possible possibly practical practically practice precaution preceding precise
precisely precision predicate prefer preference preferred premature present presently preserve
pretty prevent previous previously principle print prior privacy proactive proactively probably
problem problems procedure proceed process processed progress prompt prompted promptly proof proper
properly proportion proportional prove proven provide provided prudent pull punctuation purpose put
puzzle qualified qualify quality query quest question questions quick quicker quickly quietly quirk
quote quoted quotient ran random range ranking ratio rationale raw reach reached read reader
reading reads ready real realise realize reason reasons recap receive received recent recently
recheck recite reckon recognise recognize recommend reconcile record recorded records recount
rectify redo refer reference refine reflect refrain refusal refuse regard reiterate reject relate
related relation relevant reliable reluctant rely remain remaining remains remark remedy remember
remind repeat repetition rephrase replace replies reply report represent representative reproduce
request requested requests require required requirement requirements requisite resolve resort
respect respond response responsibility responsible restate restrict restricted restriction result
results retain rethink retrace retrieve return reveal reverse review reviewed reword rewrite right
rigid rigorous robust role room rough roughly round rounded rounding row rows rule rules run
rundown running safely said sample sanity satisfaction satisfied satisfy satisfying save saw say
saying says scan scenario schema scheme scope scratch screen scroll scrutinise search searched
section sector see seeing seek seem seemed seems seen select selection sense sensible sensitive
sentence sentiment separate separately sequence series serious seriously serve service set sets
several shape share shed sheet shoes short shortcut shortlist shortly show showed shown shows side
sift sight significance significant signify similar similarly simple simplicity simplify simply
sincerity single situation size skim skip slight slightly small smaller smallest sole solely solid
solution solve somewhere sort sorting sound source space speak specific specifically specifics
specified specify speed spell spelled spelling spite split spot spotted stage stand standard
standpoint stands start started state stated statement statistic statistics stay step steps stick
stone stop straightforward strange stray streamline strict strictly string structure struggle stuck
style subject submit submitted subquery subtle subtract subtracted subtraction succeed success
successful successfully suffice sufficient sugarcoat suggest suit suitable sum summarise summarize
summary supplementary supplied supply support supportive supposed sure surely surface surprise
surprised swiftly syntax system table tad tail tailor take takeaway taken takes taking talk tally
target task technical tedious tell tells tentative term terms terrible text theory thereby thing
things think thorough thoroughly thought thoughtful throw tick ticked tidbit tied time times
timestamp tiny title toggle told tone took tool tools top topic total totals touch touched tough
trace track trail transparency transparent traverse treat trend trial trick tricky tried trim
trivial true truncated trust truth try trying tune turn turned turns twist twofold type typed types
typical typing typo ultimately unable unaffected unambiguous unauthorised unauthorized uncertain
unchanged unclear uncover undergo underline underneath understandable undisclosed undo unexpected
unique unit unknown unlucky unnecessary unrelated unsure untouched unusual unwilling upcoming
update updated upright upshot upward urgency urgent usage use used useful user using usual utmost
vague valid valuable value values variety various vary verbatim verdict verification verified
verify version view visible vital voice void wait waiting walk want wanted wary way ways went whim
whole whoops wide wiggle willing wise withhold wonder word worded wording words work workaround
worked working works world worth worthwhile wow wrap write written wrong wrote yay yield
"""

GRAMMAR = frozenset(_GRAMMAR.split())
"""Words that only hold a sentence together."""

PLAIN = frozenset(stem(word) for word in f"{_GRAMMAR} {_COURTESY} {_OWN_WORK}".split())
"""The stems of plain words."""

_SYNONYMS = """
address street residence home house location | allergy allergen reaction intolerance sensitivity
appointment follow-up followup visit checkup | artist musician band singer | bag backpack rucksack
birth birthday born dob | book volume | booking reservation reserve booked | cancel cancellation
car vehicle | carrier courier shipper | catalog catalogue | center centre | chart file record
cheap cheaper cheapest inexpensive | child kid | city town
clinician doctor physician practitioner prescriber provider | colour color shade hue
country nation | course class lesson | credit balance voucher | current present active
customer client buyer shopper purchaser | damaged broken faulty defective | debit charge charged
device gadget electronic | diagnosis condition disease illness | dose dosage strength
expensive dear dearest pricey costly | expire expiry expiration valid validity | film movie dvd
firm company business | flat apartment | flight plane airline | hold freeze frozen block
hotel room stay accommodation | invoice bill receipt | item product article merchandise goods
jacket coat | lab laboratory test blood sample | loan lend lent borrow | lost missing
mail email inbox e-mail letter
medication drug medicine prescription prescribe tablet pill med meds
member reader borrower subscriber | money cash funds payment pay paid | order purchase buy bought
owner holder | parcel package shipment consignment delivery | passenger traveller traveler
phone telephone mobile | picture photo image photograph | postcode zip postal
pressure reading measurement vital vitals | price cost charge fee | pulse heart cardiac
quantity unit piece stock inventory | refund reimbursement reimburse repay repayment payback
return send ship shipped sent dispatch dispatched | salary wage wages
shirt garment clothing apparel clothes wear | shoe boot footwear trainer sneaker pair
shop store retailer merchant | size fit fits | song track tune | staff employee colleague coworker
start begin began | stop stopped discontinue discontinued | student pupil
swap exchange switch replacement replace | teacher instructor lecturer | temperature fever febrile
theater theatre | trousers pants | warehouse stock inventory | weight weigh weighs
"""

SYNONYMS = [
    frozenset(stem(word) for word in group.split())
    for line in _SYNONYMS.strip().splitlines()
    for group in line.split("|")
]
"""The stems of words that can stand for each other: if one is known, all are."""
