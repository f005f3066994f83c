"""Damaged and hostile files: what is done to a sound project, and the command that must then answer in one line with exit code 2.

``CASES`` is a list of (kind, name, damage, command). ``damage(folder)`` spoils a copy of the mini project of `tests.test_publish`.
"""

from __future__ import annotations

import io
import json
import os
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import polars as pl
import yaml

from cxgen.layout import CANDIDATES, HUB, JUDGMENTS, VERDICTS, metric, table

Damage = Callable[[Path], object]
NLI, DISTINCTION, WUG = table("nli", "test"), table("distinction", "train"), Path("outputs/wug/nli_wug/test-00000-of-00001.parquet")
REACH, WAIT, CHUNKS = Path("templates/reach.yaml"), Path("templates/wait.yaml"), Path("lexicons/chunks.yaml")
PARAMS, READING = Path("params.yaml"), Path("pipelines/readings/first.csv")
LEXEMES, CLASSES, PSEUDOWORDS = (Path("lexicons/snapshot") / name for name in ("lexemes.parquet", "classes.json", "pseudowords.parquet"))
OWN = Path("lexicons/classes/mine.yaml")
JUDGE = ("judge", "--backend", "replay", "--task", "label", "--task", "acceptability")


@dataclass(frozen=True)
class Case:
    """What is damaged, and who reads it."""

    kind: str
    name: str
    damage: Damage
    command: tuple[str, ...]

    @property
    def id(self) -> str:
        return f"{self.kind}: {self.name}: {' '.join(self.command)}"


# --- what can be done to any file


