"""From a reply's text to answers, checked here whatever the server promised."""

from __future__ import annotations

import json
import math
import re
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import accumulate
from typing import Any

from cxgen.llm.messages import Reply
from cxgen.llm.prompts import Prompt


@dataclass(frozen=True)
class Answer:
    """One item's answer.

    Attributes:
        value: the verdict (already translated by the prompt's choices), or the free answer as JSON.
        logprob: log probability of the tokens that say it; None where the server gives none.
    """

    value: str
    logprob: float | None = None


@dataclass(frozen=True)
class Parsed:
    """What a reply says.

    Attributes:
        answers: id -> answer, for the ids that were asked about and answered validly, once.
        problems: id -> why there is no answer.
    """

    answers: dict[str, Answer] = field(default_factory=dict)
    problems: dict[str, str] = field(default_factory=dict)


def parse(reply: Reply, prompt: Prompt, ids: Collection[str]) -> Parsed:
    """Read ``reply`` to a request about ``ids``.

    Nothing is guessed: an id that was not asked about is dropped, one that is answered twice in different ways, or by something that is no
    choice, has no answer.
    """
    if reply.refusal or reply.finish == "content_filter":
        return Parsed(problems=dict.fromkeys(ids, "refused"))
    entries = _entries(reply.text)
    if entries is None:
        return Parsed(problems=dict.fromkeys(ids, "truncated" if reply.finish == "length" else "no JSON object in the reply"))
    found: dict[str, set[str]] = {}
    problems: dict[str, str] = {}
    for entry in entries:
        name = entry.get("id") if isinstance(entry, dict) else None
        if not isinstance(name, str) or name not in ids:
            continue
        value = _value(entry.get(prompt.key), prompt)
        if value is None:
            problems[name] = f"not a possible {prompt.key}"
        else:
            found.setdefault(name, set()).add(value)
    parsed, logprobs = Parsed(problems=problems), _logprobs(reply, prompt)
    for name in ids:
        values = found.get(name, set())
        if len(values) == 1 and name not in problems:
            value = next(iter(values))
            parsed.answers[name] = Answer(value, logprobs.get(name))
        elif name not in problems:
            problems[name] = "two different answers" if values else "not answered"
    return parsed


def _entries(text: str) -> Sequence[Any] | None:
    """The list of answers in ``text``: of the first JSON value that has one, prose and code fences around it ignored."""
    decoder = json.JSONDecoder()
    for match in re.finditer(r"[{\[]", text):
        try:
            value, _ = decoder.raw_decode(text, match.start())
        except (json.JSONDecodeError, RecursionError):
            continue
        entries = value.get("answers") if isinstance(value, dict) else value
        if isinstance(entries, list) and all(isinstance(entry, dict) for entry in entries):
            return entries
        if isinstance(value, dict) and "id" in value:
            return [value]
        return None
    return None


def _value(said: Any, prompt: Prompt) -> str | None:
    if prompt.choices:
        return prompt.choices.get(said.strip()) if isinstance(said, str) else None
    if prompt.listed:
        good = isinstance(said, list) and bool(said) and all(isinstance(word, str) and word.strip() for word in said)
        return json.dumps([word.strip() for word in said], ensure_ascii=False) if good else None
    return said.strip() if isinstance(said, str) and said.strip() else None


def _logprobs(reply: Reply, prompt: Prompt) -> dict[str, float]:
    """Id -> sum over the tokens of its verdict; empty where the tokens do not make up the text.

    Some servers cut a wrapper off the text (llama.cpp: a code fence) but not off the tokens.
    """
    if not reply.logprobs or not prompt.choices:
        return {}
    ends = list(accumulate(len(token) for token, _ in reply.logprobs))
    before = "".join(token for token, _ in reply.logprobs).find(reply.text)
    if before < 0:
        return {}
    found: dict[str, float] = {}
    for match in _verdicts(prompt.key, tuple(prompt.choices)).finditer(reply.text):
        first, last = bisect_right(ends, before + match.start(2)), bisect_left(ends, before + match.end(2))
        total = sum(logprob for _, logprob in reply.logprobs[first : last + 1])
        if math.isfinite(total):
            found.setdefault(match[1], round(total, 6))
    return found


@cache
def _verdicts(key: str, choices: tuple[str, ...]) -> re.Pattern[str]:
    """An id and the verdict after it, within one object."""
    said = "|".join(re.escape(choice) for choice in choices)
    return re.compile(rf'"id"\s*:\s*"([^"]+)"[^}}]*?"{re.escape(key)}"\s*:\s*"\s*({said})\s*"')
