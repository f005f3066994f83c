"""Do the words decide, or what is done with them? Counted within contrast sets, exactly; and learnt from pairs of words without order."""

import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from cxgen.measures import Items, measure
from cxgen.measures.figures import Figures, Gates, configs, shares
from cxgen.measures.fits import Floats, Folds, Ints, Learner, Make, coded, regression, right, scores
from cxgen.schema import TARGET

_TOKEN = re.compile(r"[a-z]+(?:['-][a-z]+)*")
CLOSED = frozenset(Path(__file__).with_name("closed.txt").read_text("utf-8").split())  # closed-class words
_ORDER = ("VERB", "NOUN", "ADJ", "ADV", "PROPN", "AUX")  # verbs first: *swing* and *swung* are one word
_GUESSED = ["config", "contrast_set", "hypothesis", "bag"]
_RECURRENT = 10  # combinations of verb and frame with which a template's word occurs
_DIVIDED = ("config", "construction", "contrast_of", "verb_role")  # what `shares` divides by
_SIDES = ("premise", "hypothesis")
_CHOICES = ("context", "diagnostic_good", "diagnostic_bad")
_PART = 5_000  # texts whose words, or pairs of words, are written out at once


def open_words(text: str) -> list[str]:
    """The lemmas of all tokens of ``text`` but closed-class ones, sorted; one that occurs twice comes twice."""
    text = text.lower().replace("’", "'").replace("let alone", " ")
    return sorted(base for token in _TOKEN.findall(text) if (base := _lemma(token)))


@cache
def _lemma(token: str) -> str:
    token = token.removesuffix("'s")
    if token in CLOSED or token.endswith("n't"):
        return ""
    from lemminflect import getAllLemmas

    lemmas = getAllLemmas(token)
    return next((lemmas[pos][0] for pos in _ORDER if pos in lemmas), token)


def _with_bags(rows: pl.DataFrame) -> pl.DataFrame:
    premises = rows["premise"].unique(maintain_order=True)
    bags = [" ".join(open_words(text)) for text in premises]
    rows = rows.with_columns(bag=pl.col("premise").replace_strict(premises, bags, return_dtype=pl.String))
    return rows.select(*_DIVIDED, "label", guessed=pl.struct(_GUESSED).hash())  # strings would be compared one by one


@measure("nli", Gates(config=0.50, construction=0.70))
def words_only(items: Items) -> Figures:
    """the best guess from a premise's open-class words, within its contrast set."""
    most = pl.max_horizontal(*((pl.col("label") == label).sum().over("guessed") for label in range(3)))
    return shares(items.shared(_with_bags).with_columns(best=most / pl.len().over("guessed")), pl.col("best"))


@measure("nli", Gates(config=0.75, least=True), chance=0.0)
def turn_rate(items: Items) -> Figures:
    """items for which another premise of the set has the same open-class words and another label for the same hypothesis."""
    return shares(items.shared(_with_bags).with_columns(turned=pl.col("label").n_unique().over("guessed") > 1), pl.col("turned"))


@measure("nli", Gates(construction=1.0, least=True), chance=0.0, mend="say under `misread` what the target says (docs/templates.md; W303)")
def misparse(items: Items) -> Figures | None:
    """of the look-alikes' items whose claim is decided by taking them for the target, those that this labels otherwise."""
    rows = items.rows.filter(pl.col("config") == "distinction")
    misread = rows.filter("misread") if "misread" in rows.columns else rows.clear()
    return shares(misread, pl.col("target_label").is_not_null()) if misread.height else None


@measure("nli", Gates(config=0.60, construction=0.75))
def word_pairs(items: Items) -> Callable[[], Figures]:
    """a linear model on pairs of a premise's and a hypothesis's word, trained on train, tested on test."""
    configs = [(items.rows["config"] == config).to_numpy() for config in items.rows["config"].unique()]
    train, test = _halves(items.rows)
    return _learnt(items, _averaged, _word_pairs, [(train & own, test & own) for own in configs])


@measure("nli", Gates(overall=0.45))
def cues_only(items: Items) -> Callable[[], Figures]:
    """the same on the words of the templates alone."""
    return _learnt(items, regression, _template_pairs, [_halves(items.rows)])


