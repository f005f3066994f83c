"""More damaged and hostile files: bombs in tables, invisible characters, patterns without end, odd places. See `tests.damage`."""

from __future__ import annotations

import os
import shutil
import socket
import sqlite3
import subprocess
from collections.abc import Iterator
from pathlib import Path

import polars as pl

from cxgen.layout import CANDIDATES, VERDICTS, metric
from tests.damage import (
    CHUNKS,
    CLASSES,
    FORM,
    HEAD,
    JUDGE,
    LEXEMES,
    NLI,
    PARAMS,
    PLAIN,
    PSEUDOWORDS,
    REACH,
    READING,
    WAIT,
    WUG,
    Case,
    Damage,
    insert,
    judged,
    no_file,
    nodes,
    own_words,
    prompt,
    rejson,
    retable,
    reyaml,
    spoil,
    swap,
)

LIST = ("list",)
SAMPLE = ("sample", "reach")
GENERATE = ("generate",)
PACKAGE = ("package",)
CONLLU = ("export", "conllu", "--split", "test", "--output", "x.conllu")
ASK = ("judge", "--backend", "openai", "--model", "m", "--base-url", "http://127.0.0.1:9/v1", "--task", "label", "--dry-run")


def many(rows: int):
    return lambda t: t[[0] * rows].with_columns(id=pl.int_range(pl.len()).cast(pl.String))


def wide(t: pl.DataFrame) -> pl.DataFrame:
    return t.with_columns(pl.lit(1).alias(f"c{n}") for n in range(20_000))


def deep(t: pl.DataFrame) -> pl.DataFrame:
    value = pl.col("premise")
    for _ in range(60):
        value = pl.concat_list(value)
    return t.with_columns(premise=value)


def bomb_list(t: pl.DataFrame) -> pl.DataFrame:
    """One row whose slots are a list of a hundred million."""
    first = t["slots"][0][0]
    return t[:1].with_columns(slots=pl.Series([pl.Series([first]).new_from_index(0, 1_000_000)]))


def long_text(size: int, rows: int):
    return lambda t: t[:rows].with_columns(premise=pl.Series([f"{n}" + "a" * size for n in range(min(rows, t.height))]))


TABLES = {
    "300,000 rows that are all alike": many(300_000),
    "a list of a million": bomb_list,
    "texts of 20 MB each": long_text(20 << 20, 4),
    "a text of nine kilobytes, 300,000 times": lambda t: many(300_000)(t).with_columns(premise=pl.lit("a " * 4_500)),
    "20,000 columns": wide,
    "lists in sixty levels": deep,
    "a column's name of a megabyte": lambda t: t.with_columns(pl.lit(1).alias("x" * 1_000_000)),
    "a column's name with escapes": lambda t: t.with_columns(pl.lit(1).alias("\x1b[31m")),
    "a column without a name": lambda t: t.with_columns(pl.lit(1).alias("")),
    "a zero width space in a text": lambda t: t.with_columns(premise=pl.col("premise") + "\u200b"),
    "a right-to-left mark in a text": lambda t: t.with_columns(hypothesis=pl.col("hypothesis") + "\u200f"),
    "categories for text": lambda t: t.with_columns(pl.col("premise").cast(pl.Categorical)),
    "bytes for text": lambda t: t.with_columns(pl.col("premise").cast(pl.Binary)),
    "dates for labels": lambda t: t.with_columns(label=pl.lit("2026-01-01").str.to_date()),
    "nothing but nulls": lambda t: t.with_columns(pl.lit(None).cast(t.schema[n]).alias(n) for n in t.columns),
    "labels as floats": lambda t: t.with_columns(pl.col("label").cast(pl.Float64)),
    "labels as bytes beyond": lambda t: t.with_columns(pl.col("label").cast(pl.Int64)),
}