def _half(raw: bytes) -> bytes:
    return raw[: len(raw) // 2]


def _noise(raw: bytes) -> bytes:
    return random.Random(len(raw)).randbytes(len(raw))


BYTES: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda _: b"",
    "half of it": _half,
    "zeros": lambda raw: bytes(len(raw)),
    "noise": _noise,
    "a web page": lambda _: b"<!DOCTYPE html>\n<html><head><title>502 Bad Gateway</title></head></html>\n",
    "UTF-16": lambda raw: raw.decode("utf-8", "replace").encode("utf-16"),
    "a NUL in it": lambda raw: raw[: len(raw) // 2] + b"\0" + raw[len(raw) // 2 :],
}


def spoil(path: Path, change: Callable[[bytes], bytes]) -> Damage:
    """Replace the bytes of a file."""

    def damage(folder: Path) -> None:
        (folder / path).write_bytes(change((folder / path).read_bytes()))

    return damage


def no_file(path: Path, what: str) -> Damage:
    """Something else stands in a file's place."""

    def damage(folder: Path) -> None:
        here = folder / path
        here.unlink(missing_ok=True)
        here.parent.mkdir(parents=True, exist_ok=True)
        if what == "a pipe":
            os.mkfifo(here)
        elif what == "a folder":
            here.mkdir()
        elif what == "a link to itself":
            here.symlink_to(here.name)
        elif what == "a link to an endless device":
            here.symlink_to("/dev/zero")
        else:
            with here.open("wb") as file:
                file.truncate(6 << 30)  # sparse

    return damage


ELSE = ("a pipe", "a folder", "a link to itself", "a link to an endless device", "six gigabytes of nothing")


def anything(kind: str, path: Path, *command: str, leave: tuple[str, ...] = ()) -> Iterator[Case]:
    """A file with every kind of damage that any file can have."""
    for name, change in BYTES.items():
        if name not in leave:
            yield Case(kind, f"{path.name} is {name}", spoil(path, change), command)
    for name in ELSE:
        if name not in leave:
            yield Case(kind, f"{path.name} is {name}", no_file(path, name), command)


# --- tables


def retable(path: Path, change: Callable[[pl.DataFrame], pl.DataFrame]) -> Damage:
    """Change a table."""

    def damage(folder: Path) -> None:
        change(pl.read_parquet(folder / path)).write_parquet(folder / path)

    return damage


def at(row: int, column: str, value: object) -> Callable[[pl.DataFrame], pl.DataFrame]:
    """One other value, cast to the type of its column."""

    def change(rows: pl.DataFrame) -> pl.DataFrame:
        cell = pl.lit(value).cast(rows.schema[column])
        return rows.with_columns(pl.when(pl.int_range(pl.len()) == row).then(cell).otherwise(column).alias(column))

    return change


def tables(kind: str, path: Path, changes: dict[str, Callable[[pl.DataFrame], pl.DataFrame]], *commands: tuple[str, ...]) -> Iterator[Case]:
    for name, change in changes.items():
        for command in commands:
            yield Case(kind, name, retable(path, change), command)


ESCAPE, BIDI = "\x1b[31mred", "\u202egnirts"
TEXT_AS_NUMBER = {"label as text": lambda t: t.with_columns(pl.col("label").cast(pl.String))}
CANDIDATE_CHANGES: dict[str, Callable[[pl.DataFrame], pl.DataFrame]] = {
    **TEXT_AS_NUMBER,
    "slots as text": lambda t: t.with_columns(slots=pl.lit("x")),
    "slots with another struct": lambda t: t.with_columns(slots=pl.lit([{"slot": "agent"}])),
    "no rows": lambda t: t.clear(),
    "no columns": lambda _: pl.DataFrame(),
    "an id twice": lambda t: pl.concat([t, t[:1]]),
    "an id of nothing": at(0, "id", None),
    "label 9": at(0, "label", 9),
    "label -1": at(3, "label", -1),
    "another split": at(0, "split", "nosplit"),
    "another config": at(0, "config", "nothing"),
    "another construction": at(0, "construction", "nobody"),
    "a construction with a path": lambda t: t.with_columns(construction=pl.lit("../../etc/passwd")),
    "a premise of nothing": at(0, "premise", None),
    "a premise with control characters": at(0, "premise", ESCAPE),
    "set numbers as text": lambda t: t.with_columns(pl.col("set_number").cast(pl.String)),
    "set numbers below zero": at(0, "set_number", -1),
    "slots of nothing": at(0, "slots", None),
    "well_formed as text": lambda t: t.with_columns(well_formed=pl.lit("yes")),
    "another slot": lambda t: t.with_columns(slots=pl.col("slots").list.eval(pl.element().struct.with_fields(slot=pl.lit("nowhere")))),
    "another role": lambda t: t.with_columns(slots=pl.col("slots").list.eval(pl.element().struct.with_fields(role=pl.lit("king")))),
    "another template": lambda t: t.with_columns(template=pl.lit("nowhere")),
    "another kind": lambda t: t.with_columns(kind=pl.lit("nowhere")),
}
DATASET_CHANGES: dict[str, Callable[[pl.DataFrame], pl.DataFrame]] = {
    **TEXT_AS_NUMBER,
    "label 9": at(0, "label", 9),
    "a label of nothing": at(0, "label", None),
    "another split": at(0, "split", "train"),
    "an unknown split": at(0, "split", "nosplit"),
    "slots dropped": lambda t: t.drop("slots"),
    "a column more": lambda t: t.with_columns(api_key=pl.lit("x")),
    "an id twice": lambda t: pl.concat([t, t[:1]]),
    "an id of nothing": at(0, "id", None),
    "control characters": at(0, "premise", ESCAPE),
    "bidirectional controls": at(0, "hypothesis", BIDI),
    "lists for text": lambda t: t.with_columns(premise=pl.concat_list("premise")),
    "numbers that are none": lambda t: t.with_columns(
        slots=pl.col("slots").list.eval(pl.element().struct.with_fields(zipf=pl.lit(float("nan"))))
    ),
}
EDITS: dict[str, Callable[[pl.DataFrame], pl.DataFrame]] = {  # well-formed, but not what `split` wrote
    "labels turned": lambda t: t.with_columns(label=(2 - pl.col("label")).cast(pl.Int8)),
    "one label turned": at(0, "label", 2),
    "rows gone": lambda t: t[3:],
    "a whole set gone": lambda t: t.filter(pl.col("contrast_set") != t["contrast_set"][0]),
    "no rows": lambda t: t.clear(),
    "another premise": at(0, "premise", "Nobody did anything."),
    "another verb": at(0, "verb", "sing"),
    "another acceptability": at(0, "acceptability", "extended"),
    "rows in another order, one word changed": lambda t: at(1, "frame", "elsewhere")(t.reverse()),
}


def _tables() -> Iterator[Case]:
    yield from anything("candidates", CANDIDATES, "judge")
    yield from tables("candidates", CANDIDATES, CANDIDATE_CHANGES, ("judge",))
    of_judge = {"another slot", "another template", "another kind"}  # `split` does not look into these
    rest = {name: change for name, change in CANDIDATE_CHANGES.items() if name not in of_judge}
    yield from tables("candidates", CANDIDATES, rest, ("split",))
    yield from anything("verdicts", VERDICTS, "split", leave=("UTF-16", "zeros"))
    verdicts = {
        "no rows": lambda t: t.clear(),
        "half of the rows": lambda t: t[: t.height // 2],
        "every id twice": lambda t: pl.concat([t, t]),
        "ids of nothing": lambda t: t.with_columns(id=pl.lit(None, pl.String)),
        "another verdict": at(0, "premise_verdict", "splendid"),
        "another pair verdict": at(0, "pair_verdict", "\x1b[2J"),
        "verdicts as numbers": lambda t: t.with_columns(pair_verdict=pl.lit(1)),
        "a verdict of nothing": at(0, "premise_verdict", None),
        "all refused": lambda t: t.with_columns(pair_verdict=pl.lit("inappropriate"), pair_reason=pl.lit("no")),
    }
    yield from tables("verdicts", VERDICTS, verdicts, ("split",))
    yield from anything("dataset", NLI, "package", leave=("UTF-16", "zeros", "a NUL in it"))
    readers = (("package",), ("export", "conllu", "--split", "test", "--output", "x.conllu"))
    yield from tables("dataset", NLI, DATASET_CHANGES, *readers)
    compared = ("label as text", "label 9", "another split", "an id twice", "an id of nothing", "control characters", "lists for text")
    yield from tables("dataset", NLI, {name: DATASET_CHANGES[name] for name in compared}, ("diff", "outputs/hub", "."))
    yield from tables("dataset", NLI, {name: DATASET_CHANGES[name] for name in ("label 9", "an unknown split")}, ("report", "baselines"))
    yield from tables("dataset", NLI, TEXT_AS_NUMBER, ("report", "variety"), ("report", "reading"), ("substitute",))
    yield from tables("edited dataset", NLI, EDITS, ("package",))
    yield from tables("edited dataset", DISTINCTION, {"rows gone": lambda t: t[3:]}, ("package",))
    yield from tables("edited dataset", WUG, {name: EDITS[name] for name in ("labels turned", "rows gone")}, ("package",))
    gone = Path("outputs/dataset/rejected/rejected-00000-of-00001.parquet")
    yield from tables("edited dataset", gone, {"rows gone": lambda t: t[1:]}, ("package",))
    yield Case("edited dataset", "a split gone", lambda folder: (folder / NLI).unlink(), ("package",))
    more = "outputs/dataset/nli/test-00001-of-00002.parquet"
    yield Case("edited dataset", "a second file of a split", lambda f: (f / more).write_bytes((f / NLI).read_bytes()), ("package",))

    def another_config(folder: Path) -> None:
        (folder / "outputs/dataset/mine").mkdir()
        (folder / "outputs/dataset/mine/test-00000-of-00001.parquet").write_bytes((folder / NLI).read_bytes())

    yield Case("edited dataset", "a config that no family has", another_config, ("package",))
    yield from anything("hub folder", HUB / "dataset_version.json", "report", "sizes", leave=("UTF-16",))
    for name, text in {"a list": "[]", "rows as text": '{"rows": "many"}', "rows of nan": '{"rows": {"nli/test": {"rows": NaN}}}'}.items():
        yield Case(
            "hub folder", f"version is {name}", spoil(HUB / "dataset_version.json", lambda _, t=text: t.encode()), ("report", "sizes")
        )


# --- judgments


def _judgments(folder: Path) -> pl.DataFrame:
    """Frozen judgments of one model on every item and premise, as the project's prompts are."""
    from cxgen.llm import Judgment
    from cxgen.project import Project
    from cxgen.stages.consult import load_prompts
    from cxgen.stages.frozen import as_table
    from cxgen.vocabulary import LABELS

    prompts = load_prompts(Project(folder), ["label", "acceptability"])
    items = pl.read_parquet(folder / CANDIDATES)
    said = [(name, "label", LABELS[label]) for name, label in items.select("id", "label").iter_rows()]
    said += [(name, "acceptability", "prototypical") for name in items["premise_id"].unique().sort()]
    made = [Judgment(item, task, value, "", "m", prompt=prompts[task].hash) for item, task, value in said]
    return as_table(made)


def judged(change: Callable[[pl.DataFrame], pl.DataFrame]) -> Damage:
    def damage(folder: Path) -> None:
        change(_judgments(folder)).write_parquet(folder / JUDGMENTS)

    return damage


def _frozen() -> Iterator[Case]:
    for name, change in BYTES.items():
        if name not in {"UTF-16", "zeros"}:

            def damage(folder: Path, change: Callable[[bytes], bytes] = change) -> None:
                buffer = io.BytesIO()
                _judgments(folder).write_parquet(buffer)
                (folder / JUDGMENTS).write_bytes(change(buffer.getvalue()))

            yield Case("judgments", f"they are {name}", damage, JUDGE)
    for name in ELSE:
        yield Case("judgments", f"they are {name}", no_file(JUDGMENTS, name), JUDGE)
    changes: dict[str, Callable[[pl.DataFrame], pl.DataFrame]] = {
        "text in a column of numbers": lambda t: t.with_columns(asked=pl.lit("often")),
        "lists for text": lambda t: t.with_columns(value=pl.concat_list("value")),
        "structs for text": lambda t: t.with_columns(value=pl.struct("value")),
        "a value that is no choice": at(0, "value", "pwned"),
        "a value of another task": at(0, "value", "prototypical"),
        "a value with escapes": at(0, "value", "\x1b]0;pwned\x07"),
        "a reason with escapes": at(0, "reason", ESCAPE),
        "a model with bidirectional controls": at(0, "model", BIDI),
        "a judge with a newline": at(0, "judge", "m\nFAKE: all is well"),
        "two answers about an item": lambda t: pl.concat([t, at(0, "value", "neutral")(t[:1]), at(0, "value", "entailment")(t[:1])]),
        "a task that does not exist": at(0, "task", "obey"),
        "an item of nothing": at(0, "item", None),
        "no column value": lambda t: t.drop("value"),
        "a column more": lambda t: t.with_columns(secret=pl.lit("x")),
        "no rows": lambda t: t.clear(),
        "other items only": lambda t: t.with_columns(item=pl.lit("x") + pl.int_range(pl.len()).cast(pl.String)),
        "tokens below zero": at(0, "tokens_in", -5),
        "a temperature that is none": at(0, "temperature", float("nan")),
        "a text of two million characters": at(0, "reason", "x" * 2_000_000),
    }
    for name, change in changes.items():
        yield Case("judgments", name, judged(change), JUDGE)


# --- JSON


def rejson(path: Path, change: Callable[[object], object]) -> Damage:
    """Change what a JSON file says."""

    def damage(folder: Path) -> None:
        data = json.loads((folder / path).read_text("utf-8"))
        found = change(data)
        (folder / path).write_text(json.dumps(data if found is None else found), "utf-8")

    return damage


TEXTS = {
    "of another shape": '{"x": 1}',
    "a list": "[]",
    "a number": "7",
    "null": "null",
    "nested 100,000 levels deep": "[" * 100_000 + "]" * 100_000,
    "a number of 5,000 digits": "9" * 5_000,
    "not a number": '{"constructions": NaN}',
}


def _json() -> Iterator[Case]:
    for name in ("splits", "balance", "baselines", "judge", "models", "variety", "reading", "lint", "wug"):
        path = metric(name)
        for what, text in TEXTS.items():
            if (name, what) not in {("lint", "a list"), ("models", "of another shape")}:
                yield Case("metrics", f"{name} is {what}", spoil(path, lambda _, t=text: t.encode()), ("package",))
    yield from anything("metrics", metric("splits"), "package")
    shapes: dict[str, tuple[str, Callable[[object], object]]] = {
        "splits without a count": ("splits", lambda d: d["constructions"]["reach"].pop("verbs_shared") and None),
        "splits with a count as text": ("splits", lambda d: d["constructions"]["reach"]["verbs"].update(train="many")),
        "splits with a leak": ("splits", lambda d: d["violations"]["nli"].update({"repeated ids": 3})),
        "balance with text": ("balance", lambda d: d["nli"]["nli"]["reach"].update(unequal="none")),
        "baselines without gates": ("baselines", lambda d: d["nli"]["hypothesis_only"].update(gates="x")),
        "baselines without an overall": ("baselines", lambda d: d["nli"]["hypothesis_only"].pop("overall") and None),
        "agreement as a list": ("models", lambda d: d.update(agreement=[1, 2])),
        "a model with escapes": ("models", lambda d: d.update(judges=[ESCAPE])),
        "a share above one": ("reading", lambda d: d["overall"].update(labels=3.5)),
        "answers below zero": ("reading", lambda d: d.update(answers=-4)),
        "variety without templates": ("variety", lambda d: d["reach"].pop("templates") and None),
        "a finding without a code": ("lint", lambda d: [{"message": "x"}]),
        "findings as text": ("lint", lambda d: ["E101"]),
    }
    for what, (name, change) in shapes.items():
        yield Case("metrics", what, rejson(metric(name), change), ("package",))


# --- the snapshot


def _snapshot() -> Iterator[Case]:
    listing = ("list",)
    for path in (LEXEMES, CLASSES):
        yield from anything("snapshot", path, *listing, leave=("UTF-16",) if path == LEXEMES else ())
    sample = ("sample", "reach", "--wug", "content")
    yield from anything("snapshot", PSEUDOWORDS, *sample, leave=("UTF-16", "zeros"))
    for what, text in TEXTS.items():
        yield Case("snapshot", f"classes are {what}", spoil(CLASSES, lambda _, t=text: t.encode()), listing)
    shapes: dict[str, Callable[[object], object]] = {
        "ids out of range": lambda d: d["classes"]["people"].update(ids=[10**6]),
        "ids below zero": lambda d: d["classes"]["people"].update(ids=[-1]),
        "ids as text": lambda d: d["classes"]["people"].update(ids=["0"]),
        "ids true": lambda d: d["classes"]["people"].update(ids=[True]),
        "ids beyond any integer": lambda d: d["classes"]["people"].update(ids=[10**30]),
        "extended outside of ids": lambda d: d["classes"]["people"].update(extended=[10**6]),
        "no part of speech": lambda d: d["classes"]["people"].pop("pos") and None,
        "another part of speech": lambda d: d["classes"]["people"].update(pos="king"),
        "classes as a list": lambda d: d.update(classes=[]),
        "a class as a list": lambda d: d["classes"].update(people=[]),
        "frames as a list": lambda d: d.update(frames=[]),
        "a frame without slots": lambda d: d["frames"].update(reach=[{"name": "x", "design": "outcome"}]),
        "a frame as text": lambda d: d["frames"].update(reach=["x"]),
        "a frame of numbers": lambda d: d["frames"].update(reach=[{"name": "x", "design": "outcome", "slots": {"agent": 7}}]),
        "bands as text": lambda d: d.update(bands="low"),
        "bands of lists": lambda d: d.update(bands=[[1]]),
        "overrides as a list": lambda d: d.update(overrides=[1]),
    }
    for what, change in shapes.items():
        yield Case("snapshot", what, rejson(CLASSES, change), listing)
    changes: dict[str, Callable[[pl.DataFrame], pl.DataFrame]] = {
        "no rows": lambda t: t.clear(),
        "no column lemma": lambda t: t.drop("lemma"),
        "no column plural": lambda t: t.drop("plural"),
        "zipf as text": lambda t: t.with_columns(zipf=pl.lit("high")),
        "a key twice": lambda t: t.with_columns(key=pl.lit("cat%n")),
        "another band": lambda t: t.with_columns(band=pl.lit("huge")),
        "another gender": lambda t: t.with_columns(gender=pl.lit("x")),
        "another part of speech": lambda t: t.with_columns(pos=pl.lit("king")),
        "contraries that do not exist": lambda t: t.with_columns(contrary=pl.lit(["nowhere%n"])),
        "a lemma of nothing": at(0, "lemma", None),
        "a lemma with escapes": at(0, "lemma", ESCAPE),
    }
    yield from tables("snapshot", LEXEMES, changes, listing)
    pseudo: dict[str, Callable[[pl.DataFrame], pl.DataFrame]] = {
        "no pseudowords": lambda t: t.clear(),
        "pseudowords without variants": lambda t: t.drop("variant"),
        "variants as text": lambda t: t.with_columns(variant=pl.lit("x")),
        "pseudowords of nothing": lambda t: t.with_columns(lemma=pl.lit(None, pl.String)),
        "a variant twice": lambda t: pl.concat([t, t[:1]]),
    }
    yield from tables("snapshot", PSEUDOWORDS, pseudo, sample)


# --- YAML


def insert(path: Path, line: str) -> Damage:
    """One more line at the end."""
    return spoil(path, lambda raw: raw + line.encode() + b"\n")


def swap(path: Path, old: str, new: str) -> Damage:
    """Replace a text."""

    def damage(folder: Path) -> None:
        text = (folder / path).read_text("utf-8")
        assert old in text, f"{old} is not in {path}"
        (folder / path).write_text(text.replace(old, new, 1), "utf-8", errors="surrogatepass")

    return damage


def reyaml(path: Path, change: Callable[[dict], object]) -> Damage:
    """Change what a YAML file says."""

    def damage(folder: Path) -> None:
        data = yaml.safe_load((folder / path).read_text("utf-8"))
        change(data)
        (folder / path).write_text(yaml.safe_dump(data, sort_keys=False, allow_unicode=True), "utf-8")

    return damage


def bomb(levels: int, width: int = 9) -> str:
    """Aliases that stand for ``width`` to the power of ``levels`` values."""
    lines = ["a0: &a0 [x]"] + [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * width)}]" for n in range(1, levels)]
    return "\n".join(lines)


