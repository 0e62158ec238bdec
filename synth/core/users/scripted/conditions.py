"""The match of a proposal with a condition of consent: its facts and its act, and nothing else."""

from __future__ import annotations

import re
from collections.abc import Sequence

from synth.core.users.scripted.hearing import Sentence
from synth.core.users.scripted.proposal import (
    Named,
    Turn,
    measured_in,
    named_in,
    strangers,
    strays,
    values_of,
)
from synth.core.users.scripted.talk import Talk
from synth.user import Consent

_PART = re.compile(r"\n|(?<=[.;])\s+|\bthen\b")


def lacking(words: Turn, consent: Consent, talk: Talk) -> Sequence[str]:
    """The facts that a proposal stated as data does not hold, or beside which it names others
    that nobody knows; all of them where its words name another act.
    """
    if consent.act and words.another_act(talk.own_acts, consent.act, consent.mentions):
        return consent.mentions
    known = [talk.own_words, *talk.facts]
    return words.lacking(consent) or words.rivalled(consent, known)


def unclear(words: Turn, consent: Consent, talk: Talk) -> list[str]:
    """The facts that a proposal does not state: a fact that an earlier turn of the agent has
    stated need not be repeated, unless another value stands in its place now.
    """
    return [
        fact
        for fact in words.unclear(consent.mentions, consent.forms, talk.facts)
        if words.holds_any(fact, consent) or not _stated_before(words, fact, consent, talk)
    ] + _misplaced(words, consent, talk)


def _stated_before(words: Turn, fact: str, consent: Consent, talk: Talk) -> bool:
    measured = {form for form, _ in measured_in(fact)} - {"date"}
    named = named_in(" ".join((fact, *consent.forms.get(fact, ()))))
    if not (measured or named) or measured & {form for form, _ in measured_in(words.text)}:
        return False
    return any(not Turn(text).unclear([fact], consent.forms) for text in talk.heard)


def _misplaced(words: Turn, consent: Consent, talk: Talk) -> list[str]:
    """The facts in whose place a proposal names another value, one of no other tool's condition."""
    others = (
        one
        for one in talk.role.consents
        if one.covers and consent.covers and {*one.covers}.isdisjoint(consent.covers)
    )
    wrong = strays(words.text, consent, frozenset[Named]().union(*map(values_of, others)))
    for part in (words, _near(words, consent, talk)):
        for fact, rivals in consent.rivals.items():
            forms = (form for form in (fact, *consent.forms.get(fact, ())) if not form.isdigit())
            if any(map(part.affirms, rivals)) and not any(map(part.holds, forms)):
                wrong.append(fact)
    return list(dict.fromkeys(wrong))


def _near(words: Turn, consent: Consent, talk: Talk) -> Turn:
    """The paragraphs that name what no other open condition holds; of one that names values of
    several conditions, the lines and clauses.
    """
    others = frozenset[Named]().union(*(values_of(one) for one in talk.unsettled if one != consent))
    own, near = values_of(consent) - others, list[str]()
    for block in words.text.split("\n\n"):
        mixed = (others - values_of(consent)) & named_in(block)
        parts = _PART.split(block) if mixed else [block]
        near += [part for part in parts if own & named_in(part)]
    return Turn("\n".join(near))


def objects(words: Turn, consent: Consent, talk: Talk, found: Sequence[Sentence]) -> bool:
    """Tell whether a proposal adds to the facts of a condition what nobody wants: things, terms."""
    proposed = named_in(_proposed_lines(found, talk.own_acts))
    own = {form for form, _ in proposed & values_of(consent)}
    new = strangers(words.text, talk.unsettled, talk.known)
    return (
        words.proposes_nothing
        or any(item in proposed or item[0] not in own for item in new)
        or bool(strangers(_proposed_lines(found, consent.act), [consent], talk.own_values))
        or words.assures(consent.mentions)
        or _forbidden(words, consent)
    )


