"""Levenshtein distances of many forms to all words at once: down a trie of the words, so that what words share is compared once.

In a cell (i, j) of the table of a word and a form stands i + j less the distance of their first i and j letters: what two prefixes have in
common, which is never negative and grows by 2 with a letter that is kept, by 1 with one that is replaced and not at all with one that is
added or left out. The same cell of ``LANES`` forms of one length is computed together. Only the cells about the diagonal are.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cxgen.wug.compiled import Bytes, Ints, compiled

LANES = 256  # forms compared at once, at most
_GROUP = np.uint64(64)  # a processor does so many together; numba reads arrays faster by numbers without sign
_DEEPEST = 64  # letters of a word, at most
_BYTE = 255

Trie = tuple[NDArray[np.int8], NDArray[np.int8], NDArray[np.int8], NDArray[np.int8], NDArray[np.bool_], NDArray[np.int32]]


def encode(words: list[str], width: int) -> Bytes:
    """The letters of words as 1 to 26, a row for each word, filled up with 0."""
    return np.array(words, dtype=f"S{width}").view(np.uint8).reshape(len(words), width) & np.uint8(31)


@compiled("Tuple((i1[::1],i1[::1],i1[::1],i1[::1],b1[::1],i4[::1]))(u1[:,::1],i8[::1])")
def build(letters: Bytes, lengths: Ints) -> Trie:
    """The trie of sorted words as arrays over its nodes, each node before those below it.

    Args:
        letters: from ``encode``.
        lengths: of the words.

    Returns:
        Of each node: its letter, its depth, the lengths of the shortest and the longest word below, whether a word ends here, and the next
        node that is not below.
    """
    shared = np.zeros(len(lengths) + 1, np.int64)  # by each word with the one before
    size = 0
    for word in range(len(lengths)):
        same = 0
        while word and same < min(lengths[word], lengths[word - 1]) and letters[word, same] == letters[word - 1, same]:
            same += 1
        shared[word] = same
        size += lengths[word] - same
    letter, depth, shortest, longest = (
        np.empty(size, np.int8),
        np.empty(size, np.int8),
        np.full(size, 127, np.int8),
        np.zeros(size, np.int8),
    )
    ends, following = np.zeros(size, np.bool_), np.empty(size, np.int32)
    path = np.empty(_DEEPEST, np.int64)
    node = 0
    for word in range(len(lengths)):
        for at in range(shared[word], lengths[word]):
            letter[node], depth[node], path[at] = letters[word, at], at + 1, node
            node += 1
        ends[path[lengths[word] - 1]] = True
        for at in range(lengths[word]):
            shortest[path[at]] = min(shortest[path[at]], lengths[word])
            longest[path[at]] = max(longest[path[at]], lengths[word])
        for at in range(shared[word + 1], lengths[word]):
            following[path[at]] = node
    return letter, depth, shortest, longest, ends, following


@compiled("u1[::1](u1[:,::1],i8,i8)")
def gained(forms: Bytes, size: int, lanes: int) -> Bytes:
    """By how much a cell can be more than that before it on the diagonal: letter x place in the form x lane."""
    gains = np.ones(27 * (size + 1) * lanes, np.uint8)
    for form in range(len(forms)):
        for at in range(size):
            gains[(forms[form, at] * (size + 1) + at + 1) * lanes + form] = 2
    return gains


@compiled("i8[:,::1](Tuple((i1[::1],i1[::1],i1[::1],i1[::1],b1[::1],i4[::1])),u1[:,::1],i8,i8)")
def near(trie: Trie, forms: Bytes, size: int, most: int) -> Ints:
    """How many words are 1, 2, ... ``most`` away from each form, among those that are less than ``most`` letters longer or shorter.

    Args:
        trie: of the words.
        forms: from ``encode``, ``LANES`` at most.
        size: letters of each form.
        most: distances counted, at least 1.

    Returns:
        Distance x form; nothing is said of distance 0.
    """
    letter, depth, shortest, longest, ends, following = trie
    reach = most - 1
    width = 2 * reach + 1
    groups = np.uint64((len(forms) + 63) // 64)
    lanes = int(groups) * 64
    row = (width + 2) * lanes  # cells of one letter of a word, with an empty one at either end
    cells = np.zeros((size + most + 1) * row, np.uint8)
    gains = gained(forms, size, lanes)
    counts = np.zeros((most + 1, lanes), np.int64)
    recent = np.zeros((most + 1) * lanes, np.uint8)  # bytes, added up before they overflow
    waiting = 0
    node = 0
    while node < len(letter):
        i = depth[node]
        # No way of so few steps to one of the words below leaves the diagonal j = i further than this.
        lower = max((size - min(longest[node], size + reach) - most + 1) // 2, 1 - i)
        upper = min((size - max(shortest[node], size - reach) + most) // 2, size - i)
        if longest[node] < size - reach or shortest[node] > size + reach or lower > upper:
            node = following[node]
            continue
        for offset in (lower - 1, upper + 1):
            here = np.uint64(i * row + (offset + reach + 1) * lanes)
            for lane in range(np.uint64(lanes)):
                cells[here + lane] = np.uint8(0)
        for offset in range(lower, upper + 1):
            here = np.uint64(i * row + (offset + reach + 1) * lanes)
            diagonal, above, before = here - np.uint64(row), here - np.uint64(row - lanes), here - np.uint64(lanes)
            gain = np.uint64((letter[node] * (size + 1) + i + offset) * lanes)
            for _ in range(groups):
                for lane in range(_GROUP):
                    kept = np.uint8(cells[diagonal + lane] + gains[gain + lane])
                    kept = max(kept, cells[above + lane])
                    cells[here + lane] = max(kept, cells[before + lane])
                here, diagonal, above, before, gain = here + _GROUP, diagonal + _GROUP, above + _GROUP, before + _GROUP, gain + _GROUP
        if ends[node] and abs(size - i) <= reach:
            here = np.uint64(i * row + (size - i + reach + 1) * lanes)
            for distance in range(max(1, abs(size - i)), most + 1):
                wanted, there = np.uint8(i + size - distance), np.uint64(distance * lanes)
                for group in range(groups):
                    at, to = here + group * _GROUP, there + group * _GROUP
                    for lane in range(_GROUP):
                        recent[to + lane] += np.uint8(cells[at + lane] == wanted)
            waiting += 1
            if waiting == _BYTE:
                counts += recent.reshape(counts.shape)
                recent[:], waiting = 0, 0
        node += 1
    counts += recent.reshape(counts.shape)
    return counts[:, : len(forms)].copy()
