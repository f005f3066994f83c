"""The words that the whole program shares: splits, labels, modes, tasks, verdicts, roles, parts of speech, word forms. Imports nothing."""

from __future__ import annotations

from enum import StrEnum
from typing import Any


class _Meant(StrEnum):
    """Names with a meaning, which documents and error messages show."""

    meaning: str

    def __new__(cls, value: str, meaning: str = "") -> Any:
        member = str.__new__(cls, value)
        member._value_ = value
        member.meaning = meaning
        return member


class Split(_Meant):
    """The splits of a dataset."""

    train = "train", "for training"
    dev = "dev", "for tuning"
    test = "test", "for testing"


class Label(_Meant):
    """The labels of natural language inference; an item's ``label`` is the position."""

    entailment = "entailment", "the hypothesis is true if the premise is"
    neutral = "neutral", "the premise leaves the hypothesis open"
    contradiction = "contradiction", "the hypothesis is false if the premise is true"


class Mode(_Meant):
    """Which words pseudowords replace.

    ``content`` means every open-class slot, as in CxMP, section 5.3. Names stay, since pronouns refer to them.
    """

    verb = "verb", "verbs"
    nouns = "nouns", "nouns"
    adjectives = "adjectives", "adjectives"
    content = "content", "nouns, verbs and adjectives"


class Role(_Meant):
    """What a slot's filler is in the event that the sentence tells."""

    agent = "agent", "who acts"
    patient = "patient", "what changes its state"
    theme = "theme", "what moves, or is where or how the sentence says"
    goal = "goal", "where or to whom something goes"
    source = "source", "where something comes from"
    path = "path", "the way along which something goes"
    location = "location", "where something is or happens"
    target = "target", "what an action is aimed at"
    recipient = "recipient", "who gets something"
    content = "content", "what fills or covers a container or surface"
    companion = "companion", "who takes part beside the agent"
    experiencer = "experiencer", "who feels or comes to be in a state"
    instrument = "instrument", "with what something is done"
    conjunct = "conjunct", "a member of a comparison or coordination"
    verb = "verb", "a verb; premise verbs are what splits hold apart"
    result = "result", "the state that comes about; must not repeat the verb's own meaning"
    property = "property", "a property that is compared or ascribed"
    modifier = "modifier", "adverbials and other words that no claim is about; no element of the construction"


class Judge(_Meant):
    """Who judges the candidates."""

    rules = "rules", "nobody: offline"
    openai = "openai", "models behind an OpenAI-compatible server"
    batch = "openai-batch", "the same through OpenAI's batches: slower, half the price"
    file = "file", "whoever answers the requests in a file"
    replay = "replay", "the frozen judgments of an earlier run"


# Parts of speech of the lexicon. A name is a given name; a phrase is fixed text, such as a time or a circumstance.
POS = ("noun", "verb", "adjective", "adverb", "name", "phrase")

SPLITS = tuple(split.value for split in Split)
SHARES = {"train": 0.7, "dev": 0.15, "test": 0.15}

LABELS = tuple(label.value for label in Label)
ENTAILMENT, NEUTRAL, CONTRADICTION = range(3)

MODES: dict[str, frozenset[str]] = {  # mode -> parts of speech that it replaces
    Mode.verb.value: frozenset({"verb"}),
    Mode.nouns.value: frozenset({"noun"}),
    Mode.adjectives.value: frozenset({"adjective"}),
    Mode.content.value: frozenset({"noun", "verb", "adjective"}),
}

# What a language model is asked: to judge, to propose words, to write contrast sets; and what it is itself evaluated by.
JUDGING = ("acceptability", "appropriateness", "label")
WRITING = ("situation", "action", "story")
EVALUATING = ("answer", "choose")
TASKS = (*JUDGING, "fill", *WRITING, *EVALUATING)

PROTOTYPICAL, EXTENDED, UNACCEPTABLE, UNDECIDED = "prototypical", "extended", "unacceptable", "undecided"
APPROPRIATE, INAPPROPRIATE = "appropriate", "inappropriate"
PREMISE_VERDICTS = (PROTOTYPICAL, EXTENDED, UNACCEPTABLE, UNDECIDED)
PAIR_VERDICTS = (APPROPRIATE, INAPPROPRIATE, UNDECIDED)

# Roles of slots whose fillers are no nouns.
NOT_NOUNS: frozenset[str] = frozenset({Role.verb, Role.modifier, Role.result, Role.property})

BANDS = ("low", "mid", "high")
PRESETS = ("sliced", "contest")
RELATIONS = ("contrary", "complement", "near")

# Inflected forms in the lexicon, by column.
INFLECTIONS = ("plural", "third", "ing", "past", "participle", "comparative", "superlative")
