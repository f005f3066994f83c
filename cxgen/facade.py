"""What Python users, the command line and the documentation call. Nothing heavy is imported before it is used.

>>> import cxgen
>>> resultative = cxgen.Constructicon()["resultative"]
>>> items = resultative.sample(2)
>>> items["premise"].n_unique(), sorted(items["label"].unique())
(2, ['contradiction', 'entailment', 'neutral'])
>>> resultative.check()
[]
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from cxgen.entries import Constructicon, Entry, require_positive

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Constructicon", "Entry", "constructions", "explain", "load", "sample", "score", "wug"]


def constructions(project: str | Path | None = None) -> list[str]:
    """The names of the constructions: those of the project, and those that are shipped. Of files that cannot be read it warns.

    Args:
        project: a project's folder; by default the one at or above the working directory.

    >>> import cxgen
    >>> "resultative" in cxgen.constructions()
    True
    """
    import warnings

    names, errors = Constructicon(project).readable()
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
    >>> cxgen.sample("let-alone", n=2, family="minimal_pairs")["diagnostic_good"].len()
    2
    """
    return Constructicon(project)[construction].sample(n, family=family, wug=wug, seed=seed)


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
        CxgenError: no such construction or mode, or a template file that cannot be read or contradicts itself.

    >>> import cxgen
    >>> cxgen.explain("resultative").columns
    ['design', 'kind', 'construction', 'rule', 'claim', 'label', 'turns_on']
    """
    return Constructicon(project)[construction].explain(wug)


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
    require_positive(n)
    from cxgen.pseudowords import load as words
    from cxgen.pseudowords import pseudowords

    made: list[str] = pseudowords(words(), [word], n, seed=seed)["pseudoword"].to_list()
    return made


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

    from cxgen.build.tables import read_splits
    from cxgen.errors import unknown
    from cxgen.families import family_of
    from cxgen.suites import SUITES
    from cxgen.vocabulary import SPLITS

    if split is not None and split not in SPLITS:
        raise unknown("split", split, SPLITS)
    if config not in SUITES:
        family_of(config)
    return read_splits(Constructicon(project).project, config, [split] if split else SPLITS)


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

    evaluated = Evaluated.read(Constructicon(project).project, Part((config,), (split,)))
    given = evaluated.answers(predictions if isinstance(predictions, pl.DataFrame) else Path(predictions))
    report: dict[str, Any] = evaluated.report("", given, Resampling(resamples, seed))["configs"][config]
    return report
