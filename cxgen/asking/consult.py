"""Consulting models: items put to several models in groups, within bounds, with every answer kept and none that no model gave."""

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager, contextmanager, nullcontext
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any, NamedTuple

from cxgen.asking.calls import Backend, Budget, Call, Limits, custom_id, from_file
from cxgen.asking.prompts import Items, Prompt, Reply, clean, read_answers
from cxgen.errors import CxgenError, DataError, needs
from cxgen.files import append_lines, json_lines, locked, require_file, write_text
from cxgen.layout import ANSWERS
from cxgen.project import Project
from cxgen.tables import progress
from cxgen.vocabulary import EVALUATING, Judge

Shown = Mapping[str, Items]  # by task
Plan = tuple[Call, dict[str, "Judgment"], list[Call]]
_REMOVE = "remove the line, or move the file away: a new one is made"
_KEPT = "what was answered is kept"
_HOPELESS = 20  # items answered unusably by a model that has answered none otherwise, after which it is not asked on
_SHOWN = 80  # characters of a reply that cannot be used
_KINDS: dict[Any, Any] = {str: str, int: int}  # what a judgment's values are, by what they are said to be; others are numbers or none


@dataclass(frozen=True)
class Consultation:
    """Who is asked, about what, and how."""

    backend: Judge = Judge.replay
    models: tuple[str, ...] = ()  # several vote
    tasks: tuple[str, ...] = ()
    base_url: str | None = None  # None: OpenAI's own server
    per_request: int = 10  # items
    limits: Limits = field(default_factory=Limits)  # of all that is asked together
    cache: Path = ANSWERS  # in the project's folder
    poll: float = 20.0  # seconds between two looks at a batch
    replies: tuple[Path, ...] = ()  # of the backend file: a file for each model
    requests: Path | None = None  # what the replies answer; None: what would be asked now
    needed: bool = False  # nothing usable of a task is an error, however few its items are

    def bounded(self, project: Project) -> "Consultation":
        """This consultation with limits that suit its backend, and its cache in ``project``."""
        limits = self.limits
        if limits.max_cost is not None and not limits.priced:
            raise CxgenError("--max-cost needs prices", hint="give --price-in and --price-out, per million tokens")
        if self.backend is not Judge.replay and "" in (self.models or [""]):
            raise CxgenError("no model is named", hint="give --model")
        if self.backend is Judge.batch:
            limits = replace(limits, timeout=max(limits.timeout, 600.0), deadline=2 * 86_400.0)
        if self.backend in {Judge.file, Judge.replay}:  # what is not there does not come if it is asked for again
            limits = replace(limits, max_failures=1.0)
        return replace(self, limits=limits, cache=project.root / self.cache)


@dataclass(frozen=True)
class Judgment:
    """What one model said about one item; tokens are those of the whole request."""

    item: str
    task: str
    value: str  # the verdict (or free answer); empty if undecided
    reason: str  # why it is undecided
    judge: str  # the model that was asked
    model: str = ""  # that answered, by its own account
    fingerprint: str = ""  # the server's, like the next
    request_id: str = ""
    prompt: str = ""  # content hash
    temperature: float | None = 0.0  # None: the server takes none
    max_tokens: int = 0
    call: str = ""  # content address of the request
    asked: int = 0  # items in it
    tokens_in: int = 0
    tokens_out: int = 0
    logprob: float | None = None  # of the verdict, in judgments of earlier versions
    attempt: int = 0  # how often the item had been answered unusably before


