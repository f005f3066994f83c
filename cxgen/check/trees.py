"""Do the premises have trees, and the construction's form? Codes E4xx."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from typing import Any

from cxgen.check.examples import examples
from cxgen.check.finding import Finding, finding
from cxgen.check.references import patterns
from cxgen.constructicon import Construction
from cxgen.errors import SchemaError
from cxgen.trees import Annotator, Chunks, FormCheck, Sentence
from cxgen.trees.form import faults
from cxgen.trees.relations import stated
from cxgen.trees.units import Draft

HELP = "docs/annotation.md explains it"


def spacy_is_there() -> bool:
    """Whether the checks E403 and E404 can ask spaCy; without it, E403 finds less and E404 nothing."""
    return find_spec("spacy") is not None


@dataclass(frozen=True)
class Trees:
    """The example premises of a construction, annotated once for all checks."""

    construction: Construction
    chunks: Chunks

    @cached_property
    def annotator(self) -> Annotator:
        """The annotator of the construction."""
        return Annotator(self.construction, self.chunks)

    @cached_property
    def drafts(self) -> list[tuple[dict[str, Any], Draft, int]]:
        """Every example with what keeps it from being a tree, if anything does, and the number of its verb."""
        items = examples(self.construction).iter_rows(named=True)
        return [(item, *self.annotator.draft(item)) for item in items]

    @cached_property
    def sentences(self) -> list[tuple[dict[str, Any], Sentence]]:
        """The examples that have a tree."""
        sound = (drafted for drafted in self.drafts if not drafted[1].missing and not drafted[1].problems)
        return [(item, self.annotator.finished(item, draft, verb)) for item, draft, verb in sound]


Check = Callable[[Trees], Iterable[Finding]]


def missing_annotation(trees: Trees) -> Iterator[Finding]:
    """E401: words that lexicons/chunks.yaml does not know."""
    found: dict[str, list[dict[str, Any]]] = {}
    for item, draft, _ in trees.drafts:
        for words in draft.missing:
            found.setdefault(words, []).append(item)
    for words, items in found.items():
        message = f"no annotation for {words!r} in {_places(items)}"
        hint = f"add the words, as they stand between two slots, under chunks: in this file, or to lexicons/chunks.yaml; {HELP}"
        yield _finding("E401", message, trees, items[0], hint)


def unclear_relation(trees: Trees) -> Iterator[Finding]:
    """E402: a relation that does not exist, or a filler whose relation is neither stated nor unique."""
    construction = trees.construction
    wrong = set()
    for slot in construction.slots.values():
        if slot.deprel and (error := _misstated(slot.deprel)):
            wrong.add(slot.deprel)
            document, keys = construction.place("slots", slot.name, "relation")
            yield finding("E402", f"slot {slot.name!r}: {error}", document, keys, HELP)
    for (document, keys), parts in patterns(construction):
        for part in parts:
            if part.deprel and part.deprel not in wrong and (error := _misstated(part.deprel)):
                wrong.add(part.deprel)
                yield finding("E402", f"{{{part.slot}={part.deprel}}}: {error}", document, keys, HELP)
    if wrong:
        return
    found: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for item, draft, _ in trees.drafts:
        for problem in draft.problems if not draft.missing else ():
            found.setdefault((item["template"], problem), []).append(item)
    for (_, problem), items in found.items():
        yield _finding("E402", f"{_places(items)}: {problem}", trees, items[0], HELP)


def bad_pattern(trees: Trees) -> Iterator[Finding]:
    """E403: a form_check pattern that cannot be matched."""
    construction, document = trees.construction, trees.construction.document
    sound = True
    for number, pattern in enumerate(construction.form_check):
        for fault in faults(pattern):
            sound = False
            yield finding("E403", f"form_check: {fault}", document, ["form_check", number], HELP)
    if sound and construction.form_check and spacy_is_there():
        try:
            FormCheck(construction)
        except SchemaError as error:
            yield Finding("E403", error.message.partition(": ")[2], document.path, error.line or 1, error.hint)


def foreign_form(trees: Trees) -> Iterator[Finding]:
    """E404: premises that their own form_check refuses; opposites need not have the form."""
    construction = trees.construction
    if not construction.form_check or not spacy_is_there():
        return
    try:
        check = FormCheck(construction)
    except SchemaError:
        return  # E403 reports it
    found: dict[str, list[tuple[dict[str, Any], Sentence]]] = {}
    for item, sentence in trees.sentences:
        if item["construction"] in {construction.name, *construction.lookalikes} and not check.holds(sentence):
            found.setdefault(item["template"], []).append((item, sentence))
    for failed in found.values():
        item, sentence = failed[0]
        message = f"form_check refuses {_places([item for item, _ in failed])}: {_relations(sentence)}"
        yield _finding("E404", message, trees, item, f"change form_check, or state a relation in the template; {HELP}")


def _misstated(text: str) -> str:
    try:
        stated(text)
    except ValueError as error:
        return str(error)
    return ""


def _places(items: list[dict[str, Any]]) -> str:
    """Where the fault is: the first template, and how many more."""
    kinds = list(dict.fromkeys(item["kind"] for item in items if item["template"] == items[0]["template"]))
    others = len({item["template"] for item in items}) - 1
    more = f" and {others} other template{'s' if others > 1 else ''}" if others else ""
    return f"template {items[0]['template']!r} ({', '.join(kinds)}){more}"


def _relations(sentence: Sentence) -> str:
    """The tree in a line: what depends on what as what."""
    tokens = sentence.tokens
    verb = tokens[sentence.verb - 1]
    heads = ["0", *(token.form for token in tokens)]
    links = [f"{token.form}={token.relation}>{heads[token.head]}" for token in tokens if token.upos != "PUNCT"]
    return f"{sentence.text!r} has {' '.join(links)} (verb: {verb.form})"


def _finding(code: str, message: str, trees: Trees, item: dict[str, Any], hint: str) -> Finding:
    return finding(code, f"{trees.construction.name}: {message}", trees.construction.document, ["templates", item["template"]], hint)


# In order: what a later check looks at is sound by the earlier ones.
TREES: dict[str, Check] = {"E401": missing_annotation, "E402": unclear_relation, "E403": bad_pattern, "E404": foreign_form}
