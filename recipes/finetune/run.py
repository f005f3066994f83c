"""Fine-tune a model on the dataset and score it: `python recipes/finetune/run.py --model FOLDER`. See README.md."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # the clone, wherever one stands

from cxgen.cli.app import run as run_command
from cxgen.cli.output import Format, emit
from cxgen.evaluation.rows import few_verbs
from recipes.finetune import regimes, settings
from recipes.finetune.report import rows

app = typer.Typer(pretty_exceptions_enable=False, rich_markup_mode=None, context_settings={"help_option_names": ["-h", "--help"]})


@app.command()
def finetune(
    config: Annotated[Path, typer.Option(help="YAML file with settings; those that it lacks are those of config.yaml.")] = settings.DEFAULT,
    model: Annotated[str | None, typer.Option(help="Folder of a model, or a name on the Hugging Face Hub.")] = None,
    regime: Annotated[settings.Regime | None, typer.Option(help="shared, heads (one per construction), in-context.")] = None,
    output: Annotated[str | None, typer.Option(help="Folder of runs.")] = None,
    seed: Annotated[int | None, typer.Option(min=0)] = None,
    file: Annotated[list[str] | None, typer.Option(help="A table of your own to answer; several times for several.")] = None,
    baseline: Annotated[str | None, typer.Option(help="Folder of a run that accuracies are held against.")] = None,
    form: Annotated[Format, typer.Option("--format")] = Format.table,
) -> None:
    """Fine-tune a model (or show it examples), answer test, distinction and your own files, and score the answers.

    Run it again after an interruption: it goes on at the last evaluation.
    """
    changes = {"model": model, "regime": regime and regime.value, "output": output, "seed": seed, "evaluate.files": file or None}
    chosen = settings.Settings.read(config, {**changes, "evaluate.baseline": baseline})
    reports = regimes.run(chosen, lambda text: typer.echo(text, err=True))
    typer.echo(f"run: {chosen.folder}", err=True)
    emit(rows(reports), form)
    for line in few_verbs(reports) if chosen.evaluate.resamples else ():
        typer.echo(line, err=True)


if __name__ == "__main__":
    sys.exit(run_command(sys.argv[1:], app, "finetune"))
