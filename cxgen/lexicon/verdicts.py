"""What judges said of clauses, and what follows: a clause is what a scene says with one of its verbs (`Frame.clause`).

``pipelines/judgments.parquet`` holds every vote: of an item (``CONSTRUCTION/CLAUSE/WHOSE``: the construction, the clause's address, and
the construction or look-alike that the sentence was shown as; on `INTERPRETATION` the design and which continuation was shown), by a
judge, on one of `cxgen.vocabulary.CLAUSES` or on `INTERPRETATION`.
"""

import os
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

import polars as pl

from cxgen import layout
from cxgen.errors import DataError
from cxgen.lexicon.scenes import Frame
from cxgen.lexicon.snapshot import Lexicon
from cxgen.project import Project, shipped_folder
from cxgen.schema import Column, Contract, polars_schema
from cxgen.tables import read_table
from cxgen.vocabulary import ANSWERS, CONSTRUCTIONAL, INAPPROPRIATE, INTERPRETATION, LEXICAL, NATURAL, ODD, UNACCEPTABLE

THIRD, MAJORITY, ONE = 1 / 3, 0.501, 0.0  # the share of votes against a clause that refuses it; of no rule fewer than one vote
HINT = "restore the file, or have the clauses judged: `cxgen judge`"
_AGAINST = (UNACCEPTABLE, INAPPROPRIATE, ODD)
BAD = "-bad"  # how an item ends that shows the bad continuation: it has to be inappropriate
_VOTES = Contract(tuple(Column(name, pl.String, "") for name in ("item", "task", "judge", "prompt", "value", "reason")), more=True)


@dataclass
class Verdict:
    """On a clause: ``acceptability`` and ``role`` by the majority (empty: none), why it is refused, if it is, and whether it is passable
    only (``stiff``): a third of its readers or more find it less than natural."""

    acceptability: str = ""
    role: str = ""
    refused: str = ""
    stiff: bool = False


def majority(votes: pl.DataFrame) -> pl.DataFrame:
    """One verdict per item and task: what more than half of the judges that decided say; else it is empty, with the reason.

    ``votes``: columns ``item, task, judge, value, reason``. The result: ``item, task, value, reason, votes`` (judges that decided).
    """
    value, keys = pl.col("value"), ["item", "task"]
    latest = votes.unique([*keys, "judge"], keep="last", maintain_order=True)
    said = latest.filter(value != "").group_by(*keys, "value").agg(count=pl.len()).group_by(keys)
    most = said.agg(value.sort_by("count").last(), pl.col("count").max(), votes=pl.col("count").sum())
    asked = latest.group_by(keys, maintain_order=True).agg(why=pl.col("reason").filter(value == "").first())
    counts = asked.join(most, on=keys, how="left", maintain_order="left").with_columns(pl.col("votes").fill_null(0))
    wins = pl.col("count") * 2 > pl.col("votes")
    reason = pl.when(wins).then(pl.lit("")).when(pl.col("votes") > 0).then(pl.lit("the judges disagree")).otherwise("why")
    return counts.select(*keys, pl.when(wins).then(value).otherwise(pl.lit("")), reason.alias("reason"), "votes")


def votes_files(project: Project) -> list[Path]:
    """The files of frozen votes that are there: what is shipped, then the project's."""
    paths = dict.fromkeys(folder.resolve() / layout.JUDGMENTS for folder in (shipped_folder(), project.root))
    return [path for path in paths if os.path.lexists(path)]


def require_answers(votes: pl.DataFrame, path: Path) -> None:
    """See that what judges said (``task, value``) are answers to what they were asked; a DataError."""
    for task, value in votes.select("task", "value").unique().sort("task", "value").iter_rows():
        if task in ANSWERS and value not in {"", *ANSWERS[task]}:
            hint = f"one of {', '.join(ANSWERS[task])}; {HINT}"
            raise DataError(f"{value[:40]!r} is no answer to the task {task!r}", file=path, hint=hint)


@lru_cache(2)
def _file(path: Path, _: tuple[int, ...]) -> pl.DataFrame:
    """The votes of a file, as long as it is the same: who loads all constructions reads them once."""
    votes = read_table(path, _VOTES, HINT)
    require_answers(votes, path)
    return votes