def merges(levels: int) -> str:
    """Merge keys that stand for two to the power of ``levels`` mappings."""
    lines = ["m0: &m0 {k: v}"] + [f"m{n}: &m{n} {{<<: [{', '.join([f'*m{n - 1}'] * 8)}]}}" for n in range(1, levels)]
    return "\n".join(lines)


SCALARS = {
    "a date that is none": "x: 2026-99-99",
    "an integer tag": "x: !!int foo",
    "a float tag": "x: !!float foo",
    "a boolean tag": "x: !!bool foo",
    "a date tag": "x: !!timestamp foo",
    "a binary tag": "x: !!binary é",
    "a set tag": "x: !!set [a]",
    "an ordered map tag": "x: !!omap {a: b}",
    "a pairs tag": "x: !!pairs a",
    "a tag of Python": "x: !!python/object/apply:os.system [touch pwned]",
    "an unknown tag": "x: !mine foo",
    "an integer of 5,000 digits": "x: " + "9" * 5_000,
    "a sexagesimal without end": "x: 1" + ":1" * 5_000,
    "a list for a key": "? [a, b]\n: c",
    "a mapping for a key": "? {a: b}\n: c",
    "an alias of nothing": "x: *nothing",
    "an alias of itself": "x: &x [*x]",
    "aliases without end": bomb(12),
    "merges without end": merges(14),
    "a merge of a list of text": "x: {<<: [a, b]}",
    "a number for a key": "7: x",
    "a million brackets": "x: " + "[" * 1_000_000,
    "a thousand braces": "x: " + "{a: " * 1_000 + "b" + "}" * 1_000,
    "a second document": "---\nname: again",
    "an escape sequence": r'x: "\e[31mred"',
    "a surrogate": r'x: "\ud800"',
    "bidirectional controls": "x: \u202egnirts",
    "a key twice": "x: 1\nx: 2",
    "a tab": "x:\n\ty: 1",
    "infinity": "x: .inf",
    "not a number": "x: .nan",
    "a hundred thousand keys": "\n".join(f"k{n}: v" for n in range(100_000)),
    "a line of eight megabytes": "x: " + "a" * 8_000_000,
}
PARAM_LINES = {
    "ten million items": ("n_per_construction: 240", "n_per_construction: 10000000"),
    "a trillion items": ("n_per_construction: 240", "n_per_construction: 1000000000000"),
    "items of 400 digits": ("n_per_construction: 240", "n_per_construction: 1" + "0" * 400),
    "half an item": ("n_per_construction: 240", "n_per_construction: 240.5"),
    "items without end": ("n_per_construction: 240", "n_per_construction: .inf"),
    "no items": ("n_per_construction: 240", "n_per_construction: 0"),
    "true items": ("n_per_construction: 240", "n_per_construction: true"),
    "many look-alikes": ("n_per_lookalike: 120", "n_per_lookalike: 100000000000"),
    "endless oversampling": ("oversample: 1.2", "oversample: .inf"),
    "oversampling that is none": ("oversample: 1.2", "oversample: .nan"),
    "oversampling by a billion": ("oversample: 1.2", "oversample: 1.0e+9"),
    "marked that is none": ("marked: 0.02", "marked: .nan"),
    "a share of nothing": ("train: 0.7\n", "train: .nan\n"),
    "a tiny share": ("dev: 0.15\n", "dev: 5.0e-9\n"),
    "shares of more than all": ("train: 0.7\n", "train: 0.9\n"),
    "a construction twice": ("constructions:\n- reach", "constructions:\n- reach\n- reach"),
    "no construction": ("constructions:\n- reach", "constructions: []"),
    "a construction with a path": ("constructions:\n- reach", "constructions:\n- ../reach"),
    "a construction with escapes": ("constructions:\n- reach", '-\n- "\\e[31m"'),
    "a million workers": ("workers: 1", "workers: 1000000"),
    "a huge seed": ("seed: 20261121", "seed: 1" + "0" * 400),
    "a seed below zero": ("seed: 20261121", "seed: -1" + "0" * 30),
    "an unknown config": ("sizes:\n", "sizes:\n  nothing: 3\n"),
    "a config of 10^12 rows": ("minimal_pairs: 4800", "minimal_pairs: 1000000000000"),
    "a billion folds": ("folds: 2", "folds: 1000000000"),
    "a share of wugs that is none": ("share: 0.25", "share: .nan"),
}