def _tables() -> Iterator[Case]:
    for name, change in TABLES.items():
        yield Case("bombs", f"nli: {name}", retable(NLI, change), PACKAGE)
        yield Case("bombs", f"candidates: {name}", retable(CANDIDATES, change), ("judge",))
    yield Case("bombs", "verdicts: two million rows", retable(VERDICTS, lambda t: t[[0] * 2_000_000]), ("split",))
    yield Case("bombs", "wug: a list of a million", retable(WUG, bomb_list), PACKAGE)
    yield Case(
        "bombs", "lexemes: relations to a million words", retable(LEXEMES, lambda t: t.with_columns(near=pl.lit(["x%n"] * 1_000_000))), LIST
    )
    yield Case("bombs", "lexemes: a lemma of nine kilobytes", retable(LEXEMES, lambda t: t.with_columns(lemma=pl.lit("a" * 9_000))), SAMPLE)
    yield Case(
        "bombs",
        "lexemes: a lemma with a zero width joiner",
        retable(LEXEMES, lambda t: t.with_columns(lemma=pl.col("lemma") + "\u200d")),
        LIST,
    )
    yield Case("bombs", "lexemes: a plural with controls", retable(LEXEMES, lambda t: t.with_columns(plural=pl.lit("a\nb"))), LIST)
    yield Case("bombs", "lexemes: percentiles of nan", retable(LEXEMES, lambda t: t.with_columns(percentile=pl.lit(float("nan")))), LIST)
    yield Case(
        "bombs",
        "pseudowords: a lemma with spaces and braces",
        retable(PSEUDOWORDS, lambda t: t.with_columns(lemma=pl.lit("{agent} \u202e"))),
        ("sample", "reach", "--wug", "content"),
    )
    yield Case("bombs", "judgments: a reason of zero width", judged(lambda t: t.with_columns(reason=pl.lit("\u200b"))), JUDGE)
    yield Case(
        "bombs",
        "judgments: a million alike",
        judged(lambda t: t[[0] * 500_000].with_columns(item=pl.int_range(pl.len()).cast(pl.String))),
        JUDGE,
    )
    yield Case("bombs", "judgments: dates", judged(lambda t: t.with_columns(asked=pl.lit("2026-01-01").str.to_date())), JUDGE)
    yield Case("bombs", "judgments: log probabilities of nan", judged(lambda t: t.with_columns(logprob=pl.lit(float("nan")))), JUDGE)
    yield Case("bombs", "judgments: an empty judge", judged(lambda t: t.with_columns(judge=pl.lit(""))), JUDGE)
    yield Case("bombs", "judgments: a value with a tag character", judged(lambda t: t.with_columns(model=pl.lit("m\U000e0041"))), JUDGE)

    def wug_snapshot(name, change):
        def damage(folder):
            shipped = Path(__file__).resolve().parent.parent / "lexicons/snapshot"
            for path in shipped.glob("wug_*.parquet"):
                shutil.copy(path, folder / "lexicons/snapshot")
            target = folder / f"lexicons/snapshot/wug_{name}.parquet"
            change(target)

        return damage

    def table_of(change):
        return lambda path: change(pl.read_parquet(path)).write_parquet(path)

    wugs = ("wug", "hammer")
    yield Case("generator", "no snapshot", lambda _: None, wugs)
    yield Case("generator", "forms are half", wug_snapshot("forms", lambda p: p.write_bytes(p.read_bytes()[:9000])), wugs)
    yield Case(
        "generator",
        "rude words without end",
        wug_snapshot("forms", table_of(lambda t: t.with_columns(form=pl.when("rude").then(pl.lit("(a+)+$")).otherwise("form")))),
        wugs,
    )
    yield Case(
        "generator",
        "rude words that are no pattern",
        wug_snapshot("forms", table_of(lambda t: t.with_columns(form=pl.when("rude").then(pl.lit("(")).otherwise("form")))),
        wugs,
    )
    yield Case("generator", "a chain without columns", wug_snapshot("chain", table_of(lambda t: t[:, :1])), wugs)
    yield Case("generator", "a lexicon of other types", wug_snapshot("lexicon", table_of(lambda t: t.with_columns(zipf=pl.lit("x")))), wugs)
    yield Case(
        "generator", "lengths that do not add up", wug_snapshot("lexicon", table_of(lambda t: t.with_columns(lengths=pl.lit("x")))), wugs
    )
    yield Case("generator", "no sounds", wug_snapshot("sounds", table_of(lambda t: t.clear())), wugs)
    yield Case("generator", "a pipe", wug_snapshot("sounds", lambda p: (p.unlink(), os.mkfifo(p))), wugs)
    yield Case("generator", "nothing in the chain", wug_snapshot("chain", table_of(lambda t: t.clear())), wugs)


INVISIBLE = {
    "a zero width space": "\u200b",
    "a zero width joiner": "\u200d",
    "a right-to-left mark": "\u200f",
    "a byte order mark": "\ufeff",
    "a soft hyphen": "\u00ad",
    "a word joiner": "\u2060",
    "a tag": "\U000e0041",
    "an Arabic letter mark": "\u061c",
    "a line separator": "\u2028",
    "a non-character": "\uffff",
}


def _invisible() -> Iterator[Case]:
    for name, mark in INVISIBLE.items():
        yield Case(
            "invisible",
            f"{name} in a pattern",
            swap(REACH, PLAIN, f'plain: "{{agent}}{mark} {{@verb:past}} for {{target}}{{@rest}}."'),
            SAMPLE,
        )
    mark = "\u200b"
    code = "\\u200b"
    yield Case(
        "invisible", "escaped in a pattern", swap(REACH, PLAIN, f'plain: "{{agent}}{code} {{@verb:past}} for {{target}}{{@rest}}."'), SAMPLE
    )
    yield Case("invisible", "in a title", swap(REACH, "title: Reach", f"title: Re{mark}ach"), SAMPLE)
    yield Case("invisible", "in params", swap(PARAMS, "constructions:\n- reach", f"constructions:\n- re{mark}ach"), GENERATE)
    yield Case("invisible", "in a wording", swap(REACH, '"{agent} tried again."', f'"{{agent}} tried{mark} again."'), SAMPLE)
    yield Case("invisible", "in a chunk", insert(CHUNKS, f"# {mark}"), CONLLU)
    yield Case("invisible", "in readings", spoil(READING, lambda _: (HEAD + f"x{mark},E,5,5,r,human\n").encode()), ("report", "reading"))
    yield Case("invisible", "in a prompt", prompt(instructions=f"Say which label the pair{mark} has, and nothing else."), ASK)
    yield Case(
        "invisible",
        "in a word of one's own",
        own_words(f"classes:\n  mine:\n    pos: noun\n    gloss: x\n    members:\n    - {{lemma: ca{mark}t}}\n"),
        LIST,
    )
    yield Case("invisible", "in metrics", rejson(metric("models"), lambda d: d.update(judges=[f"m{mark}"])), PACKAGE)
    yield Case("invisible", "in a name of a file", lambda _: None, ("generate", "--params", f"par{mark}ams.yaml"))


