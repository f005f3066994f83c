"""Rows a second, step by step, beside floors and plain ways of doing the same; ratios of one run, as JSON: python bench/scale.py

See bench/README.md for what each figure is. CPU seconds of one thread, best of three, so that a busy machine changes the ratios little.
"""

from __future__ import annotations

import os

os.environ["POLARS_MAX_THREADS"] = "1"  # before polars is loaded: one thread for everybody, the floor included

import json
import random
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from cxgen.build.request import Request
from cxgen.build.samplers import items_of, samplers
from cxgen.build.survey import survey
from cxgen.constructicon import load_construction, parse_pattern
from cxgen.families import columns_of
from cxgen.lexicon import Lexicon
from cxgen.project import Project
from cxgen.sampling import Draws, letters
from cxgen.schema import conform
from cxgen.semantics import label_matrix, solve
from cxgen.tables import ROW_GROUP

SETS = 8_192
MORE = 8  # times as many where there are text columns alone, which take less room
Text = dict[str, Any]


def cpu(run: Callable[[int], object], times: int = 3) -> float:
    """Seconds of this process, best of ``times``; ``run`` gets another number each time."""
    taken = []
    for number in range(times):
        start = time.process_time()
        run(number)
        taken.append(time.process_time() - start)
    return min(taken)


def columns(block: Draws) -> pl.DataFrame:
    """Premise, hypothesis and label of every item: text columns alone."""
    count = len(block)
    matrix = label_matrix(block.construction, block.design)
    selections = solve(matrix, 1_000)
    kinds, rules = block.design.kinds, block.design.rules
    cells = np.array([[(kinds.index(c.kind), rules.index(c.rule)) for c in selection] for selection in selections])
    chosen = cells[block.choose("selection", len(selections))]
    sets = np.repeat(np.arange(count), chosen.shape[1])
    kind, rule = (chosen[:, :, axis].reshape(-1) for axis in range(2))
    hypotheses = pl.concat([block.statement(name)["hypothesis"] for name in rules])
    labels = np.array([[matrix[name].get(other, -1) for other in rules] for name in kinds], dtype=np.int8)
    return pl.DataFrame(
        {
            "premise": block.texts[pl.Series(kind * count + sets, dtype=pl.UInt32)],
            "hypothesis": hypotheses[pl.Series(rule * count + sets, dtype=pl.UInt32)],
            "label": labels[kind, rule],
        }
    )


def patterns(block: Draws) -> list[tuple[Any, Any]]:
    """The parts of every premise and hypothesis, with the sets that are said so."""
    premises = [(block.construction.premise_parts(kind, template.name), places % len(block)) for kind, template, places in block.groups()]
    for name in block.design.rules:
        choice = block.wordings(name)
        for number, wording in enumerate(block.construction.rules[name].wordings):
            premises.append((parse_pattern(wording), np.flatnonzero(choice == number)))
    return premises


def loop(block: Draws, triples: int) -> Callable[[int], list[Any]]:
    """The sentences of the same plan by an f-string each, in a plain loop over sets, each once; then triples of them."""
    work = []
    for parts, rows in patterns(block):
        lists, text = [], ""
        for part in parts:
            if not part.slot:
                text += part.text.replace("{", "{{").replace("}", "}}")
                continue
            text += f"{{w{len(lists)}}}"
            if part.slot in block.construction.slots:
                slot = block.construction.slots[part.slot]
                table = block.forms.table(slot, part.form).texts.to_list()
                lists.append((table, block.forms.keys(slot, part.form, block.plan, block.sampler.pools, rows).tolist()))
            else:
                lists.append(([frame.words[part.slot] for frame in block.sampler.pools.frames], block.plan.frame[rows].tolist()))
        if lists:
            names = ", ".join(f"w{number}" for number in range(len(lists)))
            looked_up = ", ".join(f"t{number}[k{number}]" for number in range(len(lists)))
            keys, tables = names.replace("w", "k"), names.replace("w", "t")
            given = ", ".join(f"x{number}" for number in range(len(lists)))
            source = (
                f"def say({tables}, {given}):\n found = []\n for {keys}, in zip({given}):\n  {names}, = {looked_up},\n"
                f"  s = f{text!r}.replace('  ', ' ')\n  found.append(s[:1].upper() + s[1:])\n return found"
            )
            made: dict[str, Any] = {}
            exec(source, made)
            work.append((made["say"], [*(table for table, _ in lists), *(keys for _, keys in lists)]))

    def run(_: int) -> list[Any]:
        sentences = [sentence for say, lists in work for sentence in say(*lists)]
        half = len(sentences) // 2
        return [(sentences[number % half], sentences[half + number % half], number % 3) for number in range(triples)]

    return run


