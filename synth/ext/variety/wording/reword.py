"""Tasks in other words, drawn from a grammar without a model.

A task has one voice. Its user's opening gets that voice's greeting, context and closing, in an
order of its own; sentences that are a request take another form of request ("Please ...", "Could
you ...?"); words are shortened and misspelt as the voice has it. Values, quoted text and all that
gold or consent depends on are masked meanwhile, so that they stay letter by letter. What the user
tells when asked stays as it is written, since the agent's words are held against it.

All is a function of the task's id and the text. The id says nothing about the case, so that cases
cannot be told apart by their style.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from random import Random

from synth.core.foundation.hashing import derive_seed, digest
from synth.core.tasks.yaml.user import YES
from synth.core.types.phrasings import VOICE
from synth.ext.variety.config import WordingConfig
from synth.ext.variety.wording.grammar import (
    ACT,
    Grammar,
    Voice,
    grammar,
    grammar_digest,
    held_out_voices,
)
from synth.ext.variety.wording.masked import MOST, SIGN, Masked, values_of
from synth.task import Task
from synth.transform import TaskTransform
from synth.user import Consent, UserRole

_END = re.compile(rf"(?<=[.?!])\s+(?=[\"'(]?(?:[A-Z]|{SIGN}))")
_WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)*")
_PLAIN = re.compile(r"(?<![\w'])[a-z]{4,}(?![\w'])")
_KEYS = "qwertyuiop asdfghjkl zxcvbnm"
_SMALL_START = re.compile(r"(?:^|(?<=[a-z)]{2}[.?!] ))[a-z](?=[a-z']*[ ,:.?!])")
_START = re.compile(r"(?:^|(?<=[.?!:]\s)|(?<=-\s))(?!I\b)[A-Z]")


class VariedWording(TaskTransform):
    """Users ask in varied words (``tasks.wording=varied``). The first split has no voice that is
    held out.
    """

    Options = WordingConfig

    def __init__(self, options: WordingConfig | None = None) -> None:
        super().__init__(options)
        share = None if options is None else options.held_out_phrasings
        self._held_out = [] if share is None else held_out_voices(share)

    def digest(self) -> str:
        return digest(grammar_digest(), self._held_out)

    def opening(self, task: Task, *, first: bool) -> str:
        return _speaker(task, self._held_out if first else ()).opening(task.prompt)

    def changed(self, task: Task, index: int, *, first: bool) -> Task:
        return reworded(task, self._held_out if first else ())

    def again(self, task: Task, recorded: Task) -> Task:
        return reworded(task, voice=recorded.extras.get("phrasing", "").rpartition(VOICE)[2])


def reworded(task: Task, barred: Collection[str] = (), voice: str | None = None) -> Task:
    """The task with other words of its user; id, gold and slots are the same.

    The words come from the ``voice`` of that name, or else from one that is drawn and not
    ``barred``.
    """
    speaker = _speaker(task, barred, voice)
    parts = [_said_by(part, speaker, first=index == 0) for index, part in enumerate(task.parts)]
    phrasing = f"{task.extras.get('phrasing', '')}{VOICE}{speaker.voice.name}"
    whole = _said_by(task, speaker, first=True)
    return replace(whole, parts=tuple(parts)).with_extra("phrasing", phrasing)


def _speaker(task: Task, barred: Collection[str], voice: str | None = None) -> _Speaker:
    """The speaker of a task, in the voice of that name or in a drawn one."""
    words = grammar()
    named = {found.name: found for found in words.voices}
    drawn = named.get(voice or "") or words.voice(
        derive_seed("voice", task.id), barred, notes=words.is_note(task.prompt)
    )
    hour = datetime.fromisoformat(task.now).hour
    texts = [*drawn.greetings.at(hour), *drawn.contexts, *drawn.questions, *drawn.closings]
    for one in (task, *task.parts):
        texts += [one.prompt, one.role.opening, *(sequel.says for sequel in one.role.then)]
    return _Speaker(words, drawn, Masked(values_of(task), texts), task.id, hour)


def _said_by(task: Task, speaker: _Speaker, *, first: bool) -> Task:
    """The task, or a part of one, in a speaker's words."""
    say = speaker.opening if first else speaker.later
    user = None if task.user is None else _role(task.user, speaker, say)
    return replace(task, prompt=say(task.prompt), user=user)


def _role(user: UserRole, speaker: _Speaker, say: Callable[[str], str]) -> UserRole:
    return replace(
        user,
        opening=say(user.opening),
        consent=None if user.consent is None else speaker.consent(user.consent),
        persona=user.persona or speaker.voice.persona,
        others=[speaker.consent(one) for one in user.others],
        then=[
            replace(
                follow_up,
                says=speaker.later(follow_up.says),
                consents=[speaker.consent(one) for one in follow_up.consents],
            )
            for follow_up in user.then
        ],
    )


