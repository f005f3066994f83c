"""Commands that export the dataset in other forms."""

from __future__ import annotations

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
Configs = Annotated[list[str] | None, typer.Option("--config", help="Only this config; several times for several. Default: all.")]
Wording = Annotated[str, typer.Option(help="How items are put: plain, told, quiz, scene, or one of your own (pipelines/prompts).")]


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


@export.command(name="lm-eval")
def lm_eval(folder: Folder, configs: Configs = None, split: Part = Split.test, wording: Wording = "plain") -> None:
    """A folder of tasks for lm-evaluation-harness: one per construction, a group per config, and the group cxgen.

    Example: cxgen export lm-eval harness && lm-eval run --include_path harness --tasks cxgen_nli --model hf --model_args pretrained=FOLDER
    """
    from cxgen.project import Project
    from cxgen.stages.evaluate import Part as Chosen
    from cxgen.stages.harness import export_lm_eval

    groups = export_lm_eval(Project.find(), Chosen(tuple(configs or ()), (split.value,)), folder, wording)
    typer.echo(f"groups {', '.join(groups)}: {folder}")


@export.command()
def inspect(folder: Folder, configs: Configs = None, split: Part = Split.test) -> None:
    """A folder with a task for inspect_ai.

    Example: cxgen export inspect tasks && inspect eval tasks/cxgen_tasks.py@cxgen --model MODEL -T config=nli
    """
    from cxgen.project import Project
    from cxgen.stages.evaluate import Part as Chosen
    from cxgen.stages.harness import export_inspect

    found = export_inspect(Project.find(), Chosen(tuple(configs or ()), (split.value,)), folder)
    typer.echo(f"configs {', '.join(found)}: {folder}")


def _run(write: Callable[..., int], ending: str, config: str, split: Split, output: Path | None) -> None:
    from cxgen import layout
    from cxgen.project import Project

    project = Project.find()
    path = output or project.root / layout.ANNOTATION / f"{config}-{split.value}.{ending}"
    count = write(project, config, split.value, path)
    typer.echo(f"{count} premises: {path}")
