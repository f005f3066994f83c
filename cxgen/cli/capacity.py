"""The command ``capacity``: whether a dataset of some size can be drawn, before it is."""

from __future__ import annotations

from dataclasses import replace
from itertools import groupby
from operator import itemgetter
from typing import Annotated, Any

import typer

from cxgen.cli.names import completions
from cxgen.cli.output import Format, busy, emit
from cxgen.cli.pipeline import Form, ParamsFile, open_project

Names = Annotated[
    list[str] | None,
    typer.Argument(metavar="[CONSTRUCTION]...", help="Names that `cxgen list` shows; default: all.", autocompletion=completions),
]


def capacity(
    constructions: Names = None,
    n: Annotated[int | None, typer.Option("--n", min=1, help="Items per construction in nli; default: as params.yaml says.")] = None,
    by_design: Annotated[bool, typer.Option("--by-design", help="A row for every design and split.")] = False,
    params: ParamsFile = None,
    form: Form = Format.table,
) -> None:
    """How many contrast sets each construction can give, beside what is asked for; nothing is drawn.

    `capacity` counts sets that share no premise, at most; `used` is the share of it that is asked for, in the design and split where it is
    highest; `enough` says that so many are easily drawn.

    Examples:  cxgen capacity
               cxgen capacity resultative --n 100000 --by-design
    """
    from cxgen.cli.explore import load
    from cxgen.constructicon import readable_targets
    from cxgen.generate import capacity as counted

    project, settings = open_project(params)
    names = list(constructions or settings.constructions or readable_targets(project)[0])
    request = settings.request if n is None else replace(settings.request, sizes={**settings.request.sizes, "nli": n})
    loaded = [load(name) for name in names]
    with busy("counting what can be said"):
        rows = [row for each in loaded for row in counted(each, request)]
    rows.sort(key=itemgetter("construction", "config"))
    emit(rows if by_design else _summed(rows), form)


def _summed(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """One row per construction and config: the sum of its sets, and the design and split of which most is asked for."""
    found = []
    for (construction, config), group in groupby(rows, key=itemgetter("construction", "config")):
        mine = list(group)
        tight = max(mine, key=itemgetter("used"))
        found.append(
            {
                "construction": construction,
                "config": config,
                "wanted": sum(row["wanted"] for row in mine),
                "capacity": sum(row["capacity"] for row in mine),
                "used": tight["used"],
                "enough": all(row["enough"] for row in mine),
                "tightest": f"{tight['design']} in {tight['split']}",
            }
        )
    return found
