"""Scoring answers to a part of the finished dataset; baselines, which every report of a model should stand beside."""

import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from cxgen.build.tables import packaged_content, read_splits, require_dataset, table_file
from cxgen.errors import CxgenError, DataError, needs, unknown
from cxgen.evaluation.outside import questions_about, read_items
from cxgen.evaluation.predictions import BEYOND, answers, write_predictions
from cxgen.evaluation.rows import Scores
from cxgen.evaluation.scores import FIXED, NO_QUESTIONS, WUG, answered, compared, first_sets, questions, scores, wug_differences
from cxgen.families import CONFIGS, NATURAL, wug_config
from cxgen.families.scoring import Scoring
from cxgen.measures import giveaway, words
from cxgen.measures.figures import Resampling
from cxgen.project import Project
from cxgen.suites import SUITES, scoring_of
from cxgen.version import DATA_VERSION, __version__
from cxgen.vocabulary import SPLITS, Split

_ALL = (*CONFIGS, *map(wug_config, CONFIGS), NATURAL)
_SAID = {"label": "right", "answer": "answer"}


@dataclass(frozen=True)
class Part:
    """The part of the dataset that is scored: configs (none: all that there are, but no suites), their splits, and of each config at most
    ``limit`` items, see `first_sets`."""

    configs: tuple[str, ...] = ()
    splits: tuple[str, ...] = (Split.test.value,)
    limit: int | None = None

    def of(self, project: Project) -> "Part":
        """This part with its configs named; UnknownNameError of a config that is not there, DataError where there is no dataset."""
        if not self.configs or not set(self.configs) <= set(SUITES):
            require_dataset(project)
        here = [config for config in _ALL if any(table_file(project, config, split).is_file() for split in SPLITS)]
        for what, names, known in (("split", self.splits, SPLITS), ("config", self.configs, (*here, *SUITES))):
            for name in names:
                if name not in known:
                    raise unknown(what, name, known)
        return replace(self, configs=tuple(dict.fromkeys(self.configs)) or tuple(here), splits=tuple(dict.fromkeys(self.splits)))


