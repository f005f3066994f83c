"""What can fill each slot of a design in one split: frames, candidates, weights."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from cxgen.constructicon import Construction, Design, Slot
from cxgen.errors import EmptySlotError, some
from cxgen.lexicon import Frame, Lexicon
from cxgen.lexicon.scenes import Scene, SceneTable
from cxgen.lexicon.verdicts import refusals
from cxgen.vocabulary import SPLITS, Role

ABSENT = -1  # in place of a lexeme where a slot is left out
_CROWDING = 2.0
MARKED = 0.2  # how often a marked filler comes up: one that its scene marks, or whose clause a third of its judges find less than natural
LEXICAL = 0.1  # how often a main verb comes up that by itself entails what the construction says: it asks for less than the others do
_Weights = NDArray[np.float64]
_Filled = dict[str, list[int]]  # slot -> what can fill it


class Segments:
    """Lists of lexemes of different lengths, drawn from by weight over whole columns.

    Within a list the frequency bands have the same chance if ``even``, but none lets a member come up more than twice as often as in a
    plain draw; otherwise all members have the same. ``fits`` (of all lists, one after the other) then scales each member's chance, but in
    an ``unmarked`` draw.
    """

    def __init__(self, lists: Sequence[Sequence[int]], bands: NDArray[np.int8], *, even: bool = True, fits: _Weights | None = None) -> None:
        self._ids = np.array([*chain.from_iterable(lists)], dtype=np.int64)
        sizes = np.array([*map(len, lists)], dtype=np.int64)
        self._last = np.cumsum(sizes) - 1
        self._first = self._last - sizes + 1
        of = np.repeat(np.arange(len(lists)), sizes)
        weights = 1.0 / sizes[of]
        if even:
            cell = of * 3 + bands[self._ids]
            counts = np.bincount(cell, minlength=3 * len(lists))
            present = np.count_nonzero(counts.reshape(-1, 3), axis=1)
            weights = _normed(np.minimum(1.0 / (counts[cell] * present[of]), _CROWDING * weights), of)
        self._plain_ends = np.cumsum(weights)  # a list's weights add up to 1: list k covers [k, k + 1)
        self._ends = self._plain_ends if fits is None else np.cumsum(_normed(weights * fits, of))

    def draw(self, lists: NDArray[np.int64], numbers: _Weights, *, unmarked: bool = False) -> NDArray[np.int64]:
        """One lexeme from each of ``lists``, by ``numbers`` in [0, 1)."""
        place = np.searchsorted(self._plain_ends if unmarked else self._ends, lists + numbers, side="right")
        return self._ids.take(np.clip(place, self._first[lists], self._last[lists]))


def _normed(weights: _Weights, of: NDArray[np.int64]) -> _Weights:
    """``weights`` such that those of every list add up to 1."""
    return np.asarray(weights / np.bincount(of, weights=weights)[of])


@dataclass(frozen=True)
class Pools:
    """Candidates of one design in one split."""

    frames: tuple[Frame, ...]  # those that are usable
    weights: _Weights  # the chance of each
    candidates: dict[str, list[list[int]]]  # slot -> what fills it, frame by frame
    segments: dict[str, Segments]  # the same, to draw from
    seldom: dict[str, dict[tuple[int, int], float]]  # slot -> (frame, filler) -> its chance relative to others, where it has a lower one
    lacking: tuple[tuple[Frame, str], ...] = ()  # the other frames, and what each lacks


def frame_candidates(frame: Frame, slot: Slot, lexicon: Lexicon, preset: str = "sliced") -> list[int]:
    """The lexemes, of the preset's band, that may fill ``slot``: the frame's own, else those of its classes; ``[ABSENT]`` for nothing."""
    names = frame.slots.get(slot.source) or slot.classes
    if not names and slot.by_frame:
        return [ABSENT]
    if not names:
        hint = f"give words in the column {slot.source!r} of its table"
        raise EmptySlotError(
            f"scene {frame.name!r} does not fill slot {slot.name!r}", file=frame.source.path, line=frame.scene.line, hint=hint
        )
    rows = lexicon.named(*names)
    strict = lexicon.strict.get(preset) if slot.carries else None
    return list(rows) if strict is None else [row for row in rows if strict[row]]


def frames_of(construction: Construction, design: Design) -> list[Frame]:
    """The frames of ``design``; a single empty one when it draws everything from classes."""
    frames = [frame for frame in construction.frames if design.frames in frame.designs]
    slots = map(construction.slots.__getitem__, construction.design_slots(design))
    free = not frames and all(slot.by_frame or not slot.from_frame for slot in slots)
    if not free:
        return frames
    nowhere = Scene(construction.document.line(["name"]), {"id": ["any"]}, {}, {})
    return [Frame("any", (design.name,), {}, {}, SceneTable(construction.document.path, {}, "", scenes=(nowhere,)))]


def design_pools(
    construction: Construction, design: Design, splits: Mapping[str, str], split: str | None, preset: str = "sliced", marked: float = MARKED
) -> Pools:
    """The usable frames of ``design`` with their candidates, in a split (None: with all verbs) of ``splits`` (verb lemma -> split).

    Another clause has no verb that a later split is about. ``marked`` is the chance of a marked filler, relative to one that is not.
    An error says which slot each frame lacks, and why.
    """
    lexicon = construction.lexicon
    slots = [*map(construction.slots.__getitem__, construction.design_slots(design))]
    later = {verb for verb, own in splits.items() if split in SPLITS and SPLITS.index(own) > SPLITS.index(split)}
    usable: list[tuple[Frame, _Filled]] = []
    emptied: list[tuple[Frame, str]] = []
    empty = "the class is empty" if preset == "sliced" else f"the band of preset {preset!r}"
    for frame in frames_of(construction, design):
        filled = {slot.name: frame_candidates(frame, slot, lexicon, preset) for slot in slots}
        lacking = [f"slot {name!r} ({empty})" for name, rows in filled.items() if not rows]
        if split is not None:
            for name in filled.keys() & set(construction.verb_slots):
                filled[name] = [row for row in filled[name] if splits.get(lexicon.lemmas[row]) == split]
            for slot in slots:
                if slot.role == Role.verb and slot.name not in construction.verb_slots:  # the verb of another clause
                    filled[slot.name] = [row for row in filled[slot.name] if lexicon.lemmas[row] not in later]
            lacking += [f"slot {name!r} (no verb of it is in split {split!r})" for name, rows in filled.items() if not rows]
        for slot in (one for one in slots if one.distinct and len({lexicon.lemmas[row] for row in filled[one.name]}) == 1):
            for other in filled.keys() & {*slot.distinct}:
                filled[other] = [row for row in filled[other] if lexicon.lemmas[row] != lexicon.lemmas[filled[slot.name][0]]]
        if group := crowded(slots, filled, lexicon):
            many = f"slots {', '.join(group)} (fewer different words than slots)"
            lacking.append(many if len(group) > 1 else f"slot {group[0]!r} (its only word is needed by a slot that must hold another one)")
        if lacking:
            emptied.append((frame, lacking[0]))
        else:
            usable.append((frame, filled))
    if usable:
        return replace(_weighted(construction, design, usable, marked), lacking=tuple(emptied))
    silenced = [frame for frame in construction.refused if design.frames in frame.designs]
    emptied += [(frame, f"judges accept no clause of it, and refuse {refusals([frame]) or 'none'}") for frame in silenced]
    table = f"lexicons/scenes/{construction.name}.tsv"
    lacks = f"{construction.name}: nothing fills design {design.name!r}" + (f" in {split}" if split else "")
    own = [verb for verb, where in splits.items() if where == split]
    verbs = f" ({split} has the verbs {some(own, 5)})" if own and any("no verb of it" in what for _, what in emptied) else ""
    hint = (
        f"add words to those classes{verbs}, or scenes to {table}" if emptied else f"add scenes of the design {design.served_by} to {table}"
    )
    hint = f"`cxgen judge {construction.name}` counts what judges say; add scenes to {table}, or mend these" if silenced else hint
    line = construction.document.line(["designs", design.name])
    why = "; ".join(f"{frame.name}: {what}" for frame, what in emptied[:5]) or "no scene"
    raise EmptySlotError(f"{lacks}: {why}", file=construction.document.path, line=line, hint=hint)


def _weighted(construction: Construction, design: Design, usable: Sequence[tuple[Frame, _Filled]], marked: float) -> Pools:
    """Pools of the ``usable`` frames. A main verb's chance is the square root of the number of its frames, shared among these: neither
    the verbs of many frames nor the only frame of many verbs prevail; its fit scales it. A frame comes up by its verbs, and by the mean
    fit of the fillers of its worst other slot."""
    lexicon, frames = construction.lexicon, tuple(frame for frame, _ in usable)
    candidates = {name: [filled[name] for _, filled in usable] for name in usable[0][1]}
    main = construction.kinds[design.kinds[0]].verb
    often = Counter(chain.from_iterable(candidates.get(main, [])))
    weights, worst = np.ones(len(usable)), np.ones(len(usable))
    segments, seldom = dict[str, Segments](), dict[str, dict[tuple[int, int], float]]()
    for name, lists in candidates.items():
        fits = [_fits(frame, rows, lexicon, marked, alone=name == main) for frame, rows in zip(frames, lists, strict=True)]
        chances = fits
        if name == main:
            chances = [[fit * often[row] ** -0.5 for row, fit in zip(*own, strict=True)] for own in zip(lists, fits, strict=True)]
            weights = np.array([*map(sum, chances)])
        elif construction.slots[name].from_frame:
            worst = np.minimum(worst, [sum(own) / len(own) for own in fits])
        even = construction.slots[name].carries and name != main
        segments[name] = Segments(lists, lexicon.bands, even=even, fits=np.array([*chain.from_iterable(chances)]))
        seldom[name] = {(at, row): fit for at, own in enumerate(fits) for row, fit in zip(lists[at], own, strict=True) if fit < 1}
    weights *= worst
    return Pools(frames, weights / weights.sum(), candidates, segments, seldom)


def _fits(frame: Frame, rows: Sequence[int], lexicon: Lexicon, marked: float, *, alone: bool) -> list[float]:
    """How often each of ``rows`` comes up in ``frame``, relative to what is not marked; if ``alone``, what holds the meaning seldom."""
    odd = {lexicon.index.get(key) for key in frame.marked}
    held = frame.entails_alone if alone else ()
    return [(marked if row in odd else 1.0) * (LEXICAL if held and lexicon.lemmas[row] in held else 1.0) for row in rows]


def crowded(slots: Iterable[Slot], filled: Mapping[str, Sequence[int]], lexicon: Lexicon) -> list[str]:
    """Slots that must hold different words, and have fewer words than they are; a split may have but one verb of a frame's three."""
    for slot in slots:
        group = [slot.name, *(name for name in slot.distinct if name in filled)]
        if not filled[slot.name] or (slot.distinct and len({lexicon.lemmas[row] for name in group for row in filled[name]}) < len(group)):
            return group
    return []
