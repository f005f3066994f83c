"""Annotated premises as CoNLL-U with construction annotation."""

from __future__ import annotations

from cxgen.errors import needs
from cxgen.trees.sentence import Sentence


def camel(name: str) -> str:
    """A construction or role name as UCxn writes names: ``caused-motion`` becomes ``CausedMotion``."""
    return "".join(part.capitalize() for part in name.split("-"))


def to_conllu(sentence: Sentence, roles: dict[str, str]) -> str:
    """``sentence`` in CoNLL-U: ten columns, blank line at the end.

    MISC holds ``Cxn=NAME`` on the construction's verb, and ``CxnElt=VERB:NAME.ROLE`` on the heads of the elements, after Weissweiler et al.
    2024, "UCxn: Typologically Informed Annotation of Constructions Atop Universal Dependencies", sec. 3.

    Args:
        roles: slot -> role; slots without one (modifiers) are no elements.

    Raises:
        DataError: the conllu package is not installed.
    """
    with needs("CoNLL-U needs the conllu package", "annotate"):
        from conllu.models import Metadata, TokenList
        from conllu.models import Token as Row
    name = camel(sentence.construction)
    rows = []
    for number, token in enumerate(sentence.tokens, 1):
        misc: dict[str, str] = {}
        if number == sentence.verb:
            misc["Cxn"] = name
        elif token.anchor and token.slot in roles:
            misc["CxnElt"] = f"{sentence.verb}:{name}.{camel(roles[token.slot])}"
        if not token.space_after and number < len(sentence.tokens):
            misc["SpaceAfter"] = "No"
        rows.append(
            Row(
                id=number,
                form=token.form,
                lemma=token.lemma,
                upos=token.upos,
                xpos=token.xpos,
                feats=None,
                head=token.head,
                deprel=token.relation,
                deps=None,
                misc=misc or None,
            )
        )
    metadata = Metadata({"sent_id": sentence.item, "text": sentence.text})
    return str(TokenList(rows, metadata).serialize())
