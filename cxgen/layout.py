"""Where the files of a project are, relative to its root. Imports nothing of cxgen."""

from __future__ import annotations

from pathlib import Path

PARAMS = Path("params.yaml")
PIPELINE = Path("dvc.yaml")
TEMPLATES = Path("templates")
GRAMMARS = TEMPLATES / "grammars"
LEXICONS = Path("lexicons")
SPLITS = LEXICONS / "splits.tsv"  # which split each verb is in
PROMPTS = Path("pipelines/prompts")
JUDGMENTS = Path("pipelines/judgments.parquet")
AUDIT = Path("pipelines/audit.csv")  # clauses of which readers know whether they are good
NATURAL_SETS = Path("pipelines/natural.parquet")  # contrast sets that writers wrote, as accepted
READINGS = Path("pipelines/readings")
DROPPED = Path("pipelines/dropped.csv")  # contrast sets that readers refused
NOTICE = Path("NOTICE")  # what others ask to be said travels with the data

ANSWERS = Path(".cxgen/answers.jsonl")
WORDS = Path(".cxgen/words.json")  # what lemminflect and wordfreq said of words that are not in the snapshot
WORK = Path("outputs/work")
REFUSED_SETS = WORK / "refused_sets.jsonl"  # what writers wrote and checks or judges refused, with reasons
DATASET = Path("outputs/dataset")
WUG = Path("outputs/wug")
NATURAL = Path("outputs/natural")
SUITES = Path("outputs/suites")
REJECTED = "rejected"  # the config of what was refused
METRICS = Path("outputs/metrics")
PLOTS = Path("outputs/plots")  # tables for `dvc plots`
ANNOTATION = Path("outputs/annotation")
HUB = Path("outputs/hub")
PAGE = Path("outputs/report.html")
PREDICTIONS = Path("outputs/predictions")
MINED = Path("outputs/mined")  # candidates for constructions in raw text
VERSION_FILE = "dataset_version.json"
CROISSANT = "croissant.json"


def metric(name: str) -> Path:
    """The file of a metric."""
    return METRICS / f"{name}.json"


def shard(split: str, number: int = 0, of: int = 1) -> str:
    """The file name of a shard of a split, as the Hugging Face Hub reads it."""
    return f"{split}-{number:05d}-of-{of:05d}.parquet"


def split_of(path: Path) -> str:
    """The split that a shard belongs to."""
    return path.name.partition("-")[0]


def table(config: str, split: str, folder: Path = DATASET) -> Path:
    """Where the rows of a split of a config are written."""
    return folder / config / shard(split)
