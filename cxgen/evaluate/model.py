"""Putting the items that are scored to a model: one behind a server, through what the judge asks with, or one of this machine."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from cxgen.asking import Judgment, Limits, Outcome, Prompt, consult
from cxgen.evaluate import likelihood
from cxgen.evaluate.likelihood import Measure, Unit
from cxgen.evaluate.prompting import PLAIN, as_continuations, chosen_examples, load_wording, read_examples
from cxgen.evaluate.questions import WUG
from cxgen.evaluate.report import Evaluated, train_of
from cxgen.families.scoring import Item, Scoring
from cxgen.layout import ANSWERS
from cxgen.streams import order_key
from cxgen.suites import scoring_of
from cxgen.tables import track
from cxgen.vocabulary import UNDECIDED, Judge

# An item's id, and its context with one continuation per answer.
Continued = tuple[str, tuple[str, list[str]]]
LOCAL = "hf:"
_THOUGHTS = 400  # tokens for each item


@dataclass(frozen=True)
class Examination:
    """Which model is asked, and how.

    Attributes:
        model: name of a model behind a server, or ``hf:`` and the folder of one of this machine.
        wording: of the prompts.
        shots: examples from train that are shown first.
        examples: a file with examples of one's own, of which ``shots`` are shown (0: all).
        thinks: whether the model is to think aloud first; a server's only.
        seed: another seed, other examples.
        backend: how a server is asked: call by call, or in batches.
        base_url, per_request, limits, cache, poll: see `consult.Consultation`. Items shown together may give each other away.
        measure, unit, batch: see `likelihood.predictions`.
    """

    model: str
    wording: str = PLAIN
    shots: int = 0
    examples: Path | None = None
    thinks: bool = False
    seed: int = 1
    backend: Judge = Judge.openai
    base_url: str | None = None
    per_request: int = 1
    limits: Limits = field(default_factory=Limits)
    cache: Path = ANSWERS
    poll: float = 20.0
    measure: Measure = Measure.likelihood
    unit: Unit = Unit.answer
    batch: int = 16

    @property
    def local(self) -> bool:
        """Whether the model is one of this machine."""
        return self.model.startswith(LOCAL)

    @property
    def name(self) -> str:
        """What the results are called: the model and what is not as by default."""
        parts = [self.model.removeprefix(LOCAL).rstrip("/").rpartition("/")[2]]
        parts += [self.wording] * (self.wording != PLAIN)
        parts += [f"{self.shots}-shot"] * (self.shots > 0) + ["own-examples"] * (self.examples is not None) + ["thinking"] * self.thinks
        if self.local:
            parts += [self.measure.value] + [self.unit.value] * (self.unit is not Unit.answer)
        return "-".join("".join(letter if letter.isalnum() or letter in "._" else "-" for letter in part) for part in parts)

    def shown_first(self, evaluated: Evaluated, config: str) -> list[Item]:
        """The examples."""
        if self.examples is not None:
            return read_examples(self.examples, scoring_of(config), self.shots or None)
        train = train_of(evaluated.project, config.removesuffix(WUG)) if self.shots else pl.DataFrame()
        return chosen_examples(train, scoring_of(config), self.shots, self.seed) if self.shots else []


@dataclass(frozen=True)
class Examined:
    """What a model said: ``rows`` (predictions), ``undecided`` (reason -> items), and how a server's runs went."""

    rows: list[dict[str, Any]]
    undecided: Counter[str]
    outcomes: list[Outcome] = field(default_factory=list)

    @property
    def stopped(self) -> str:
        """Which bound ended the asking early; empty if none did."""
        return next((outcome.stopped for outcome in self.outcomes if outcome.stopped), "")


def examine(evaluated: Evaluated, asked: Examination, path: Path) -> Examined:
    """Put every item to the model.

    Args:
        evaluated: the items.
        asked: who is asked, and how.
        path: where the predictions will be written; what a model of this machine said is kept beside it until then, so that an interrupted
            run goes on where it was.

    Raises:
        UnknownNameError: no such wording.
        DataError: examples, packages or texts are not as they must be.
        BackendError: a server's run cannot go on; what was answered is kept.
    """
    return _examine_here(evaluated, asked, path) if asked.local else _examine_server(evaluated, asked)


def _items(rows: pl.DataFrame, scoring: Scoring) -> list[Item]:
    """Items in an order in which neighbours are of no set: what is shown together must not give itself away."""
    items = rows.select("id", *scoring.needs).to_dicts()
    return sorted(items, key=lambda item: order_key("shown", "in turn", item["id"]))


# a server


