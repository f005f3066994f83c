"""The page of the local form: one file, nothing loaded from elsewhere."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files

from cxgen.review.tasks import GENERAL, TASKS


def page(nonce: str) -> str:
    """The page; its script and style carry ``nonce``."""
    tasks = {
        name: {
            "question": task.question,
            "texts": task.texts,
            "advice": [*task.advice, *GENERAL],
            "choices": [{"key": choice.key, "name": choice.name, "meaning": choice.meaning} for choice in task.choices],
        }
        for name, task in TASKS.items()
    }
    data = json.dumps(tasks, ensure_ascii=False).replace("<", "\\u003c")
    return _template().replace("{{nonce}}", nonce).replace("{{tasks}}", data)


@cache
def _template() -> str:
    return files("cxgen.review").joinpath("page.html").read_text("utf-8")
