"""Self-BLEU: how much each of some sentences is like the others (Zhu et al. 2018, "Texygen", sec. 3)."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence

_ORDERS = range(1, 5)
_NONE = 0.1  # counted for an order in which nothing is shared: smoothing 1 of Chen & Cherry 2014


def self_bleu(sentences: Sequence[Sequence[str]]) -> float:
    """The mean BLEU-4 (Papineni et al. 2002, sec. 2) of every sentence against all others.

    The same as nltk's ``sentence_bleu`` of each, with its smoothing method 1, which counts the n-grams of all others anew for every
    sentence: here the most and the next most that one sentence has of an n-gram are enough, a hundredth of the work.

    Args:
        sentences: two or more lists of words, none empty.
    """
    counts = [[Counter(zip(*(words[at:] for at in range(order)), strict=False)) for words in sentences] for order in _ORDERS]
    most = [_most(of_order) for of_order in counts]
    lengths = sorted(map(len, sentences))
    scores = []
    for number, words in enumerate(sentences):
        logs: list[float] = []
        for of_order, top in zip(counts, most, strict=True):
            mine = of_order[number]
            shared = sum(min(count, top[ngram][0 if top[ngram][2] != number else 1]) for ngram, count in mine.items())
            if not (logs or shared):
                break  # not a word in common
            logs.append(math.log((shared or _NONE) / max(1, mine.total())))
        scores.append(_brevity(len(words), lengths) * math.exp(math.fsum(logs) / len(logs)) if logs else 0.0)
    return math.fsum(scores) / len(scores)


def _most(counts: Sequence[Counter[tuple[str, ...]]]) -> dict[tuple[str, ...], tuple[int, int, int]]:
    """N-gram -> the most that a sentence has of it, the most that another one has, and which sentence has the most."""
    most: dict[tuple[str, ...], tuple[int, int, int]] = {}
    for number, mine in enumerate(counts):
        for ngram, count in mine.items():
            first, second, owner = most.get(ngram, (0, 0, -1))
            most[ngram] = (count, first, number) if count > first else (first, max(second, count), owner)
    return most


def _brevity(length: int, lengths: Sequence[int]) -> float:
    """What a sentence loses for being shorter than the one of the others, whose lengths are sorted, that is nearest in length."""
    at = bisect_left(lengths, length)  # its own
    others = [*lengths[max(at - 1, 0) : at], *lengths[at + 1 : at + 2]]
    nearest = min(others, key=lambda other: (abs(other - length), other))
    return 1.0 if length > nearest else math.exp(1 - nearest / length)
