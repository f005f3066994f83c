"""What can fill each slot of a design in one split: frames, candidates, weights."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from cxgen.constructicon import Construction, Design, Slot
from cxgen.errors import EmptySlotError
from cxgen.lexicon import Frame, Lexicon
from cxgen.vocabulary import Role

ABSENT = -1  # in place of a lexeme where a slot is left out
CROWDING = 2.0
# How often a frame's marked filler comes up, beside its other fillers. In use, too, a few verbs carry most instances of a construction and
# many occur seldom (Ellis & Ferreira-Junior 2009, Construction learning as a function
# of frequency, frequency distribution, and function).
MARKED = 1 / 50
Weights = NDArray[np.float64]


class Segments:
    """Lists of lexemes of different lengths, drawn from by weight over whole columns.

    Within a list the frequency bands have the same chance if ``even``, but none lets a member come up more than ``CROWDING`` times as
    often as in a plain draw; otherwise all members have the same. ``fits`` then scales each member's chance.
    """

    def __init__(
        self, lists: Sequence[Sequence[int]], bands: NDArray[np.int8], *, even: bool = True, fits: Sequence[Weights] | None = None
    ) -> None:
        self._lists, self._bands, self._even, self._fits = lists, bands, even, fits
        self.ids = np.array([row for rows in lists for row in rows], dtype=np.int64)
        self.sizes = np.array([len(rows) for rows in lists], dtype=np.int64)
        weights = [_weights(bands[np.array(rows, dtype=np.int64)], even) for rows in lists]
        if fits is not None:
            scaled = [weight * fit for weight, fit in zip(weights, fits, strict=True)]
            weights = [weight / weight.sum() if len(weight) else weight for weight in scaled]
        self.ends = np.cumsum(np.concatenate([*weights, np.empty(0)]))  # each list's weights add up to 1, so list k covers [k, k + 1)
        self.last = np.cumsum(self.sizes) - 1

    @cached_property
    def unmarked(self) -> Segments:
        """The same lists, every fit taken as 1."""
        return self if self._fits is None else Segments(self._lists, self._bands, even=self._even)

    def draw(self, lists: NDArray[np.int64], numbers: Weights) -> NDArray[np.int64]:
        """One lexeme from each of ``lists``, by ``numbers`` in [0, 1)."""
        place = np.searchsorted(self.ends, lists + numbers, side="right")
        first = self.last[lists] - self.sizes[lists] + 1
        drawn: NDArray[np.int64] = self.ids[np.clip(place, first, self.last[lists])]
        return drawn


def _weights(bands: NDArray[np.int8], even: bool) -> Weights:
    """The chance of each member of a list."""
    plain = 1.0 / len(bands) if len(bands) else 0.0
    if not even:
        return np.full(len(bands), plain)
    counts = np.bincount(bands, minlength=3)
    weights: Weights = np.minimum(1.0 / (counts[bands] * np.count_nonzero(counts)), CROWDING * plain)
    normed: Weights = weights / weights.sum()
    return normed


@dataclass(frozen=True)
class Pools:
    """Candidates of one design in one split.

    Attributes:
        frames: the usable frames.
        weights: chance of each frame, by the number of its main verbs, and by the mean fit of the fillers of its worst slot.
        candidates: slot -> one list of lexemes per frame; related slots are absent.
        fits: slot -> per frame, what the chance of each candidate is multiplied by.
    """

    frames: tuple[Frame, ...]
    weights: Weights
    candidates: dict[str, list[list[int]]]
    fits: dict[str, list[Weights]]
    _segments: dict[str, Segments] = field(default_factory=dict, repr=False, compare=False)

    def segments(self, slot: Slot, bands: NDArray[np.int8]) -> Segments:
        """The candidates of ``slot``, to draw from; made once. ``bands`` are the lexicon's."""
        if slot.name not in self._segments:
            self._segments[slot.name] = Segments(self.candidates[slot.name], bands, even=slot.carries, fits=self.fits[slot.name])
        return self._segments[slot.name]


def frame_candidates(frame: Frame, slot: Slot, lexicon: Lexicon) -> list[int]:
    """The lexemes that may fill ``slot`` in ``frame``: the frame's own filler, else the slot's classes; ``[ABSENT]`` for nothing, where
    that is allowed.

    Raises:
        EmptySlotError: neither says anything.
        UnknownNameError: a class or sense key that does not exist.
    """
    names = frame.slots.get(slot.source) or slot.classes
    if not names and slot.by_frame:
        return [ABSENT]
    if not names:
        raise EmptySlotError(f"frame {frame.name!r} does not fill slot {slot.name!r}", hint=f"add {slot.name}: CLASS to the frame")
    return list(dict.fromkeys(row for name in names for row in lexicon.resolve(name).ids))


def in_band(frame: Frame, slot: Slot, lexicon: Lexicon, preset: str) -> list[int]:
    """Those of the `frame_candidates` that the frequency preset lets in."""
    rows = frame_candidates(frame, slot, lexicon)
    if preset != "contest" or not slot.carries:
        return rows
    top = lexicon.table["top10k"]
    return [row for row in rows if lexicon.bands[row] == 1 and not top[row]]


