"""Measures of a finished dataset: give-away baselines, variety. And how a page or a card is made of figures."""

from collections.abc import Callable, Mapping
from importlib.resources.abc import Traversable
from typing import Any

from cxgen import layout
from cxgen.errors import DataError, needs


def percent(share: float | None) -> str:
    """A share as readers see it."""
    return "-" if share is None else f"{100 * share:.1f}%"


def rendered(what: str, template: Traversable, facts: Callable[[], Mapping[str, Any]], *, html: bool = False, **filters: Any) -> str:
    """What a Jinja template makes of ``facts``; ``filters`` come on top of `percent` and ``thousands``. DataError, which says ``what`` was
    to be made: the figures, which come from files, are not those that it needs."""
    with needs(f"the {what} needs Jinja2", "report"):
        from jinja2 import Environment, StrictUndefined, TemplateError
    environment = Environment(undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True, autoescape=html)
    thousands = {"thousands": lambda number: f"{number:,}" if isinstance(number, int) else number}
    environment.filters |= {"percent": percent, **thousands, **filters}
    try:
        return environment.from_string(template.read_text("utf-8")).render(facts())
    except (TemplateError, TypeError, ValueError, KeyError, AttributeError, ArithmeticError) as error:
        message = f"the metrics do not hold what the {what} says: {error}"
        raise DataError(message, file=layout.METRICS, hint="make them anew: `dvc repro`") from error
