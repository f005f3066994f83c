"""Stage ``split``: keep whole accepted contrast sets, exact sizes, verify, write."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl

from cxgen.constructicon import load_construction
from cxgen.errors import DataError
from cxgen.generate import SPLITS, TARGET, set_counts
from cxgen.judge import VERDICTS
from cxgen.lexicon import Lexicon
from cxgen.project import Project
from cxgen.stages.audit import audit, balance
from cxgen.stages.generate import CANDIDATES
from cxgen.stages.judge import VERDICT_FILE
from cxgen.stages.params import Params
from cxgen.stages.tables import read_table, write_json, write_table

CONFIGS = ("nli", "distinction")
DATASET = Path("outputs/dataset")
REJECTED = Path("outputs/dataset/rejected/rejected-00000-of-00001.parquet")
SPLIT_METRICS = Path("outputs/metrics/splits.json")
BALANCE = Path("outputs/metrics/balance.json")
COLUMNS = (
    "id",
    "contrast_set",
    "premise_id",
    "construction",
    "contrast_of",
    "design",
    "kind",
    "template",
    "frame",
    "premise",
    "hypothesis",
    "label",
    "rule",
    "wording",
    "claim",
    "polarity",
    "verb",
    "slots",
    "acceptability",
    "split",
)


def run(project: Project, params: Params) -> dict[str, Any]:
    """Write the dataset's parquet files, the rejects and the audit; return the audit.

    Raises:
        DataError: too few accepted sets, or the audit found a leak or an imbalance.
    """
    items = read_table(project.root / CANDIDATES, ("id", "set_number", "design", "split"), "generate")
    verdicts = read_table(project.root / VERDICT_FILE, VERDICTS, "judge")
    judged = items.join(verdicts, on="id", how="left", maintain_order="left")
    if judged["premise_verdict"].null_count():
        raise DataError("there are items without a verdict", file=project.root / VERDICT_FILE, hint="run `cxgen judge` again")
    accepted, rejected = accept(judged, keep_undecided=params.keep_undecided)
    dataset = choose(accepted, wanted_sets(project, params, items))
    report = audit(dataset)
    for config in CONFIGS:
        rows = dataset.filter(pl.col("config") == config).drop("config")
        if not rows.height:
            continue
        rows = paired(rows) if config == "distinction" else rows
        for split in SPLITS:
            write_table(rows.filter(pl.col("split") == split), table_file(project, config, split))
    write_table(rejected, project.root / REJECTED)
    write_json(report, project.root / SPLIT_METRICS)
    write_json(balance(dataset), project.root / BALANCE)
    return report


def table_file(project: Project, config: str, split: str) -> Path:
    """Where the rows of a split are written."""
    return project.root / DATASET / config / f"{split}-00000-of-00001.parquet"


def paired(rows: pl.DataFrame) -> pl.DataFrame:
    """Add ``target_id`` and ``target_label`` to the look-alikes' rows: the item of the same contrast set that puts the same hypothesis to
    the target construction (null in the target's own rows). Every hypothesis of a balanced set meets a target premise.
    """
    keys = ["contrast_set", "hypothesis"]
    targets = rows.filter(pl.col("contrast_of").is_null()).unique(keys, keep="first", maintain_order=True)
    found = targets.select(*keys, target_id="id", target_label="label")
    joined = rows.join(found, on=keys, how="left", maintain_order="left")
    own = pl.col("contrast_of").is_null()
    return joined.with_columns(pl.when(own).then(None).otherwise(pl.col(name)).alias(name) for name in ("target_id", "target_label"))


def accept(judged: pl.DataFrame, *, keep_undecided: bool = False) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Items of the sets in which nothing is rejected or undecided, and the rejected items of the others with their reasons.

    With ``keep_undecided`` what is undecided counts as good.
    """
    more = ["undecided"] if keep_undecided else []
    good = pl.col("premise_verdict").is_in(["prototypical", "extended", *more]) & pl.col("pair_verdict").is_in(["appropriate", *more])
    whole = good.all().over("contrast_set")
    rejected = judged.filter(~good).with_columns(acceptability="premise_verdict")
    return judged.filter(whole), rejected.select(*COLUMNS, "premise_reason", "pair_verdict", "pair_reason")


def wanted_sets(project: Project, params: Params, items: pl.DataFrame) -> pl.DataFrame:
    """How many sets each construction, design and split must have: ``target, design, config, split, wanted``."""
    lexicon = Lexicon.of(project)
    rows: list[dict[str, str | int]] = []
    for name in items.select(TARGET).to_series().unique().sort():
        construction = load_construction(project, name, lexicon)
        counts = set_counts(construction, params.request.wanted, params.request.shares)
        rows.extend(
            {"target": name, "design": design, "config": construction.designs[design].config, "split": split, "wanted": n}
            for (design, split), n in counts.items()
        )
    return pl.DataFrame(rows)


def choose(accepted: pl.DataFrame, wanted: pl.DataFrame) -> pl.DataFrame:
    """The first ``wanted`` accepted sets of each construction, design and split, in the order of the candidates.

    Raises:
        DataError: there are fewer.
    """
    table = accepted.with_columns(target=TARGET)
    keys = ["target", "design", "split"]
    table = table.join(wanted, on=keys, how="left", maintain_order="left")
    rank = pl.col("set_number").rank("dense").over(keys)
    chosen = table.filter(rank <= pl.col("wanted"))
    have = table.group_by(keys).agg(have=pl.col("set_number").n_unique())
    short = wanted.join(have, on=keys, how="left").with_columns(pl.col("have").fill_null(0)).filter(pl.col("have") < pl.col("wanted"))
    if short.height:
        row = short.sort(keys).row(0, named=True)
        raise DataError(
            f"{row['target']}, design {row['design']}, {row['split']}: {row['wanted']} contrast sets are wanted"
            f", {row['have']} were accepted",
            hint="raise generate.oversample in params.yaml, or hint what the judge rejects (outputs/dataset/rejected)",
        )
    return chosen.with_columns(acceptability=pl.col("premise_verdict")).select("config", *COLUMNS)
