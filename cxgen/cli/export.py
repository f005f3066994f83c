"""Commands that export gold annotation and sheets for readers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from cxgen.vocabulary import Split

export = typer.Typer(
    help="The finished dataset in other forms: gold annotation of its premises, sheets for blind readers.", no_args_is_help=True
)


Which = Annotated[str, typer.Option(help="Config of the dataset: nli, distinction, minimal_pairs.")]
Part = Annotated[Split, typer.Option(help="Split of the config.")]
Output = Annotated[Path | None, typer.Option("--output", "-o", help="File to write; default: outputs/annotation/CONFIG-SPLIT.*")]


@export.command()
def conllu(config: Which = "nli", split: Part = Split.test, output: Output = None) -> None:
    """CoNLL-U: lemma, UPOS, XPOS, heads, relations, and the construction with its elements in MISC (Cxn=, CxnElt=).

    Example: cxgen export conllu --split test
    """
    from cxgen.stages.export import export_conllu

    _run(export_conllu, "conllu", config, split, output)


@export.command()
def docbin(config: Which = "nli", split: Part = Split.test, output: Output = None) -> None:
    """A spaCy DocBin with the same annotation; the fillers are span groups under "slots".

    Example: cxgen export docbin --config distinction --split test -o test.spacy
    """
    from cxgen.stages.export import export_docbin

    _run(export_docbin, "spacy", config, split, output)


@export.command()
def sheet(
    n: Annotated[int, typer.Option("--n", min=1, help="Items per construction and look-alike.")] = 30,
    seed: Annotated[int, typer.Option(help="Another seed, another sample.")] = 1,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="File to write; default: standard output.")] = None,
) -> None:
    """A sheet for blind readers (id, premise, hypothesis), one item per contrast set, without a hint of the label.

    Their answers (id, relation, prem_nat, hyp_nat, reader, kind) go to pipelines/readings; `cxgen report reading` scores them.

    Example: cxgen export sheet --n 30 --seed 7 -o sheet.csv
    """
    from cxgen.project import Project, write_atomically
    from cxgen.report.reading import sheet as draw
    from cxgen.stages.dataset import dataset

    text = draw(dataset(Project.find(), "nli"), n, seed).write_csv()
    if output is None:
        typer.echo(text, nl=False)
    else:
        write_atomically(output, lambda temporary: temporary.write_text(text, "utf-8"))


def _run(write: Callable[..., int], ending: str, config: str, split: Split, output: Path | None) -> None:
    from cxgen import layout
    from cxgen.project import Project

    project = Project.find()
    path = output or project.root / layout.ANNOTATION / f"{config}-{split.value}.{ending}"
    count = write(project, config, split.value, path)
    typer.echo(f"{count} premises: {path}")
