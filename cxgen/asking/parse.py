"""From a reply's text to answers, checked here whatever the server promised."""

from __future__ import annotations

import json
import re
from bisect import bisect_left, bisect_right
from collections.abc import Collection
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any

from cxgen.asking.calls import Reply, clean, once
from cxgen.asking.prompts import Prompt

# Reasoning models think between such tags, the first of which may be part of the prompt; others name the channel of what they say.
_THOUGHT = re.compile(r"</(?:think|thinking|thought|reasoning)>|<\|channel\|>final<\|message\|>", re.IGNORECASE)
_THINKING = re.compile(r"<(?:think|thinking|thought|reasoning)>|<\|channel\|>(?!final)", re.IGNORECASE)
_ANSWERS = re.compile(r'\{\s*"answers"\s*:')
_LONGEST = 10_000  # characters of a free text
_DEEP = 6


@dataclass(frozen=True)
class Answers:
    """What a reply says: id -> answer, id -> why there is none, id -> log probability of the tokens that say the answer."""

    values: dict[str, str] = field(default_factory=dict)
    problems: dict[str, str] = field(default_factory=dict)
    logprobs: dict[str, float] = field(default_factory=dict)


def read_answers(reply: Reply, prompt: Prompt, ids: Collection[str]) -> Answers:
    """Read ``reply`` to a request about ``ids``.

    Nothing is guessed: an id that was not asked about is dropped, one that is answered twice in different ways, or by something that is no
    choice, has no answer; a reply that was cut off has none. What a model thinks aloud before, marked as such, is not read.
    """
    if reply.finish in {"refused", "length"}:
        return Answers(problems=dict.fromkeys(ids, "truncated" if reply.finish == "length" else "refused"))
    start = _answers_from(reply.text)
    entries = entries_in(reply.text[start:])
    if entries is None:
        return Answers(problems=dict.fromkeys(ids, "no JSON object in the reply"))
    found: dict[str, set[str | None]] = {name: set() for name in ids}
    for entry in entries:
        if isinstance(name := entry.get("id"), str) and name in found and prompt.key in entry:
            found[name].add(_value(entry[prompt.key], prompt))
    answers = Answers()
    for name, values in found.items():
        if None in values:
            answers.problems[name] = f"not a possible {prompt.key}"
        elif len(values) != 1:
            answers.problems[name] = "two different answers" if values else "not answered"
        else:
            answers.values[name] = str(*values)
    answers.logprobs.update(_logprobs(reply, prompt, start, answers.values) if prompt.choices else {})
    return answers


def _answers_from(text: str) -> int:
    """Where a model's answer starts, after its thoughts; at the end if it thinks to the end."""
    last = max((match.end() for match in _THOUGHT.finditer(text)), default=0)
    return len(text) if _THINKING.search(text, last) else last


def entries_in(text: str) -> list[dict[str, Any]] | None:
    """Everything that a text says of items, prose and code fences passed over; None if that is nothing, or not whole."""
    decoder, entries, start = json.JSONDecoder(object_pairs_hook=once), list[Any](), 0
    matches = 0
    while match := _ANSWERS.search(text, start):
        try:
            value, start = decoder.raw_decode(text, match.start())
            entries += value["answers"]
        except (ValueError, RecursionError, TypeError):  # cut off, nested too deep, numbers of thousands of digits
            return None
        matches += 1
    return [entry for entry in entries if isinstance(entry, dict)] if matches else None


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
    return [_plainly(value, depth + 1) for value in said] if isinstance(said, list) else _plain(said)


def _plain(said: Any) -> str | None:
    """A text on one line; None for what is none, or would act on whoever prints it."""
    text = clean(said, _LONGEST) if isinstance(said, str) else ""
    return text if text and "\ufffd" not in text else None


def _logprobs(reply: Reply, prompt: Prompt, start: int, values: dict[str, str]) -> dict[str, float]:
    """id -> sum over the tokens that say its answer; empty where the tokens do not make up the text, or more (llama.cpp's: a fence)."""
    ends = list(accumulate(len(token) for token, _ in reply.logprobs))
    before = "".join(token for token, _ in reply.logprobs).find(reply.text)
    if before < 0:
        return {}
    said = "|".join(map(re.escape, prompt.choices))
    pattern = re.compile(rf'"id"\s*:\s*"([^"]+)"[^{{}}]{{0,2000}}?"{re.escape(prompt.key)}"\s*:\s*"\s*({said})\s*"')
    found: dict[str, float] = {}
    for match in pattern.finditer(reply.text, start):
        first, last = bisect_right(ends, before + match.start(2)), bisect_left(ends, before + match.end(2))
        if values.get(match[1]) == prompt.choices[match[2]]:
            found.setdefault(match[1], round(sum(logprob for _, logprob in reply.logprobs[first : last + 1]), 6))
    return found