@dataclass
class Cache:
    """Answers that were paid for."""

    file: Path | None = None  # without one nothing is kept
    judgments: dict[str, Judgment] = field(default_factory=dict)  # by the content address of what was asked of an item
    batches: dict[str, dict[str, Any]] = field(default_factory=dict)  # that are open, by the file that they are made of

    def take(self, row: Mapping[str, Any]) -> None:
        """Take one line's object. TypeError, KeyError: it is none of ours."""
        if "batch" in row:
            self.batches[row["batch"]] = {"model": row["model"], "keys": [*row["keys"]], "name": row.get("name", row["batch"])}
        elif "closed" in row:
            self.batches.pop(row["closed"], None)
        else:
            judgment = Judgment(**row["judgment"])
            if any(not isinstance(getattr(judgment, own.name), _KINDS.get(own.type, float | int | None)) for own in fields(judgment)):
                raise TypeError("a value of another type")
            self.judgments.setdefault(row["key"], judgment)

    def append(self, *rows: dict[str, Any]) -> None:
        """Take lines' objects and write them."""
        for row in rows:
            self.take(row)
        try:
            if self.file:
                append_lines(self.file, *rows)
        except OSError as error:
            hint = f"{_KEPT}: make room and run the same command again"
            raise DataError("cannot be written; is the disk full?", file=self.file, hint=hint) from error


