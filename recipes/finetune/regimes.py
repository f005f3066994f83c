"""The three regimes, from settings to predictions of every part that is asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import polars as pl

from cxgen.errors import DataError
from cxgen.evaluation.likelihood import Measure
from cxgen.evaluation.model import LOCAL, Examination, examine
from cxgen.evaluation.predictions import write_predictions
from cxgen.evaluation.report import Evaluated
from cxgen.measures.figures import Resampling
from cxgen.project import Project
from cxgen.schema import TARGET
from cxgen.tables import write_json
from cxgen.vocabulary import LABELS
from recipes.finetune.items import answered_parts, learned_from
from recipes.finetune.model import build, restore, save
from recipes.finetune.replay import passages, replayed
from recipes.finetune.report import reported
from recipes.finetune.settings import Regime, Settings
from recipes.finetune.training import Learner
from recipes.shared import digest, model_files, require_same_run

MODEL, HISTORY, REPORT, PREDICTIONS = "model", "history.json", "report.json", "predictions"
_DEV = 5  # as many items of train to one of validation, where there are to be few
Answer = Callable[[Evaluated, Path], None]


def run(settings: Settings, tell: Callable[[str], None]) -> dict[str, dict[str, Any]]:
    """Train where there is something to train, answer every part, and score it. What an earlier run left is not done again.

    Args:
        settings: of the run.
        tell: is told what is done.

    Returns:
        Part -> its report, see `cxgen.evaluation.scores.scores`. The folder of the run has `report.json` with them, and
        `predictions/PART.jsonl`.

    Raises:
        CxgenError: settings, model, data or an earlier run in the folder are not as they must be.
    """
    project = Project.find()
    parts = answered_parts(project, settings.evaluate.configs, settings.evaluate.files, settings.evaluate.most)
    folder = settings.evaluate.baseline
    held = {name: (folder.name, part.answers(folder / PREDICTIONS / f"{name}.jsonl")) for name, part in parts.items()} if folder else {}
    answer = _in_context(settings) if settings.regime is Regime.in_context else _trained(settings, project, tell)
    reports: dict[str, dict[str, Any]] = {}
    for name, part in parts.items():
        path = settings.folder / PREDICTIONS / f"{name}.jsonl"
        if not _has_answers(part, path):
            tell(f"answering {name}")
            answer(part, path)
        figures = reported(settings.folder.name, part, part.answers(path), Resampling(settings.evaluate.resamples), held.get(name))
        reports[name] = {"predictions": str(path), **figures}
    write_json({"settings": settings.learned(), "parts": reports}, settings.folder / REPORT)
    return reports


def _has_answers(part: Evaluated, path: Path) -> bool:
    """Whether a file answers just this part: those of a dataset or a table that has changed since do not."""
    with suppress(DataError):
        return part.answers(path).height > 0
    return False


def _in_context(settings: Settings) -> Answer:
    """Answers from examples in the prompt, through what `cxgen evaluate --model hf:` does."""
    require_same_run(settings.folder, {**settings.learned(), "model files": model_files(settings.model)})
    shown = settings.prompting
    asked = Examination(
        f"{LOCAL}{settings.model}",
        wording=shown.wording,
        shots=shown.shots,
        seed=settings.seed,
        measure=Measure(shown.measure),
        batch=shown.batch,
    )

    def answer(part: Evaluated, path: Path) -> None:
        write_predictions(examine(part, asked).rows, path)

    return answer


def _trained(settings: Settings, project: Project, tell: Callable[[str], None]) -> Answer:
    """Answers of a classifier, which is trained unless an earlier run has done it."""
    most = settings.train.most
    train = learned_from(project, settings.train.configs, "train", most)
    dev = learned_from(project, settings.train.configs, "validation", most and max(1, most // _DEV))
    texts = passages(Path(settings.replay.file)) if settings.replay.file else []
    seen = {"data": digest(train["id"].to_list(), dev["id"].to_list(), *texts), "model files": model_files(settings.model)}
    require_same_run(settings.folder, {**settings.learned(), **seen})
    each = settings.regime is Regime.heads
    heads = {name: number for number, name in enumerate(train["target"].unique().sort())} if each else {}
    learner: Learner | None = None

    def ready() -> Learner:
        nonlocal learner
        learner = learner or _learner(settings, heads, (train, dev), texts, tell)
        return learner

    def answer(part: Evaluated, path: Path) -> None:
        (rows,) = part.items.values()
        rows = rows.select("id", "premise", "hypothesis", TARGET.alias("target"))
        _tell_strangers(rows, heads, tell)
        said = ready().answers(rows, settings.evaluate.batch)
        numbers = [dict(zip(LABELS, map(float, row), strict=True)) for row in said.round(6)]
        write_predictions(({"id": name, **row} for name, row in zip(rows["id"], numbers, strict=True)), path)

    if not (settings.folder / MODEL).is_dir():
        ready()
    return answer


def _learner(
    settings: Settings, heads: Mapping[str, int], data: tuple[pl.DataFrame, pl.DataFrame], texts: list[str], tell: Callable[[str], None]
) -> Learner:
    """A trained model: from the run's folder, or trained here, on train and dev."""
    model, tokenizer = build(settings.model, settings.lora, max(1, len(heads)), settings.seed)
    kept, how, (train, dev) = settings.folder / MODEL, settings.training, data
    if kept.is_dir():
        restore(model, kept)
        return Learner(model, tokenizer, heads, how, settings.folder, settings.seed)
    replay = replayed(model, tokenizer, settings.model, texts, settings.replay, how.max_length) if texts else None
    learner = Learner(model, tokenizer, heads, how, settings.folder, settings.seed, replay)
    count = model.num_parameters(only_trainable=True)
    tell(f"training {count:,} of {model.num_parameters():,} weights on {train.height:,} items; {dev.height:,} of validation")
    history = learner.learn(train, dev)
    write_json(history, settings.folder / HISTORY)
    save(model, tokenizer, kept)
    learner.forget_checkpoints()
    return learner


def _tell_strangers(rows: pl.DataFrame, heads: Mapping[str, int], tell: Callable[[str], None]) -> None:
    strangers = sorted(set(rows["target"]) - set(heads))
    if heads and strangers:
        tell(f"no head for {', '.join(strangers[:5])}{', ...' if len(strangers) > 5 else ''}: the mean of all heads answers")
