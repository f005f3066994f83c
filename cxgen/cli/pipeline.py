"""Commands that are the pipeline's stages. `dvc repro` runs them in order."""

from __future__ import annotations

from typing import Any

from cxgen.cli.options import Form, ParamsFile, open_project
from cxgen.cli.output import Format, busy, emit


def split(params: ParamsFile = None, form: Form = Format.table) -> None:
    """Keep whole accepted contrast sets, split by verb, audit, write outputs/dataset.

    Example: cxgen split
    """
    from cxgen.stages import split as stage

    project, settings = open_project(params)
    with busy("choosing contrast sets and auditing them"):
        audit = stage.run(project, settings)
    rows = [
        {
            "construction": name,
            "config": config,
            **{f"{split} items": number for split, number in items.items()},
            **{f"{s} verbs": n for s, n in found["verbs"].items()},
        }
        for name, found in audit["constructions"].items()
        for config, items in found["items"].items()
    ]
    emit(rows, form)


def substitute(params: ParamsFile = None, form: Form = Format.table) -> None:
    """Say contrast sets of the finished dataset once more with pseudowords, labels computed anew: outputs/wug.

    Example: cxgen substitute
    """
    from cxgen.stages import substitute as stage

    project, settings = open_project(params)
    found = stage.run(project, settings)
    rows = [
        {
            "family": family,
            "construction": name,
            "mode": mode,
            **{key: entry[key] for key in ("items", "of")},
            "claims": len(entry["hypotheses"]),
        }
        for family, part in (("nli", found["constructions"]), ("minimal_pairs", found["pairs"]))
        for name, modes in part.items()
        for mode, entry in modes.items()
    ]
    emit(rows, form)


def natural(params: ParamsFile = None, form: Form = Format.table) -> None:
    """Make items of the sets that writers wrote (pipelines/natural.parquet), split by verb like nli: outputs/natural.

    Example: cxgen natural
    """
    from cxgen.stages import natural as stage

    project, settings = open_project(params)
    found = stage.run(project, settings)
    rows = [
        {"construction": name, **{f"{split} {what}": count for what, counts in entry.items() for split, count in counts.items()}}
        for name, entry in found["constructions"].items()
    ]
    emit(rows, form, ["construction"])


def suites(params: ParamsFile = None, form: Form = Format.table) -> None:
    """Make the suites (cc_syntax, cc_semantics), audit and measure them: outputs/suites.

    Example: cxgen suites
    """
    from cxgen.stages import suites as stage

    project, settings = open_project(params)
    with busy("making and auditing the suites"):
        found = stage.run(project, settings)
    rows: list[dict[str, Any]] = []
    for name, entry in found["suites"].items():
        rows += [{"suite": name, "what": what, "figure": number} for what, number in _flat(entry["counts"])]
        rows += [
            {"suite": name, "what": f"{measure} {part}", "figure": figure}
            for measure, each in entry["measures"].items()
            for parts in each["configs"].values()
            for part, figure in parts.items()
        ]
    emit(rows, form, ["suite", "what", "figure"])


def _flat(counts: dict[str, Any], before: str = "") -> list[tuple[str, int]]:
    """Counts within counts, as (path, count)."""
    found: list[tuple[str, int]] = []
    for name, value in counts.items():
        path = f"{before} {name}".strip()
        found += _flat(value, path) if isinstance(value, dict) else [(path, value)]
    return found
