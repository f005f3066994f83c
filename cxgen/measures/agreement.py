"""How far judges agree."""

from itertools import chain, combinations
from typing import Any

import numpy as np
import polars as pl

from cxgen.errors import needs


def agreement(votes: pl.DataFrame) -> dict[str, dict[str, Any]]:
    """How far the judges agree on each task: task -> ``judges``, ``items`` (that two or more decided), ``agreement``, ``alpha``.

    ``votes``: columns ``item, task, judge, value``. Agreement is the share of pairs of judges that say the same; alpha is Krippendorff's,
    nominal, undefined where all say one thing (Krippendorff 2011, Computing Krippendorff's alpha-reliability). Both are None where there
    is nothing to compare.
    """
    report: dict[str, dict[str, Any]] = {}
    decided = votes.filter(pl.col("value") != "").unique(["item", "task", "judge"], keep="last", maintain_order=True)
    for (task,), table in decided.group_by("task", maintain_order=True):
        wide = table.pivot("judge", index="item", values="value", maintain_order=True).drop("item")
        rows = [list(combinations(filter(None, row), 2)) for row in wide.iter_rows()]
        pairs, alpha = list(chain(*rows)), None
        if len(set(chain(*pairs))) > 1:
            with needs("agreement needs krippendorff", "report"):
                import krippendorff
            data = np.array([column.fill_null("nan") for column in wide.iter_columns()], dtype=str)
            alpha = round(float(krippendorff.alpha(reliability_data=data, level_of_measurement="nominal")), 4)
        share = round(sum(one == other for one, other in pairs) / len(pairs), 4) if pairs else None
        report[str(task)] = {"judges": wide.width, "items": sum(map(bool, rows)), "agreement": share, "alpha": alpha}
    return report
