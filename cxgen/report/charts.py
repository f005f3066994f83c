"""Charts as SVG that stands in a page: colours from its style, no script, nothing from elsewhere."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from cxgen.errors import needs

COLOURS = ("#2b8a6e", "#d99a2b", "#c4564a", "#5b7fc7")  # told apart by colour-blind readers, on light and dark
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_TICKS = 6  # of the axis, at most: more would run into each other
_WIDTH, _ROW, _FRAME = 520, 20, 60  # pixels: a bar, the axis with its legend


def bars(rows: Sequence[str], series: Mapping[str, Sequence[float]], title: str) -> str:
    """Stacked bars, one for each of ``rows``.

    Args:
        rows: names, from above.
        series: name -> a number for each row.
        title: for those who hear the page.

    Returns:
        SVG.

    Raises:
        DataError: the package pygal is not installed.
    """
    with needs("charts need the package pygal", "report"):
        import pygal
        from pygal.style import Style

    style = Style(
        background="transparent",
        plot_background="transparent",
        foreground="var(--ink)",
        foreground_strong="var(--ink)",
        foreground_subtle="var(--line)",
        colors=COLOURS,
        font_family="system-ui, sans-serif",
        label_font_size=13,
        major_label_font_size=13,
        legend_font_size=13,
        opacity=".9",
    )
    chart = pygal.HorizontalStackedBar(
        js=[],
        style=style,
        disable_xml_declaration=True,
        width=_WIDTH,
        height=_FRAME + _ROW * len(rows),
        show_legend=len(series) > 1,
        legend_at_bottom=True,
        legend_at_bottom_columns=len(series),
        show_y_guides=True,
        truncate_label=-1,
        truncate_legend=-1,
        margin=8,
        spacing=8,
        min_scale=2,
        max_scale=_TICKS,
        value_formatter=lambda number: f"{number:,.10g}",
    )
    chart.x_labels = list(reversed(rows))  # it counts from below
    for name, values in series.items():
        chart.add(name, list(reversed(values)))
    svg = _COMMENT.sub("", chart.render(is_unicode=True))
    return svg.replace("<svg ", f'<svg role="img" aria-label="{title}" ', 1)