def steps(project: Project, lexicon: Lexicon, name: str) -> dict[str, Any]:
    """Every step of a block of ``name``, in rows a second and in floors."""
    construction = load_construction(project, name, lexicon)
    source = next(each for each in samplers(construction, Request()) if (each.config, each.split) == ("nli", "train"))
    at = lambda number: np.arange(SETS) + number * SETS  # noqa: E731
    block = source.draw(at(0))
    items = items_of(block)
    finished = conform(items, columns_of("nli"))
    with tempfile.TemporaryDirectory() as folder:
        floor = cpu(lambda _: finished.write_parquet(Path(folder) / "rows.parquet", compression="zstd", row_group_size=ROW_GROUP))
    drawn = cpu(lambda number: source.draw(at(number + 1)))
    made = cpu(lambda number: items_of(source.draw(at(number + 1))))
    large = np.arange(MORE * SETS)
    told = (cpu(lambda _: columns(source.draw(large))) - cpu(lambda _: source.draw(large))) / MORE
    looped = cpu(loop(source.draw(large), MORE * items.height)) / MORE
    hashed = cpu(lambda _: survey([source], [SETS // 2]))
    rows = items.height
    return {
        "rows": rows,
        "rows a second": {
            "floor: write the same frame, zstd parquet": round(rows / floor),
            "draw": round(rows / drawn),
            "draw and say: full rows": round(rows / made),
            "text columns from a plan": round(rows / told),
            "f-string loop over the same plan": round(rows / looped),
            "survey for distinct sets": round(rows / 2 / hashed),
            "letters of premises": round(len(block.chosen) / cpu(lambda _: letters(source.draw(at(0))))),
        },
        "floors": {
            "plan to parquet": round((made + floor) / floor, 2),
        },
        "text columns against the f-string loop": round(looped / told, 2),
    }


def others() -> dict[str, Any]:
    """Sentences a second of other ways to make sentences."""
    from lemminflect import getInflection
    from nltk import CFG
    from nltk.parse.generate import generate

    nouns, verbs, results = (" | ".join(f"'{w}{n}'" for n in range(40)) for w in ("noun", "verb", "result"))
    grammar = CFG.fromstring(f"S -> NP VP\nNP -> 'the' N\nVP -> V NP R\nN -> {nouns}\nV -> {verbs}\nR -> {results}")
    many = 50_000
    cfg = cpu(lambda _: [" ".join(words) for words in generate(grammar, n=many)])
    words = {name: [f"{name}{n}" for n in range(40)] for name in ("agent", "verb", "patient", "result")}
    words["np"] = ["the {agent}", "the old {agent}", "{agent}'s friend"]
    inflect = [f"{verb}" for verb in ("hammer", "wipe", "scrub", "paint", "freeze") * 400]
    filled = cpu(lambda _: nested("{np} {verb} the {patient} {result}.", words, many))
    return {
        "nltk CFG": round(many / cfg),
        "nested templates, filled as CheckList fills them": round(many / filled),
        "lemminflect, forms": round(len(inflect) / cpu(lambda _: [getInflection(verb, "VBD") for verb in inflect])),
    }


def nested(template: str, words: dict[str, list[str]], count: int) -> list[str]:
    """Fill a template at random until no field is left, field by field."""
    generator, found, field = random.Random(1), [], re.compile(r"\{(\w+)\}")
    for _ in range(count):
        text = template
        while names := field.findall(text):
            text = text.format(**{name: generator.choice(words[name]) for name in names})
        found.append(text)
    return found


def starts() -> dict[str, float]:
    """User CPU of whole processes, best of 7, in multiples of that of importing polars and typer."""
    import resource

    def user(*command: str) -> float:
        taken = []
        for _ in range(7):
            before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
            subprocess.run([sys.executable, *command], check=True, capture_output=True)
            taken.append(resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before)
        return min(taken)

    floor = user("-c", "import polars, typer")
    run = "import sys; sys.argv = '{}'.split(); from cxgen.cli import main; main()"
    asked = ("cxgen --help", "cxgen sample resultative --n 50")
    return {"seconds of the floor": round(floor, 3), **{name: round(user("-c", run.format(name)) / floor, 2) for name in asked}}


def growth(sizes: list[int]) -> list[dict[str, Any]]:
    """``cxgen generate --out`` in a process of its own: rows, seconds (wall and CPU), rows a second, peak memory in MB, bytes a row."""
    found = []
    code = (
        "import sys, resource, json, time; sys.argv = sys.argv[1:]; start = time.time(); from cxgen.cli.app import run;"
        "code = run(sys.argv[1:]);"
        "u = resource.getrusage(resource.RUSAGE_SELF);"
        "print(json.dumps([code, time.time() - start, u.ru_utime + u.ru_stime, u.ru_maxrss // 1024]))"
    )
    for size in sizes:
        with tempfile.TemporaryDirectory() as folder:
            out = Path(folder) / "out"
            asked = ("cxgen", "generate", "caused-motion", "--n", str(size), "--out", str(out), "--workers", "1", "--format", "json")
            done = subprocess.run([sys.executable, "-c", code, *asked], check=True, capture_output=True, text=True)
            _, wall, seconds, memory = json.loads(done.stdout.splitlines()[-1])
            made = json.loads((out / "cxgen/summary.json").read_text("utf-8"))
        rows = made["rows"]
        found.append(
            {"rows": rows, "wall": round(wall, 1), "cpu": round(seconds, 1), "rows a cpu second": round(rows / seconds)}
            | {"peak MB": memory, "bytes a row": round(made["bytes"] / rows, 1), "repeated": max(s["repeated"] for s in made["sources"])}
        )
    return found


def main() -> None:
    """Print everything; arguments are sizes for the growth (default: 10,000 and 100,000)."""
    project = Project.find()
    lexicon = Lexicon.of(project)
    sizes = [int(float(size)) for size in sys.argv[1:]] or [10_000, 100_000]
    report = {
        "polars": pl.__version__,
        "constructions": {name: steps(project, lexicon, name) for name in ("caused-motion", "causative-with")},
        "others, sentences a second": others(),
        "forms a second from our table": round(
            1_000_000 / cpu(lambda _: lexicon.table["past"].gather(np.arange(1_000_000) % lexicon.table.height))
        ),
        "starting, in floors": starts(),
        "growth": growth(sizes),
    }
    print(json.dumps(report, indent=2))


if __name__ == "__main__":
    main()
