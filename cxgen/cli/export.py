"""Commands that export gold annotation."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

export = typer.Typer(help="Gold annotation of the finished dataset's premises.", no_args_is_help=True)


class Config(StrEnum):
    """The configs that have premises to annotate."""

    nli = "nli"
    distinction = "distinction"


class Split(StrEnum):
    """The splits."""

    train = "train"
    dev = "dev"
    test = "test"


Which = Annotated[Config, typer.Option(help="Config of the dataset.")]
Part = Annotated[Split, typer.Option(help="Split of the config.")]
Output = Annotated[Path | None, typer.Option("--output", "-o", help="File to write; default: outputs/annotation/CONFIG-SPLIT.*")]


@export.command()
def conllu(config: Which = Config.nli, split: Part = Split.test, output: Output = None) -> None:
    """CoNLL-U: lemma, UPOS, XPOS, heads, relations, and the construction with its elements in MISC (Cxn=, CxnElt=).

    Example: cxgen export conllu --split test
    """
    from cxgen.stages.export import export_conllu

    _run(export_conllu, "conllu", config, split, output)


@export.command()
def docbin(config: Which = Config.nli, split: Part = Split.test, output: Output = None) -> None:
    """A spaCy DocBin with the same annotation; the fillers are span groups under "slots".

    Example: cxgen export docbin --config distinction --split test -o test.spacy
    """
    from cxgen.stages.export import export_docbin

    _run(export_docbin, "spacy", config, split, output)


def _run(write: Callable[..., int], ending: str, config: Config, split: Split, output: Path | None) -> None:
    from cxgen.project import Project

    project = Project.find()
    path = output or project.root / "outputs" / "annotation" / f"{config.value}-{split.value}.{ending}"
    count = write(project, config.value, split.value, path)
    typer.echo(f"{count} premises: {path}")
