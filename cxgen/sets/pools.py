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

ABSENT = -1  # in place of a lexeme where a slot is left out
CROWDING = 2.0
# How often a frame's marked filler comes up, beside its other fillers. In use, too, a few verbs carry most instances of a construction and
# many occur seldom (Ellis & Ferreira-Junior 2009, Construction learning as a function
# of frequency, frequency distribution, and function).
MARKED = 1 / 50


class Segments:
    """Lists of lexemes of different lengths, drawn from by weight over whole columns.

    Within a list the frequency bands have the same chance if ``even``, but none lets a member come up more than ``CROWDING`` times as
    often as in a plain draw; otherwise all members have the same. ``fits`` then scales each member's chance.
    """

    def __init__(
        self,
        lists: Sequence[Sequence[int]],
        bands: NDArray[np.int8],
        *,
        even: bool = True,
        fits: Sequence[NDArray[np.float64]] | None = None,
    ) -> None:
        self.even = even
        self._lists, self._bands, self._fits = lists, bands, fits
        self.ids = np.array([row for rows in lists for row in rows], dtype=np.int64)
        self.sizes = np.array([len(rows) for rows in lists], dtype=np.int64)
        weights = [self._weights(bands[np.array(rows, dtype=np.int64)]) for rows in lists]
        if fits is not None:
            scaled = [weight * fit for weight, fit in zip(weights, fits, strict=True)]
            weights = [weight / weight.sum() if len(weight) else weight for weight in scaled]
        flat = np.concatenate(weights) if weights else np.empty(0)
        self.ends = np.cumsum(flat)  # each list's weights add up to 1, so list k covers [k, k + 1)
        self.last = np.cumsum(self.sizes) - 1

    def _weights(self, bands: NDArray[np.int8]) -> NDArray[np.float64]:
        plain = 1.0 / len(bands) if len(bands) else 0.0
        if not self.even:
            return np.full(len(bands), plain)
        counts = np.bincount(bands, minlength=3)
        weights: NDArray[np.float64] = np.minimum(1.0 / (counts[bands] * np.count_nonzero(counts)), CROWDING * plain)
        even: NDArray[np.float64] = weights / weights.sum()
        return even

    @cached_property
    def unmarked(self) -> Segments:
        """The same lists, every fit taken as 1."""
        return self if self._fits is None else Segments(self._lists, self._bands, even=self.even)

    def draw(self, lists: NDArray[np.int64], numbers: NDArray[np.float64]) -> NDArray[np.int64]:
        """One lexeme from each of ``lists``, by ``numbers`` in [0, 1)."""
        found = np.searchsorted(self.ends, lists + numbers, side="right")
        first = self.last[lists] - self.sizes[lists] + 1
        result: NDArray[np.int64] = self.ids[np.clip(found, first, self.last[lists])]
        return result


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
    weights: NDArray[np.float64]
    candidates: dict[str, list[list[int]]]
    fits: dict[str, list[NDArray[np.float64]]]
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


def frames_of(construction: Construction, design: Design, preset: str = "") -> list[Frame]:
    """The frames of ``design``, of one preset if given; a single empty one when it draws everything from classes."""
    frames = [f for f in construction.frames if design.frames in f.designs and (not preset or f.preset in {"", preset})]
    free = all(not slot.from_frame or slot.by_frame for slot in map(construction.slots.__getitem__, construction.design_slots(design)))
    return frames or ([Frame("any", (design.name,), {})] if free else [])


def _dividing(construction: Construction) -> list[Design]:
    """The designs whose verbs are divided over the splits; those of pairs about participants take what comes of it."""
    return [design for design in construction.designs.values() if not design.variant]


def verb_pools(construction: Construction, preset: str) -> list[frozenset[str]]:
    """The verb lemmas of every frame, slot by slot, over all designs; then those that the frame does not mark, frame by frame and design by
    design, so that no split is left with marked verbs only; and, design by design, those that by themselves entail what the construction
    says and those that do not, so that every split has its share of both.
    """
    lexicon = construction.lexicon
    pools: dict[frozenset[str], None] = {}
    for design in _dividing(construction):
        slots = [construction.slots[name] for name in construction.verb_slots if name in construction.design_slots(design)]
        for slot in slots:
            usual: set[str] = set()
            alone: set[str] = set()
            others: set[str] = set()
            for frame in frames_of(construction, design, preset):
                rows = _in_band(frame_candidates(frame, slot, lexicon), slot, lexicon, preset)
                pools[frozenset(lexicon.lemmas[row] for row in rows)] = None
                mine = frozenset(lexicon.lemmas[row] for row in rows if lexicon.keys[row] not in frame.marked)
                pools[mine] = None
                usual |= mine
                alone |= mine & frame.entails_alone
                others |= mine - frame.entails_alone
            pools |= dict.fromkeys(map(frozenset, (usual, alone, others)))
    return [pool for pool in pools if pool]


def further_verbs(construction: Construction, preset: str) -> frozenset[str]:
    """The verb lemmas of the designs whose verbs are not divided."""
    lexicon = construction.lexicon
    found: set[str] = set()
    for design in construction.designs.values():
        if design.variant:
            for slot in (construction.slots[name] for name in construction.design_slots(design) if name in construction.verb_slots):
                for frame in frames_of(construction, design, preset):
                    found.update(lexicon.lemmas[row] for row in frame_candidates(frame, slot, lexicon))
    return frozenset(found)