def extended_verbs(frame: Frame, slot: Slot, lexicon: Lexicon) -> set[int]:
    """The frame's own verbs in ``slot`` that do not by themselves entail what the construction says."""
    names = frame.slots.get(slot.source)
    if slot.role != Role.verb or not names:
        return set()
    classes = [lexicon.resolve(name) for name in names]
    alone = {row for group in classes for row in group.ids if row not in group.extended}
    own = {lexicon.index[name] for name in names if name in lexicon.index}
    alone -= {row for row in own if lexicon.lemmas[row] not in frame.entails_alone}
    return set(frame_candidates(frame, slot, lexicon)) - alone


def frames_of(construction: Construction, design: Design, preset: str = "") -> list[Frame]:
    """The frames of ``design``, of one preset if given; a single empty one when it draws everything from classes."""
    frames = [f for f in construction.frames if design.frames in f.designs]
    free = all(not slot.from_frame or slot.by_frame for slot in map(construction.slots.__getitem__, construction.design_slots(design)))
    return frames or ([Frame("any", (design.name,), {})] if free else [])


def design_pools(
    construction: Construction,
    design: Design,
    splits: Mapping[str, str],
    split: str | None,
    preset: str = "sliced",
    marked: float = MARKED,
) -> Pools:
    """The usable frames of ``design`` in ``split`` with their candidates.

    Args:
        splits: verb lemma -> split.
        split: None for all verbs.
        preset: ``sliced`` or ``contest``.
        marked: chance of a marked filler, relative to one that is not.

    Raises:
        EmptySlotError: no frame is left; the message says which slot each frame lacks, and why.
    """
    lexicon = construction.lexicon
    usable: list[tuple[Frame, dict[str, list[int]]]] = []
    emptied: list[str] = []
    slots = [slot for slot in map(construction.slots.__getitem__, construction.design_slots(design)) if not slot.lexical]
    verbs = construction.verb_slots if split is not None else ()
    for frame in frames_of(construction, design, preset):
        filled: dict[str, list[int]] = {}
        for slot in slots:
            rows = in_band(frame, slot, lexicon, preset)
            why = "the class is empty" if preset == "sliced" or not slot.carries else f"the band of preset {preset!r}"
            if slot.name in verbs:
                why = f"no verb of it is in split {split!r}" if rows else why
                rows = [row for row in rows if splits.get(lexicon.lemmas[row]) == split]
            if not rows:
                emptied.append(f"{frame.name}: slot {slot.name!r} ({why})")
                break
            filled[slot.name] = rows
        else:
            group = crowded(slots, filled, lexicon) if split is not None else []
            if group:
                emptied.append(f"{frame.name}: slots {', '.join(group)} (fewer words than slots)")
            else:
                usable.append((frame, filled))
    if not usable:
        raise _empty(construction, design, split, emptied)
    return _weighted(construction, design, usable, marked)


def _weighted(construction: Construction, design: Design, usable: Sequence[tuple[Frame, dict[str, list[int]]]], marked: float) -> Pools:
    """Pools of the ``usable`` frames with their fillers."""
    lexicon = construction.lexicon
    candidates: dict[str, list[list[int]]] = {}
    fits: dict[str, list[Weights]] = {}
    for frame, filled in usable:
        seldom = {lexicon.index[key] for key in frame.marked & lexicon.index.keys()}
        for name, rows in filled.items():
            candidates.setdefault(name, []).append(rows)
            fits.setdefault(name, []).append(np.array([marked if row in seldom else 1.0 for row in rows]))
    main = construction.kinds[design.kinds[0]].verb
    weights = np.array([len(rows) for rows in candidates.get(main, [[0]] * len(usable))], dtype=np.float64)
    own = [name for name in candidates if construction.slots[name].from_frame]
    if own:
        weights *= np.min([[fit.mean() for fit in fits[name]] for name in own], axis=0)
    return Pools(tuple(frame for frame, _ in usable), weights / weights.sum(), candidates, fits)


def crowded(slots: Iterable[Slot], filled: Mapping[str, Sequence[int]], lexicon: Lexicon) -> list[str]:
    """Slots that must hold different words, and have fewer words than they are; a split may have but one verb of a frame's three."""
    for slot in slots:
        group = [slot.name, *(name for name in slot.distinct if name in filled)]
        if len({lexicon.lemmas[row] for name in group for row in filled[name]}) < len(group):
            return group
    return []


def _empty(construction: Construction, design: Design, split: str | None, emptied: Sequence[str]) -> EmptySlotError:
    where = "under frames: in this file, or in a file under lexicons/scenes"
    return EmptySlotError(
        f"{construction.name}: nothing fills design {design.name!r}"
        + (f" in {split}" if split else "")
        + f": {'; '.join(emptied[:5]) or 'no frame'}",
        file=construction.document.path,
        line=construction.document.line(["designs", design.name]),
        hint=f"add words to those classes, or frames {where}" if emptied else f"add frames for design: {design.frames} {where}",
    )
