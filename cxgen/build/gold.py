"""Gold annotation of the dataset's premises, as CoNLL-U or spaCy's DocBin."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import polars as pl

from cxgen.build.tables import read_splits
from cxgen.constructicon import Construction, load_construction
from cxgen.errors import CxgenError, DataError
from cxgen.families import CONFIGS, family_of
from cxgen.files import write_atomically, write_text
from cxgen.lexicon import Lexicon
from cxgen.project import Project
from cxgen.schema import TARGET
from cxgen.tables import track
from cxgen.trees import Annotator, Chunks, Sentence, to_conllu, to_doc, vocabulary
from cxgen.vocabulary import Role

_NEED = ("premise_id", "construction", "contrast_of", "kind", "template", "slots", "premise")


def sentences(project: Project, config: str, split: str) -> Iterator[tuple[Sentence, Construction]]:
    """Every premise of a split, annotated, with its construction."""
    if config not in CONFIGS or not family_of(config).trees:
        hint = "parse it; `slots` has the fillers"
        raise CxgenError(f"{config} has no gold trees: no template says how its sentences are built", hint=hint)
    yield from annotated(project, read_splits(project, config, [split]).with_columns(premise=family_of(config).text))


def annotated(project: Project, items: pl.DataFrame) -> Iterator[tuple[Sentence, Construction]]:
    """The premises of items (with lineage, ``slots`` and ``premise``), each once, annotated, with their constructions."""
    premises = items.select(*_NEED, target=TARGET).unique("premise_id", keep="first", maintain_order=True)
    lexicon, chunks = Lexicon.of(project), Chunks.load(*project.chunk_files())
    annotators: dict[str, Annotator] = {}
    for item in track(premises.iter_rows(named=True), "annotating", premises.height):
        name = item["target"]
        if name not in annotators:
            annotators[name] = Annotator(load_construction(project, name, lexicon), chunks)
        try:
            yield annotators[name].sentence(item), annotators[name].construction
        except KeyError as error:
            message = f"the templates of {name} know no {error}: the dataset is not theirs"
            raise DataError(message, hint="make it anew: `dvc repro`") from error


def conllu_of(told: Sequence[tuple[Sentence, Construction]]) -> str:
    """Annotated premises, with their constructions, as CoNLL-U."""
    places: dict[tuple[str, str], set[str]] = {}  # of a slot beside the construction's verb: one that has several stands for no one role
    for sentence, construction in told:
        cases = {token.head: token.lemma for token in sentence.tokens if token.relation in {"case", "mark"}}
        for number, token in enumerate(sentence.tokens, 1):
            if token.anchor and token.head == sentence.verb:
                places.setdefault((construction.name, token.slot), set()).add(f"{token.relation} {cases.get(number, '')}")
    roles: dict[str, dict[str, str]] = {}
    for construction in {construction.name: construction for _, construction in told}.values():
        own = element_roles(construction).items()
        roles[construction.name] = {slot: role for slot, role in own if len(places.get((construction.name, slot), ())) == 1}
    return "".join(to_conllu(sentence, roles[construction.name]) for sentence, construction in told)


def export_conllu(project: Project, config: str, split: str, path: Path) -> int:
    """Write the premises of a split to ``path`` as CoNLL-U; return how many."""
    told = [*sentences(project, config, split)]
    write_text(path, conllu_of(told))
    return len(told)


def export_docbin(project: Project, config: str, split: str, path: Path) -> int:
    """Write the premises of a split to ``path`` as a spaCy DocBin with slot spans; return how many."""
    vocabulary()  # says what to install if spaCy is missing
    from spacy.tokens import DocBin

    binary = DocBin(attrs=["LEMMA", "POS", "TAG", "HEAD", "DEP"], store_user_data=True)
    for sentence, _ in sentences(project, config, split):
        binary.add(to_doc(sentence))
    write_atomically(path, lambda temporary: temporary.write_bytes(binary.to_bytes()))
    return len(binary)


def element_roles(construction: Construction) -> dict[str, str]:
    """Slot -> role, for the slots that are elements of the construction."""
    return {name: slot.role for name, slot in construction.slots.items() if slot.role not in {Role.verb, Role.modifier}}