def _params() -> Iterator[Case]:
    command = ("generate",)
    yield from anything("params", PARAMS, *command)
    for name, line in SCALARS.items():
        yield Case("params", name, insert(PARAMS, line), command)
    for name, (old, new) in PARAM_LINES.items():
        yield Case("params", name, swap(PARAMS, old, new), command)
    yield Case("params", "an endless device", lambda _: None, ("generate", "--params", "/dev/zero"))
    yield Case("params", "a folder", lambda _: None, ("generate", "--params", "templates"))
    yield Case("params", "nothing", lambda _: None, ("generate", "--params", "nowhere.yaml"))
    yield Case("params", "an odd name", lambda _: None, ("generate", "--params", "\x1b[31m.yaml"))


def nodes(count: int, operator: str, attributes: str = "{}") -> str:
    """A form pattern of ``count`` nodes."""
    more = "".join(f"    - {{LEFT_ID: verb, REL_OP: '{operator}', RIGHT_ID: n{n}, RIGHT_ATTRS: {attributes}}}\n" for n in range(count))
    return "form_check:\n  - - {RIGHT_ID: verb, RIGHT_ATTRS: {POS: VERB}}\n" + more


FORM = (
    "form_check:\n"
    "  - - {RIGHT_ID: verb, RIGHT_ATTRS: {POS: VERB}}\n"
    '    - {LEFT_ID: verb, REL_OP: ">", RIGHT_ID: target, RIGHT_ATTRS: {DEP: obl}}\n'
    '    - {LEFT_ID: target, REL_OP: ">", RIGHT_ID: preposition, RIGHT_ATTRS: {DEP: case, LEMMA: for}}\n'
)
VERB = "  verb: {role: verb, frame: true, carries: true}"
TARGET = "  target: {role: target, frame: true, carries: true}"
PLAIN = 'plain: "{agent} {@verb:past} for {target}{@rest}."'
MISSED = 'bind: {verb: verb, rest: " entirely in vain"}'
TEMPLATE_LINES = {
    "a slot related to itself": (TARGET, "  target: {role: target, related: {near: target}}"),
    "slots in a circle": (
        f"{VERB}\n{TARGET}",
        "  verb: {role: verb, related: {near: target}}\n  target: {role: target, related: {near: verb}}",
    ),
    "slots distinct from themselves": (TARGET, "  target: {role: target, frame: true, distinct: [target, nowhere]}"),
    "a regular expression that is none": (FORM, nodes(1, ">", "{LEMMA: {REGEX: '('}}")),
    "an unknown attribute": (FORM, nodes(1, ">", "{NOTHING: 1}")),
    "an unknown operator": (FORM, nodes(1, "?!")),
    "a node without LEFT_ID": (
        FORM,
        "form_check:\n  - - {RIGHT_ID: verb, RIGHT_ATTRS: {POS: VERB}}\n    - {RIGHT_ID: x, RIGHT_ATTRS: {}}\n",
    ),
    "a pattern of 2,000 nodes": (FORM, nodes(2_000, ">")),
    "a chain of >>": (FORM, nodes(6, ">>")),
    "3,000 patterns": (FORM, "form_check:\n" + "  - - {RIGHT_ID: verb, RIGHT_ATTRS: {POS: VERB}}\n" * 3_000),
    "a binding within itself": (MISSED, 'bind: {verb: verb, rest: "' + "{@rest}" * 60 + '"}'),
    "bindings that grow": (
        MISSED,
        "bind: {verb: verb, rest: '"
        + "{@a}" * 200
        + "', a: '"
        + "{@b}" * 200
        + "', b: '"
        + "{@c}" * 200
        + "', c: '"
        + "{@d}" * 200
        + "', d: x}",
    ),
    "a binding of nothing": (PLAIN, 'plain: "{agent} {@nothing} for {target}{@rest}."'),
    "an unknown slot": (PLAIN, 'plain: "{king} {@verb:past} for {target}{@rest}."'),
    "an attribute in a pattern": (PLAIN, 'plain: "{agent.__class__} {@verb:past} for {target}{@rest}."'),
    "a number in a pattern": (PLAIN, 'plain: "{0} {@verb:past} for {target}{@rest}."'),
    "Jinja in a pattern": (PLAIN, 'plain: "{{ agent }} {@verb:past} for {target}{@rest}."'),
    "an unknown form": (PLAIN, 'plain: "{agent:nothing} {@verb:past} for {target}{@rest}."'),
    "a stray brace": (PLAIN, 'plain: "{agent {@verb:past} for {target}{@rest}."'),
    "a pattern of a million slots": (PLAIN, 'plain: "' + "{agent} " * 200_000 + '"'),
    "controls in a pattern": (PLAIN, 'plain: "{agent}\\e[31m {@verb:past} for {target}{@rest}."'),
    "bidirectional controls in a pattern": (PLAIN, 'plain: "{agent}\\u202e {@verb:past} for {target}{@rest}."'),
    "a surrogate in a pattern": (PLAIN, 'plain: "{agent}\\ud83d {@verb:past} for {target}{@rest}."'),
    "another name": ("name: reach", "name: ../../etc/passwd"),
    "a title with escapes": ("title: Reach", r'title: "\e]0;pwned\a"'),
    "an unknown role": (VERB, "  verb: {role: king, frame: true}"),
    "an unknown class": ("class: times", "class: ../../etc"),
    "wrap with two places": ('wrap: "{}, "', 'wrap: "{}{}, "'),
    "wrap with a format": ('wrap: "{}, "', 'wrap: "{0.__class__}{}, "'),
    "a claim that is none": ("claim: not got(agent, target)", "claim: got(agent"),
    "a fact about nobody": ('excludes: ["got(agent, target)"]', 'excludes: ["got(agent, king)"]'),
    "facts that contradict": ('excludes: ["got(agent, target)"]', 'excludes: ["got(agent, target)"]\n    entails: ["got(agent, target)"]'),
    "a design without kinds": ("kinds: [missed, caught, twice, once]", "kinds: []"),
    "a design with an unknown kind": ("kinds: [missed, caught, twice, once]", "kinds: [missed, nothing]"),
    "a design with an unknown hypothesis": ("hypotheses: [without, with, repeated, single]", "hypotheses: [nothing]"),
    "a weight without end": ("hypotheses: [without, with, repeated, single]", "hypotheses: [without, with]\n    weight: .inf"),
    "a weight that is none": ("hypotheses: [without, with, repeated, single]", "hypotheses: [without, with]\n    weight: .nan"),
    "an unknown config": ("config: distinction", "config: nothing"),
    "a shared entry that does not exist": (VERB, "  verb: {shared: nowhere}"),
    "a rank of 400 digits": ("schematicity: 1", "schematicity: 1" + "0" * 400),
    "a frame of unknown words": ("verb: reach-verbs, target: things", "verb: reach-verbs, target: nowhere"),
    "an unknown design for a frame": ("design: outcome\n    slots", "design: nothing\n    slots"),
    "a look-alike with a path": ("lookalikes: [wait]", "lookalikes: [../wait]"),
    "a look-alike of itself": ("lookalikes: [wait]", "lookalikes: [reach]"),
}


