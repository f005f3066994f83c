"""What Python users, the command line and the documentation call.

>>> import cxgen
>>> resultative = cxgen.Constructicon()["resultative"]
>>> items = resultative.sample(2)
>>> items.columns[:3], items["premise"].n_unique(), sorted(items["label"].unique())
(['premise', 'hypothesis', 'label'], 2, ['contradiction', 'entailment', 'neutral'])
>>> cxgen.sample("let-alone", n=2, family="minimal_pairs")["diagnostic_good"].len(), len(set(cxgen.wug("flower", n=3)))
(2, 3)
"""

import os
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, SupportsIndex

import polars as pl

from cxgen.build.preview import Wanted, labelled, readable, require_threads, sampled
from cxgen.build.wug import SOURCES
from cxgen.constructicon import Construction, load_construction
from cxgen.constructicon.load import readable_targets
from cxgen.display import ordered, show
from cxgen.errors import CxgenError, SchemaError, UnknownNameError, unknown
from cxgen.families import CONFIGS, DEFAULT, FAMILIES, NATURAL, family_named, own_columns, wug_config
from cxgen.families.turns import cells, turns
from cxgen.layout import PARAMS, TEMPLATES
from cxgen.lexicon import Lexicon
from cxgen.project import Project
from cxgen.sampling import Wugs, broken_slots
from cxgen.schema import read_yaml
from cxgen.semantics import Inconsistency, label_matrix
from cxgen.vocabulary import LABELS, MODES, SPLITS

if TYPE_CHECKING:
    from cxgen.check import Finding
    from cxgen.evaluation.predictions import Predict
    from cxgen.evaluation.report import Evaluated
    from cxgen.evaluation.rows import Scores

__all__ = ["Constructicon", "Entry", "constructions", "evaluate", "explain", "load", "sample", "score", "show", "wug"]


class Constructicon:
    """The constructions of a project (by default the one at or above the working directory) by name, the shipped ones among them."""

    def __init__(self, folder: str | Path | None = None) -> None:
        require_threads()
        self.project = Project.find() if folder is None else Project.at(_path(folder, "project"))

    @cached_property
    def lexicon(self) -> Lexicon:
        """The project's words."""
        return Lexicon.of(self.project)

    def __getitem__(self, name: str) -> "Entry":
        if name not in self.project.template_files():
            raise self._unknown(name)
        return Entry(self, name)

    def __iter__(self) -> Iterator[str]:
        return iter(readable_targets(self.project)[0])

    def loaded(self) -> tuple[list[Construction], list[CxgenError]]:
        """The constructions that can be loaded, and what is wrong with the others."""
        names, errors = readable_targets(self.project)
        constructions = []
        for name in names:
            try:
                constructions.append(self[name].construction)
            except CxgenError as error:
                errors.append(error)
        return constructions, errors

    def _unknown(self, name: str) -> CxgenError:
        names = list(self)
        for owner in names if name else ():
            kinds = read_yaml(self.project.template_file(owner)).data.get("kinds", {})
            if any(isinstance(kind, dict) and kind.get("construction") == name for kind in kinds.values()):
                message = f"{name!r} is what the opposite of {owner!r} is called: it has no file of its own"
                return UnknownNameError(message, hint=f"its items come with those of {owner}: cxgen sample {owner}")
        error = self.project.unknown(name, names)
        if not any((self.project.root / place).exists() for place in (PARAMS, TEMPLATES)):
            error.hint += f" (no project is at or above {self.project.root}: only what comes with cxgen is known)"
        return error


