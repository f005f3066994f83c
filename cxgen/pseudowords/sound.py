"""How a spelling may sound: the likely pronunciations of a segmented form, to find homophones of real words.

A form is read as consonants and nuclei in turn: the coda of one syllable and the onset of the next are one cluster, so that spelled and
spoken syllable boundaries need not agree. A nucleus is read by the coda that follows (a silent *e* is part of it) and by its place in
the word. The readings were counted over the words of CMUdict by ``cxgen.curate.wug``. Sounds are one character each, without stress;
unstressed *IH*, *EH* and *AH* are the same.
"""

from __future__ import annotations

import re
from collections.abc import Set
from itertools import product

from cxgen.pseudowords.segments import Segments

Readings = dict[str, tuple[tuple[str, float], ...]]
_LEAST = 0.03  # a pronunciation less probable than this, relative to the likeliest, is not considered
_MOST = 64  # pronunciations considered
HEAD = 5  # characters by which a beginning is told


def units(parts: Segments) -> list[str]:
    """The clusters and nuclei of a form, as the keys under which their readings are listed.

    Clusters: ``^onset``, ``coda-onset``, ``coda$``. Nuclei: ``nucleus|coda|place``, where the place is m(onosyllable), f(irst), l(ast) or
    i(nner).
    """
    last = len(parts) // 3 - 1
    found = [f"^{parts[0]}"]
    for number in range(last + 1):
        nucleus, coda = parts[3 * number + 1], parts[3 * number + 2]
        place = "m" if not last else "f" if not number else "l" if number == last else "i"
        found.append(f"{nucleus}|{coda}|{place}")
        found.append(f"{coda}$" if number == last else f"{coda}-{parts[3 * number + 3]}")
    return found


def _read(unit: str, readings: Readings) -> tuple[tuple[str, float], ...]:
    """The readings of a unit; of an unknown one those of its parts."""
    if unit not in readings:
        found: tuple[tuple[str, float], ...] = ()
        if "|" in unit:
            nucleus, _, place = unit.split("|")
            found = readings.get(f"{nucleus}||{place}", ())
        elif "-" in unit:
            coda, onset = unit.split("-")
            pairs = product(_read(f"{coda}$", readings), _read(f"^{onset}", readings))
            found = tuple((re.sub(r"(.)\1", r"\1", a + b), p * q) for (a, p), (b, q) in pairs)
        readings[unit] = found
    return readings[unit]


def sounds_like(parts: Segments, readings: Readings, sounds: Set[str], heads: Set[str]) -> bool:
    """Whether a likely pronunciation of a form is one of ``sounds``, whose beginnings (``HEAD`` characters or fewer) are ``heads``.

    Forms with a part that occurs in no word whose pronunciation is known sound like none.
    """
    spoken = [("", 1.0)]
    for unit in units(parts):
        heard = _read(unit, readings)
        if not heard:
            return False
        best = heard[0][1]
        spoken = [
            (said, p * q / best)
            for before, p in spoken
            for sound, q in heard
            if p * q >= _LEAST * best and (said := before + sound)[:HEAD] in heads
        ]
        if not spoken:
            return False
        spoken = sorted(spoken, key=lambda pair: -pair[1])[:_MOST] if len(spoken) > _MOST else spoken
    return any(said in sounds for said, _ in spoken)
