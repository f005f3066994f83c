"""The spaCy pipeline that tags or parses: any that is installed, or a folder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from cxgen.errors import DataError, needs
from cxgen.tables import one_line

if TYPE_CHECKING:
    from spacy.language import Language

DEFAULT = "en_core_web_sm"
_TRIAL = "The sooner we leave, the better it is."
_UNUSED = ("ner", "entity_linker", "entity_ruler", "textcat", "textcat_multilabel", "spancat", "span_finder", "coref")
_PARSING = ("parser", "lemmatizer", "experimental_biaffine_parser")


def load(name: str, *, parsed: bool) -> Language:
    """A pipeline that gives tags and sentences and, if ``parsed``, trees; what is not needed of it is left out.

    Args:
        name: of an installed pipeline, or a folder with one.
        parsed: whether dependencies are needed.

    Raises:
        DataError: spaCy or the pipeline is not installed, is damaged, is not for English, or does not give what is needed.
    """
    with needs("mining needs spaCy", "annotate"):
        import spacy
    exclude = _UNUSED if parsed else _UNUSED + _PARSING
    try:
        nlp = spacy.load(name, exclude=list(exclude))
    except (OSError, ValueError, ImportError, KeyError, TypeError) as error:
        raise _missing(name, error) from error
    if nlp.lang != "en":
        raise DataError(f"the pipeline {name} is for {nlp.lang!r}, not for English", hint="--model NAME")
    if "senter" in nlp.disabled and not parsed:
        nlp.enable_pipe("senter")
    doc = nlp(_TRIAL)
    if not doc.has_annotation("SENT_START"):
        nlp.add_pipe("sentencizer", first=True)
    lacking = [
        what for what, there in (("tags", doc.has_annotation("TAG")), ("trees", doc.has_annotation("DEP") or not parsed)) if not there
    ]
    if lacking:
        hint = f"it has {', '.join(nlp.pipe_names) or 'no components'}; --model NAME names another one, such as {DEFAULT}"
        raise DataError(f"the pipeline {name} gives no {' and no '.join(lacking)}", hint=hint)
    return nlp


def _missing(name: str, error: Exception) -> DataError:
    from spacy.util import get_installed_models

    if Path(name).exists() or name in get_installed_models():
        return DataError(f"not a spaCy pipeline that can be loaded: {one_line(error)}", file=Path(name) if Path(name).exists() else None)
    installed = ", ".join(sorted(get_installed_models())) or "none"
    hint = f"python -m spacy download {DEFAULT}, or --model with a name or a folder; installed: {installed}"
    return DataError(f"no spaCy pipeline {name!r} is installed", hint=hint)