def joint_verbs(construction: Construction, preset: str) -> list[frozenset[str]]:
    """The verb lemmas of frames that must hold several different ones at once (*didn't sing or dance, let alone juggle*).

    They belong in one split, or the smaller splits would have too few.
    """
    lexicon = construction.lexicon
    found: dict[frozenset[str], None] = {}
    for design in _dividing(construction):
        own = [construction.slots[name] for name in construction.verb_slots if name in construction.design_slots(design)]
        for slot in (slot for slot in own if any(other.name in slot.distinct and other.source == slot.source for other in own)):
            for frame in frames_of(construction, design, preset):
                rows = _in_band(frame_candidates(frame, slot, lexicon), slot, lexicon, preset)
                found[frozenset(lexicon.lemmas[row] for row in rows)] = None
    return list(found)


def frame_verbs(construction: Construction, preset: str, *, marked: bool) -> dict[str, list[list[frozenset[str]]]]:
    """What can be said, with marked fillers or without: design -> frames -> the verbs of each verb slot, the main slot first.

    Frames in which nothing fills some slot, or there are fewer words than slots that must differ, are left out.
    """
    lexicon = construction.lexicon
    found: dict[str, list[list[frozenset[str]]]] = {}
    for design in _dividing(construction):
        main = construction.kinds[design.kinds[0]].verb
        slots = [construction.slots[name] for name in construction.design_slots(design) if construction.slots[name].from_frame]
        slots.sort(key=lambda slot: slot.name != main)
        for frame in frames_of(construction, design, preset):
            rows = {slot.name: _in_band(frame_candidates(frame, slot, lexicon), slot, lexicon, preset) for slot in slots}
            if not marked:
                rows = {name: [row for row in mine if lexicon.keys[row] not in frame.marked] for name, mine in rows.items()}
            if all(rows.values()) and not _crowded(slots, rows, lexicon):
                verbs = [frozenset(lexicon.lemmas[row] for row in mine) for name, mine in rows.items() if name in construction.verb_slots]
                found.setdefault(design.name, []).append(verbs)
    return found


def _in_band(rows: Iterable[int], slot: Slot, lexicon: Lexicon, preset: str) -> list[int]:
    if preset != "contest" or not slot.carries:
        return list(rows)
    top = lexicon.table["top10k"]
    return [row for row in rows if lexicon.bands[row] == 1 and not top[row]]


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
    usable: list[Frame] = []
    candidates: dict[str, list[list[int]]] = {}
    emptied: list[str] = []
    slots = [slot for slot in map(construction.slots.__getitem__, construction.design_slots(design)) if not slot.lexical]
    for frame in frames_of(construction, design, preset):
        filled: dict[str, list[int]] = {}
        for slot in slots:
            rows = _in_band(frame_candidates(frame, slot, lexicon), slot, lexicon, preset)
            why = "the class is empty" if preset == "sliced" or not slot.carries else f"the band of preset {preset!r}"
            if slot.name in construction.verb_slots and split is not None:
                why = f"no verb of it is in split {split!r}" if rows else why
                rows = [row for row in rows if splits.get(lexicon.lemmas[row]) == split]
            if not rows:
                emptied.append(f"{frame.name}: slot {slot.name!r} ({why})")
                break
            filled[slot.name] = rows
        else:
            crowded = _crowded(slots, filled, lexicon) if split is not None else []
            if crowded:
                emptied.append(f"{frame.name}: slots {', '.join(crowded)} (fewer words than slots)")
                continue
            usable.append(frame)
            for name, rows in filled.items():
                candidates.setdefault(name, []).append(rows)
    if not usable:
        raise _empty(construction, design, split, emptied)
    seldom = [{lexicon.index[key] for key in frame.marked & lexicon.index.keys()} for frame in usable]
    fits = {
        name: [np.array([marked if row in few else 1.0 for row in rows]) for few, rows in zip(seldom, lists, strict=True)]
        for name, lists in candidates.items()
    }
    main = construction.kinds[design.kinds[0]].verb
    weights = np.array([len(rows) for rows in candidates.get(main, [[0]] * len(usable))], dtype=np.float64)
    own = [slot.name for slot in slots if slot.from_frame]
    if own:
        weights *= np.min([[fit.mean() for fit in fits[name]] for name in own], axis=0)
    return Pools(tuple(usable), weights / weights.sum(), candidates, fits)


def _crowded(slots: Iterable[Slot], filled: Mapping[str, Sequence[int]], lexicon: Lexicon) -> list[str]:
    """Slots that must hold different words, and have fewer words than they are; a split may have but one verb of a frame's three."""
    for slot in slots:
        group = [slot.name, *(name for name in slot.distinct if name in filled)]
        if len({lexicon.lemmas[row] for name in group for row in filled[name]}) < len(group):
            return group
    return []


def _empty(construction: Construction, design: Design, split: str | None, emptied: Sequence[str]) -> EmptySlotError:
    where = "under frames: in this file, or in a file under lexicons/frames"
    return EmptySlotError(
        f"{construction.name}: nothing fills design {design.name!r}"
        + (f" in {split}" if split else "")
        + f": {'; '.join(emptied[:5]) or 'no frame'}",
        file=construction.document.path,
        line=construction.document.line(["designs", design.name]),
        hint=f"add words to those classes, or frames {where}" if emptied else f"add frames for design: {design.frames} {where}",
    )
