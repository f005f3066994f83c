"""What is to be asked of one model, in which requests, and what became of each item."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from cxgen.llm.cache import Answered, Cache
from cxgen.llm.messages import Call
from cxgen.llm.prompts import Prompt


@dataclass(frozen=True)
class Judgment:
    """What one model said about one item.

    Attributes:
        item: the item's id.
        task: what was asked.
        value: the verdict (or free answer); empty if undecided.
        reason: why it is undecided; empty otherwise.
        judge: the model that was asked; ``model``: the one that answered, by its own account.
        fingerprint, request_id: the server's.
        prompt: the prompt's content hash.
        temperature, max_tokens: the request's parameters; no temperature: the server takes none.
        call: the request's content address.
        asked: items in that request; ``tokens_in`` and ``tokens_out`` are the request's, not the item's.
        logprob: log probability of the verdict; None where the server gives none.
        attempt: 0, or how often the item had been answered unusably before.
    """

    item: str
    task: str
    value: str
    reason: str
    judge: str
    model: str = ""
    fingerprint: str = ""
    request_id: str = ""
    prompt: str = ""
    temperature: float | None = 0.0
    max_tokens: int = 0
    call: str = ""
    asked: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    logprob: float | None = None
    attempt: int = 0


@dataclass(frozen=True)
class Job:
    """Items to ask one model about.

    Attributes:
        prompt: the task's wording.
        model: the model's name.
        items: item id -> field -> text.
        per_request: items in a request.
        max_tokens: per item; None for the prompt's.
    """

    prompt: Prompt
    model: str
    items: Mapping[str, Mapping[str, str]]
    per_request: int = 10
    max_tokens: int | None = None

    def groups(self) -> list[tuple[str, ...]]:
        """The items' ids, request by request, in the items' order."""
        ids = list(self.items)
        return [tuple(ids[start : start + self.per_request]) for start in range(0, len(ids), self.per_request)]

    def call(self, ids: Sequence[str], attempt: int = 0) -> Call:
        """The request about ``ids``; another attempt may be answered at greater length."""
        prompt = self.prompt
        user = prompt.user([(name, self.items[name]) for name in ids])
        tokens = ((self.max_tokens or prompt.max_tokens) * len(ids) + 16) * 2**attempt
        return Call(self.model, prompt.system, user, prompt.schema(ids), prompt.temperature, tokens, attempt)

    def key(self, name: str) -> str:
        """Content address of what is shown of an item, for this prompt and model; whatever its id, its neighbours and their number."""
        shown = {field: self.items[name][field] for field in self.prompt.fields}
        text = json.dumps([self.model, self.prompt.hash, shown], sort_keys=True, ensure_ascii=False)
        return hashlib.sha256(text.encode()).hexdigest()


def plan(job: Job, cache: Cache) -> tuple[list[tuple[str, ...]], dict[str, Answered]]:
    """What is to be asked, in groups, and where the answers are that other groups were given before.

    Groups whose reply is kept come as they were. Of the others, items that were answered in other company are left out, and the rest is
    grouped anew in their order: an item more or less does not make the others be asked again.
    """
    groups: list[tuple[str, ...]] = []
    answers: dict[str, Answered] = {}
    rest: list[str] = []
    if not len(cache):
        return job.groups(), {}
    for ids in job.groups():
        if cache.has(job.call(ids).key):
            groups.append(ids)
            continue
        for name in ids:
            found = cache.answered(job.key(name))
            if found is None:
                rest.append(name)
            else:
                answers[name] = found
    groups += [tuple(rest[start : start + job.per_request]) for start in range(0, len(rest), job.per_request)]
    return groups, answers
