"""Gold annotation of the dataset's premises, as CoNLL-U or spaCy's DocBin."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import polars as pl

from cxgen.build.tables import read_split, table_file
from cxgen.constructicon import Construction, load_construction
from cxgen.errors import CxgenError, DataError
from cxgen.families import NATURAL, family_of
from cxgen.files import write_atomically
from cxgen.lexicon import Lexicon
from cxgen.project import Project
from cxgen.schema import TARGET
from cxgen.tables import track
from cxgen.trees import Annotator, Chunks, Sentence
from cxgen.trees.conllu import to_conllu
from cxgen.trees.document import to_doc, vocabulary
from cxgen.vocabulary import Role

_NEED = ("premise_id", "construction", "contrast_of", "kind", "template", "slots")


def sentences(project: Project, config: str, split: str) -> Iterator[tuple[Sentence, Construction]]:
    """Every premise of a split, annotated, with its construction.

    Raises:
        DataError: no such table, or a premise that its template does not give.
        CxgenError: a config whose premises no template gives.
    """
    if config == NATURAL:
        raise CxgenError(
            "what a writer wrote has no gold trees: no template says how it is built", hint="parse it; `slots` has the fillers"
        )
    text = family_of(config).text
    items = read_split(table_file(project, config, split), config, split)
    yield from annotated(project, items.with_columns(premise=text))


def annotated(project: Project, items: pl.DataFrame) -> Iterator[tuple[Sentence, Construction]]:
    """The premises of items, each once, annotated, with their constructions.

    Args:
        project: whose templates say how they are built.
        items: with the columns of lineage, ``slots`` and ``premise``.

    Raises:
        DataError: a premise that its template does not give.
    """
    premises = items.select(*_NEED, "premise", target=TARGET).unique("premise_id", keep="first", maintain_order=True)
    lexicon = Lexicon.of(project)
    chunks = Chunks.load(*project.chunk_files())
    annotators: dict[str, Annotator] = {}
    for item in track(premises.iter_rows(named=True), "annotating", premises.height):
        name = item["target"]
        if name not in annotators:
            construction = load_construction(project, name, lexicon)
            annotators[name] = Annotator(construction, chunks)
        try:
            sentence = annotators[name].sentence(item)
        except KeyError as error:
            raise DataError(
                f"the templates of {name} know no {error}: the dataset is not theirs", hint="make it anew: `dvc repro`"
            ) from error
        yield sentence, annotators[name].construction


def export_conllu(project: Project, config: str, split: str, path: Path) -> int:
    """Write the premises of a split to ``path`` as CoNLL-U; return how many."""
    texts = [to_conllu(sentence, element_roles(construction)) for sentence, construction in sentences(project, config, split)]
    write_atomically(path, lambda temporary: temporary.write_text("".join(texts), "utf-8"))
    return len(texts)


def export_docbin(project: Project, config: str, split: str, path: Path) -> int:
    """Write the premises of a split to ``path`` as a spaCy DocBin with slot spans; return how many."""
    vocabulary()  # says what to install if spaCy is missing
    from spacy.tokens import DocBin

    attributes = ["LEMMA", "POS", "TAG", "HEAD", "DEP"]
    binary = DocBin(attrs=attributes, store_user_data=True)
    for sentence, _ in sentences(project, config, split):
        binary.add(to_doc(sentence))
    write_atomically(path, lambda temporary: temporary.write_bytes(binary.to_bytes()))
    return len(binary)


def element_roles(construction: Construction) -> dict[str, str]:
    """Slot -> role, for the slots that are elements of the construction."""
    return {name: slot.role for name, slot in construction.slots.items() if slot.role not in {Role.verb, Role.modifier}}
