"""The command ``audit``: whether a large run is what it should be."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cxgen.cli.output import Format, emit
from cxgen.cli.pipeline import Form, ParamsFile, open_project


def audit(
    folder: Annotated[Path, typer.Argument(help="Folder that `cxgen generate --out` has written.")],
    workers: Annotated[int | None, typer.Option(min=1, help="Processes; default: as params.yaml says.")] = None,
    params: ParamsFile = None,
    form: Form = Format.table,
) -> None:
    """Count a finished run of `generate --out` again: balance, leaks and repetitions. Exit code 2 if anything is wrong.

    The dataset of the pipeline is audited where it is written, by `cxgen split` and `cxgen package`.

    Example: cxgen audit big --workers 2
    """
    from cxgen.stages import recount
    from cxgen.stages.pool import executor

    _, settings = open_project(params)
    with executor(workers or settings.workers) as pool:
        found = recount.audit(folder, pool)
    emit(found["parts"], form)
    told = f"{found['rows']} rows in {found['sets']} contrast sets and {found['shards']} shards; {len(found['violations'])} rules hold"
    typer.echo(told, err=form is not Format.table)
