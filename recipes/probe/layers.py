"""A run: sentences, their vectors, and a probe for every layer and task; each result is kept as it comes."""

from __future__ import annotations

from typing import Any

import polars as pl

from cxgen.evaluation.likelihood import Continued
from cxgen.evaluation.model import Kept
from cxgen.tables import track, write_json
from recipes.probe.hidden import hidden_states
from recipes.probe.probing import WORDS, features_of, fewer, probed, tasks
from recipes.probe.sentences import read_sentences, with_length
from recipes.probe.settings import Settings
from recipes.shared import digest, model_files, require_same_run

REPORT, _STATES, _RESULTS = "report.json", "states", ".results.partial"


def run(settings: Settings) -> list[dict[str, Any]]:
    """Probe every layer.

    Args:
        settings: of the run.

    Returns:
        A row per probe (and per value of a feature that is held apart), see `probed`; `report.json` in the run's folder has them, too.

    Raises:
        CxgenError: settings, model, data or an earlier run in the folder are not as they must be.
    """
    rows = read_sentences(settings.data, settings.where)
    if settings.controlled.length:
        rows = with_length(rows)
    rows = fewer(rows, settings.most, settings.seed)
    sentences = rows["sentence"].unique(maintain_order=True).to_list()
    places = {sentence: number for number, sentence in enumerate(sentences)}
    rows = rows.with_columns(state=pl.col("sentence").replace_strict(places, return_dtype=pl.Int64))
    todo = tasks(rows, settings.curve, settings.controlled, settings.seed)
    files = model_files(settings.model)
    identity = {**settings.learned(), "rows": digest(rows.rows()), "model files": files}
    require_same_run(settings.folder, identity)
    vectors = hidden_states(settings.model, sentences, settings.states, settings.folder / _STATES, [settings.model, files])
    names = [WORDS, *map(str, range(len(vectors)))]
    found: list[dict[str, Any]] = []
    kept = Kept(settings.folder / _RESULTS, digest(identity))
    for name in track(names, "probes", len(names)):
        items: dict[int, Continued] = {
            number: (f"{name}/{task.key}", ("", [digest(task.train.rows())])) for number, task in enumerate(todo)
        }
        known = kept.known(list(items.values()))
        layer = vectors[int(name)] if name != WORDS and len(known) < len(items) else None
        for number, item in items.items():
            said = known.get(item[0])
            if said is None:
                said = kept.keep(item, {"rows": probed(name, features_of(layer, sentences, todo[number]), todo[number], settings.probe)})
            found += said["rows"]
    write_json({"settings": settings.learned(), "probes": found}, settings.folder / REPORT)
    return found
