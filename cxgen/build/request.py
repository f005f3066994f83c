"""What to generate."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from cxgen.constructicon import Construction, Design
from cxgen.errors import DataError, unknown
from cxgen.families import CONFIGS, family_of
from cxgen.sampling import MARKED, USUAL, HoldOut, near_counts, set_counts
from cxgen.vocabulary import PRESETS, SHARES


@dataclass(frozen=True)
class Request:
    """What to generate.

    Attributes:
        sizes: config -> rows wanted per construction (of `distinction`: per look-alike), over all splits; rows of opposites and of the
            look-alikes' targets come on top. A config that is not named has its family's default; 0 leaves it out.
        seed: the project's seed.
        shares: split -> share.
        preset: frequency preset, ``sliced`` or ``contest``.
        oversample: candidates per set that will be kept, at least 1.
        marked: how often a filler that its frame marks comes up, relative to one that it does not: above 0, up to 1.
        hold_out: what occurs in test only, beside verbs.
        splits: construction -> verb lemma -> split, of verbs that were divided before.
    """

    sizes: Mapping[str, int] = field(default_factory=dict)
    seed: int = 1
    shares: Mapping[str, float] = field(default_factory=lambda: dict(SHARES))
    preset: str = "sliced"
    oversample: float = 1.15
    marked: float = MARKED
    hold_out: HoldOut = USUAL
    splits: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.preset not in PRESETS:
            raise DataError(f"unknown band preset {self.preset!r}", hint=f"bands.preset in params.yaml is one of {', '.join(PRESETS)}")
        for config, rows in self.sizes.items():
            if config not in CONFIGS:
                raise unknown("config", config, CONFIGS)
            if rows < 0:
                raise DataError(f"{rows} rows of {config}: a size is at least 0", hint="see params.yaml")
        if self.oversample < 1:
            raise DataError("generate.oversample must be at least 1", hint="see params.yaml")
        if not 0 < self.marked <= 1:
            raise DataError(f"generate.marked is {self.marked}: it must be above 0 and at most 1", hint="see params.yaml")

    def rows(self, config: str) -> int:
        """Rows wanted of ``config``."""
        return self.sizes.get(config, CONFIGS[config].sizes[config] if config in CONFIGS else 1)

    def sets(self, construction: Construction, design: Design, config: str) -> dict[str, int]:
        """How many contrast sets ``design`` has in each split: split -> number. Sizes are exact; of pairs about participants, the sum."""
        family = family_of(config)
        total = sum(each.weight for each in family.sharing(construction, design, config))
        rows = family.rows_per_set(construction, design, config)
        wanted = self.rows(config) * design.weight / total
        return near_counts(wanted, rows, self.shares) if design.variant else set_counts(wanted, rows, self.shares)