@measure("nli", Gates(construction=0.40))
def cues_transfer(items: Items) -> Callable[[], Figures] | None:
    """the same, trained on all other constructions: cues that give labels away everywhere."""
    targets = items.rows.select(TARGET).to_series()
    own = [(targets == name).to_numpy() for name in targets.unique().sort()]
    folds = [(~mask, mask) for mask in own]
    return _learnt(items, regression, _template_pairs, folds, config=pl.lit("all")) if len(own) > 1 else None


@measure("minimal_pairs", Gates(construction=0.55), chance=0.5, ungated="cxmp")
def copying(items: Items) -> Figures:
    """the continuation with more (or, if that is right more often, with fewer) of the context's words and pairs of neighbouring words."""
    words = [pl.col(side).str.to_lowercase().str.extract_all(_TOKEN.pattern) for side in _CHOICES]
    pairs = [own.list.eval(pl.element() + " " + pl.element().shift(-1)).list.drop_nulls() for own in words]
    grams = items.rows.select(own.list.concat(other).alias(side) for side, own, other in zip(_CHOICES, words, pairs, strict=True))
    good, bad = (pl.col("context").list.set_intersection(side).list.len().cast(pl.Int64) for side in _CHOICES[1:])
    more = grams.select(right=((good - bad).sign() + 1) / 2).to_series()
    sides = {name: {at: max(one, 1 - one) for at, one in own.items()} for name, own in by_side(items.rows, more).items()}
    share = float(np.mean(more.to_numpy()))
    return Figures(max(share, 1 - share), sides)


@measure("minimal_pairs", Gates(construction=0.55), chance=0.5, ungated="cxmp")
def pairs_of_words(items: Items) -> Callable[[], Figures]:
    """a linear model on pairs of a context's and a continuation's word, trained on train, tested on test."""
    rows = items.rows.filter(pl.col("split") == "test")
    hits = items.run(_chosen, [items.rows.select("split", *_CHOICES)])

    def figures() -> Figures:
        right = next(iter(hits))
        return Figures(float(right.mean()), by_side(rows, pl.Series(right)))

    return figures


def _chosen(rows: pl.DataFrame) -> Floats:
    """Of the test items, whether the better continuation gets the higher score: 1 or 0."""
    halves = [rows.filter(pl.col("split") == split) for split in ("train", "test")]
    texts = [[own.select(premise="context", hypothesis=side) for side in _CHOICES[1:]] for own in halves]
    train = pl.concat(own.with_columns(pl.lit(right, pl.Int64).alias("class")) for own, right in zip(texts[0], (1, 0), strict=True))
    good, bad = pair_scores(train, pl.concat(texts[1]))[:, 1].reshape(2, -1)
    return (np.sign(good - bad) + 1) / 2


def by_side(rows: pl.DataFrame, right: pl.Series) -> dict[str, dict[str, float]]:
    """Config -> construction and side (of pairs about participants) -> the share of pairs that are ``right``."""
    table = rows.select("config", "variant", target=pl.concat_str(TARGET, "variant", separator="/"), right=right)
    return configs(table.filter(pl.col("variant") != "").group_by("config", "target").agg(pl.col("right").mean()))


def _halves(rows: pl.DataFrame) -> tuple[Any, Any]:
    return (rows["split"] == "train").to_numpy(), (rows["split"] == "test").to_numpy()


def _learnt(items: Items, learn: Learner, make: Make, folds: Folds, **columns: pl.Expr) -> Callable[[], Figures]:
    """The shares of items that a classifier gets right, trained and tested as each of ``folds`` says."""
    labels = items.rows["label"].to_numpy().astype(np.int64)
    lemmas = pl.col("slots").list.eval(pl.element().struct.field("lemma")).list.join(" ", ignore_nulls=True)
    hits = items.run(right, [(learn, make, items.rows.select(*_SIDES, "verb", "frame", fillers=lemmas), labels, folds)])

    def figures() -> Figures:
        rights = np.full(len(labels), np.nan)
        for (_, test), hit in zip(folds, *hits, strict=True):
            rights[test] = hit
        rows = items.rows.select(*_DIVIDED, right=pl.Series(rights, nan_to_null=True))
        return shares(rows.with_columns(**columns).drop_nulls("right"), pl.col("right"))

    return figures


def _averaged() -> Any:
    from sklearn.linear_model import SGDClassifier

    return SGDClassifier(loss="log_loss", alpha=1e-6, max_iter=20, tol=None, average=True, random_state=0)


