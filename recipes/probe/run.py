"""Probe a model's layers for a construction: `python recipes/probe/run.py --model FOLDER`. See README.md."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # the clone, wherever one stands

from cxgen.cli.app import run as run_command
from cxgen.cli.output import Format, emit
from recipes.probe import layers, settings
from recipes.probe.probing import summary

app = typer.Typer(pretty_exceptions_enable=False, rich_markup_mode=None, context_settings={"help_option_names": ["-h", "--help"]})


@app.command()
def probe(
    config: Annotated[Path, typer.Option(help="YAML file with settings; those that it lacks are those of config.yaml.")] = settings.DEFAULT,
    model: Annotated[str | None, typer.Option(help="Folder of a model, or a name on the Hugging Face Hub.")] = None,
    data: Annotated[str | None, typer.Option(help="A table, a folder of such, or sets:CONSTRUCTION.")] = None,
    output: Annotated[str | None, typer.Option(help="Folder of runs.")] = None,
    seed: Annotated[int | None, typer.Option(min=0)] = None,
    form: Annotated[Format, typer.Option("--format", help="All but the table: every probe, with the values of features.")] = Format.table,
) -> None:
    """Train a linear probe on every layer, with few and many sentences, and with features held apart.

    Run it again after an interruption: what was made is kept.
    """
    changes = {"model": model, "data": data, "output": output, "seed": seed}
    chosen = settings.Settings.read(config, changes)
    found = layers.run(chosen)
    typer.echo(f"run: {chosen.folder}", err=True)
    emit(list(summary(found)) if form is Format.table else found, form)


if __name__ == "__main__":
    sys.exit(run_command(sys.argv[1:], app, "probe"))