REGEXES = {
    "(a+)+$": "nested",
    "(a|a)*$": "alternatives",
    "(a|aa)+$": "alternatives of two lengths",
    "(.*a){20}": "counted",
    "a?" * 30 + "a" * 30: "optional",
    "(x+x+)+y": "twice nested",
    ".*.*.*.*.*.*x": "stars in a row",
    "(?=(a+)+$)a": "looking ahead",
    "(.)(.*)\\\\1\\\\2+$": "references back",
    "((((((((a*)*)*)*)*)*)*)*)$": "stars of stars",
    "(?:a{1,1000}){1,1000}": "a million times",
    "[" * 1: "an open bracket",
    "(?P<n>a)(?P<n>b)": "a name twice",
    "a{99999999999}": "a count beyond",
    "(" * 200 + ")" * 200: "two hundred groups",
}


def _regexes() -> Iterator[Case]:
    word = "a" * 28
    for regex, name in REGEXES.items():
        attributes = f"{{LEMMA: {{REGEX: '{regex}'}}}}"
        yield Case(
            "regexes",
            name,
            both(swap(REACH, FORM, nodes(1, ">", attributes)), swap(REACH, "exactly two times", f"{word}! two times")),
            GENERATE,
        )
    yield Case("regexes", "a regex of a megabyte", swap(REACH, FORM, nodes(1, ">", f"{{LEMMA: {{REGEX: '{'a' * 1_000_000}'}}}}")), GENERATE)
    yield Case(
        "regexes",
        "a word of a megabyte",
        both(swap(REACH, FORM, nodes(1, ">", "{LEMMA: {REGEX: '.*x.*y'}}")), swap(REACH, "exactly two times", "a" * 100_000)),
        GENERATE,
    )
    yield Case("regexes", "a regex for a tag", swap(REACH, FORM, nodes(1, ">", "{TAG: {REGEX: '(V+)+$'}}")), GENERATE)
    yield Case("regexes", "a number for a regex", swap(REACH, FORM, nodes(1, ">", "{LEMMA: {REGEX: 7}}")), GENERATE)
    yield Case("regexes", "a list for a lemma", swap(REACH, FORM, nodes(1, ">", "{LEMMA: [a, b]}")), GENERATE)
    yield Case("regexes", "an operator with an attribute of python", swap(REACH, FORM, nodes(1, ">", "{_: {a: b}}")), GENERATE)


def both(*damages: Damage) -> Damage:
    def damage(folder: Path) -> None:
        for one in damages:
            one(folder)

    return damage


