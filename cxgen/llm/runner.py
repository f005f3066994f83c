"""Asking one model about many items: grouped, cached, retried, bounded, and never an answer that no model gave."""

from __future__ import annotations

import asyncio
import math
import random
import time
from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from cxgen.errors import CxgenError
from cxgen.llm.cache import Answered, Cache
from cxgen.llm.job import Job, Judgment, plan
from cxgen.llm.limits import Breaker, Budget, Gate, Limits, OverBudgetError, Rates
from cxgen.llm.messages import Backend, Call, CallError, Reply
from cxgen.llm.parse import parse

ATTEMPTS = 3  # how often an item is asked about by itself when the answers are unusable
_FEW = 20  # calls before the share of failures means anything
_OPENINGS = 5
_FIRST_OPENINGS = 2  # of a server that never answered
_NOTES = 2_000
_BACKOFF = 0.5
_LONGEST = 30.0


class BackendError(CxgenError):
    """A run that cannot go on: credentials, quota, an unknown model, too many failures."""


@dataclass
class Tally:
    """Where a run stands; the progress line and the metrics are made from it.

    Attributes:
        items: items in all; ``decided``, ``undecided``: of them so far; ``cached``: those decided without a new call.
        calls, failed: requests that ended with a reply or for good without one; tries are in ``budget``.
        errors: reason -> number of tries.
    """

    items: int
    budget: Budget
    decided: int = 0
    undecided: int = 0
    cached: int = 0
    calls: int = 0
    failed: int = 0
    errors: Counter[str] = field(default_factory=Counter)
    started: float = field(default_factory=time.monotonic)


@dataclass(frozen=True)
class Outcome:
    """Judgments in the order of the items, and what they took; ``stopped`` says which bound ended the run early, if one did."""

    judgments: list[Judgment]
    tally: Tally
    stopped: str = ""
    seconds: float = 0.0


async def ask(
    job: Job,
    backend: Backend,
    cache: Cache,
    limits: Limits,
    watch: Callable[[Tally], None] = lambda _: None,
    *,
    rates: Rates | None = None,
    before: Sequence[Outcome] = (),
) -> Outcome:
    """Put the items of ``job`` to its model. ``rates`` and what the runs ``before`` spent hold for several runs together.

    Replies are cached as they come, so that an interrupted run goes on where it was. Items without a usable answer are undecided, with the
    reason; those that a bound kept from being asked are, too.

    Raises:
        BackendError: no call can succeed, or more than ``max_failures`` of them failed.
        DataError: the cache cannot be written.
    """
    budget = Budget(limits, [outcome.tally.budget for outcome in before])
    return await _Run(job, backend, cache, budget, watch, rates or Rates(limits)).all()


