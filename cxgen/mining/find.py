"""Finding constructions in tagged or parsed text: comparative correlatives by their tags, others by the patterns of their template files.

spaCy's own English pipelines give ClearNLP's relations; these are made Universal Dependencies as far as the patterns ask: prepositions and
their objects change places, passives, objects and predicates get UD's names, *let alone* becomes a conjunction.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from cxgen.constructicon import Construction
from cxgen.errors import CxgenError
from cxgen.trees import dependency_matcher

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc, Token

# A sentence, the tags by which a candidate in it is labelled together with others, and name, first and last token of its parts.
Candidate = tuple[list["Token"], str, list[tuple[str, "Token", "Token"]]]

# English comparatives end in -er but for three; so a passage without two of them behind "the" need not be tagged at all.
_HALF = re.compile(r"\bthe\s+(?:[\w'-]*er|more|less|worse)\b", re.IGNORECASE)
# Adjectives in -er without a positive form: they order or place, and compare nothing.
_WORDS = {
    "one of two: the former, the latter": "former latter other another either neither",
    "a place, not a degree: the inner, the upper": "inner outer upper nether hinder under over",
    "a word in -er that compares nothing: the proper": "bitter clever eager elder proper rather sheer sinister sober super utter",
}
_REASONS = {word: reason for reason, words in _WORDS.items() for word in words.split()}
_LITTLE = 0.5  # share of small letters from which a sentence is no headline


@dataclass(frozen=True)
class Correlative:
    """Finds *the* and a comparative, twice in a sentence (Weissweiler et al. 2022, sec. 3: the corpus)."""

    width: int = 2  # tags behind each comparative by which groups differ
    most_between: int = 25  # words between the first comparative and the second *the*
    whole: bool = False  # whether groups differ by all tags between the halves
    patterns = ()

    def may_have(self, text: str) -> bool:
        """Whether a passage need be tagged."""
        return len(_HALF.findall(text)) > 1

    def find(self, doc: "Doc") -> Iterator[Candidate | str]:
        """The candidates; for a sentence with two halves but none, the reason."""
        for sentence in doc.sents:
            tokens = [token for token in sentence if not token.is_space]
            words = enumerate(pairwise(tokens))
            places = [place for place, (first, second) in words if first.lower_ == "the" and second.tag_ in {"JJR", "RBR"}]
            reasons = {place: reason for place in places if (reason := false_comparative(tokens, place + 1))}
            pairs = list(self._pairs([place for place in places if place not in reasons]))
            for (first, second), (end, _) in zip(pairs, [*pairs[1:], (len(tokens), 0)], strict=False):
                yield self._candidate(tokens, first, second, end)
            for pair in () if pairs else list(self._pairs(places))[:1]:
                yield next(reasons[place] for place in pair if place in reasons)

    def _pairs(self, places: Sequence[int]) -> Iterator[tuple[int, int]]:
        """Neighbours that are near enough, from the left, none in two pairs."""
        first: int | None = None
        for place in places:
            if first is not None and place - first - 2 <= self.most_between:
                yield first, place
                first = None
            else:
                first = place

    def _candidate(self, tokens: list["Token"], first: int, second: int, end: int) -> Candidate:
        tags = [token.tag_ for token in tokens]
        between, after = tags[first + 2 : second], tags[second + 2 : second + 2 + self.width]
        if not self.whole and len(between) > self.width + 1:  # the one right before the second half tells most
            between = [*between[: self.width], "...", between[-1]]
        spans = []
        for name, start, stop in (("first", first, second), ("second", second, end)):
            last = next((token for token in reversed(tokens[start + 1 : stop]) if not token.is_punct), tokens[start + 1])
            spans += [(name, tokens[start], last), (f"{name} comparative", tokens[start + 1], tokens[start + 1])]
        return tokens, " ".join(["the", tags[first + 1], *between, "the", tags[second + 1], *after]), spans


def false_comparative(tokens: Sequence["Token"], place: int) -> str:
    """Why the comparative at ``place``, behind *the*, is no half of a comparative correlative; empty if it may be one.

    What only the sentence as a whole tells (*the older man met the younger woman*) is left to the labels of groups.
    """
    words = [token.lower_ for token in tokens]
    word, after, before = words[place], words[place + 1 : place + 3], words[max(place - 3, 0) : place - 1]
    ends = place + 1 == len(tokens) or tokens[place + 1].is_punct or tokens[place + 1].tag_ in {"CC", "IN", "RB", "WRB"}
    small = [token.is_lower for token in tokens if token.is_alpha]
    name = all(token.is_title for token in tokens[place : place + 2]) and len(after) > 0 and sum(small) >= _LITTLE * len(small)
    degree = before[-1:] in (["all"], ["none"], ["any"], ["no"]) or before == ["so", "much"]
    checks = {
        "compares by itself: the more than": after[:1] == ["than"],
        "a phrase: the more or less": after in (["or", "less"], ["or", "fewer"]),
        "one of two: the older of the brothers": after[:1] == ["of"] and word not in {"more", "less", "fewer"},
        "a degree: all the more, none the less, so much the better": degree,
        "a phrase: for the better, for the worse": before[-1:] == ["for"] and word in {"better", "worse"} and ends,
        "part of a name: the Lower East Side": name,
    }
    return _REASONS.get(word) or next((reason for reason, holds in checks.items() if holds), "")


_RENAMED = {
    "dobj": "obj", "dative": "iobj", "nsubjpass": "nsubj:pass", "csubjpass": "csubj:pass", "auxpass": "aux:pass", "acomp": "xcomp",
    "oprd": "xcomp", "relcl": "acl:relcl", "poss": "nmod:poss", "prt": "compound:prt", "neg": "advmod", "predet": "det:predet",
    "preconj": "cc:preconj", "quantmod": "advmod", "npadvmod": "obl:npmod", "intj": "discourse",
}  # fmt: skip
_PREDICATES = frozenset({"VERB", "AUX", "ADJ", "ADV"})
_CLOSED = frozenset({"ADP", "SCONJ", "CCONJ", "PART"})  # of these the word itself tells a group


class Forms:
    """Finds verbs with a construction's form, in trees of Universal Dependencies or of ClearNLP."""

    def __init__(self, construction: Construction, nlp: "Language") -> None:
        self.patterns: Sequence[Sequence[Mapping[str, object]]] = construction.form_check
        if not self.patterns:
            hint = "docs/annotation.md: patterns over Universal Dependencies"
            raise CxgenError(f"{construction.name} has no form_check: nothing says what to look for", hint=hint)
        self._matcher = dependency_matcher(construction, nlp.vocab)
        self._clearnlp = any(not {"dobj", "pobj", "nsubjpass"}.isdisjoint(labels) for labels in nlp.pipe_labels.values())

    def may_have(self, text: str) -> bool:
        """Whether a passage need be parsed: any that has words."""
        return bool(text.strip())

    def find(self, doc: "Doc") -> Iterator[Candidate | str]:
        """The sentences in which a pattern matches, once for every verb."""
        for sentence in (as_universal(doc) if self._clearnlp else doc).sents:
            verbs: set[int] = set()
            for key, matched in sorted(self._matcher(sentence), key=lambda match: (match[1][0], match[0], match[1])):
                if matched[0] not in verbs:
                    verbs.add(matched[0])
                    pattern = self.patterns[int(doc.vocab.strings[key])]
                    nodes = sorted((place, str(node["RIGHT_ID"])) for place, node in zip(matched, pattern, strict=True))
                    parts = [(name, sentence[place]) for place, name in nodes]
                    group = [f"{name}:{token.lower_ if token.pos_ in _CLOSED else token.tag_}" for name, token in parts]
                    tokens = [token for token in sentence if not token.is_space]
                    yield tokens, " ".join(group), [(name, token, token) for name, token in parts]


