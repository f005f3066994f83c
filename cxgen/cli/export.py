"""Commands that export the dataset in other forms."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

from typer import Argument, Option, echo

from cxgen.build.gold import export_conllu, export_docbin
from cxgen.cli.options import Configs, commands
from cxgen.evaluate.exports import export as write_tasks
from cxgen.evaluate.report import Part
from cxgen.facade import Constructicon
from cxgen.layout import ANNOTATION
from cxgen.vocabulary import Split

_Config = Annotated[str, Option(help="Config of the dataset: nli, distinction, minimal_pairs.")]
_Part = Annotated[Split, Option(help="Split of the config.")]
_Output = Annotated[Path | None, Option("--output", "-o", help="File to write; default: outputs/annotation/CONFIG-SPLIT.*")]
_Folder = Annotated[Path, Argument(help="Folder to write: empty, or not there yet.")]
_Wording = Annotated[str, Option(help="lm-eval: how items are put: plain, told, quiz, scene, or one of your own.")]

app, export = commands(), commands()
app.add_typer(export, name="export")


@export.command()
def conllu(config: _Config = "nli", split: _Part = Split.test, output: _Output = None) -> None:
    """CoNLL-U: lemma, UPOS, XPOS, heads, relations, and the construction with its elements in MISC (Cxn=, CxnElt=)."""
    _annotate(export_conllu, "conllu", config, split, output)


@export.command()
def docbin(config: _Config = "nli", split: _Part = Split.test, output: _Output = None) -> None:
    """A spaCy DocBin with the same annotation; the fillers are span groups under "slots".

    Example: cxgen export docbin --config distinction --split test -o test.spacy
    """
    _annotate(export_docbin, "spacy", config, split, output)


def _annotate(write: Callable[..., int], ending: str, config: str, split: Split, output: Path | None) -> None:
    project = Constructicon().project
    path = output or project.root / ANNOTATION / f"{config}-{split.value}.{ending}"
    echo(f"{write(project, config, split.value, path)} premises: {path}")


@export.command()
def inspect(folder: _Folder, configs: Configs = None, split: _Part = Split.test, wording: _Wording = "plain") -> None:
    """A folder with a task for inspect_ai.

    Example: cxgen export inspect tasks && inspect eval tasks/cxgen_tasks.py@cxgen --model MODEL -T config=nli
    """
    _for_harness("inspect", folder, configs, split, wording)


@export.command()
def lm_eval(folder: _Folder, configs: Configs = None, split: _Part = Split.test, wording: _Wording = "plain") -> None:
    """A folder of tasks for lm-evaluation-harness: one per construction, a group per config, and the group cxgen.

    Example: cxgen export lm-eval harness && lm-eval run --include_path harness --tasks cxgen_nli --model hf --model_args pretrained=FOLDER
    """
    _for_harness("lm_eval", folder, configs, split, wording)


def _for_harness(name: str, folder: Path, configs: list[str] | None, split: Split, wording: str) -> None:
    names = write_tasks(name, Constructicon().project, Part(tuple(configs or ()), (split.value,)), folder, wording)
    echo(f"{', '.join(names)}: {folder}")