def _yaml() -> Iterator[Case]:
    lines = {
        "Windows line ends and a tab": "x:\r\n\ty: 1\r",
        "carriage returns alone": "x: 1\rx: 2\r",
        "UTF-16 with a mark": None,
        "nested anchors": "\n".join(["x: &a [1"] + [f", &a{n} [*a" for n in range(50)] + ["]" * 51]),
        "an anchor defined twice": "x: &a 1\ny: &a 2\nz: [*a, *a]",
        "an anchor of a thousand letters": f"x: &{'a' * 5000} 1\ny: *{'a' * 5000}",
        "a directive": "%YAML 9.9\n---\nx: 1",
        "a tag directive": "%TAG ! tag:evil,2026:\n---\nx: !a 1",
        "Arabic digits": "n: \u0661\u0662\u0663",
        "a number with a comma": "n: 1,5",
        "octal": "n: 0o777777777777777777777777777",
        "hexadecimal": "n: 0x" + "f" * 90,
        "binary": "n: 0b" + "1" * 90,
        "underscores": "n: 1_0_0",
        "a float of many digits": "n: 1" + "0" * 80 + ".0e+300",
        "minus zero": "n: -0.0",
        "a block scalar of two megabytes": "x: |\n" + "  aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n" * 60_000,
        "indentation of a thousand": "\n".join(" " * n + "k:" for n in range(0, 2000, 2)),
        "a key of a megabyte": "a" * 1_000_000 + ": 1",
        "a million colons": "x: " + ": " * 500_000,
        "a million dashes": "x:\n" + "- " * 1_000_000,
        "a million question marks": "? " * 500_000,
        "a million ampersands": "x: " + "&a " * 300_000,
        "a million exclamation marks": "x: " + "!" * 500_000,
        "a million quotes": "x: " + "'" * 1_000_001,
        "a million escapes": 'x: "' + "\\x41" * 300_000 + '"',
        "a million folded lines": "x: >\n" + "  \n" * 500_000,
        "59,000 mixed values": "x: [" + ", ".join(["1", "a"] * 29_000) + "]",
        "a merge of itself": "x: &x\n  <<: *x",
        "a merge key of nothing": "<<: ",
        "a merge key twice": "a: &a {k: v}\nx: {<<: *a, <<: *a}",
        "null as a key": "~: 1",
        "a boolean as a key": "yes: 1",
        "an empty key": ": 1",
        "the value sign": "x: =",
        "a timestamp": "x: 2026-11-22",
        "a timestamp with an hour of 99": "x: 2026-11-22T99:99:99Z",
        "document end and more": "...\n--- more\n",
    }
    for name, line in lines.items():
        if line is not None:
            yield Case("yaml", name, insert(REACH, line), SAMPLE)
            yield Case("yaml", f"{name} in params", insert(PARAMS, line), GENERATE)
    for what, encoding in {"UTF-16": "utf-16", "UTF-16 big": "utf-16-be", "UTF-32": "utf-32", "UTF-7": "utf-7", "EBCDIC": "cp500"}.items():
        yield Case(
            "encodings",
            f"params in {what}",
            spoil(PARAMS, lambda raw, e=encoding: raw.decode().encode(e, "replace").replace(b"seed", b"\xffseed")),
            GENERATE,
        )
        yield Case(
            "encodings",
            f"readings in {what}",
            spoil(READING, lambda raw, e=encoding: b"\xff\xfe" + raw.decode().encode(e)),
            ("report", "reading"),
        )
    yield Case("encodings", "two byte order marks", spoil(PARAMS, lambda raw: b"\xef\xbb\xbf" * 2 + raw), GENERATE)
    yield Case("encodings", "overlong", spoil(REACH, lambda raw: raw + b"# \xc0\xaf\n"), SAMPLE)
    yield Case("encodings", "surrogates in UTF-8", spoil(REACH, lambda raw: raw + b"# \xed\xa0\x80\n"), SAMPLE)
    yield Case("encodings", "a cut character", spoil(REACH, lambda raw: raw + b"# \xe2\x82"), SAMPLE)


PARAM = {
    "59,000 constructions": lambda d: d.update(constructions=["reach"] * 2 + [f"c{n}" for n in range(50_000)]),
    "constructions of all kinds": lambda d: d.update(constructions=[x for n in range(9_000) for x in (f"c{n}", n, [n])]),
    "a construction called con": lambda d: d.update(constructions=["con"]),
    "a construction with a dot": lambda d: d.update(constructions=["."]),
    "a construction with an end": lambda d: d.update(constructions=["reach.yaml"]),
    "an absolute construction": lambda d: d.update(constructions=["/etc/passwd"]),
    "a look-alike as a construction": lambda d: d.update(constructions=["wait"]),
    "an empty construction": lambda d: d.update(constructions=[""]),
    "a very long construction": lambda d: d.update(constructions=["x" * 100_000]),
    "seed as text": lambda d: d.update(seed="7"),
    "seed as a float": lambda d: d.update(seed=7.5),
    "a shard of a row": lambda d: d["publish"].update(shard_rows=0),
    "a version with a newline": lambda d: d["publish"].update(version="1.0.0\n"),
    "a licence with a newline": lambda d: d["publish"].update(licence="mit\n"),
    "models that are one text": lambda d: d["judge"].update(models="m"),
    "workers as text": lambda d: d["generate"].update(workers="all"),
    "folds beyond": lambda d: d["baselines"].update(folds=10**18),
    "a share near nothing": lambda d: d["split"].update(train=1e-300, dev=0.5, test=0.5),
    "a date for a year": lambda d: d["publish"].update(year=10**9),
}


def _params() -> Iterator[Case]:
    for name, change in PARAM.items():
        yield Case("more params", name, reyaml(PARAMS, change), GENERATE)
    yield Case("more params", "a title of a megabyte", reyaml(PARAMS, lambda d: d["publish"].update(title="x" * 1_000_000)), PACKAGE)
    yield Case("more params", "authors without end", reyaml(PARAMS, lambda d: d["publish"].update(authors=["x"] * 50_000)), PACKAGE)
    yield Case("more params", "a year of text", reyaml(PARAMS, lambda d: d["publish"].update(year="x")), PACKAGE)
    yield Case("more params", "an url with controls", reyaml(PARAMS, lambda d: d["publish"].update(url="http://x\ny: z")), PACKAGE)


