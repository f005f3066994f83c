"""From a reply's text to answers, checked here whatever the server promised."""

from __future__ import annotations

import json
import math
import re
from bisect import bisect_left, bisect_right
from collections.abc import Collection
from dataclasses import dataclass, field
from functools import cache
from itertools import accumulate
from typing import Any

from cxgen.llm.completion import once
from cxgen.llm.keys import redacted
from cxgen.llm.messages import Reply
from cxgen.llm.prompts import Prompt

# Reasoning models think between such tags, the first of which may be part of the prompt; others name the channel of what they say.
_THOUGHT = re.compile(r"</(?:think|thinking|thought|reasoning)>|<\|channel\|>final<\|message\|>", re.IGNORECASE)
_THINKING = re.compile(r"<(?:think|thinking|thought|reasoning)>|<\|channel\|>(?!final)", re.IGNORECASE)
_START = re.compile(r'\{\s*"|\[\s*\{')
_BROKEN = 300  # beginnings of JSON that is none; each may take a pass over the text
_GAP = 2_000
_DEEP = 6


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
    choice, has no answer. What a model thinks aloud before its answer, marked as such, is not read.
    """
    if reply.refusal or reply.finish == "content_filter":
        return Parsed(problems=dict.fromkeys(ids, "refused"))
    start = _answers_from(reply.text)
    said = _said(reply.text, start)
    if said is None:
        return Parsed(problems=dict.fromkeys(ids, "truncated" if reply.finish == "length" else "no JSON object in the reply"))
    found: dict[str, set[str | None]] = {name: set() for name in ids}
    final: set[str] = set()
    for entries in said:
        about = [
            (name, entry[prompt.key])
            for entry in entries
            if isinstance(name := entry.get("id"), str) and name in found and prompt.key in entry
        ]
        final = {name for name, _ in about} or final
        for name, value in about:
            found[name].add(_value(value, prompt))
    parsed, logprobs = Parsed(), _logprobs(reply, prompt, start)
    for name, values in found.items():
        if None in values:
            parsed.problems[name] = f"not a possible {prompt.key}"
        elif len(values) > 1:
            parsed.problems[name] = "two different answers"
        elif name not in final:  # not in the last list, which may have been cut off before it came to it
            parsed.problems[name] = "not answered"
        else:
            (sure,) = (value for value in values if value is not None)
            parsed.answers[name] = Answer(sure, logprobs.get((name, sure)))
    return parsed


def entries_in(text: str) -> list[dict[str, Any]]:
    """Everything that a reply's text says of items, whatever was asked: what `parse` would look at."""
    return [entry for entries in _said(text, _answers_from(text)) or () for entry in entries]


def _answers_from(text: str) -> int:
    """Where a model's answer starts, after its thoughts; at the end if it thinks to the end."""
    ends = [match.end() for match in _THOUGHT.finditer(text)]
    last = ends[-1] if ends else 0
    return len(text) if _THINKING.search(text, last) else last


def _said(text: str, start: int) -> list[list[dict[str, Any]]] | None:
    """The lists of answers in ``text``, in order; None if there is none, or more broken JSON than any answer has.

    Prose and code fences are passed over. A value that is cut off, or not JSON, may have parts that are whole; answers one by one are a
    list, too.
    """
    decoder = json.JSONDecoder(object_pairs_hook=once)
    lists: list[list[dict[str, Any]]] = []
    single, broken = False, 0
    while match := _START.search(text, start):
        try:
            value, start = decoder.raw_decode(text, match.start())
        except (ValueError, RecursionError):  # not JSON, nested too deep, a number of thousands of digits
            start, broken = match.start() + 1, broken + 1
            if broken > _BROKEN:
                return None
            continue
        listed = value.get("answers") if isinstance(value, dict) else value
        if isinstance(listed, list) and all(isinstance(entry, dict) for entry in listed):
            lists.append(listed)
            single = False
        elif isinstance(value, dict) and "id" in value:
            if not single:
                lists.append([])
            lists[-1].append(value)
            single = True
    return lists or None


def _value(said: Any, prompt: Prompt) -> str | None:
    if prompt.choices:
        return prompt.choices.get(said.strip()) if isinstance(said, str) else None
    if prompt.listed:
        words = [_plain(word) for word in said] if isinstance(said, list) else []
        return json.dumps(words, ensure_ascii=False) if words and all(words) else None
    if prompt.structured:
        return json.dumps(_plainly(said), ensure_ascii=False, sort_keys=True) if isinstance(said, dict) and said else None
    return _plain(said)


def _plainly(said: Any, depth: int = 0) -> Any:
    """An object with its texts as `_plain` has them, and what is no text, list or object, or nests deep, as null."""
    if depth > _DEEP:
        return None
    if isinstance(said, dict):
        return {_plain(key) or "": _plainly(value, depth + 1) for key, value in said.items()}
    if isinstance(said, list):
        return [_plainly(value, depth + 1) for value in said]
    return _plain(said)


def _plain(said: Any) -> str | None:
    """A text on one line, without the key; None for what is none, or would act on whoever prints it."""
    text = redacted(" ".join(said.split())) if isinstance(said, str) else ""
    return text if text and text.isprintable() else None


def _logprobs(reply: Reply, prompt: Prompt, start: int) -> dict[tuple[str, str], float]:
    """(id, value) -> sum over the tokens that say so, from ``start`` on; empty where the tokens do not make up the text.

    Some servers cut a wrapper off the text (llama.cpp: a code fence) but not off the tokens.
    """
    if not reply.logprobs or not prompt.choices:
        return {}
    ends = list(accumulate(len(token) for token, _ in reply.logprobs))
    before = "".join(token for token, _ in reply.logprobs).find(reply.text)
    if before < 0:
        return {}
    found: dict[tuple[str, str], float] = {}
    for match in _verdicts(prompt.key, tuple(prompt.choices)).finditer(reply.text, start):
        first, last = bisect_right(ends, before + match.start(2)), bisect_left(ends, before + match.end(2))
        total = sum(logprob for _, logprob in reply.logprobs[first : last + 1])
        if math.isfinite(total):
            found.setdefault((match[1], prompt.choices[match[2]]), round(total, 6))
    return found


@cache
def _verdicts(key: str, choices: tuple[str, ...]) -> re.Pattern[str]:
    """An id and the verdict after it, within one object and near, so that a text of ids alone is read in linear time."""
    said = "|".join(re.escape(choice) for choice in choices)
    return re.compile(rf'"id"\s*:\s*"([^"]+)"[^}}]{{0,{_GAP}}}?"{re.escape(key)}"\s*:\s*"\s*({said})\s*"')