def many_kinds(folder: Path) -> None:
    """A design that is too large to be balanced by search."""
    data = yaml.safe_load((folder / REACH).read_text("utf-8"))
    picks = random.Random(1)
    names = [f"claim{n}" for n in range(24)]
    data["predicates"] = {name: {"gloss": "x"} for name in names}
    for name in names:
        data["hypotheses"][name] = {"claim": f"{name}(agent)", "wordings": [f"{{agent}} {name}."]}
    kinds = {}
    for number in range(16):
        facts = {"entails": [], "excludes": []}
        for name in names:
            side = picks.choice(("entails", "excludes", ""))
            if side:
                facts[side].append(f"{name}(agent)")
        kinds[f"kind{number}"] = {"gloss": "x", "bind": {"verb": "verb", "rest": f" x{number}"}, **facts}
    data["kinds"], data["lookalikes"] = kinds, []
    data.pop("lookalikes")
    data["hypotheses"] = {name: data["hypotheses"][name] for name in names}
    data["designs"] = {"outcome": {"kinds": list(kinds), "hypotheses": names}}
    data["frames"] = [{**data["frames"][1], "design": "outcome"}]
    (folder / REACH).write_text(yaml.safe_dump(data, sort_keys=False), "utf-8")


def many_templates(folder: Path) -> None:
    text = (folder / REACH).read_text("utf-8")
    more = "".join(f'  t{n}: "{{agent}} {{@verb:past}} for {{target}}{{@rest}} {n}."\n' for n in range(80_000))
    (folder / REACH).write_text(text.replace("templates:\n", "templates:\n" + more), "utf-8")