TEMPLATE = {
    "a template of 500,000 letters": (PLAIN, 'plain: "{agent} {@verb:past} for {target}{@rest} ' + "a" * 500_000 + '."'),
    "a template of 100,000 words": (PLAIN, 'plain: "{agent} {@verb:past} for {target}{@rest} ' + "so " * 100_000 + '."'),
    "a template of punctuation": (PLAIN, 'plain: "' + "," * 100_000 + '{agent} {@verb:past} for {target}{@rest}."'),
    "a template of apostrophes": (PLAIN, 'plain: "' + "a'" * 100_000 + '{agent} {@verb:past} for {target}{@rest}."'),
    "an empty template": (PLAIN, 'plain: ""'),
    "a template of spaces": (PLAIN, 'plain: "   "'),
    "a wording of 500,000 letters": ('"{agent} tried again."', '"{agent} tried ' + "a" * 500_000 + '."'),
    "an empty wording": ('"{agent} tried again."', '""'),
    "20,000 wordings": ('"{agent} tried again."', ", ".join(f'"{{agent}} tried {n}."' for n in range(20_000))),
    "a name called con": ("name: reach", "name: con"),
    "a slot called class": ("  agent: {role: agent, frame: true}", "  class: {role: agent, frame: true}"),
    "a kind twice in a design": ("kinds: [missed, caught, twice, once]", "kinds: [missed, missed, twice, once]"),
    "a hypothesis twice": ("hypotheses: [without, with, repeated, single]", "hypotheses: [without, without, repeated, single]"),
    "a claim of fifty places": ("claim: not got(agent, target)", "claim: not got(" + ", ".join(["agent"] * 5000) + ")"),
    "a predicate contrary to itself": ('got: {gloss: "x got y"}', 'got: {gloss: "x got y", contrary: got}'),
    "an asymmetric predicate of one": ('repeated: {gloss: "x tried more than once"}', 'repeated: {gloss: "x", asymmetric: true}'),
    "a weight of infinity": (
        "hypotheses: [without, with, repeated, single]",
        "hypotheses: [without, with, repeated, single]\n    weight: 1.0e+308",
    ),
    "a weight near nothing": (
        "hypotheses: [without, with, repeated, single]",
        "hypotheses: [without, with, repeated, single]\n    weight: 5.0e-324",
    ),
    "an optional share that is none": ("opener: {role: modifier, class: times", "opener: {role: modifier, optional: 1.5, class: times"),
    "a config of another name": ("config: distinction", "config: ../../nli"),
    "the same config twice": ("config: distinction", "config: [distinction, distinction]"),
    "a frame without a verb": ("verb: reach-verbs, target: things", "target: things"),
    "a frame called as another": ("name: reach-animals", "name: reach-things"),
    "a group in itself": ("predicates:\n", "groups: {g: [g]}\npredicates:\n"),
    "groups in a circle": ("predicates:\n", "groups: {g: [h], h: [g]}\npredicates:\n"),
    "a rank of nothing": ("schematicity: 1", "schematicity: 0"),
    "a rank of a float": ("schematicity: 1", "schematicity: 1.5"),
    "shared itself": ('  got: {gloss: "x got y"}', "  got: shared"),
    "distinct from thousands": (
        "  agent: {role: agent, frame: true}",
        "  agent: {role: agent, frame: true, distinct: [" + ", ".join(["target"] * 20_000) + "]}",
    ),
    "classes of thousands": ("class: times", "class: [" + ", ".join(["times"] * 20_000) + "]"),
    "a form without end": (
        '{@verb:past} for {target}{@rest}."\n  opener',
        "{@verb:" + "past-" * 20_000 + '} for {target}{@rest}."\n  opener',
    ),
    "three thousand slots": (
        "  opener: {role",
        "".join(f"  s{n}: {{role: modifier, class: times}}\n" for n in range(3000)) + "  opener: {role",
    ),
    "two thousand kinds": (
        "  missed:\n    gloss: the attempt fails",
        "".join(f"  k{n}: {{gloss: x, bind: {{verb: verb}}}}\n" for n in range(2000)) + "  missed:\n    gloss: the attempt fails",
    ),
    "two thousand designs": (
        "designs:\n",
        "designs:\n"
        + "".join(
            f"  d{n}: {{kinds: [missed, caught, twice, once], hypotheses: [without, with, repeated, single], frames: outcome}}\n"
            for n in range(2000)
        ),
    ),
    "no templates": ("templates:\n", "templates: {}\nold:\n"),
}


def _templates() -> Iterator[Case]:
    for name, (old, new) in TEMPLATE.items():
        yield Case("more templates", name, swap(REACH, old, new), SAMPLE)
    for name in (
        "a template of 500,000 letters",
        "a template of 100,000 words",
        "a wording of 500,000 letters",
        "20,000 wordings",
        "a weight near nothing",
    ):
        old, new = TEMPLATE[name]
        yield Case("more templates", f"{name}, generated", swap(REACH, old, new), GENERATE)
    yield Case("more templates", "a look-alike in a circle", swap(WAIT, "lookalike_of: reach", "lookalike_of: wait"), SAMPLE)
    yield Case(
        "more templates",
        "a template called con",
        lambda f: (f / "templates/con.yaml").write_bytes((f / REACH).read_bytes()),
        ("sample", "con"),
    )
    yield Case("more templates", "a link to a parent", lambda f: (f / "templates/x.yaml").symlink_to("../templates"), ("sample", "x"))
    yield Case(
        "more templates",
        "a chain of links",
        lambda f: [(f / f"templates/l{n}.yaml").symlink_to(f"l{n + 1}.yaml") for n in range(60)],
        ("sample", "l0"),
    )
    yield Case(
        "more templates",
        "a socket",
        lambda f: socket.socket(socket.AF_UNIX).bind(str(f / "templates/s.yaml")),
        ("sample", "s"),
    )
    yield Case(
        "more templates",
        "5,000 files",
        lambda f: [(f / f"templates/t{n}.yaml").write_text("name: [\n") for n in range(5_000)],
        ("sample", "nobody"),
    )