class _Run:
    def __init__(self, job: Job, backend: Backend, cache: Cache, budget: Budget, watch: Callable[[Tally], None], rates: Rates) -> None:
        self.job, self.backend, self.cache, self.watch = job, backend, cache, watch
        self.budget, self.rates, self.limits = budget, rates, budget.limits
        self.gate, self.breaker = Gate(self.limits.concurrency), Breaker(self.limits.trip, self.limits.cool)
        self.tally = Tally(len(job.items), self.budget)
        groups, answers = plan(job, cache)
        self.done: dict[str, Judgment] = {}
        self.notes: dict[str, Answered] = {}
        lost = self._recall(answers)
        groups += [tuple(lost[start : start + job.per_request]) for start in range(0, len(lost), job.per_request)]
        self.todo: deque[tuple[tuple[str, ...], int]] = deque((ids, 0) for ids in groups)
        self.active = 0
        self.stopped = ""
        self.random = random.Random()

    def _note(self) -> None:
        self.cache.note_answers(self.notes)
        self.notes = {}

    def _recall(self, answers: Mapping[str, Answered]) -> list[str]:
        """Take answers that were given in other company; the items whose reply says nothing any more."""
        lost: list[str] = []
        for name, at in answers.items():
            reply = self.cache.reply(at.call)
            answer = parse(reply, self.job.prompt, (at.name,)).answers.get(at.name) if reply else None
            if reply is None or answer is None:
                lost.append(name)
                continue
            self.done[name] = self._judgment(name, at, reply, value=answer.value, logprob=answer.logprob)
            self.tally.decided += 1
            self.tally.cached += 1
        self.cache.forget_answers([self.job.key(name) for name in lost])
        return lost

    async def all(self) -> Outcome:
        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(min(self.limits.concurrency, max(1, len(self.todo)))):
                    group.create_task(self._worker())
        except* CxgenError as errors:
            raise errors.exceptions[0] from None
        self._note()
        for name in self.job.items:
            if name not in self.done:
                self._undecided((name,), f"not asked: {self.stopped}", None)
        return Outcome([self.done[name] for name in self.job.items], self.tally, self.stopped, time.monotonic() - self.tally.started)

    async def _worker(self) -> None:
        # A group that is under way may leave items to ask about again: only when none is can a worker go.
        while self.todo or self.active:
            if not self.todo:
                await asyncio.sleep(0.01)
                continue
            ids, attempt = self.todo.popleft()
            self.active += 1
            try:
                await self._group(ids, attempt)
            finally:
                self.active -= 1
            self.watch(self.tally)

    async def _group(self, ids: tuple[str, ...], attempt: int) -> None:
        call = self.job.call(ids, attempt)
        reply = self.cache.reply(call.key)
        cached = reply is not None
        if reply is None:
            if self.stopped:
                return
            try:
                reply = await self._obtain(call)
            except OverBudgetError as error:
                self.stopped = str(error)
                return
            except CallError as error:
                self._failed(ids, attempt, call, error)
                return
        self._read(ids, attempt, call, reply, cached)

    def _failed(self, ids: tuple[str, ...], attempt: int, call: Call, error: CallError) -> None:
        self.tally.calls += 1
        if error.too_long and len(ids) > 1:
            self._halve(ids, attempt)
            return
        self.tally.failed += 1
        self._undecided(ids, error.reason, call)
        tally = self.tally
        if error.fatal:
            raise BackendError(error.reason, hint="what was answered is kept: remove the cause and run the same command again")
        if tally.calls >= _FEW and tally.failed / tally.calls > self.limits.max_failures:
            raise BackendError(
                f"{tally.failed} of {tally.calls} calls failed, more than the share of {self.limits.max_failures:g}; last: {error.reason}",
                hint="what was answered is kept: run the same command again, or raise --max-failures",
            )

    async def _obtain(self, call: Call) -> Reply:
        """Send ``call`` until it is answered, as often and as long as the limits let it."""
        number, ends = 0, math.inf
        last = CallError("the deadline passed")
        while number < self.limits.tries and time.monotonic() < ends:
            async with self.gate:
                await self.rates.wait(call, self.gate)
                sent = time.monotonic()
                ends = min(ends, sent + self.limits.deadline)  # the clock starts with the first try
                if sent >= ends:
                    break
                reply, last = await self._try(call, ends - sent)
            if reply is not None:
                self.gate.faster()
                self.breaker.succeeded()
                self.tally.calls += 1
                return reply
            if last.simpler:
                continue  # the backend has learnt to ask more simply
            self.tally.errors[last.reason] += 1
            if last.fatal or not last.retry:
                raise last
            number += await self._back_off(number, last, sent, ends)
        raise CallError(f"{last.reason}, {self.limits.tries} tries at most" if number else f"{last.reason}, until the deadline")

    async def _try(self, call: Call, left: float) -> tuple[Reply | None, CallError]:
        """Send ``call`` once, with so many seconds left: the reply, kept, or why there is none."""
        if self.stopped:
            raise OverBudgetError(self.stopped)
        self.budget.reserve(call)
        failure, spent = CallError("timed out", retry=True, tokens=call.most), call.most
        try:
            # Not wait_for, which before Python 3.12 forgets that it was cancelled when the reply comes at that moment.
            async with asyncio.timeout(min(self.limits.timeout, left)):
                reply = await self.backend.send(call)
            spent = reply.tokens_in, reply.tokens_out
            self.cache.put(call, reply)
        except TimeoutError:
            return None, failure
        except CallError as error:
            spent = error.tokens
            return None, error
        finally:
            self.budget.settle(call, spent)
            self.rates.billed(call, spent)
        return reply, failure

    async def _back_off(self, number: int, error: CallError, sent: float, ends: float) -> bool:
        """Wait before the next try; whether the failure counts as one of this call's tries."""
        counts, cool = True, 0.0
        if error.limited:
            self.gate.slower(error.after)
        else:
            counts, cool = self.breaker.failed(sent)
        if cool:
            if self.breaker.opened > (_OPENINGS if self.tally.calls > self.tally.failed else _FIRST_OPENINGS):
                raise CallError(f"the server does not recover: {error.reason}", fatal=True)
            self.gate.probe(cool)
        wait = max(error.after, self.random.uniform(0.5, 1.0) * min(_LONGEST, _BACKOFF * 2**number))
        await asyncio.sleep(min(wait, max(0.0, ends - time.monotonic())))
        return counts

    def _read(self, ids: tuple[str, ...], attempt: int, call: Call, reply: Reply, cached: bool) -> None:
        parsed = parse(reply, self.job.prompt, ids)
        at = {name: Answered(name, call.key, len(ids), call.max_tokens, call.attempt) for name in ids}
        for name, answer in parsed.answers.items():
            self.done[name] = self._judgment(name, at[name], reply, value=answer.value, logprob=answer.logprob)
        self.notes |= {self.job.key(name): at[name] for name in parsed.answers}
        if not cached or len(self.notes) >= _NOTES:
            self._note()  # at once: what a killed run asked in smaller groups must be found by their items
        self.tally.decided += len(parsed.answers)
        self.tally.cached += len(parsed.answers) * cached
        left = tuple(name for name in ids if name in parsed.problems)
        if not left:
            return
        refused = bool(reply.refusal) or reply.finish == "content_filter"
        if len(ids) > 1 and reply.finish == "length" and len(left) < len(ids):
            self.todo.appendleft((left, 0))
        elif len(ids) > 1 and (refused or attempt or reply.finish == "length"):
            self._halve(left, 0)  # the same request would be refused, cut off, or answered unusably again; a smaller one may not be
        elif not refused and attempt + 1 < ATTEMPTS:
            self.todo.appendleft((left, attempt + 1))
        else:
            for name in left:
                reason = "truncated" if reply.finish == "length" else parsed.problems[name]
                self.done[name] = self._judgment(name, at[name], reply, reason=reason)
            self.tally.undecided += len(left)

    def _halve(self, ids: tuple[str, ...], attempt: int) -> None:
        if len(ids) == 1:
            self.todo.appendleft((ids, attempt))
            return
        middle = len(ids) // 2
        self.todo.extendleft([(ids[middle:], attempt), (ids[:middle], attempt)])

    def _undecided(self, ids: Sequence[str], reason: str, call: Call | None) -> None:
        for name in ids:
            self.done[name] = Judgment(name, self.job.prompt.task, "", reason, self.job.model, call=call.key if call else "")
        self.tally.undecided += len(ids)

    def _judgment(
        self, name: str, at: Answered, reply: Reply, *, value: str = "", reason: str = "", logprob: float | None = None
    ) -> Judgment:
        prompt = self.job.prompt
        return Judgment(
            item=name,
            task=prompt.task,
            value=value,
            reason=reason,
            judge=self.job.model,
            model=reply.model,
            fingerprint=reply.fingerprint,
            request_id=reply.request_id,
            prompt=prompt.hash,
            temperature=None if "temperature" in reply.without else prompt.temperature,
            max_tokens=at.max_tokens,
            call=at.call,
            asked=at.asked,
            tokens_in=reply.tokens_in,
            tokens_out=reply.tokens_out,
            logprob=logprob,
            attempt=at.attempt,
        )
