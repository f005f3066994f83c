"""From a reply's text to answers, checked here whatever the server promised."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
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
    parsed = Parsed(problems=problems)
    for name in ids:
        values = found.get(name, set())
        if len(values) == 1 and name not in problems:
            value = next(iter(values))
            parsed.answers[name] = Answer(value, _logprob(reply, prompt, name))
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


def _logprob(reply: Reply, prompt: Prompt, name: str) -> float | None:
    """Sum over the tokens of the value that follows ``name``; None where the tokens do not make up the text.

    Some servers cut a wrapper off the text (llama.cpp: a code fence) but not off the tokens.
    """
    if not reply.logprobs or not prompt.choices:
        return None
    before = "".join(token for token, _ in reply.logprobs).find(reply.text)
    if before < 0:
        return None
    choice = "|".join(re.escape(said) for said in prompt.choices)
    match = re.search(rf'"{re.escape(name)}"[^}}]*?"{re.escape(prompt.key)}"\s*:\s*"\s*({choice})\s*"', reply.text)
    if match is None:
        return None
    start, total = -before, 0.0
    for token, logprob in reply.logprobs:
        if start < match.end(1) and start + len(token) > match.start(1):
            total += logprob
        start += len(token)
    return round(total, 6) if math.isfinite(total) else None