def read_votes(project: Project, construction: str = "") -> pl.DataFrame:
    """The frozen votes, the project's after those that are shipped: ``item, task, judge, prompt, value, reason``; of one construction."""
    tables = [pl.DataFrame(schema=polars_schema(_VOTES.columns))]
    for path in votes_files(project):
        about = (path if path.exists() else path.parent).stat()
        tables.append(_file(path, (about.st_ino, about.st_size, about.st_mtime_ns)))
    votes = pl.concat(tables).filter(pl.col("item").str.starts_with(f"{construction}/" if construction else ""))
    return votes.unique(["item", "task", "judge", "prompt"], keep="last", maintain_order=True)


def against(votes: pl.DataFrame, share: float = THIRD) -> pl.DataFrame:
    """Of every item and task how many votes there are, how many against it (``bad``), whether these refuse it (``refused``), and
    whether more than two thirds found it natural (``natural``)."""
    bad, reverse = pl.col("bad"), (pl.col("task") == INTERPRETATION) & pl.col("item").str.ends_with(BAD)
    counts = votes.filter(pl.col("value") != "").group_by("item", "task", maintain_order=True)
    opposed = pl.col("judge").filter(pl.col("value").is_in(_AGAINST) != reverse).n_unique()
    table = counts.agg(votes=pl.col("judge").n_unique(), bad=opposed, natural=(pl.col("value") == NATURAL).mean() > 1 - THIRD + 1e-9)
    return table.with_columns(refused=(bad > 0) & (bad >= share * pl.col("votes") - 1e-9))


def verdicts(votes: pl.DataFrame, construction: str) -> dict[str, Verdict]:
    """Address of a clause of ``construction`` -> the verdict: refused if a third or more of the votes on it are against it. Judges who did
    not answer say nothing.

    Of a tie between prototypical and extended, or between roles, nothing is known.
    """
    known: dict[str, Verdict] = defaultdict(Verdict)
    rows = majority(votes).drop("votes").join(against(votes), on=["item", "task"], how="left", maintain_order="left")
    for item, task, value, _, count, bad, natural, refused in rows.filter(pl.col("votes") > 0).iter_rows():
        clause, _, whose = item.partition("/")[2].rpartition("/")
        verdict = known[clause]
        if task == "role":
            verdict.role = value
        elif refused:
            verdict.refused = verdict.refused or f"{task}: {bad} of {count} votes are against it"
        elif task == "naturalness":
            verdict.stiff = verdict.stiff or not natural
        elif task == "acceptability" and whose == construction:
            verdict.acceptability = value
    return dict(known)


def refusals(frames: Iterable[Frame]) -> str:
    """How many clauses of ``frames`` judges refused, and by which tasks, in words; empty if none."""
    counts = sum((Counter(frame.refused) for frame in frames), Counter[str]())
    return f"{counts.total()} ({', '.join(f'{task} {count}' for task, count in counts.most_common())})" if counts else ""


def judged_frames(
    frames: Iterable[Frame], verbs: Callable[[Frame], set[str]], lexicon: Lexicon, known: Mapping[str, Verdict]
) -> Iterator[Frame]:
    """``frames`` without verbs (of the columns that ``verbs`` names) whose clauses are refused, those marked whose clauses are stiff, and
    with what was said of others; a slot is empty where they leave none."""
    for frame in frames:
        refused = Counter[str]()
        slots, judged, alone, marked = dict(frame.slots), dict[tuple[str, str], str](), set(frame.entails_alone), set(frame.marked)
        for slot in frame.slots.keys() & verbs(frame):
            known_names = [name for name in frame.slots[slot] if lexicon.has(name)]
            kept = [name for name in frame.slots[slot] if name not in known_names]  # which `cxgen check` tells
            for key, lemma in ((lexicon.keys[row], lexicon.lemmas[row]) for row in lexicon.named(*known_names)):
                verdict = known.get(frame.clause(slot, lemma))
                if not (verdict.refused if verdict else frame.proposed):
                    kept.append(key)
                elif verdict:
                    refused[verdict.refused.partition(":")[0]] += 1
                if verdict and not verdict.refused:
                    judged[slot, lemma] = verdict.acceptability
                    alone -= {lemma} if verdict.role == CONSTRUCTIONAL else set()
                    alone |= {lemma} if verdict.role == LEXICAL else set()
                    marked |= {key} if verdict.stiff else set()
            slots[slot] = tuple(dict.fromkeys(kept))
        yield replace(frame, slots=slots, judged=judged, entails_alone=frozenset(alone), marked=frozenset(marked), refused=refused)
