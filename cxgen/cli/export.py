"""Commands that export the dataset in other forms."""

from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from cxgen.vocabulary import Split

export = typer.Typer(
    help="The finished dataset in other forms: gold annotation, tasks for evaluation harnesses.",
    no_args_is_help=True,
)


Which = Annotated[str, typer.Option(help="Config of the dataset: nli, distinction, minimal_pairs.")]
Part = Annotated[Split, typer.Option(help="Split of the config.")]
Output = Annotated[Path | None, typer.Option("--output", "-o", help="File to write; default: outputs/annotation/CONFIG-SPLIT.*")]
Folder = Annotated[Path, typer.Argument(help="Folder to write: empty, or not there yet.")]
_HARNESSES = Path(__file__).parents[1] / "evaluate/exports"  # a command for each file; the package itself takes long to import
Configs = Annotated[list[str] | None, typer.Option("--config", help="Only this config; several times for several. Default: all.")]
Wording = Annotated[str, typer.Option(help="lm-eval: how items are put: plain, told, quiz, scene, or one of your own.")]


@export.command()
def conllu(config: Which = "nli", split: Part = Split.test, output: Output = None) -> None:
    """CoNLL-U: lemma, UPOS, XPOS, heads, relations, and the construction with its elements in MISC (Cxn=, CxnElt=).

    Example: cxgen export conllu --split test
    """
    from cxgen.build.gold import export_conllu

    _run(export_conllu, "conllu", config, split, output)


@export.command()
def docbin(config: Which = "nli", split: Part = Split.test, output: Output = None) -> None:
    """A spaCy DocBin with the same annotation; the fillers are span groups under "slots".

    Example: cxgen export docbin --config distinction --split test -o test.spacy
    """
    from cxgen.build.gold import export_docbin

    _run(export_docbin, "spacy", config, split, output)


def _harness(name: str, text: str) -> Callable[..., None]:
    """The command of a file in `cxgen.evaluate.exports`, whose text has the help."""

    def command(folder: Folder, configs: Configs = None, split: Part = Split.test, wording: Wording = "plain") -> None:
        from cxgen.evaluate.exports import export
        from cxgen.evaluate.report import Part as Chosen
        from cxgen.project import Project

        names = export(name, Project.find(), Chosen(tuple(configs or ()), (split.value,)), folder, wording)
        typer.echo(f"{', '.join(names)}: {folder}")

    command.__doc__ = ast.get_docstring(ast.parse(text))
    return command


for _path in sorted(_HARNESSES.glob("[a-z]*.py")):
    export.command(name=_path.stem.replace("_", "-"))(_harness(_path.stem, _path.read_text("utf-8")))


def _run(write: Callable[..., int], ending: str, config: str, split: Split, output: Path | None) -> None:
    from cxgen import layout
    from cxgen.project import Project

    project = Project.find()
    path = output or project.root / layout.ANNOTATION / f"{config}-{split.value}.{ending}"
    count = write(project, config, split.value, path)
    typer.echo(f"{count} premises: {path}")
