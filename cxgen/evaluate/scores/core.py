"""The registry of scores."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import polars as pl

from cxgen.measures.figures import Resampling

Figures = Mapping[str, dict[str, Any] | None]
Score = Callable[[pl.DataFrame, Resampling], Figures]
CELL = ["construction", "cluster"]
SCORES: dict[str, Score] = {}  # name of a figure -> what gives it


def score(*names: str) -> Callable[[Score], Score]:
    """Register a function as what gives the figures ``names``: (rows from `answered`, resampling) -> those of them that apply."""

    def register(function: Score) -> Score:
        SCORES.update(dict.fromkeys(names, function))
        return function

    return register