@dataclass(frozen=True)
class Entry:
    """A construction of a constructicon, by its name."""

    constructicon: Constructicon
    name: str

    @property
    def construction(self) -> Construction:
        """What its file says; a SchemaError if it cannot be read, or is a look-alike's."""
        require_threads()
        return self._construction

    @cached_property
    def _construction(self) -> Construction:
        return load_construction(self.constructicon.project, self.name, self.constructicon.lexicon)

    @property
    def shipped(self) -> bool:
        """Whether its file and its words are all those that come with cxgen, which `cxgen check` has seen."""
        project = self.constructicon.project
        return not project.own_lexicons and all(map(project.ships, (self.construction.document.path, *project.shared_files())))

    def sample(self, n: int = 5, *, family: str = "nli", wug: str = "", seed: int = 1) -> pl.DataFrame:
        """A preview of its items: those of ``n`` premises, one row per item.

        Args:
            n: how many premises; of a suite, how many groups of rows that belong together.
            family: benchmark family: nli, minimal_pairs; or a suite of the construction: cc_syntax, cc_semantics.
            wug: pseudowords for these words: verb, nouns, adjectives, content; empty for none.
            seed: another seed, other items.

        Returns:
            What is read first: ``premise, hypothesis, label`` (strings), of pairs ``context, diagnostic_good, diagnostic_bad``; then ``id,
            contrast_set, construction, contrast_of, config, design, kind, template``, the family's other columns, ``verb``, ``slots``.
            Of a suite: the columns of its tables. `show` prints whole sentences.

        Raises CxgenError: no such family or mode, or a template file that is not sound.
        """
        _require_positive(n)
        _require_whole(seed)
        if family in FAMILIES:
            return readable(pl.concat(self.blocks(n, family=family, wug=wug, seed=seed), how="diagonal_relaxed"), family)
        from cxgen.suites import SUITES

        if family not in SUITES:
            family_named(family, SUITES)
        if wug:
            raise CxgenError(f"{family} has no items with pseudowords", hint="leave wug out")
        if (suite := SUITES[family]).construction != self.name:
            raise UnknownNameError(f"{self.name} has no suite {family}", hint=f"it is one of {suite.construction}")
        return ordered(suite.sample(self.constructicon.project, seed, n))

    def blocks(
        self, n: int, *, family: str = "nli", wug: str = "", seed: int = 1, kind: str = "", label: str = "", design: str = ""
    ) -> Iterator[pl.DataFrame]:
        """The items of `sample` as they are drawn, a block at a time, with all columns of the generator; of a kind, label, design."""
        family_named(family)
        loaded, project = self.construction, self.constructicon.project
        asked = (("mode", wug, MODES), ("label", label, LABELS), ("premise kind", kind, loaded.kinds), ("design", design, loaded.designs))
        for what, name, known in asked:
            if name and name not in known:
                raise unknown(what, name, known, file=loaded.document.path if isinstance(known, dict) else None)
        if label and not any(column.labels for column in own_columns(family)):
            raise CxgenError(f"items of {family} have no label", hint="leave --label out")
        if not self.shipped:
            self._require_sound("E")
        wugs = Wugs.load(project.snapshot) if wug else None
        try:
            yield from sampled(loaded, Wanted(n, family, seed, kind, LABELS.index(label) if label else None, wugs, wug, design))
        except (KeyError, IndexError):  # a shipped file that was edited in the clone
            self._require_sound("E")
            raise

    def explain(self, wug: str = "") -> pl.DataFrame:
        """Its label matrix, computed from facts and claims; with ``wug``, what is left of it with pseudowords for these words.

        Returns:
            One row per design, premise kind and hypothesis rule: ``design, kind, construction, rule, claim, label`` and ``turns_on``
            (strings): another kind that is said with the same open-class words (of a look-alike: a target's) and has another label there,
            "misreading" if what a look-alike is misread as has, or "words".

        Raises CxgenError: no such mode, or a template file that cannot be read or contradicts itself.
        """
        if wug and wug not in MODES:
            raise unknown("mode", wug, MODES)
        loaded, rows = self.construction, []
        self._require_sound("E1")
        broken = broken_slots(loaded, wug) if wug else frozenset()
        for design in loaded.designs.values():
            try:
                matrix, turned = label_matrix(loaded, design, broken), turns(loaded, design, broken)
            except Inconsistency as error:
                raise SchemaError(f"a kind makes {error} both true and false", file=loaded.document.path, hint="cxgen check") from error
            for kind, row in matrix.items():
                head = (design.name, kind, loaded.kinds[kind].construction)
                rows += [(*head, rule, loaded.rules[rule].says, LABELS[label], turned[kind][rule]) for rule, label in row.items()]
        return pl.DataFrame(rows, schema=["design", "kind", "construction", "rule", "claim", "label", "turns_on"], orient="row")

    def cells(self) -> pl.DataFrame:
        """Whether its items of ``nli`` and ``distinction`` need the construction (docs/data.md), a cell of the label matrices a row.

        Returns: ``config, design, kind, rule, claim, label, turns_on`` (see `explain`); ``share`` of the config's items; ``construction,
            verb, words``: the shares of the cell's own items that need the construction, whose verb holds the meaning, that words decide.
        """
        self._require_sound("E")
        return cells(self.construction, FAMILIES[DEFAULT])

    def check(self) -> "list[Finding]":
        """What is wrong with its file, and what looks wrong: those of `cxgen check`, with ``code, file, line, message, hint``."""
        from cxgen.check import findings
        from cxgen.trees import Chunks

        return list(findings(self.construction, Chunks.load(*self.constructicon.project.chunk_files())))

    def _require_sound(self, codes: str) -> None:
        from cxgen.check import require_sound

        require_sound(self.construction, codes)


