"""What annotators are asked, and the guidelines. Every form (sheet, page, Label Studio) takes its words from here."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Choice:
    """An answer: the ``key`` to write or press, its ``name`` on the button, its ``meaning`` in the guidelines."""

    key: str
    name: str
    meaning: str


@dataclass(frozen=True)
class Task:
    """A question that is put to annotators, row by row.

    Attributes:
        name: in file names and in the key.
        question: over every row.
        choices: the answers.
        advice: what to go by, a sentence or two each.
        texts: the headings of the texts of a row.
    """

    name: str
    question: str
    choices: tuple[Choice, ...]
    advice: tuple[str, ...]
    texts: tuple[str, ...]

    @property
    def keys(self) -> tuple[str, ...]:
        """The answers, as they are written."""
        return tuple(choice.key for choice in self.choices)


LABELS = Task(
    "labels",
    "If the first sentence is true, what about the second?",
    (
        Choice("E", "it is true", "whoever accepts the first sentence has to accept the second"),
        Choice("N", "it is open", "the first sentence allows both: the second may be true, and it may be false"),
        Choice("C", "it is false", "both cannot be true of the same situation"),
    ),
    (
        "Both sentences are about one and the same event: the same people, the same things, the same time.",
        "Take words in their everyday meaning, and sentences as a careful speaker of English would; do not look for loopholes.",
        "What is merely likely is open. What you happen to know of the world counts only where every speaker would count on it.",
        "Who does what to whom, and which thing goes where, often decides: read to the end before you answer.",
        "Each row is for itself: an answer has nothing to do with the rows before it.",
    ),
    ("first", "second"),
)
NATURAL = Task(
    "sentences",
    "How natural is this sentence?",
    (
        Choice("1", "not English", "ungrammatical, or makes no sense"),
        Choice("2", "bad", "nobody would put it like this, or would say such a thing"),
        Choice("3", "odd", "can be understood, but something is off"),
        Choice("4", "fine", "good English, if a little unusual"),
        Choice("5", "natural", "could well be said or written"),
    ),
    (
        "The sentences come from several sources. Each stands alone: imagine a story or a conversation in which it might occur.",
        "Rate the sentence, not whether what it says is nice, likely or important.",
        "Go by your first impression; use the whole scale.",
    ),
    ("sentence",),
)
TASKS = {task.name: task for task in (LABELS, NATURAL)}
GENERAL = (
    "Work alone, and do not talk about rows with others before all are done. Let no program answer for you.",
    "A row that you cannot answer stays empty; say why in the note. Notes are welcome wherever something is odd.",
    "Some rows have an obvious answer. They show that somebody reads.",
)
# Attention checks: rows whose answer is plain to whoever reads them. They look like the others.
# first, second, answer
CHECK_PAIRS = (
    ("The baker opened the oven and took out the bread.", "The baker opened the oven.", "E"),
    ("After the game, Laura drove her brother home.", "Laura did not drive her brother home after the game.", "C"),
    ("The tailor shortened the coat on Tuesday.", "The tailor has two sons.", "N"),
    ("Both windows were closed when the guests arrived.", "The windows were open when the guests arrived.", "C"),
    ("The gardener watered the roses and the tulips.", "The gardener watered the tulips.", "E"),
    ("The clerk stamped the form and gave it back.", "The clerk was born in winter.", "N"),
    ("My neighbor sold the boat to a friend.", "My neighbor sold the boat.", "E"),
    ("Nobody was in the library that morning.", "Ten people were in the library that morning.", "C"),
)
# sentence, the ratings that are right
CHECK_SENTENCES = (
    ("Kitchen the under of quickly a she letter.", "12"),
    ("We had lunch at home and then went for a walk.", "45"),
    ("Him window seven between drank the because.", "12"),
    ("My sister called me last night.", "45"),
    ("To chair of green it was the were.", "12"),
    ("The children played in the garden all afternoon.", "45"),
)


def guidelines() -> str:
    """The guidelines for annotators, as Markdown."""
    lines = ["# Guidelines", "", *(f"- {each}" for each in GENERAL)]
    for task in TASKS.values():
        lines += ["", f"## {task.name.capitalize()}: {task.question}", ""]
        lines += ["| answer | | when |", "|---|---|---|"]
        lines += [f"| {choice.key} | {choice.name} | {choice.meaning} |" for choice in task.choices]
        lines += ["", *(f"- {each}" for each in task.advice)]
    return "\n".join(lines) + "\n"
