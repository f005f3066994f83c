"""Asking one model about many items: grouped, kept, bounded, and never an answer that no model gave."""

from __future__ import annotations

import hashlib
import json
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace

from cxgen.asking.cache import Cache, Judgment
from cxgen.asking.calls import Backend, Call, CallError, Reply
from cxgen.asking.limits import Budget
from cxgen.asking.parse import read_answers
from cxgen.asking.prompts import Prompt
from cxgen.errors import CxgenError

ATTEMPTS = 3  # how often an item is asked about by itself when the answers are unusable
_FEW = 20  # requests, of which a share may fail
Group = tuple[tuple[str, ...], int]  # ids, attempt


class BackendError(CxgenError):
    """A run that cannot go on: credentials, quota, an unknown model, too many failures."""


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

    def call(self, ids: Sequence[str], attempt: int = 0) -> Call:
        """The request about ``ids``; another attempt may be answered at greater length."""
        prompt = self.prompt
        user = prompt.user([(name, self.items[name]) for name in ids])
        tokens = ((self.max_tokens or prompt.max_tokens) * len(ids) + 16) * 2**attempt
        return Call(tuple(ids), self.model, prompt.system, user, prompt.schema(ids), prompt.temperature, tokens, attempt)

    def key(self, name: str) -> str:
        """Content address of what is shown of an item, for this prompt and model; whatever its id and its company."""
        shown = {field: self.items[name][field] for field in self.prompt.fields}
        text = json.dumps([self.model, self.prompt.hash, shown], sort_keys=True, ensure_ascii=False)
        return hashlib.sha256(text.encode()).hexdigest()

    def plan(self, cache: Cache) -> tuple[dict[str, Judgment], list[Group]]:
        """The judgments that are kept already, and what else is to be asked, in groups."""
        kept: dict[str, Judgment] = {}
        for name in self.items:
            judgment = cache.judgments.get(self.key(name))
            if judgment and (not judgment.value or not self.prompt.choices or judgment.value in self.prompt.choices.values()):
                kept[name] = replace(judgment, item=name, task=self.prompt.task)
        left = [name for name in self.items if name not in kept]
        return kept, [(tuple(left[start : start + self.per_request]), 0) for start in range(0, len(left), self.per_request)]


@dataclass
class Tally:
    """Where a run stands.

    Attributes:
        items: in all; ``cached``: judged before; ``decided``, ``undecided``: so far.
        requests, tokens_in, tokens_out, cost: what it spent so far, retries counted.
        errors: reason -> number of tries that failed.
    """

    items: int
    cached: int = 0
    decided: int = 0
    undecided: int = 0
    requests: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    cost: float = 0.0
    errors: Counter[str] = field(default_factory=Counter)
    started: float = field(default_factory=time.monotonic)

    def line(self) -> str:
        """What a user sees of it."""
        done = self.decided + self.undecided
        fresh, spent = done - self.cached, time.monotonic() - self.started
        left = f"{(self.items - done) * spent / fresh:.0f} s" if fresh > 0 else "-"
        cost = f", cost {self.cost:.4f}" if self.cost else ""
        return f"{done}/{self.items} judged, {self.cached} cached, {self.undecided} undecided, {self.requests} requests{cost}, {left} to go"


@dataclass(frozen=True)
class Outcome:
    """Judgments in the order of the items, and what they took; ``stopped`` says which bound ended the run early, if one did."""

    judgments: list[Judgment]
    tally: Tally
    stopped: str = ""
    seconds: float = 0.0


async def ask(job: Job, backend: Backend, cache: Cache, budget: Budget, watch: Callable[[Tally], None] = lambda _: None) -> Outcome:
    """Put the items of ``job`` to its model.

    Answers are kept as they come, so that an interrupted run goes on where it was. Items without a usable answer are undecided, with the
    reason; so are those that a bound kept from being asked.

    Args:
        job: the items.
        backend: what answers.
        cache: what was answered before.
        budget: the bounds, and what was spent before; several runs may share it.
        watch: is shown where the run stands after every reply.

    Raises:
        BackendError: no call can succeed, or more than ``max_failures`` of them failed.
        DataError: the cache cannot be written.
    """
    run = _Run(job, cache, budget)
    while run.todo:
        groups, run.todo = run.todo, []
        async with aclosing(backend.replies(job.call(ids, attempt) for ids, attempt in groups)) as replies:  # type: ignore[type-var]
            async for call, result in replies:
                run.take(call, result)
                watch(run.count())
    judgments = [run.done[name] for name in job.items]
    return Outcome(judgments, run.count(), run.stopped, time.monotonic() - run.tally.started)