def as_universal(doc: "Doc") -> "Doc":
    """A copy of ``doc`` with the relations of Universal Dependencies; tags, lemmas and sentences stay."""
    from spacy.tokens import Doc

    heads = [token.head.i for token in doc]
    relations = [_renamed(token) for token in doc]
    for token in doc:
        if token.dep_ in {"pobj", "pcomp"} and _is_preposition(token.head):
            _turn(token, heads, relations)
    for token in doc[:-1]:
        if token.lower_ == "let" and token.nbor().lower_ == "alone":
            _conjoin(token, heads, relations)
    columns = {"words": "text", "lemmas": "lemma_", "pos": "pos_", "tags": "tag_"}
    layers: dict[str, Any] = {name: [getattr(token, attribute) for token in doc] for name, attribute in columns.items()}
    return Doc(doc.vocab, spaces=[bool(token.whitespace_) for token in doc], heads=heads, deps=relations, **layers)


def _renamed(token: "Token") -> str:
    if token.dep_ == "advmod" and token.pos_ == "ADJ" and token.head.pos_ == "VERB" and token.i > token.head.i:
        return "xcomp"  # "swung open": an adjective is no adverbial of a verb there
    return "prep" if token.dep_ == "dative" and token.pos_ == "ADP" else _RENAMED.get(token.dep_, token.dep_)


def _is_preposition(token: "Token") -> bool:
    return token.dep_ in {"prep", "agent"} or (token.dep_ == "dative" and token.pos_ == "ADP")


def _turn(token: "Token", heads: list[int], relations: list[str]) -> None:
    """Hang an object on what its preposition hangs on, and the preposition on the object; of "out of" the second word on the first."""
    first, rest = token.head, []
    while _is_preposition(first.head) and first.head.i == first.i - 1:
        rest.append(first.i)
        first = first.head
    for place in rest:
        heads[place], relations[place] = first.i, "fixed"
    above, clause = first.head, token.dep_ == "pcomp" or token.pos_ == "VERB"
    of_predicate, of_noun = ("advcl", "acl") if clause else ("obl", "nmod")
    relation = of_predicate if above.pos_ in _PREDICATES else of_noun
    heads[token.i], relations[token.i] = above.i, "obl:agent" if first.dep_ == "agent" and not clause else relation
    heads[first.i], relations[first.i] = token.i, "mark" if clause else "case"


def _conjoin(let: "Token", heads: list[int], relations: list[str]) -> None:
    """Make what follows "let alone" a conjunct below the word on which "let" hangs."""
    after = [token for token in (*let.children, *let.head.children) if token.i > let.i + 1 and not token.is_punct]
    if after and let.head is not let:
        heads[after[0].i], relations[after[0].i] = let.head.i, "conj"
        heads[let.i], relations[let.i] = after[0].i, "cc"
        heads[let.i + 1], relations[let.i + 1] = let.i, "fixed"