@contextmanager
def opened(path: Path) -> Iterator[Cache]:
    """The cache in ``path``, held for this process: two runs would pay twice. Half a line of a killed run is passed over."""
    _require_ours(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        append_lines(path)  # it can be written to
    except OSError as error:
        raise DataError(f"cannot be opened: {error.strerror}", file=path, hint="its file and folder must be writable") from error
    with locked(path, "is asking models with these answers"):
        yield _answers_in(path)


def _require_ours(path: Path) -> None:
    if path.exists():
        require_file(path)
        with path.open("rb") as file:
            head = file.read(2)
        if head and head != b'{"':
            raise DataError("not a file of kept answers", file=path, hint="name another one: --cache FILE")


def _answers_in(path: Path) -> Cache:
    """What a file holds that need not be there."""
    cache = Cache(path)
    if not path.exists():
        return cache
    _require_ours(path)
    for number, row in json_lines(path, _REMOVE, torn=True):
        try:
            cache.take(row)
        except (TypeError, KeyError) as error:
            raise DataError("not a kept answer", file=path, line=number, hint=_REMOVE) from error
    return cache


class Outcome(NamedTuple):
    """The judgments of a model in the order of a task's items; a row that says what they took; the bound that ended the run early."""

    judgments: list[Judgment]
    summary: dict[str, Any]
    stopped: str


def _plans(asked: Consultation, prompts: Mapping[str, Prompt], shown: Shown, cache: Cache) -> Iterator[Plan]:
    """Model by model, task by task: all that is asked, the judgments that are kept already, the calls about the other items."""
    for job in (Call(prompts[task], model, shown[task]) for model in asked.models for task in asked.tasks):
        kept, allowed = dict[str, Judgment](), {"", *job.prompt.choices.values()}
        for name in job.items:
            judgment = cache.judgments.get(job.address(name))
            if judgment and (not job.prompt.choices or judgment.value in allowed):
                kept[name] = replace(judgment, item=name, task=job.prompt.task)
        yield job, kept, job.parts([name for name in job.items if name not in kept], asked.per_request)


def _read(call: Call, reply: Reply, anew: bool) -> tuple[dict[str, Judgment], list[Call], dict[str, str]]:
    """What a reply says of the call's items; what is left, to be asked ``anew`` in smaller groups, an item by itself again; and why."""
    values, problems = read_answers(reply, call.prompt, call.items)
    again: list[Call] = []
    if anew and len(call.items) > 1 and problems:
        again = call.parts(problems, len(problems) if values else -(-len(problems) // 2))
    elif anew and problems and reply.finish != "refused" and call.attempt < 2:
        again = call.parts(problems, 1, call.attempt + 1)
    prompt = call.prompt
    known: dict[str, Any] = {"call": call.key, "max_tokens": call.max_tokens, "asked": len(call.items), "attempt": call.attempt}
    known |= {"prompt": prompt.hash, "temperature": prompt.temperature, **reply.known}
    said = f': "{text}"' if (text := clean(reply.text, _SHOWN)) else ""
    answers = {name: (value, "") for name, value in values.items()}
    whys = {name: f"{why}{said}" for name, why in problems.items()}
    answers |= {name: ("", why) for name, why in whys.items() if not again}
    return {name: Judgment(name, prompt.task, *answer, call.model, **known) for name, answer in answers.items()}, again, whys


async def _put(plan: Plan, backend: Backend, cache: Cache, budget: Budget, tell: Callable[[int], object], asked: Consultation) -> Outcome:
    """Put the calls of a plan to its model. Items without a usable answer are undecided; nothing is kept of those that got no reply. Call
    by call, some are put first, with all tries: a model of which none can be used is not asked on."""
    start, before, errors, share = time.monotonic(), Counter(budget.spent), Counter(budget.errors), budget.limits.max_failures
    job, done, todo = plan
    cached, calls, failed, stopped = len(done), 0, 0, ""
    usable, waiting = asked.backend is not Judge.openai or any(judgment.value for judgment in done.values()), list[dict[str, Any]]()
    on_file, whys = asked.backend is Judge.file, dict[str, str]()  # a file answers no other call, and may be mended
    todo, later = (todo, []) if usable else (todo[:_HOPELESS], todo[_HOPELESS:])
    while todo:
        again: list[Call] = []
        async with aclosing(backend(todo)) as results:
            async for call, result in results:
                calls += 1
                if isinstance(result, Reply):
                    judgments, unread, why = _read(call, result, not on_file)
                    again, whys = again + unread, whys | why
                    kept = (one for one in judgments.values() if one.value or not on_file)
                    waiting += ({"key": call.address(one.item), "judgment": asdict(one)} for one in kept)
                    usable = usable or any(judgment.value for judgment in judgments.values())
                    if usable:
                        cache.append(*waiting)
                        waiting = []
                    done |= judgments
                else:
                    reason, address = (f"not asked: {result.bound}", "") if result.bound else (result.reason, call.key)
                    judgment = Judgment("", job.prompt.task, "", reason, job.model, prompt=job.prompt.hash, call=address)
                    reasons = {name: f"{whys[name]}; {reason}" if result.bound and name in whys else reason for name in call.items}
                    done |= {name: replace(judgment, item=name, reason=own) for name, own in reasons.items()}
                    failed, stopped = failed + (not result.bound), result.bound or stopped
                    if result.fatal:
                        raise CxgenError(reason, hint=f"{_KEPT}: remove the cause and run the same command again")
                    if failed > share * max(calls, 20):
                        message = f"{failed} of {calls} calls failed, more than the share of {share:g}; last: {reason}"
                        raise CxgenError(message, hint=f"{_KEPT}: run the same command again, or raise --max-failures")
                tell(len(done))
        if len(waiting) >= _HOPELESS:  # nothing of it is kept: mended, the same command asks anew
            raise _hopeless(job, [Judgment(**row["judgment"]) for row in waiting], cached)
        todo, later = (again, later) if again else (later, [])
    judged = [done[name] for name in job.items]
    if not asked.needed:
        cache.append(*waiting)
    elif judged and not stopped and not any(judgment.value for judgment in judged):
        raise _hopeless(job, judged, cached)
    decided = sum(bool(judgment.value) for judgment in judged)
    spent = {name: budget.spent[name] - before[name] for name in ("requests", "tokens in", "tokens out")}
    summary = {
        **{"model": job.model, "task": job.prompt.task, "decided": decided, "cached": cached, "undecided": len(judged) - decided},
        **spent,
        **({"cost": round(budget.limits.cost(spent["tokens in"], spent["tokens out"]), 4)} if budget.limits.priced else {}),
        "seconds": round(time.monotonic() - start, 1),
        "failed tries": "; ".join(f"{number} x {why}" for why, number in (budget.errors - errors).most_common()) or 0,
    }
    return Outcome(judged, summary, stopped)


def _hopeless(job: Call, judged: Sequence[Judgment], cached: int) -> CxgenError:
    """``cached``: how many of them were kept before."""
    prompt, which = job.prompt, "the first " * (len(judged) < len(job.items))
    last = next((judgment for judgment in reversed(judged) if judgment.asked), judged[-1])
    what = f"none of {which}{len(judged)} answers of {job.model} ({prompt.task}) can be used: {last.reason}"
    if not last.asked:  # nor any reply
        return CxgenError(what, hint="remove the cause and run the same command again")
    hint = f'a reply is JSON: {{"answers": [{{"id": ..., "{prompt.key}": ...}}]}}'
    hint += f"; or, to one item, one of these alone: {', '.join(map(str, prompt.choices))}" if prompt.choices else ""
    hint += "; a model that explains itself: --think" * (prompt.task in EVALUATING and not prompt.thinks)
    return CxgenError(what, hint=hint + "; those that were kept are asked again with --cache OTHER" * (cached > 0))


@asynccontextmanager
async def _backends(asked: Consultation, cache: Cache, budget: Budget) -> AsyncIterator[dict[str, Backend]]:
    """Model -> what answers for it."""
    if asked.backend is Judge.replay:
        yield dict.fromkeys(asked.models, from_file(None))
    elif asked.backend is Judge.file:
        if len(asked.replies) != len(asked.models):
            message = f"{len(asked.models)} models, {len(asked.replies)} files of replies"
            raise CxgenError(message, hint="name a file for each: --replies FILE; requests are written with --out FILE")
        yield {model: from_file(path, asked.requests) for model, path in zip(asked.models, asked.replies, strict=True)}
    else:
        with needs("asking models needs the packages openai, aiolimiter and krippendorff", "llm"):
            import krippendorff  # noqa: F401

            from cxgen.asking.client import Batched, connected, single
        async with connected(asked.base_url, budget) as client:
            if asked.backend is Judge.batch:
                yield {model: Batched(client, model, cache, budget, asked.poll).results for model in asked.models}
            else:
                yield {model: single(client, budget.limits) for model in asked.models}


def ask(asked: Consultation, prompts: Mapping[str, Prompt], shown: Shown, budget: Budget | None = None) -> list[Outcome]:
    """Put every task to every model of a `bounded` consultation; ``budget``: what was spent before under its bounds."""

    async def run(cache: Cache, budget: Budget) -> list[Outcome]:
        async with _backends(asked, cache, budget) as backends:
            outcomes = []
            for plan in _plans(asked, prompts, shown, cache):
                job, kept, _ = plan
                with progress(f"{job.model}: {job.prompt.task}", len(job.items), len(kept)) as tell:
                    outcomes.append(await _put(plan, backends[job.model], cache, budget, tell, asked))
            return outcomes

    # A file is a record of its own: a line that was mended must not meet its old self.
    kept = opened(asked.cache) if asked.models and asked.backend is not Judge.file else nullcontext(Cache())
    with kept as cache:
        return asyncio.run(run(cache, budget or Budget(asked.limits))) if asked.models else []


def estimate(asked: Consultation, prompts: Mapping[str, Prompt], shown: Shown) -> list[dict[str, Any]]:
    """What a run would send and cost at most, by model and task, without sending anything; kept answers cost nothing."""
    rows: list[dict[str, Any]] = []
    for job, kept, todo in _plans(asked, prompts, shown, _answers_in(asked.cache)):
        tokens_in, tokens_out = (sum(call.most[side] for call in todo) for side in (0, 1))
        row = {"model": job.model, "task": job.prompt.task, "items": len(job.items), "calls": len(todo), "cached items": len(kept)}
        cost = {"cost at most": round(asked.limits.cost(tokens_in, tokens_out), 4)} if asked.limits.priced else {}
        rows.append({**row, "tokens in": tokens_in, "tokens out at most": tokens_out, **cost})
    return rows


def write_out(asked: Consultation, prompts: Mapping[str, Prompt], shown: Shown, path: Path) -> int:
    """Write the requests that the first of the models would be sent to ``path``, for whoever is to answer them; how many."""
    plans = _plans(replace(asked, models=asked.models[:1]), prompts, shown, Cache())
    lines = [call.line(custom_id(*call.messages)) for _, _, todo in plans for call in todo]
    write_text(path, "".join(lines))
    return len(lines)


def load_prompts(project: Project, tasks: Iterable[str]) -> dict[str, Prompt]:
    """Task -> its wording in the project."""
    return {task: Prompt.load(project.prompt_file(task), task) for task in tasks}