def _proposed_lines(found: Sequence[Sentence], acts: Sequence[str]) -> str:
    """The lines that ask or name an act; a list's lines if its first one does."""
    out: list[str] = []
    for sentence in found:
        about = ["?" in line or Turn(line).names_act(acts) for line in sentence.lines]
        out += [line for line, own in zip(sentence.lines, about, strict=True) if own or about[0]]
    return "\n".join(out)


def wrong_part(
    words: Turn, consent: Consent, met: Sequence[Consent], talk: Talk, asked: Turn
) -> bool:
    """Tell whether a proposal that meets some conditions is about this open one too, with another
    value in the place of a fact: a yes is understood as one to all of it, unless what is ``asked``
    names the acts and values of the met ones alone.
    """
    done = [*met, *talk.settled]
    if consent in done or (
        not asked.names_act(consent.act)
        and all(asked.names_act(one.act) and values_of(one) <= named_in(asked.text) for one in met)
    ):
        return False
    own = (values_of(consent) & named_in(words.text)).difference(*map(values_of, done))
    same = any(not {*consent.covers}.isdisjoint(one.covers) for one in met)
    about = own and (same or words.names_act(consent.act))
    forbidden = _forbidden(words, consent) and (about or not same)
    return bool(forbidden or (about and _misplaced(words, consent, talk)))


def _forbidden(words: Turn, consent: Consent) -> bool:
    return any(map(words.affirms, consent.never))


def says_act(
    words: Turn, consent: Consent, talk: Talk, found: Sequence[Sentence], asking: Sequence[Sentence]
) -> bool:
    """Tell whether a turn proposes the act that the consent is about, and says what it would do."""
    if _elsewhere(words, consent, talk):
        return False
    if consent.act and _another_act(words, consent, talk, found, asking):
        return False
    facts = [fact for one in talk.role.consents for fact in one.mentions]
    says = any(sentence.acts or sentence.confirms_act for sentence in asking)
    return says or words.names_act(consent.act) or words.says_act(facts)


def _elsewhere(words: Turn, consent: Consent, talk: Talk) -> bool:
    """Tell whether a turn names values of other conditions only; one that demands facts has to
    find them anyway.
    """
    named = named_in(words.text)
    own = consent.mentions or named & values_of(consent)
    return not own and any(named & values_of(one) for one in talk.unsettled)


def names_fact(sentence: Sentence, consent: Consent | None) -> bool:
    turn = Turn(sentence.text)
    return consent is not None and any(map(turn.holds, consent.mentions))


def names_matter(sentence: Sentence, consent: Consent | None) -> bool:
    """Tell whether a sentence names a fact or the act of a condition."""
    act = () if consent is None else consent.act
    return names_fact(sentence, consent) or Turn(sentence.text).names_act(act)


def _another_act(
    words: Turn, consent: Consent, talk: Talk, found: Sequence[Sentence], asking: Sequence[Sentence]
) -> bool:
    """Tell whether a proposal is for another act: where it asks, says what the agent would do, or
    names the things of the consent; or because it names the act nowhere, nor has it before. A verb
    of the user's own request is the act.
    """
    own, asked = talk.own_acts, Turn("\n".join(sentence.text for sentence in asking))
    turns = [(sentence, Turn(sentence.text)) for sentence in found]
    meant = [turn for sentence, turn in turns if sentence in asking or turn.intended]
    names, near = consent.mentions, _near(words, consent, talk)
    said = [(near, consent.act), *((turn, own) for turn in meant)]
    if any(turn.another_act(acts, consent.act, names) for turn, acts in said):
        return True
    if words.names_act(consent.act):
        return False
    intended = frozenset[str]().union(*(turn.intended for turn in meant))
    if intended := intended - Turn(" ".join(own)).stems:
        return not intended <= Turn(talk.own_words).stems
    if not consent.covers:
        return words.another_act(own, facts=names)
    earlier = Turn("\n".join((*talk.said, *talk.heard)))
    return asked.another_act((), facts=names) or not earlier.names_act(consent.act)