def _require_positive(n: int, what: str = "n", least: int = 1) -> None:
    if not isinstance(n, SupportsIndex) or not least <= int(n) <= 10**9:
        raise CxgenError(f"{what} is {n!r}", hint=f"{least} to a billion")


def _require_whole(seed: int) -> None:
    if not isinstance(seed, SupportsIndex):
        raise CxgenError(f"seed is {seed!r}", hint="a whole number")


def _path(given: Any, what: str) -> Path:
    if not isinstance(given, str | os.PathLike):
        raise CxgenError(f"{what} is of type {type(given).__name__}", hint="a path, or, of predictions, a table of polars")
    return Path(given)


def constructions(project: str | Path | None = None) -> list[str]:
    """The names of the constructions: those of the project, and those that are shipped. Of files that cannot be read it warns."""
    names, errors = readable_targets(Constructicon(project).project)
    for error in errors:
        warnings.warn(f"left out: {error.render()}", stacklevel=2)
    return names


def sample(
    construction: str, n: int = 5, *, family: str = "nli", wug: str = "", seed: int = 1, project: str | Path | None = None
) -> pl.DataFrame:
    """A preview of a construction's items, see `Entry.sample`."""
    return Constructicon(project)[construction].sample(n, family=family, wug=wug, seed=seed)


def explain(construction: str, *, wug: str = "", project: str | Path | None = None) -> pl.DataFrame:
    """The label matrix of a construction, see `Entry.explain`."""
    return Constructicon(project)[construction].explain(wug)


def wug(word: str, n: int = 10, *, seed: int = 0) -> list[str]:
    """At most ``n`` pseudowords like ``word``: of the same length and syllables, as common in their transitions, and no words."""
    from cxgen import pseudowords as made

    _require_positive(n)
    _require_whole(seed)
    return list(made.pseudowords(made.load(Constructicon().project), [word], n, seed=seed)["pseudoword"])