@dataclass
class Evaluated:
    """What is scored: the ``items`` (config, or name of a table that a user brings -> rows) of a part whose configs are named, and the same
    as ``questions``; ``like``: the config whose kind of items each has, see `questions`; ``chosen``: the options that made it another part
    than all of test; ``beyond``: ids that its limit leaves out."""

    project: Project
    part: Part
    items: dict[str, pl.DataFrame]
    questions: pl.DataFrame
    like: dict[str, str]
    chosen: tuple[str, ...]
    beyond: frozenset[str]

    @classmethod
    def read(cls, project: Project, part: Part, tables: Sequence[Path] = (), by: Sequence[str] = ()) -> "Evaluated":
        """Read the part's tables (none, where a user brings ``tables`` and names no config), and of a user's the columns to divide ``by``;
        errors as of `Part.of` and `read_items`, and DataError where a table is damaged."""
        for what, names in (("config", part.configs), ("split", part.splits)):
            for name in names:
                if not isinstance(name, str):
                    raise DataError(f"{what} is {name!r}", hint=f"one name of a {what} at a time")
        named, splits = part.configs, tuple(dict.fromkeys(part.splits))
        configs = {*CONFIGS, NATURAL, *map(wug_config, CONFIGS), *SUITES}  # whose predictions are called like them
        own = (f"{path.stem}-items" if path.stem in configs else path.stem for path in tables)
        chosen = (*dict.fromkeys(part.configs), *own, *(splits if splits != Part.splits else ()))
        chosen += (f"limit{part.limit}",) if part.limit else ()
        part = replace(part, splits=()) if tables and not part.configs else part.of(project)
        items = {config: rows for config in part.configs if (rows := read_splits(project, config, part.splits)).height or config in named}
        if none := [config for config, rows in items.items() if not rows.height]:
            raise DataError(f"{none[0]} has no items in {' or '.join(part.splits)}", hint="`cxgen report sizes` says what there is")
        sources = {name: read_splits(project, name.removesuffix(WUG), part.splits) for name in items if name.endswith(WUG)}
        asked = {name: questions(rows, name, sources.get(name)) for name, rows in items.items()}
        for path in tables:
            if path.stem in items:
                raise DataError(f"something else is called {path.stem!r}, too", file=path, hint="rename the file")
            kind, items[path.stem] = read_items(path, by)
            asked[path.stem] = questions_about(items[path.stem], path.stem, kind)
        every = {name for own in asked.values() for name in own["id"]} if part.limit else set()
        if part.limit:
            asked = {name: first_sets(own, part.limit) for name, own in asked.items()}
            items = {name: items[name].join(own, on="id", how="semi", maintain_order="left") for name, own in asked.items()}
        whole = pl.concat([*asked.values(), NO_QUESTIONS], how="diagonal")
        if tables and (twice := whole.filter(pl.col("id").is_duplicated())).height:
            hint = "take the column id out, then ids are made"
            raise DataError(f"{' and '.join(twice['config'].unique().sort())} share ids: {twice['id'][0]}", hint=hint)
        known, like = {*whole.columns}.difference(FIXED), dict(whole.select("config", "like").unique().iter_rows())
        if strange := ["contrast_set" if name in {"set", "sets"} else name for name in by if name not in known]:
            error, more = unknown("dimension", strange[0], known), "; `sets` is the share that is all right"
            if strange[0] in {"contrast_set", "verb"}:
                error.hint = f"{strange[0]}: --wrong FILE writes the items that are wrong, with their sets{more}"
            elif tables and strange[0] in {*FIXED, *(need for own in like.values() for need in scoring_of(own).needs)}:
                error.hint = f"the name {strange[0]} is taken: give the column another one"
            raise error
        return cls(project, part, items, whole, like, chosen, frozenset(every.difference(whole["id"])))

    def scoring(self, config: str) -> Scoring:
        """How the items of a config, or of a user's table, are answered and scored."""
        return scoring_of(self.like[config])

    def answers(self, predictions: Path | pl.DataFrame, tell: Callable[[str], object] = str) -> pl.DataFrame:
        """What predictions, of a file or in a table, say of every question, see `answers`; DataError if not of all of this part."""
        return answers(predictions, self.questions, self._parts, tell)

    def _parts(self) -> dict[str, str]:
        """The ids of the whole dataset, and of a user's tables -> the options that name their part."""
        parts = dict.fromkeys(self.beyond, BEYOND)
        for config, split in product((*_ALL, *SUITES), SPLITS):
            path = table_file(self.project, config, split)
            if path.is_file():
                parts = dict.fromkeys(pl.read_parquet(path, columns=["id"], glob=False)["id"], f"--config {config} --split {split}") | parts
        return parts

    def scored(self, given: pl.DataFrame | Path, resamples: int, seed: int, by: Sequence[str] = ()) -> Scores:
        """What the answers are worth, where there is one config, as a dict that prints as a table; what is to be known is a warning."""
        answers = self.answers(given, lambda line: warnings.warn(line, stacklevel=5))
        report = self.report("", answers, Resampling(resamples, seed))
        ((config, figures),) = report["configs"].items()
        return Scores(config, figures, by, report["about"])

    def report(
        self,
        name: str,
        given: pl.DataFrame,
        how: Resampling,
        against: tuple[str, pl.DataFrame] | None = None,
        about: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        """What the answers of ``name`` are worth, and how they differ from those ``against`` which they are held: ``name, splits, limit,
        resampling``; ``about``: how they were asked for, as far as that is known, versions of cxgen and of the data, of packaged data the
        ``content_hash``; ``configs`` (config -> `scores`); ``wug`` (`wug_differences`); ``against``: ``name`` and ``configs`` (config ->
        `compared`)."""
        whole, other = answered(self.questions, given), against and answered(self.questions, against[1])
        rows = {config: whole.filter(config=config) for config in self.items}
        versions = {"cxgen": __version__, "data_version": DATA_VERSION, "content_hash": packaged_content(self.project)}
        differences = {config: compared(own, other.filter(config=config), how) for config, own in rows.items()} if other is not None else {}
        return {
            "name": name,
            "splits": list(self.part.splits),
            "limit": self.part.limit,
            "resampling": asdict(how),
            "about": {**(about or {}), **versions},
            "against": {"name": against[0], "configs": differences} if against else None,
            "configs": {config: scores(own, how) for config, own in rows.items()},
            "wug": wug_differences(whole, how),
        }

    def solved(self, name: str, given: pl.DataFrame) -> dict[str, str]:
        """The contrast sets of the families whose items are all answered right -> why they may be left out, as `read_dropped` has it: the
        adversarial filter of ConTest-NLI (2025, section 3), which takes whole sets, so that what is left is as balanced as before."""
        rows = answered(self.questions, given).filter(pl.col("config").is_in([*CONFIGS, NATURAL]))
        sets = rows.group_by("contrast_set", maintain_order=True).agg(pl.len(), pl.col("hit").min()).filter(hit=1)
        return {own: f"{name} answers all of its {count} items right" for own, count in sets.drop("hit").iter_rows()}

    def rest(self, solved: Iterable[str]) -> pl.DataFrame:
        """The items of the families' other sets, with the column ``config`` where there are several."""
        kept = {config: rows for config, rows in self.items.items() if self.like[config] in {*CONFIGS, NATURAL} and "contrast_set" in rows}
        if not kept:
            raise CxgenError("there are no contrast sets to leave out", hint="--config with one that has them, such as nli")
        tables = {config: rows.filter(~pl.col("contrast_set").is_in(list(solved))) for config, rows in kept.items()}
        if len(tables) == 1:
            return next(iter(tables.values()))
        return pl.concat((rows.with_columns(config=pl.lit(config)) for config, rows in tables.items()), how="diagonal")


def answerable(project: Project, config: str, splits: Sequence[str] = (Split.train.value,)) -> pl.DataFrame:
    """The items that have a right answer; those of suites with the column ``contrast_of`` (null)."""
    rows = read_splits(project, config, splits)
    if config not in SUITES:
        return rows
    return rows.filter(scoring_of(config).right().is_not_null()).with_columns(contrast_of=pl.lit(None, dtype=pl.String))


def write_baseline(evaluated: Evaluated, name: str, path: Path) -> None:
    """Train a baseline on train and write what it says of the items; of pseudowords, what it learnt from real words, of a
    user's table, what it learnt from the config that it is like."""
    if name not in _BASELINES:
        raise unknown("baseline", name, _BASELINES)
    rows: list[dict[str, Any]] = []
    for config in dict.fromkeys(evaluated.like[config] for config in evaluated.items):
        items = [items for other, items in evaluated.items.items() if evaluated.like[other] == config]
        rows += _BASELINES[name](scoring_of(config), answerable(evaluated.project, config), pl.concat(items, how="diagonal"))
    write_predictions(rows, path)


def _majority(scoring: Scoring, train: pl.DataFrame, items: pl.DataFrame) -> Iterator[dict[str, Any]]:
    """What is right most often in ``train``, of several the first in the alphabet; of two continuations, the one shown first or second."""
    counts = Counter(scoring.verdict(item) for item in train.select("id", *scoring.needs).iter_rows(named=True))
    commonest = min(counts, key=lambda verdict: (-counts[verdict], verdict))
    for item in items.select("id", *scoring.needs).iter_rows(named=True):
        yield {"id": item["id"], "label": scoring.answers[scoring.meant(item, commonest)]}


def _learnt(learner: Callable[..., Any], scoring: Scoring, train: pl.DataFrame, items: pl.DataFrame) -> Iterator[dict[str, Any]]:
    """A number for each answer."""
    with needs("this baseline needs scikit-learn", "report"):
        values = scoring.decided(learner(scoring.texts(train), scoring.texts(items)))
    for key, row in zip(items["id"], np.round(values, 6).tolist(), strict=True):
        yield {"id": key, **dict(zip(scoring.answers, row, strict=True))}


_BASELINES: dict[str, Callable[..., Iterator[dict[str, Any]]]] = {
    "majority": _majority,
    "hypothesis-only": partial(_learnt, giveaway.hypothesis_scores),
    "word-pairs": partial(_learnt, words.pair_scores),
}


def mistakes(evaluated: Evaluated, given: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    """The items that answers (by their name, see `Evaluated.answers`) get wrong, construction by construction: ``name, config,
    construction, id``, ``contrast_set`` where there are such, their texts, and by name ``label``, the right answer, and ``answer`` (null:
    undecided, or several have the largest number)."""
    parts = []
    for (name, told), config in product(given.items(), evaluated.items):
        scoring = evaluated.scoring(config)
        texts, names = [text for text in scoring.needs if text not in {"label", "answer"}], dict(enumerate(scoring.answers))
        said = {what: pl.col(own).replace_strict(names, default=None, return_dtype=pl.String) for what, own in _SAID.items()}
        own = answered(evaluated.questions.filter(pl.col("right").is_not_null(), config=config), told).filter(pl.col("hit") < 1)
        own = own.select(name=pl.lit(name), config="config", construction="construction", id="id", **said)
        own = own.join(evaluated.items[config].select("id", pl.col("^contrast_set$"), *texts), on="id", maintain_order="left")
        parts.append(own.sort("construction", maintain_order=True).select(pl.exclude(*said), *said))
    return pl.concat(parts, how="diagonal")
