"""Two plots as SVG, readable on light and dark pages."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from itertools import pairwise

Named = tuple[str, float, float | None, float | None]  # a value's name, accuracy, low, high
Point = tuple[int, float, float | None, float | None]
_COLOURS = ("#888", "#1f77b4", "#d95f02", "#1b9e77", "#9467bd")
_STYLE = "text{font:12px sans-serif;fill:#222}.axis{stroke:#999}@media(prefers-color-scheme:dark){text{fill:#ddd}.axis{stroke:#777}}"


def _svg(width: int, height: int, title: str, body: Sequence[str]) -> str:
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img">'
    return "\n".join([head, f"<title>{escape(title)}</title>", f"<style>{_STYLE}</style>", *body, "</svg>", ""])


def _text(x: float, y: float, text: str, anchor: str = "start") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


def _line(*ends: float, colour: str = "", dash: str = "") -> str:
    look = f'stroke="{colour}"' if colour else 'class="axis"'
    dashes = f' stroke-dasharray="{dash}"' if dash else ""
    return '<line x1="{:.1f}" y1="{:.1f}" x2="{:.1f}" y2="{:.1f}" '.format(*ends) + f"{look}{dashes}/>"


def _dot(x: float, y: float, colour: str) -> str:
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{colour}"/>'


def curve(lines: Sequence[tuple[str, Sequence[Point]]]) -> str:
    """Accuracy by the number of items that a model learned from, on a log scale on which none comes first; a line per config."""
    width, height, left, bottom = 640, 330, 50, 290
    counts = sorted({point[0] for _, points in lines for point in points})
    most, least = math.log(max(counts)), math.log(min(count for count in counts if count) / 4)

    def across(count: int) -> float:
        return left + 20 + 400 * ((math.log(count) if count else least) - least) / (most - least)

    def up(share: float) -> float:
        return bottom - (bottom - 20) * share

    body = [_line(left, up(tick / 10), 500, up(tick / 10)) for tick in (0, 10)] + [_line(left, up(1 / 3), 500, up(1 / 3), dash="2 4")]
    body += [_text(left - 6, up(tick / 10) + 4, str(10 * tick), "end") for tick in range(0, 11, 2)] + [_text(504, up(1 / 3) + 4, "chance")]
    body += [_text(across(count), bottom + 18, f"{count:,}", "middle") for count in counts]
    body.append(_text(270, bottom + 36, "items of nli that were learned", "middle"))
    for place, (name, points) in enumerate(lines):
        colour = _COLOURS[1 + place % (len(_COLOURS) - 1)]
        body += [_line(across(a[0]), up(a[1]), across(b[0]), up(b[1]), colour=colour) for a, b in pairwise(points)]
        for count, value, low, high in points:
            body.append(_dot(across(count), up(value), colour))
            if low is not None and high is not None:
                body.append(_line(across(count), up(low), across(count), up(high), colour=colour))
        body += [_dot(545, 30 + 20 * place, colour), _text(555, 34 + 20 * place, name)]
    return _svg(width, height, "Accuracy (percent) by the number of items learned", body)


def dots(runs: Sequence[tuple[str, Sequence[Named]]]) -> str:
    """Accuracy by construction, with intervals; a colour per run, the easiest construction of the last run first."""
    names = [row[0] for row in sorted(runs[-1][1], key=lambda row: (-row[1], row[0]))]
    left, step, top = 190, 22, 46
    bottom = top + step * len(names)

    def across(share: float) -> float:
        return left + 420 * share

    body = [_line(across(tick), top - 12, across(tick), bottom - 8) for tick in (0, 1)]
    body.append(_line(across(1 / 3), top - 12, across(1 / 3), bottom - 8, dash="2 4"))
    body += [_text(across(tick / 100), bottom + 10, str(tick), "middle") for tick in (0, 25, 50, 75, 100)]
    body += [_text(left - 10, top + step * row + 4, name, "end") for row, name in enumerate(names)]
    for place, (run, values) in enumerate(runs):
        colour = _COLOURS[place]
        body += [_dot(left + 10, 12 + 16 * place, colour), _text(left + 20, 16 + 16 * place, run)]
        for name, value, low, high in values:
            y = top + step * names.index(name) + 3 * (2 * place - len(runs) + 1)
            if low is not None and high is not None:
                body.append(_line(across(low), y, across(high), y, colour=colour))
            body.append(_dot(across(value), y, colour))
    return _svg(640, bottom + 20, "Accuracy (percent) by construction", body)