def _templates() -> Iterator[Case]:
    generate, sample = ("generate",), ("sample", "reach")
    yield from anything("templates", REACH, *sample)
    for name, line in SCALARS.items():
        yield Case("templates", name, insert(REACH, line), sample)
    linted = {name for name, (old, _) in TEMPLATE_LINES.items() if old == FORM}  # looked at where premises are matched
    for name, (old, new) in TEMPLATE_LINES.items():
        yield Case("templates", name, swap(REACH, old, new), generate if name in linted else sample)
    yield Case("templates", "a design too large to balance", many_kinds, sample)
    yield Case("templates", "80,000 templates", many_templates, sample)
    yield Case("templates", "a look-alike of nobody", swap(WAIT, "lookalike_of: reach", "lookalike_of: nobody"), sample)
    yield from anything("shared templates", Path("templates/_shared.yaml"), *sample, leave=tuple(BYTES))
    yield Case("shared templates", "of another shape", lambda f: (f / "templates/_shared.yaml").write_text("slots: 7\n"), sample)


def _chunks() -> Iterator[Case]:
    export = ("export", "conllu", "--split", "test", "--output", "x.conllu")
    yield from anything("chunks", CHUNKS, *export, leave=("empty", "half of it"))
    for name in ("an integer tag", "aliases without end", "a list for a key", "a million brackets", "an escape sequence"):
        yield Case("chunks", name, insert(CHUNKS, SCALARS[name]), export)
    for name, token in {
        "a head out of range": "xx/ADP/IN/case>9",
        "no head": "xx/ADP/IN/case",
        "an unknown part of speech": "xx/KING/IN/case>NEXT",
        "an unknown relation": "xx/ADP/IN/king>NEXT",
        "no token": "xx",
        "a head of 5,000 digits": "xx/ADP/IN/case>" + "9" * 5_000,
    }.items():
        yield Case("chunks", name, reyaml(CHUNKS, lambda d, t=token: d["chunks"].append(t)), export)
    for name, value in {"a number": 7, "nothing": None, "a mapping": {"a": "b"}}.items():
        yield Case("chunks", f"{name} for a chunk", reyaml(CHUNKS, lambda d, v=value: d["chunks"].append(v)), export)