def _consultation(evaluated: Evaluated, asked: Examination) -> tuple[consult.Consultation, dict[str, Prompt], dict[str, dict[str, Any]]]:
    """Config by config, in which words and what is asked."""
    prompts, shown = {}, {}
    for config, rows in evaluated.items.items():
        scoring = scoring_of(config)
        prompt, _ = load_wording(evaluated.project, scoring.task, asked.wording)
        examples = [(scoring.shown(item), scoring.verdict(item)) for item in asked.shown_first(evaluated, config)]
        prompts[config] = prompt.shown(examples, _THOUGHTS if asked.thinks else 0)
        shown[config] = {item["id"]: scoring.shown(item) for item in _items(rows, scoring)}
    same = {name: getattr(asked, name) for name in ("backend", "base_url", "per_request", "limits", "cache", "poll")}
    return consult.Consultation(models=(asked.model,), tasks=tuple(shown), **same).bounded(evaluated.project), prompts, shown


def estimate(evaluated: Evaluated, asked: Examination) -> list[dict[str, Any]]:
    """What asking a server would send and cost at most, config by config; nothing is sent."""
    return consult.estimate(*_consultation(evaluated, asked))


def _examine_server(evaluated: Evaluated, asked: Examination) -> Examined:
    consultation, prompts, shown = _consultation(evaluated, asked)
    outcomes = consult.ask(consultation, prompts, shown, logprobs=False)
    rows: list[dict[str, Any]] = []
    undecided: Counter[str] = Counter()
    for config, outcome in zip(shown, outcomes, strict=True):
        scoring = scoring_of(config)
        items = {item["id"]: item for item in _items(evaluated.items[config], scoring)}
        for judgment in outcome.judgments:
            rows.append(_prediction(judgment, items, scoring))
            undecided.update([judgment.reason] * (not judgment.value))
    return Examined(rows, undecided, outcomes)


def _prediction(judgment: Judgment, items: Mapping[str, Item], scoring: Scoring) -> dict[str, Any]:
    """What a judgment says, as a prediction; what is none is undecided, with the reason."""
    if not judgment.value:
        return {"id": judgment.item, "label": UNDECIDED, "reason": judgment.reason}
    return {"id": judgment.item, "label": scoring.answers[scoring.meant(items[judgment.item], judgment.value)]}


# this machine


class Kept:
    """A file of answers, each under a hash of what was asked of whom. Lines that were cut off, or of something else, are passed over.

    Args:
        path: the file; made when the first answer comes.
        identity: what answers depend on beside the texts.
    """

    def __init__(self, path: Path, identity: str) -> None:
        self._path, self._identity = path, identity
        self._rows: dict[str, dict[str, Any]] = {}
        for line in path.read_text("utf-8").split("\n") if path.is_file() else []:
            with suppress(ValueError, TypeError):
                key, row = json.loads(line)
                self._rows[key] = row

    def known(self, items: Sequence[Continued]) -> dict[str, dict[str, Any]]:
        """Id -> the answer to the item that was kept before."""
        return {item[0]: row for item in items if (row := self._rows.get(self._key(item))) is not None}

    def keep(self, item: Continued, row: dict[str, Any]) -> dict[str, Any]:
        """Write ``row`` down at once; gives it back."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._path.open("a", encoding="utf-8") as file:
            file.write("\n" + json.dumps([self._key(item), row]) + "\n")  # on a line of its own, after one that was cut off
        return row

    def _key(self, item: Continued) -> str:
        return hashlib.sha256(json.dumps([self._identity, item]).encode()).hexdigest()[:24]


def partial_of(path: Path) -> Path:
    """Where a model of this machine's answers are kept until there are predictions in ``path``."""
    return path.with_name(f".{path.name}.partial")


def _examine_here(evaluated: Evaluated, asked: Examination, path: Path) -> Examined:
    kept = Kept(partial_of(path), _identity(asked))
    rows: list[dict[str, Any]] = []
    for config, table in evaluated.items.items():
        scoring = scoring_of(config)
        _, cloze = load_wording(evaluated.project, scoring.task, asked.wording)
        examples = asked.shown_first(evaluated, config)
        items: list[Continued] = [(item["id"], as_continuations(item, scoring, cloze, examples)) for item in _items(table, scoring)]
        known = kept.known(items)
        left = [item for item in items if item[0] not in known]
        if left:
            how: dict[str, Any] = {"measure": asked.measure, "unit": asked.unit, "batch": asked.batch}
            answers = likelihood.predictions(asked.model.removeprefix(LOCAL), left, scoring, **how)
            rows += [kept.keep(item, row) for item, row in zip(left, track(answers, config, len(left)), strict=True)]
        rows += known.values()
    ties = sum(row["label"] == UNDECIDED for row in rows)
    return Examined(rows, Counter({"equally likely": ties} if ties else {}))


def _identity(asked: Examination) -> str:
    """What answers depend on beside the texts: a model that is trained further in its folder is another one."""
    folder = Path(asked.model.removeprefix(LOCAL))
    files = sorted((file.name, file.stat().st_mtime_ns) for file in folder.iterdir() if file.is_file()) if folder.is_dir() else []
    return json.dumps([asked.model, asked.measure, asked.unit, files])