def load(config: str = "nli", split: str | None = None, *, project: str | Path | None = None) -> pl.DataFrame:
    """The finished dataset, as ``dvc repro`` left it: the columns that docs/data.md lists, ordered and labelled as `sample` has them.

    Args:
        config: nli, distinction, minimal_pairs, cxnli, cxmp; nli_wug, minimal_pairs_wug; natural; cc_syntax, cc_semantics.
        split: train, validation or test; by default all of them.
        project: a project's folder; by default the one at or above the working directory.

    Raises CxgenError: no such config or split, or the dataset has not been made.
    """
    from cxgen.build.tables import read_splits
    from cxgen.suites import SUITES, columns_of

    if split is not None and split not in SPLITS:
        raise unknown("split", split, SPLITS)
    if config not in (known := (*CONFIGS, *map(wug_config, SOURCES), NATURAL, *SUITES)):
        raise unknown("config", config, known)
    return labelled(read_splits(Constructicon(project).project, config, [split] if split else SPLITS), columns_of(config))


def score(
    predictions: pl.DataFrame | str | Path,
    config: str = "nli",
    split: str = "test",
    *,
    items: str | Path | None = None,
    limit: int | None = None,
    resamples: int = 1000,
    seed: int = 1,
    project: str | Path | None = None,
) -> "Scores":
    """What predictions of a part of the finished dataset are worth.

    Args:
        predictions: a table, or a file, with ``id`` and ``label`` (or a number per answer) for every item of the part.
        config, split, items, limit, project: the part, as for `evaluate`.
        resamples, seed: of verbs, for the intervals; 0: none.

    Returns:
        ``items, right, undecided, sets, verbs, chance`` (numbers), ``accuracy``, ``consistency`` and, of look-alikes, ``capture`` and
        ``excess`` (each ``value, low, high``), and ``by``: dimension -> value -> the same: a dict, which prints as a table.

    Raises CxgenError: no such config or split, no dataset, or predictions that are not of all of this part.
    """
    _require_whole(seed)
    given = predictions if isinstance(predictions, pl.DataFrame) else _path(predictions, "predictions")
    return _evaluated(config, split, items, limit, project, resamples).scored(given, resamples, seed)


def evaluate(
    predict: "Predict",
    config: str = "nli",
    split: str = "test",
    *,
    items: str | Path | None = None,
    limit: int | None = None,
    by: Sequence[str] = (),
    batch: int = 64,
    resamples: int = 1000,
    seed: int = 1,
    project: str | Path | None = None,
) -> "Scores":
    """What a function's answers to a part of the finished dataset are worth.

    Args:
        predict: gets a list of dicts with what a model is shown (``premise, hypothesis``; of pairs ``context, first, second``, one of which
            is the good one; of suites as docs/suites.md says) and gives one answer for each: a name (entailment, neutral, contradiction;
            first, second; undecided), its position, or a number for each, as a list or a dict.
        config, split, project: the part, as for `load`.
        items: in place of them a table of your own, as docs/evaluation.md says.
        limit: at most so many items, in whole contrast sets.
        by: dimensions by which the result is printed, such as construction.
        batch: how many items ``predict`` gets at a time.
        resamples, seed: of verbs, for the intervals; 0: none.

    Returns:
        As of `score`.

    Raises CxgenError: no such config or split, no dataset, or another number of answers than of items, or what is none.
    """
    from cxgen.evaluation.predictions import predicted

    _require_positive(batch, "batch")
    _require_whole(seed)
    by = [by] if isinstance(by, str) else by
    evaluated = _evaluated(config, split, items, limit, project, resamples, by)
    ((name, asked),) = evaluated.items.items()
    return evaluated.scored(predicted(asked, evaluated.scoring(name), predict, batch), resamples, seed, by)


def _evaluated(
    config: str, split: str, items: Any, limit: int | None, project: str | Path | None, resamples: int, by: Sequence[str] = ()
) -> "Evaluated":
    from cxgen.evaluation.report import Evaluated, Part

    _require_positive(resamples, "resamples", 0)
    _require_positive(1 if limit is None else limit, "limit")
    part, tables = (Part((config,), (split,), limit), ()) if items is None else (Part(limit=limit), (_path(items, "items"),))
    return Evaluated.read(Constructicon(project).project, part, tables, by)