def _json() -> Iterator[Case]:
    texts = {
        "two values": "{} {}",
        "a comment": "{} // x",
        "a byte order mark": "\ufeff{}",
        "a key twice": '{"nli": {}, "nli": {}}',
        "minus zero": "-0",
        "a huge exponent": '{"constructions": 1e999}',
        "a float of a million digits": '{"constructions": 0.' + "1" * 1_000_000 + "}",
        "a text that does not end": '"' + "a" * 1_000_000,
        "a million empty lists": "[" + ",".join(["[]"] * 600_000) + "]",
        "a surrogate": '{"a": "\\ud800"}',
        "a NUL": '{"a": "\\u0000"}',
        "a key with escapes": '{"\\u001b[31m": 1}',
        "a key of a megabyte": '{"' + "k" * 1_000_000 + '": 1}',
        "UTF-16": None,
    }
    for name, text in texts.items():
        raw = (text if text is not None else '{"a": 1}').encode("utf-16" if text is None else "utf-8", "surrogatepass")
        for of, path, command in (
            ("baselines", metric("baselines"), PACKAGE),
            ("splits", metric("splits"), PACKAGE),
            ("classes", CLASSES, LIST),
            ("version", Path("outputs/hub/dataset_version.json"), ("report", "sizes")),
        ):
            yield Case("more json", f"{of} is {name}", spoil(path, lambda _, r=raw: r), command)
    yield Case(
        "more json",
        "a count as a float",
        rejson(metric("splits"), lambda d: d["constructions"]["reach"]["verbs"].update(train=1e300)),
        PACKAGE,
    )
    yield Case(
        "more json",
        "a frame with thousands of slots",
        rejson(
            CLASSES,
            lambda d: d["frames"].update(reach=[{"name": "x", "design": "outcome", "slots": {f"s{n}": "things" for n in range(5000)}}]),
        ),
        SAMPLE,
    )
    yield Case(
        "more json",
        "a class with a path",
        rejson(
            CLASSES,
            lambda d: d["classes"].update({"../x": {"pos": "noun", "ids": [], "extended": []}}) or d["classes"]["people"].update(ids=[]),
        ),
        SAMPLE,
    )
    yield Case("more json", "bands that fall", rejson(CLASSES, lambda d: d.update(bands=[{"at": 50, "noun": float("1e300")}])), LIST)
    yield Case(
        "more json",
        "a name with escapes",
        rejson(CLASSES, lambda d: d["classes"].update({"\x1b[31m": {"pos": "noun", "ids": [], "extended": []}})),
        ("lexicon", "classes"),
    )
    yield Case(
        "more json", "an override of a number", rejson(CLASSES, lambda d: d.update(overrides={"noun": {"cat": {"plural": 7}}})), LIST
    )


