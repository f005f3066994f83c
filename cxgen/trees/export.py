"""Annotated premises as CoNLL-U and as spaCy documents, and whether they instantiate the construction's form."""

import re
from functools import cache
from itertools import accumulate, groupby
from typing import TYPE_CHECKING

from cxgen.constructicon import Construction
from cxgen.errors import needs
from cxgen.trees.sentence import Sentence

if TYPE_CHECKING:
    from spacy.matcher import DependencyMatcher
    from spacy.tokens import Doc
    from spacy.vocab import Vocab


def _camel(name: str) -> str:
    """A construction or role name as UCxn writes names: ``caused-motion`` becomes ``CausedMotion``."""
    return "".join(part.capitalize() for part in name.split("-"))


def to_conllu(sentence: Sentence, roles: dict[str, str]) -> str:
    """``sentence`` in CoNLL-U; ``roles`` are slot -> role, slots without one (modifiers) and what depends on other verbs are no elements.

    MISC holds ``Cxn=NAME`` on the construction's verb, and ``CxnElt=VERB:NAME.ROLE`` on the heads of the elements, after Weissweiler et al.
    2024, "UCxn: Typologically Informed Annotation of Constructions Atop Universal Dependencies", sec. 3.
    """
    name = _camel(sentence.construction)
    lines = [f"# sent_id = {sentence.item}", f"# text = {sentence.text}"]
    for number, token in enumerate(sentence.tokens, 1):
        misc = []
        if number == sentence.verb:
            misc.append(f"Cxn={name}")
        elif token.anchor and token.slot in roles and token.head == sentence.verb:
            misc.append(f"CxnElt={sentence.verb}:{name}.{_camel(roles[token.slot])}")
        if not token.space_after and number < len(sentence.tokens):
            misc.append("SpaceAfter=No")
        row = (number, token.form, token.lemma, token.upos, token.xpos, "_", token.head, token.relation, "_", "|".join(misc) or "_")
        lines.append("\t".join(map(str, row)))
    return "\n".join(lines) + "\n\n"


@cache
def vocabulary() -> "Vocab":
    """An English vocabulary without a trained pipeline."""
    with needs("annotated documents and the form check need spaCy", "annotate"):
        import spacy
    return spacy.blank("en").vocab


def to_doc(sentence: Sentence) -> "Doc":
    """``sentence`` with tags, lemmas, heads and relations; the fillers are spans, labelled by slot, in ``doc.spans["slots"]``."""
    vocab = vocabulary()
    from spacy.tokens import Doc, Span

    tokens = sentence.tokens
    doc = Doc(
        vocab,
        words=[token.form for token in tokens],
        spaces=[token.space_after for token in tokens],
        lemmas=[token.lemma for token in tokens],
        pos=[token.upos for token in tokens],
        tags=[token.xpos for token in tokens],
        heads=[token.head - 1 if token.head else number for number, token in enumerate(tokens)],
        deps=["ROOT" if token.relation == "root" else token.relation for token in tokens],
    )
    doc.user_data |= {"premise_id": sentence.item, "construction": sentence.construction}
    anchors = accumulate((token.anchor for token in tokens), initial=False)  # two fillers of a slot may stand side by side
    runs = groupby(zip(tokens, anchors, range(len(tokens)), strict=False), key=lambda place: (place[0].slot, place[1]))
    places = [(slot, [number for *_, number in run]) for (slot, _), run in runs]
    doc.spans["slots"] = [Span(doc, run[0], run[-1] + 1, label=slot) for slot, run in places if slot]
    return doc


def dependency_matcher(construction: Construction, vocab: "Vocab") -> "DependencyMatcher":
    """A construction's ``form_check``, ready to match; a pattern's key is its number as a string. A pattern that is none: SchemaError."""
    from spacy.matcher import DependencyMatcher

    matcher = DependencyMatcher(vocab, validate=True)
    for number, pattern in enumerate(construction.form_check):
        try:
            matcher.add(str(number), [[dict(node) for node in pattern]])
        except (ValueError, TypeError, KeyError, re.error) as error:
            message = f"{construction.name}: form_check: spaCy does not accept the pattern: {' '.join(str(error).split())[:200]}"
            hint = "see docs/annotation.md and spaCy's DependencyMatcher"
            raise construction.document.wrong(["form_check", number], message, hint) from error
    return matcher


def has_form(sentence: Sentence, matcher: "DependencyMatcher") -> bool:
    """Whether a pattern of the `dependency_matcher` matches, with its first node on the sentence's verb."""
    return any(tokens[0] == sentence.verb - 1 for _, tokens in matcher(to_doc(sentence)))