PROMPT = {
    "task": "label",
    "instructions": "Say which label the pair has, and nothing else at all.",
    "fields": ["premise", "hypothesis"],
    "answer": {"key": "label", "choices": {"entailment": "entailment", "neutral": "neutral", "contradiction": "contradiction"}},
    "parameters": {"temperature": 0.0, "max_tokens": 20},
}


def prompt(**changes: object) -> Damage:
    """A prompt of the project's own."""

    def damage(folder: Path) -> None:
        judged(lambda t: t)(folder)
        path = folder / "pipelines/prompts/label.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(yaml.safe_dump({**PROMPT, **changes}, sort_keys=False), "utf-8")

    return damage


def _prompts() -> Iterator[Case]:
    asking = ("judge", "--backend", "openai", "--model", "m", "--base-url", "http://127.0.0.1:9/v1", "--task", "label", "--dry-run")
    choices = PROMPT["answer"]["choices"]
    for name, changes in {
        "an attribute for a field": {"fields": ["premise", "{items.__class__}"]},
        "an unknown field": {"fields": ["premise", "label"]},
        "a field of another task": {"fields": ["sentence"]},
        "no fields": {"fields": []},
        "the answer is the id": {"answer": {"key": "id", "choices": choices}},
        "an answer of nothing": {"answer": {"key": "", "choices": choices}},
        "choices that are no labels": {"answer": {"key": "label", "choices": {"a": "yes", "b": "no"}}},
        "no choices": {"answer": {"key": "label"}},
        "choices and a list": {"answer": {"key": "label", "choices": choices, "list": True}},
        "another task": {"task": "acceptability"},
        "a temperature that is none": {"parameters": {"temperature": float("nan"), "max_tokens": 20}},
        "tokens without end": {"parameters": {"temperature": 0.0, "max_tokens": 10**12}},
        "instructions of a megabyte": {"instructions": "Say it. " * 131_072},
    }.items():
        yield Case("prompts", name, prompt(**changes), asking)
    for name in ELSE:
        yield Case("prompts", f"the file is {name}", no_file(Path("pipelines/prompts/label.yaml"), name), asking)