def _places() -> Iterator[Case]:
    def git(text):
        def damage(folder):
            subprocess.run(["git", "init", "-q", str(folder)], check=True)
            text(folder)

        return damage

    publish = ("publish", "me/x", "--dry-run")
    yield Case("places", "no git", lambda _: None, publish)
    yield Case("places", "a git file that is none", lambda f: (f / ".git").write_text("gitdir: /nowhere\n"), publish)
    yield Case("places", "a git folder that is none", lambda f: (f / ".git").mkdir(), publish)
    yield Case("places", "a broken head", git(lambda f: (f / ".git/HEAD").write_bytes(b"\xff\0")), publish)
    yield Case("places", "a broken index", git(lambda f: (f / ".git/index").write_bytes(b"x" * 100)), publish)
    yield Case(
        "places",
        "a git config that runs a command",
        git(lambda f: (f / ".git/config").write_text('[core]\n\tfsmonitor = "touch pwned; false"\n')),
        publish,
    )
    for name, text in {
        "none": "",
        "a list": "[]",
        "a bomb": "stages: {a: {cmd: x, foreach: 7}}",
        "latin": "\xff",
        "no YAML": "stages: [",
        "tabs": "stages:\n\tx: 1",
        "a NUL": "stages: \0",
    }.items():
        yield Case("places", f"dvc.yaml is {name}", git(lambda f, t=text: (f / "dvc.yaml").write_bytes(t.encode("latin-1"))), publish)
        yield Case(
            "places",
            f"dvc.lock is {name}",
            git(
                lambda f, t=text: (
                    (f / ".dvc").mkdir(),
                    (f / "dvc.yaml").write_text("stages: {}"),
                    (f / "dvc.lock").write_bytes(t.encode("latin-1")),
                )
            ),
            publish,
        )
    yield Case("places", "dvc.yaml is a folder", git(lambda f: (f / "dvc.yaml").mkdir()), publish)
    yield Case("places", "dvc.yaml is a pipe", git(lambda f: os.mkfifo(f / "dvc.yaml")), publish)
    yield Case(
        "places",
        "a dvc config that is none",
        git(lambda f: ((f / ".dvc").mkdir(), (f / ".dvc/config").write_text("[core\n"), (f / "dvc.yaml").write_text("stages: {}"))),
        publish,
    )
    yield Case("places", "replies are a folder", lambda f: (f / ".cxgen/replies.sqlite").mkdir(parents=True), ASK)
    yield Case("places", "replies are a pipe", no_file(Path(".cxgen/replies.sqlite"), "a pipe"), ASK)
    yield Case(
        "places",
        "replies are a web page",
        lambda f: ((f / ".cxgen").mkdir(), (f / ".cxgen/replies.sqlite").write_text("<html>" * 1000)),
        ASK,
    )
    yield Case(
        "places",
        "replies are another database",
        lambda f: (
            (f / ".cxgen").mkdir(),
            sqlite3.connect(f / ".cxgen/replies.sqlite").execute("create table replies (x)").connection.commit(),
        ),
        ASK,
    )
    yield Case("places", "replies are six gigabytes of nothing", no_file(Path(".cxgen/replies.sqlite"), "six gigabytes of nothing"), ASK)
    yield Case("places", ".cxgen is a file", lambda f: (f / ".cxgen").write_text(""), ASK)
    yield Case("places", ".cxgen is a link to nowhere", lambda f: (f / ".cxgen").symlink_to("nowhere/x"), ASK)
    yield Case(
        "places", "outputs is a link to itself", lambda f: (shutil.rmtree(f / "outputs"), (f / "outputs").symlink_to("outputs")), GENERATE
    )
    yield Case(
        "places",
        "outputs is a link to nowhere",
        lambda f: (shutil.rmtree(f / "outputs"), (f / "outputs").symlink_to("/proc/nowhere")),
        GENERATE,
    )
    yield Case(
        "places", "work is a device", lambda f: (shutil.rmtree(f / "outputs/work"), (f / "outputs/work").symlink_to("/dev/null")), GENERATE
    )
    yield Case(
        "places",
        "undecided is a folder",
        lambda f: ((f / "outputs/work/undecided.jsonl").unlink(missing_ok=True), (f / "outputs/work/undecided.jsonl").mkdir()),
        ("judge",),
    )
    yield Case(
        "places",
        "undecided is a pipe",
        lambda f: ((f / "outputs/work/undecided.jsonl").unlink(missing_ok=True), os.mkfifo(f / "outputs/work/undecided.jsonl")),
        publish,
    )
    yield Case("places", "a metric is a folder", lambda f: ((f / metric("judge")).unlink(), (f / metric("judge")).mkdir()), ("judge",))
    yield Case(
        "places",
        "a metric is a link to a device",
        lambda f: ((f / metric("lint")).unlink(), (f / metric("lint")).symlink_to("/dev/full")),
        PACKAGE,
    )
    yield Case(
        "places", "snapshot is a file", lambda f: (shutil.rmtree(f / "lexicons/snapshot"), (f / "lexicons/snapshot").write_text("")), LIST
    )
    yield Case("places", "lexicons is a file", lambda f: (shutil.rmtree(f / "lexicons"), (f / "lexicons").write_text("")), LIST)
    yield Case(
        "places", "lexicons is a link to itself", lambda f: (shutil.rmtree(f / "lexicons"), (f / "lexicons").symlink_to("lexicons")), LIST
    )
    yield Case(
        "places",
        "templates is a link to itself",
        lambda f: (shutil.rmtree(f / "templates"), (f / "templates").symlink_to("templates")),
        SAMPLE,
    )
    yield Case("places", "pipelines is a file", lambda f: (shutil.rmtree(f / "pipelines"), (f / "pipelines").write_text("")), JUDGE)
    yield Case("places", "prompts is a file", lambda f: (f / "pipelines/prompts").write_text(""), JUDGE)
    yield Case(
        "places",
        "params is a link to nowhere",
        lambda f: ((f / "params.yaml").unlink(), (f / "params.yaml").symlink_to("nowhere")),
        GENERATE,
    )
    yield Case(
        "places",
        "hub is a link to a device",
        lambda f: (shutil.rmtree(f / "outputs/hub"), (f / "outputs/hub").symlink_to("/dev/null")),
        PACKAGE,
    )
    yield Case(
        "places",
        "the dataset is a link out",
        lambda f: (shutil.rmtree(f / "outputs/dataset"), (f / "outputs/dataset").symlink_to("/proc/self")),
        PACKAGE,
    )
    yield Case("places", "a very long output", lambda _: None, ("export", "conllu", "--split", "test", "--output", "x" * 5000))
    yield Case("places", "an output with a NUL", lambda _: None, ("lint", "reach", "--output", "/dev/null/x"))
    yield Case("places", "an output under a file", lambda _: None, ("export", "conllu", "--split", "test", "--output", "params.yaml/x"))
    yield Case("places", "a project that is a file", lambda _: None, ("diff", "params.yaml", "outputs/hub"))
    yield Case("places", "a dataset that is a device", lambda _: None, ("diff", "/dev/zero", "outputs/hub"))


