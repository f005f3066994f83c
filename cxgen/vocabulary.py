"""The words that the whole program shares: splits, labels, modes, tasks, verdicts, roles, parts of speech, word forms. Imports nothing."""

from enum import StrEnum

Split = StrEnum("Split", "train validation test")
Mode = StrEnum("Mode", "verb nouns adjectives content")  # which words pseudowords replace
# What a slot's filler is in the event that the sentence tells; schema/construction.json says what each means.
Role = StrEnum(
    "Role",
    "agent patient theme goal source path location target recipient content companion experiencer instrument time conjunct verb"
    " result property modifier",
)


class Judge(StrEnum):
    """Who judges: models behind a server (one by one, or in batches), a file's replies; nobody, but frozen judgments count."""

    openai = "openai"
    batch = "openai-batch"
    file = "file"
    replay = "replay"


# Parts of speech of the lexicon. A name is a given name; a phrase is fixed text, such as a time or a circumstance.
POS = ("noun", "verb", "adjective", "adverb", "name", "phrase")
# Roles of slots whose fillers are no nouns.
NOT_NOUNS: frozenset[str] = frozenset({Role.verb, Role.modifier, Role.result, Role.property})
# What a scene can say of its nouns by the words ``det`` and ``number``.
OF_NOUNS = {"det": ("the", "a", "bare", "plural"), "number": ("singular", "plural")}

SPLITS = ("train", "validation", "test")
SHARES = {"train": 0.7, "validation": 0.15, "test": 0.15}

LABELS = ("entailment", "neutral", "contradiction")  # an item's ``label`` is the position
ENTAILMENT, NEUTRAL, CONTRADICTION = range(3)

# Mode -> parts of speech that it replaces. Content: every open-class slot, as in CxMP, section 5.3; names stay, pronouns refer to them.
MODES: dict[str, frozenset[str]] = {
    "verb": frozenset({"verb"}),
    "nouns": frozenset({"noun"}),
    "adjectives": frozenset({"adjective"}),
    "content": frozenset({"noun", "verb", "adjective"}),
}

# What a language model is asked: to judge clauses, or items; to propose words, to write contrast sets; and what it is itself evaluated by.
REFUSING = ("acceptability", "event", "naturalness")  # what refuses a clause
CLAUSES = (*REFUSING, "role")
INTERPRETATION = "interpretation"  # asked of clauses of minimal pairs, with each continuation
JUDGING = ("acceptability", "appropriateness", "label")
WRITING = ("situation", "action", "story")
EVALUATING = ("answer", "choose")
TASKS = (*CLAUSES, INTERPRETATION, *JUDGING[1:], "fill", "pairs", *WRITING, *EVALUATING)

PROTOTYPICAL, EXTENDED, UNACCEPTABLE, UNDECIDED = "prototypical", "extended", "unacceptable", "undecided"
# Whether the verb holds the construction's meaning by itself, or the construction supplies it; docs/data.md has the test.
LEXICAL, CONSTRUCTIONAL = VERB_ROLES = ("lexical", "constructional")
APPROPRIATE, INAPPROPRIATE = "appropriate", "inappropriate"
NATURAL, PASSABLE, ODD = "natural", "passable", "odd"
ANSWERS = {  # of judges to what they are asked of clauses
    "acceptability": (PROTOTYPICAL, EXTENDED, UNACCEPTABLE),
    "event": (APPROPRIATE, INAPPROPRIATE),
    "naturalness": (NATURAL, PASSABLE, ODD),
    "role": VERB_ROLES,
    INTERPRETATION: (APPROPRIATE, INAPPROPRIATE),
}

BANDS = ("low", "mid", "high")
PRESETS = ("sliced", "contest", "contest-corpus")
RELATIONS = ("contrary", "complement", "near")

# Inflected forms in the lexicon, by column.
INFLECTIONS = ("plural", "third", "ing", "past", "participle", "comparative", "superlative")