class _Run:
    def __init__(self, job: Job, cache: Cache, budget: Budget) -> None:
        self.job, self.cache, self.budget = job, cache, budget
        self.before = replace(budget, errors=Counter(budget.errors))
        self.done, self.todo = job.plan(cache)
        decided = sum(bool(judgment.value) for judgment in self.done.values())
        self.tally = Tally(len(job.items), len(self.done), decided, len(self.done) - decided)
        self.calls, self.failed, self.stopped = 0, 0, ""

    def count(self) -> Tally:
        """The tally as it is now."""
        tally, before, now = self.tally, self.before, self.budget
        tally.requests, tally.errors = now.requests - before.requests, now.errors - before.errors
        tally.tokens_in, tally.tokens_out = now.tokens_in - before.tokens_in, now.tokens_out - before.tokens_out
        tally.cost = now.cost - before.cost
        return tally

    def take(self, call: Call, result: Reply | CallError) -> None:
        """Take a reply's answers; what is left of the call is asked in smaller groups, an item by itself again."""
        self.calls += 1
        if isinstance(result, Reply):
            self._answered(call, result)
        elif result.too_long and len(call.ids) > 1:
            self._halve(call.ids)
        elif result.bound:
            self.stopped = result.bound
            self._undecided(call, f"not asked: {result.bound}")
        else:
            self.failed += 1
            self._undecided(call, result.reason)
            if result.fatal:
                raise BackendError(result.reason, hint="what was answered is kept: remove the cause and run the same command again")
            share = self.budget.limits.max_failures
            if self.failed > share * max(self.calls, _FEW):
                raise BackendError(
                    f"{self.failed} of {self.calls} calls failed, more than the share of {share:g}; last: {result.reason}",
                    hint="what was answered is kept: run the same command again, or raise --max-failures",
                )

    def _answered(self, call: Call, reply: Reply) -> None:
        answers = read_answers(reply, self.job.prompt, call.ids)
        left = tuple(name for name in call.ids if name in answers.problems)
        found = {
            name: self._judgment(name, call, reply, value=answers.values[name], logprob=answers.logprobs.get(name))
            for name in answers.values
        }
        if len(left) == 1 == len(call.ids) and (reply.finish == "refused" or call.attempt + 1 >= ATTEMPTS):
            found[left[0]] = self._judgment(left[0], call, reply, reason=answers.problems[left[0]])
        elif len(left) == len(call.ids) > 1:
            self._halve(left)
        elif left:
            self.todo.append((left, call.attempt + 1 if len(call.ids) == 1 else 0))
        self._keep(found)

    def _halve(self, ids: tuple[str, ...]) -> None:
        self.todo += [(ids[: len(ids) // 2], 0), (ids[len(ids) // 2 :], 0)]

    def _keep(self, found: Mapping[str, Judgment]) -> None:
        self.done |= found
        decided = sum(bool(judgment.value) for judgment in found.values())
        self.tally.decided += decided
        self.tally.undecided += len(found) - decided
        self.cache.put({self.job.key(name): judgment for name, judgment in found.items()})

    def _undecided(self, call: Call, reason: str) -> None:
        """Nothing to keep: the next run asks again."""
        address = "" if reason.startswith("not asked") else call.key
        for name in call.ids:
            self.done[name] = Judgment(name, self.job.prompt.task, "", reason, self.job.model, prompt=self.job.prompt.hash, call=address)
        self.tally.undecided += len(call.ids)

    def _judgment(
        self, name: str, call: Call, reply: Reply, *, value: str = "", reason: str = "", logprob: float | None = None
    ) -> Judgment:
        return Judgment(
            item=name,
            task=self.job.prompt.task,
            value=value,
            reason=reason,
            judge=self.job.model,
            model=reply.model,
            fingerprint=reply.fingerprint,
            request_id=reply.request_id,
            prompt=self.job.prompt.hash,
            temperature=call.temperature if reply.temperature else None,
            max_tokens=call.max_tokens,
            call=call.key,
            asked=len(call.ids),
            tokens_in=reply.tokens_in,
            tokens_out=reply.tokens_out,
            logprob=logprob,
            attempt=call.attempt,
        )