HEAD = "id,relation,prem_nat,hyp_nat,reader,kind\n"


def _readings() -> Iterator[Case]:
    command = ("report", "reading")
    yield from anything("readings", READING, *command, leave=("half of it",))
    for name, text in {
        "another relation": HEAD + "x,Q,5,5,r,human\n",
        "a rating of 9": HEAD + "x,E,9,5,r,human\n",
        "a rating as text": HEAD + "x,E,good,5,r,human\n",
        "an id of nothing": HEAD + ",E,5,5,r,human\n",
        "a reader with escapes": HEAD + "x,E,5,5,\x1b[31mr,human\n",
        "too many cells": HEAD + "x,E,5,5,r,human,more,and,more\n",
        "a quote that does not end": HEAD + '"x,E,5,5,r,human\n' * 50,
        "no columns": "\n\n\n",
        "a column twice": "id,id,relation,prem_nat,hyp_nat,reader,kind\nx,x,E,5,5,r,human\n",
        "a line of two million characters": HEAD + "x" * 2_000_000 + ",E,5,5,r,human\n",
        "an answer twice": HEAD + "x,E,5,5,r,human\nx,N,5,5,r,human\n",
    }.items():
        yield Case("readings", name, spoil(READING, lambda _, t=text: t.encode()), command)


def own_words(text: str) -> Damage:
    """A project with words of its own beside the shipped snapshot."""

    def damage(folder: Path) -> None:
        import shutil

        shutil.rmtree(folder / "lexicons")
        (folder / OWN.parent).mkdir(parents=True)
        (folder / OWN).write_text(text, "utf-8")

    return damage


def _lexicons() -> Iterator[Case]:
    member = "classes:\n  mine:\n    pos: noun\n    gloss: x\n    members:\n"
    for name, text in {
        "aliases without end": bomb(12),
        "a class that extends itself": member + "    - cat%1:05:00::\n    extends: mine\n",
        "classes in a circle": "classes:\n"
        "  a: {pos: noun, gloss: x, extends: b, members: []}\n"
        "  b: {pos: noun, gloss: x, extends: a, members: []}\n",
        "a word that does not exist": member + "    - nowhere%1:05:00::\n",
        "another part of speech": member + "    - run%2:38:00::\n",
        "a member of nothing": member + "    -\n",
        "a number for a member": member + "    - 7\n",
        "a member with escapes": member + '    - {lemma: "\\e[31m"}\n',
        "an unknown part of speech": "classes: {mine: {pos: king, gloss: x, members: []}}\n",
        "classes as a list": "classes: [a]\n",
    }.items():
        yield Case("own words", name, own_words(text), ("list",))


def _elsewhere() -> Iterator[Case]:
    """Places where files should be written."""

    def instead(path: str) -> Damage:
        def damage(folder: Path) -> None:
            import shutil

            shutil.rmtree(folder / path, ignore_errors=True)
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text("a file")

        return damage

    yield Case("places", "outputs is a file", instead("outputs"), ("generate",))
    yield Case("places", "work is a file", instead("outputs/work"), ("generate",))
    yield Case("places", "metrics is a file", instead("outputs/metrics"), ("split",))
    yield Case("places", "hub is a file", instead("outputs/hub"), ("package",))
    yield Case("places", "a config is a file", instead("outputs/dataset/nli"), ("split",))
    yield Case("places", "the dataset is a file", instead("outputs/dataset"), ("package",))
    yield Case("places", "templates is a file", instead("templates"), ("sample", "reach"))
    yield Case("places", "readings is a file", instead("pipelines/readings"), ("report", "reading"))
    yield Case("places", "the output is a folder", lambda _: None, ("export", "conllu", "--split", "test", "--output", "templates"))
    yield Case("places", "the output is nowhere", lambda _: None, ("export", "conllu", "--split", "test", "--output", "/proc/none/x"))
    yield Case("places", "a table is a folder", no_file(CANDIDATES, "a folder"), ("generate",))
    yield Case("places", "NOTICE is a pipe", no_file(Path("NOTICE"), "a pipe"), ("package",))
    yield Case("places", "NOTICE is a link out", lambda f: (f / "NOTICE").symlink_to("/etc/passwd"), ("package",))


CASES: list[Case] = [
    *_tables(),
    *_frozen(),
    *_json(),
    *_snapshot(),
    *_params(),
    *_templates(),
    *_chunks(),
    *_prompts(),
    *_readings(),
    *_lexicons(),
    *_elsewhere(),
]