def _readings() -> Iterator[Case]:
    command = ("report", "reading")
    for name, text in {
        "a million columns": ",".join(f"c{n}" for n in range(500_000)) + "\nx\n",
        "a header of blanks": " , , , , , \n",
        "CR alone": HEAD.replace("\n", "\r") + "x,E,5,5,r,human\r",
        "semicolons": HEAD.replace(",", ";") + "x;E;5;5;r;human\n",
        "Arabic digits": HEAD + "x,E,\u0665,5,r,human\n",
        "5.0": HEAD + "x,E,5.5,5,r,human\n",
        "a formula": HEAD + "=HYPERLINK(0),Q,5,5,r,human\n",
        "quotes in quotes": HEAD + '"x""",E,5,5,r,"human\n',
        "a million rows": HEAD + "x,E,5,5,r,human\n" * 1_000_000,
        "a rating of 10^30": HEAD + "x,E,1" + "0" * 30 + ",5,r,human\n",
        "a rating of nan": HEAD + "x,E,nan,5,r,human\n",
        "unequal rows": HEAD + "x,E\nx,E,5,5,r,human\n",
        "nothing but quotes": '"' * 100_000,
        "a tab": HEAD.replace(",", "\t"),
    }.items():
        yield Case("more readings", name, spoil(READING, lambda _, t=text: t.encode()), command)
    yield Case("more readings", "a link to a device", lambda f: (f / "pipelines/readings/x.csv").symlink_to("/dev/zero"), command)
    yield Case("more readings", "a folder called csv", lambda f: (f / "pipelines/readings/x.csv").mkdir(), command)


def _prompts() -> Iterator[Case]:
    for name, changes in {
        "choices with blanks": {"answer": {"key": "label", "choices": {" ": "neutral", "b": "entailment"}}},
        "choices that differ in a blank": {"answer": {"key": "label", "choices": {"a": "neutral", "a ": "entailment"}}},
        "the same field twice": {"fields": ["premise", "premise"]},
        "tokens below zero": {"parameters": {"temperature": 0.0, "max_tokens": -1}},
        "a temperature of 3": {"parameters": {"temperature": 3, "max_tokens": 20}},
    }.items():
        yield Case("more prompts", name, prompt(**changes), ASK)


def _chunks() -> Iterator[Case]:
    for name, token in {
        "a token of a hundred thousand letters": "x" * 100_000 + "/ADP/IN/case>NEXT",
        "ten thousand tokens": "xx/ADP/IN/case>NEXT " * 10_000,
        "heads in a circle": "xx/ADP/IN/case>2 yy/ADP/IN/case>1",
        "its own head": "xx/ADP/IN/case>1",
        "a head below zero": "xx/ADP/IN/case>-1",
        "slashes only": "////" * 10_000,
        "equals only": "=" * 50_000,
        "an empty token": "   ",
        "a feature without end": "xx=" + "a=" * 20_000 + "/ADP/IN/case>NEXT",
    }.items():
        yield Case("more chunks", name, reyaml(CHUNKS, lambda d, t=token: d["chunks"].append(t)), CONLLU)


def _words() -> Iterator[Case]:
    member = "classes:\n  mine:\n    pos: noun\n    gloss: x\n    members:\n"
    for name, text in {
        "a lemma of a megabyte": member + "    - {lemma: " + "a" * 1_000_000 + "}\n",
        "a lemma of five hundred letters": member + "    - {lemma: " + "a" * 500 + "}\n",
        "a lemma of spaces": member + '    - {lemma: "   "}\n',
        "a lemma with braces": member + '    - {lemma: "{agent}"}\n',
        "a lemma of digits": member + '    - {lemma: "123"}\n',
        "a lemma with a newline": member + '    - {lemma: "a\\nb"}\n',
        "a plural of nothing": member + '    - {lemma: cat, plural: ""}\n',
        "a key without end": member + '    - "' + "x" * 100_000 + '%1:05:00::"\n',
        "a chain of a thousand classes": "classes:\n"
        + "".join(f"  c{n}: {{pos: noun, gloss: x, extends: c{n + 1}, members: []}}\n" for n in range(1500))
        + "  c1500: {pos: noun, gloss: x, members: []}\n",
        "a class that extends nobody": "classes:\n  mine: {pos: noun, gloss: x, extends: nobody, members: []}\n",
        "a rejected member": member + "    - cat%1:05:00::\n    rejected: {cat%1:05:00::: no}\n",
        "a class called con": "classes:\n  CON: {pos: noun, gloss: x, members: []}\n",
        "contrary to itself": "properties:\n  - sense: own:adjective:big\n    contrary: [own:adjective:big]\n",
    }.items():
        yield Case("more words", name, own_words(text), LIST)
    for name, text in {
        "overrides as a list": "[]",
        "an override of nothing": "noun: {cat: }",
        "overrides of another part": "king: {}",
    }.items():
        yield Case(
            "more words",
            name,
            lambda f, t=text: (shutil.rmtree(f / "lexicons"), (f / "lexicons").mkdir(), (f / "lexicons/overrides.yaml").write_text(t)),
            LIST,
        )


CASES: list[Case] = [
    *_tables(),
    *_invisible(),
    *_regexes(),
    *_yaml(),
    *_params(),
    *_templates(),
    *_json(),
    *_places(),
    *_readings(),
    *_prompts(),
    *_chunks(),
    *_words(),
]
