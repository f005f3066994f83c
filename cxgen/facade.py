"""What Python users call: ``import cxgen``. Everything here is also a command; nothing heavy is imported before it is used."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars as pl

    from cxgen.constructicon import Construction
    from cxgen.project import Project

# What `readable` shows of an item before and after its family's columns.
LINEAGE = ("id", "contrast_set", "construction", "contrast_of", "config", "design", "kind", "template")
MATERIAL = ("verb", "slots")


def constructions(project: str | Path | None = None) -> list[str]:
    """The names of the constructions: those of the project, and those that are shipped. Of files that cannot be read it warns.

    Args:
        project: a project's folder; by default the one at or above the working directory.

    >>> import cxgen
    >>> "resultative" in cxgen.constructions()
    True
    """
    import warnings

    from cxgen.constructicon import readable_targets

    names, errors = readable_targets(_project(project))
    for error in errors:
        warnings.warn(f"left out: {error.render()}", stacklevel=2)
    return names


def sample(
    construction: str, n: int = 5, *, family: str = "nli", wug: str = "", seed: int = 1, project: str | Path | None = None
) -> pl.DataFrame:
    """A preview of a construction's items: those of ``n`` premises.

    Args:
        construction: its name.
        n: how many premises; of a suite, how many groups of rows that belong together.
        family: benchmark family: nli, minimal_pairs; or a suite of the construction: cc_syntax, cc_semantics.
        wug: pseudowords for these words: verb, nouns, adjectives, content; empty for none.
        seed: another seed, other items.
        project: as for `constructions`.

    Returns:
        One row per item: ``id, contrast_set, construction, contrast_of, config, design, kind, template``, the columns of the family (of
        ``nli``: ``premise, hypothesis, label`` (strings), ``rule, wording, claim, polarity``), ``verb`` (str), ``slots`` (list).
        Of a suite: the columns of its tables.

    Raises:
        CxgenError: no such construction, family or mode, or a template file that is not sound.

    >>> import cxgen
    >>> items = cxgen.sample("resultative", n=2)
    >>> items["premise"].n_unique(), sorted(items["label"].unique())
    (2, ['contradiction', 'entailment', 'neutral'])
    """
    from cxgen.check import require_sound
    from cxgen.errors import CxgenError, unknown
    from cxgen.families import family_named
    from cxgen.generate import Wugs, preview
    from cxgen.suites import SUITES, suite_of
    from cxgen.vocabulary import MODES

    _positive(n)
    if family in SUITES:
        if wug:
            raise CxgenError(f"{family} has no items with pseudowords", hint="leave wug out")
        return suite_of(family, construction).sample(_project(project), seed, n)
    family_named(family, SUITES)
    if wug and wug not in MODES:
        raise unknown("mode", wug, MODES)
    where = _project(project)
    loaded = _load(construction, where)
    require_sound(loaded)
    items = preview(loaded, seed, n, family, Wugs.load(where.snapshot) if wug else None, wug)
    return readable(items, family)


def readable(items: pl.DataFrame, family: str) -> pl.DataFrame:
    """Drawn items as people want to see them: lineage, what the family has, verb and slots; labels by name."""
    import polars as pl

    from cxgen.families import own_columns
    from cxgen.vocabulary import LABELS

    own = {column.name: column for column in own_columns(family) if column.name in items.columns}
    words = dict(enumerate(LABELS))
    named = {name: pl.col(name).replace_strict(words, return_dtype=pl.String) for name, column in own.items() if column.labels}
    return items.select(*LINEAGE, *own, *MATERIAL).with_columns(**named)


def explain(construction: str, *, wug: str = "", project: str | Path | None = None) -> pl.DataFrame:
    """The label matrix of a construction, computed from its facts and claims.

    Args:
        construction: its name.
        wug: what is left of it with pseudowords for these words.
        project: as for `constructions`.

    Returns:
        One row per design, premise kind and hypothesis rule: ``design, kind, construction, rule, claim, label`` and ``turns_on`` (strings):
        another kind that is said with the same open-class words and has another label there, or "words".

    Raises:
        CxgenError: no such construction or mode, or a template file that cannot be read.

    >>> import cxgen
    >>> cxgen.explain("resultative").columns
    ['design', 'kind', 'construction', 'rule', 'claim', 'label', 'turns_on']
    """
    import polars as pl

    from cxgen.check import require_sound
    from cxgen.errors import SchemaError, unknown
    from cxgen.families.turns import turns
    from cxgen.generate.substitute import broken_slots
    from cxgen.semantics import Inconsistency, label_matrix, truth
    from cxgen.vocabulary import LABELS, MODES

    if wug and wug not in MODES:
        raise unknown("mode", wug, MODES)
    loaded = _load(construction, _project(project))
    require_sound(loaded, "E1")
    broken = broken_slots(loaded, wug) if wug else frozenset()
    for kind in loaded.kinds.values():
        try:
            truth(kind, loaded)
        except Inconsistency as error:
            raise SchemaError(f"kind {kind.name!r} makes {error} both true and false", file=loaded.document.path) from error
    rows = [
        (design.name, kind, loaded.kinds[kind].construction, rule, loaded.rules[rule].says, LABELS[label], turned[kind][rule])
        for design in loaded.designs.values()
        for matrix in [label_matrix(loaded, design, broken)]
        for turned in [turns(loaded, matrix)]
        for kind, row in matrix.items()
        for rule, label in row.items()
    ]
    return pl.DataFrame(rows, schema=["design", "kind", "construction", "rule", "claim", "label", "turns_on"], orient="row")


def wug(word: str, n: int = 10, *, seed: int = 0) -> list[str]:
    """Pseudowords in the manner of ``word``: of the same length and syllables, as common in their transitions, and no words.

    Args:
        word: need not be in any lexicon.
        n: how many at most.
        seed: another seed, other ones among equally good pseudowords.

    Raises:
        CxgenError: not a word that can be imitated, or what the search needs is not installed.

    >>> import cxgen
    >>> len(set(cxgen.wug("flower", n=3)))
    3
    """
    _positive(n)
    from cxgen.pseudowords import load as words
    from cxgen.pseudowords import pseudowords

    found: list[str] = pseudowords(words(), [word], n, seed=seed)["pseudoword"].to_list()
    return found


def load(config: str = "nli", split: str | None = None, *, project: str | Path | None = None) -> pl.DataFrame:
    """The finished dataset, as ``make dataset`` left it.

    Args:
        config: nli, distinction, minimal_pairs, nli_wug; cc_syntax, cc_semantics.
        split: train, dev or test; by default all of them.
        project: as for `constructions`.

    Returns:
        The rows, with the columns that README describes; ``label`` is 0 entailment, 1 neutral, 2 contradiction.

    Raises:
        CxgenError: no such config or split, or the dataset has not been made."""
    import polars as pl

    from cxgen import layout
    from cxgen.errors import unknown
    from cxgen.families import family_of
    from cxgen.stages.contracts import read_split
    from cxgen.stages.suites import read_suite
    from cxgen.suites import SUITES
    from cxgen.vocabulary import SPLITS

    if split is not None and split not in SPLITS:
        raise unknown("split", split, SPLITS)
    if config in SUITES:
        return pl.concat([read_suite(_project(project), config, name) for name in ([split] if split else SUITES[config].splits)])
    family_of(config)
    root = _project(project).root
    folder = next((each for each in (layout.DATASET, layout.WUG, layout.NATURAL) if (root / each / config).is_dir()), layout.DATASET)
    return pl.concat([read_split(root / layout.table(config, name, folder), config, name) for name in ([split] if split else SPLITS)])


def score(
    predictions: pl.DataFrame | str | Path,
    config: str = "nli",
    split: str = "test",
    *,
    resamples: int = 1000,
    seed: int = 1,
    project: str | Path | None = None,
) -> dict[str, Any]:
    """What predictions of a part of the finished dataset are worth.

    Args:
        predictions: a table, or a file, with ``id`` and ``label`` (or a number per answer) for every item of the part; see README.
        config, split: the part.
        resamples: of verbs, for the intervals; 0: none.
        seed: another seed, other resamples.
        project: as for `constructions`.

    Returns:
        ``items, right, undecided, sets, verbs, chance`` (numbers), ``accuracy``, ``consistency`` and, of look-alikes, ``capture`` and
        ``excess`` (each ``value, low, high``), and ``by``: dimension -> value -> the same.

    Raises:
        CxgenError: no such config or split, no dataset, or predictions that are not of just this part."""
    import polars as pl

    from cxgen.evaluate.report import Evaluated, Part
    from cxgen.measures.figures import Resampling

    evaluated = Evaluated.read(_project(project), Part((config,), (split,)))
    given = evaluated.answers(predictions if isinstance(predictions, pl.DataFrame) else Path(predictions))
    found: dict[str, Any] = evaluated.report("", given, Resampling(resamples, seed))["configs"][config]
    return found


def _positive(n: int) -> None:
    from cxgen.errors import CxgenError

    if n < 1:
        raise CxgenError(f"n is {n}", hint="ask for at least one")


def _project(folder: str | Path | None) -> Project:
    from cxgen.project import Project

    return Project.find() if folder is None else Project(Path(folder))


def _load(name: str, project: Project) -> Construction:
    from cxgen.constructicon import load_construction
    from cxgen.lexicon import Lexicon

    project.template_file(name)  # a wrong name should not wait for the lexicon
    return load_construction(project, name, Lexicon.of(project))
