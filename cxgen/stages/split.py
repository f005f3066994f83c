"""Stage ``split``: keep whole accepted contrast sets, exact sizes, verify, write."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from cxgen import layout
from cxgen.constructicon import load_construction
from cxgen.errors import DataError
from cxgen.families import CONFIGS, REJECTED, columns_of
from cxgen.files import require_place
from cxgen.generate import filling
from cxgen.lexicon import Lexicon
from cxgen.project import Project
from cxgen.publish.content import WRITTEN, table_hashes
from cxgen.review.dropped import read_dropped
from cxgen.schema import TARGET, conform
from cxgen.stages.audit import audit, balance
from cxgen.stages.contracts import read_candidates, read_verdicts
from cxgen.stages.params import Params
from cxgen.stages.warn import tell, warnings
from cxgen.tables import write_json, write_table
from cxgen.vocabulary import APPROPRIATE, EXTENDED, INAPPROPRIATE, PROTOTYPICAL, SPLITS, UNDECIDED

_KEYS = ["target", "config", "design", "split"]


def run(project: Project, params: Params) -> dict[str, Any]:
    """Write the dataset's parquet files, the rejects and the audit; return the audit.

    Raises:
        DataError: too few accepted sets, or the audit found a leak or an imbalance.
    """
    require_place(project.root / layout.metric("splits"))
    items, verdicts = read_candidates(project), read_verdicts(project)
    judged = items.join(verdicts, on="id", how="left", maintain_order="left")
    if judged["premise_verdict"].null_count():
        raise DataError("there are items without a verdict", file=project.root / layout.VERDICTS, hint="run `cxgen judge` again")
    judged = leave_out(judged, read_dropped(project.root / layout.DROPPED))
    accepted, rejected = accept(judged, keep_undecided=params.keep_undecided)
    tables = {(REJECTED, REJECTED): rejected}
    write_table(rejected, project.root / layout.table(REJECTED, REJECTED))  # before anything can go wrong: it says why sets are lacking
    dataset = choose(accepted, wanted_sets(project, params, items))
    report = audit(dataset)
    for config in CONFIGS:
        rows = dataset.filter(pl.col("config") == config)
        if rows.height:
            finished = conform(rows, columns_of(config))
            for split in SPLITS:
                tables[config, split] = finished.filter(pl.col("split") == split)
                write_table(tables[config, split], table_file(project, config, split))
        else:
            for split in SPLITS:  # of an earlier run with other designs
                table_file(project, config, split).unlink(missing_ok=True)
    write_json({**report, WRITTEN: table_hashes(tables)}, project.root / layout.metric("splits"))
    write_json(balance(dataset), project.root / layout.metric("balance"))
    tell(warnings(dataset, params.request.rows))
    return report


def table_file(project: Project, config: str, split: str) -> Path:
    """Where the rows of a split are written."""
    return project.root / layout.table(config, split)


def accept(judged: pl.DataFrame, *, keep_undecided: bool = False) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Items of the sets in which nothing is rejected or undecided, and the rejected items of the others with their reasons.

    With ``keep_undecided`` what is undecided counts as good.
    """
    more = [UNDECIDED] if keep_undecided else []
    good = pl.col("premise_verdict").is_in([PROTOTYPICAL, EXTENDED, *more]) & pl.col("pair_verdict").is_in([APPROPRIATE, *more])
    whole = good.all().over("config", "contrast_set")
    rejected = judged.filter(~good).with_columns(acceptability="premise_verdict")
    columns = [column for column in columns_of(REJECTED) if column.name in rejected.columns]
    return judged.filter(whole), conform(rejected, columns)


def leave_out(judged: pl.DataFrame, dropped: Mapping[str, str]) -> pl.DataFrame:
    """The items with those of ``dropped`` sets (contrast set -> reason) refused, in every config."""
    why = pl.col("contrast_set").replace_strict(dropped, default=None, return_dtype=pl.String)
    refused = why.is_not_null() & (pl.col("pair_verdict") != INAPPROPRIATE)
    return judged.with_columns(
        pair_verdict=pl.when(refused).then(pl.lit(INAPPROPRIATE)).otherwise("pair_verdict"),
        pair_reason=pl.when(refused).then(pl.format("review: {}", why)).otherwise("pair_reason"),
    )


def wanted_sets(project: Project, params: Params, items: pl.DataFrame) -> pl.DataFrame:
    """How many sets each construction, config, design and split must have: ``target, config, design, split, wanted``."""
    lexicon = Lexicon.of(project)
    names = items.select(TARGET).to_series().unique().sort()
    needs = [
        (name, *need.label, need.least)
        for name in names
        for need in filling(load_construction(project, name, lexicon), params.request).needs
    ]
    return pl.DataFrame(needs, schema=[*_KEYS, "wanted"], orient="row")


def choose(accepted: pl.DataFrame, wanted: pl.DataFrame) -> pl.DataFrame:
    """The first ``wanted`` accepted sets of each construction, config, design and split, in the order of the candidates.

    Raises:
        DataError: there are fewer.
    """
    table = accepted.with_columns(target=TARGET)
    table = table.join(wanted, on=_KEYS, how="left", maintain_order="left")
    rank = pl.col("set_number").rank("dense").over(_KEYS)
    chosen = table.filter(rank <= pl.col("wanted"))
    have = table.group_by(_KEYS).agg(have=pl.col("set_number").n_unique())
    short = wanted.join(have, on=_KEYS, how="left").with_columns(pl.col("have").fill_null(0)).filter(pl.col("have") < pl.col("wanted"))
    if short.height:
        row = short.sort(_KEYS).row(0, named=True)
        raise DataError(
            f"{row['target']}, design {row['design']} for {row['config']}, {row['split']}: {row['wanted']} contrast sets are wanted"
            f", {row['have']} were accepted",
            hint="see what was refused and why in outputs/dataset/rejected; mend that, or raise generate.oversample in params.yaml",
        )
    return chosen.with_columns(acceptability=pl.col("premise_verdict"))