@dataclass(frozen=True)
class _Speaker:
    """The user of one task, who keeps to one voice."""

    words: Grammar
    voice: Voice
    masked: Masked
    task_id: str
    hour: int
    said: dict[tuple[str, bool], str] = field(default_factory=dict[tuple[str, bool], str])

    def opening(self, text: str) -> str:
        """The first words of a conversation."""
        return self._once(text, self._framed)

    def later(self, text: str) -> str:
        """Words in the middle of a conversation: no greeting, no closing."""
        return self._once(text, None)

    def consent(self, consent: Consent) -> Consent:
        """The condition with another yes, unless its author chose the words."""
        if consent.says not in YES:
            return consent
        dice = Random(derive_seed("yes", self.task_id, [*consent.mentions]))
        return replace(consent, says=self._spelt(dice.choice(self.words.agreements), dice))

    def _once(self, text: str, frame: Callable[[str, Random], str] | None) -> str:
        """The words for a text, which stands in several places of a task: they are made once."""
        if (key := (text, frame is None)) not in self.said:
            self.said[key] = self._said(text, frame)
        return self.said[key]

    def _said(self, text: str, frame: Callable[[str, Random], str] | None) -> str:
        """The first paragraph in other words. A paragraph of several lines is not running text, and
        stays as it is; what follows is a hint or a document.
        """
        head, line, rest = text.partition("\n")
        if not head.strip() or (line and rest.strip() and not rest.startswith("\n")):
            return text
        hidden = self.masked.hide(head)
        if re.search(SIGN, head) or len(re.findall(SIGN, hidden)) > MOST:
            return text
        dice = Random(derive_seed("words", self.task_id, text))
        core = " ".join(self._asked(part, dice) for part in self._sentences(hidden.strip()))
        if frame is not None:
            core = frame(core, dice)
        return self.masked.show(self._spelt(core, dice)) + line + rest

    def _sentences(self, text: str) -> list[str]:
        """The sentences of a text; an abbreviation ends none."""
        out: list[str] = []
        for part in _END.split(text):
            if out and out[-1].rpartition(" ")[2].lower() in self.words.abbreviated:
                out[-1] = f"{out[-1]} {part}"
            else:
                out.append(part)
        return out

    def _asked(self, sentence: str, dice: Random) -> str:
        """A request in another form; any other sentence as it is."""
        for pattern in self.words.asks:
            if found := pattern.fullmatch(sentence):
                act = found["act"]
                if self.words.bars.match(act) or not (act[0].islower() or re.match(SIGN, act)):
                    return sentence
                forms = [form for form in self.voice.requests if _takes(form, act, sentence)]
                return dice.choice(forms).replace(ACT, act) if forms else sentence
        return sentence

    def _framed(self, core: str, dice: Random) -> str:
        """A request with the words before and after it, none of which is a value of the task. A
        note in telegram style has none.
        """
        voice = self.voice
        if self.words.is_scribbled(core):
            return core
        before, _, after = dice.choice(voice.frames).partition("{request}")
        asks = self._sentences(core)[0].endswith("?") and "{context}" in before
        choices = {
            "greeting": voice.greetings.at(self.hour),
            "context": [*voice.contexts, *(voice.questions if asks else ())],
            "closing": voice.closings,
        }
        parts = {
            name: dice.choice([text for text in texts if not self.masked.finds(text)] or [""])
            for name, texts in choices.items()
        }
        front = "" if self.words.greets.match(core) else _filled(before, parts)
        behind = "" if self.words.thanks.search(core) else _filled(after, parts)
        return " ".join(filter(None, [front, core, behind]))

    def _spelt(self, text: str, dice: Random) -> str:
        """A masked text as this voice spells it."""
        voice, words = self.voice, self.words
        if voice.small_letters:
            text = _START.sub(lambda word: word.group().lower(), text)
            text = _shortened(text, words.shortened, voice.shortened, dice)
        else:
            text = _WORD.sub(lambda word: words.whole.get(word.group(), word.group()), text)
            text = _SMALL_START.sub(lambda word: word.group().upper(), text)
        text = _misspelt(text, voice.misspelt, dice)
        bare = voice.bare_end and text.rpartition(" ")[2].lower() not in words.abbreviated
        return text.removesuffix(".") if bare else text


def _takes(form: str, act: str, sentence: str) -> bool:
    """True if an act can be asked for in a form. One of several clauses ("cancel it, I ordered it
    twice") keeps the end of its sentence.
    """
    clauses = re.search(r"[,;:]", act)
    return clauses is None or form.endswith(f"{ACT}{sentence[-1]}")


def _filled(frame: str, parts: Mapping[str, str]) -> str:
    """A piece of a frame with its parts."""
    return frame.format(**parts).strip()


def _shortened(
    text: str, spellings: Mapping[str, Sequence[str]], share: float, dice: Random
) -> str:
    """A text in which a share of the words that have a shorter form takes it."""

    def shorter(found: re.Match[str]) -> str:
        word = found.group()
        known = spellings.get(word.lower())
        if known is None or dice.random() >= share:
            return word
        chosen = dice.choice(known)
        return chosen.capitalize() if word[0].isupper() else chosen

    return _WORD.sub(shorter, text)


def _misspelt(text: str, share: float, dice: Random) -> str:
    """A text with at most one slip of typing within a word: two letters change places, or one is
    struck twice, or not, or instead of it the key beside it.
    """
    word = next((word for word in _PLAIN.finditer(text) if dice.random() < share), None)
    if word is None:
        return text
    place = dice.randrange(word.start() + 1, word.end() - 2)
    letter, after = text[place], text[place + 1]
    beside = re.findall(f"(?<={letter})[a-z]|[a-z](?={letter})", _KEYS)
    slips = [after + letter, letter + letter + after, after, dice.choice(beside) + after]
    return text[:place] + dice.choice(slips) + text[place + 2 :]