def _tokens(texts: pl.Series) -> pl.DataFrame:
    """``row, token``: the different words of each text."""
    rows, words = pl.DataFrame({"token": texts}).with_row_index("row"), pl.col("token").str.to_lowercase().str.extract_all(_TOKEN.pattern)
    parts = (part.with_columns(words).explode("token").drop_nulls().unique(maintain_order=True) for part in rows.iter_slices(_PART))
    return pl.concat(parts)


def _word_pairs(rows: pl.DataFrame, known: int | None = None) -> tuple[Any, Ints]:
    """Features of all pairs of a premise's and a hypothesis's word, one row per combination of words, and the row of every item: of
    words of the first ``known`` items (default: all)."""
    tokens = [_tokens(rows[side]) for side in _SIDES]
    names = pl.concat(own.filter(pl.col("row") < (rows.height if known is None else known)) for own in tokens)["token"]
    return _paired(tokens, names.unique(maintain_order=True), rows.height)


def _template_pairs(rows: pl.DataFrame) -> tuple[Any, Ints]:
    """The same of template words: those with ``_RECURRENT`` pairs of verb and frame, in no filler's lemma, no form of one beside them."""
    from scipy.sparse import diags

    tokens = [_tokens(rows[side]) for side in _SIDES]
    fillers = _tokens(rows["fillers"])
    places = rows.select(place=pl.struct("verb", "frame").hash()).with_row_index("row")
    counts = pl.concat(tokens).join(places, on="row").group_by("token").agg(pl.col("place").n_unique())
    names = counts.filter(pl.col("place") >= _RECURRENT).join(fillers, on="token", how="anti")["token"].sort()
    known = pl.concat([fillers["token"], names]).unique()
    stems = pl.DataFrame({"token": known, "stem": [_lemma(word) or word for word in known]})
    own = fillers.join(stems, on="token").select("row", "stem")
    tokens = [words.join(stems, on="token").join(own, on=["row", "stem"], how="anti") for words in tokens]
    matrix, codes = _paired(tokens, names, rows.height)
    keys = matrix.T.astype(np.int64) @ np.random.default_rng(0).integers(2**62, size=matrix.shape[0])
    _, firsts, alike = np.unique(keys, return_index=True, return_counts=True)  # columns that are alike as one, which weighs as much
    return (matrix[:, firsts] @ diags(np.sqrt(alike))).tocsr(), codes


def _paired(tokens: list[pl.DataFrame], names: pl.Series, height: int) -> tuple[Any, Ints]:
    """A column per hashed pair of those ``names`` (numbered from 1; 0 stands for all else) that are among the tokens of an item."""
    from scipy.sparse import csr_matrix

    numbers = pl.DataFrame({"token": names, "number": pl.int_range(1, len(names) + 1, eager=True)})
    rest = pl.select(row=pl.int_range(height, dtype=pl.UInt32), number=pl.lit(0, pl.Int64))
    sides = [pl.concat([words.join(numbers, on="token").select("row", "number"), rest]).sort("row", "number") for words in tokens]
    lists = [own.group_by("row", maintain_order=True).agg("number")["number"] for own in sides]
    texts = [pl.col(side).cast(pl.List(pl.String)).list.join(" ") for side in _SIDES]
    words = pl.DataFrame(dict(zip(_SIDES, lists, strict=True))).with_columns(text=pl.concat_str(*texts, separator="|"))
    _, codes = coded(words["text"])
    hashed = ((pl.col("premise") * 1_000_003 + pl.col("hypothesis") * 8191) % 2**19).cast(pl.Int32).alias("hash")
    parts = words.unique("text", maintain_order=True).with_row_index("row").iter_slices(_PART)
    pairs = pl.concat(part.explode("premise").explode("hypothesis").select("row", hashed) for part in parts)
    used = np.bincount(pairs["hash"]) > 0
    columns = (np.cumsum(used, dtype=np.int32) - 1)[pairs["hash"]]
    ends = np.searchsorted(pairs["row"], np.arange(codes.max() + 2))
    return csr_matrix((np.ones(len(columns)), columns, ends), shape=(len(ends) - 1, used.sum())), codes  # two pairs of one hash stay two


def pair_scores(train: pl.DataFrame, test: pl.DataFrame) -> Floats:
    """Probabilities (text x class) of ``word_pairs`` for ``premise, hypothesis`` of ``test`` when it has learnt ``class`` of ``train``;
    those of a text do not depend on the others of ``test``."""
    return scores(_averaged, *_word_pairs(pl.concat([train.select(_SIDES), test.select(_SIDES)]), train.height), train["class"])
