"""What shallow gets: predictors that cannot understand, trained on train. Every report of a model should stand beside them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import polars as pl

from cxgen.errors import needs, unknown
from cxgen.families.scoring import Scoring
from cxgen.measures import cues, giveaway
from cxgen.streams import order_key

_LEARNERS = {"hypothesis-only": giveaway.hypothesis_scores, "word-pairs": cues.pair_scores}
_DIGITS = 6


def predictions(name: str, scoring: Scoring, train: pl.DataFrame, items: pl.DataFrame) -> Iterator[dict[str, Any]]:
    """What a baseline says of ``items``, one config's.

    Args:
        name: ``majority`` always says what is right most often in ``train`` (of several the first in the alphabet; of two continuations,
            whether the one that is shown first or second); ``hypothesis-only`` is `giveaway.hypothesis_scores`, ``word-pairs`` is
            `cues.pair_scores`. Ties are left to a coin, thrown by the item's id.
        scoring: the family's.
        train, items: with the columns of the family.

    Yields:
        A prediction per item: ``id, label`` and, from those that learn, a number per answer.

    Raises:
        UnknownNameError: no such baseline.
        DataError: scikit-learn is not installed.
    """
    if name not in ("majority", *_LEARNERS):
        raise unknown("baseline", name, ("majority", *_LEARNERS))
    if name == "majority":
        columns = list(dict.fromkeys(("id", *scoring.needs)))
        counts = Counter(scoring.verdict(item) for item in train.select(columns).iter_rows(named=True))
        commonest = min(counts, key=lambda verdict: (-counts[verdict], verdict))
        for item in items.select(columns).iter_rows(named=True):
            yield {"id": item["id"], "label": scoring.answers[scoring.meant(item, commonest)]}
        return
    with needs("this baseline needs scikit-learn", "report"):
        import sklearn  # noqa: F401
    scores = scoring.decided(_LEARNERS[name](scoring.texts(train), scoring.texts(items)))
    for key, numbers in zip(items["id"], np.round(scores, _DIGITS).tolist(), strict=True):
        best = [answer for answer, number in zip(scoring.answers, numbers, strict=True) if number == max(numbers)]
        yield {"id": key, "label": best[order_key("tie", key)[0] % len(best)], **dict(zip(scoring.answers, numbers, strict=True))}
