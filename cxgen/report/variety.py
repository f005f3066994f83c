"""How varied the sentences are, and how broad the premises."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from statistics import mean, pstdev
from typing import Any

import polars as pl

from cxgen import layout
from cxgen.build.tables import dataset, write_measured
from cxgen.families import DEFAULT
from cxgen.measures.figures import Figures, Gates, broken_gates, measured
from cxgen.measures.words import CLOSED
from cxgen.project import Project, shipped_folder
from cxgen.schema import TARGET
from cxgen.streams import order_key
from cxgen.vocabulary import Role

ENOUGH = 400  # premises (1200 items of nli): of fewer, the gates say how small a construction is
SENTENCES, TIMES = 40, 5  # shares of distinct things fall with the number of sentences: so many, so many times
GATES = {
    "bigrams": Gates(construction=0.80, least=True),
    "skeletons": Gates(construction=0.92, least=True),
    "sd": Gates(construction=3.5, least=True),
    "first": Gates(construction=0.40),
    "mould": Gates(construction=0.15),
    "joined": Gates(overall=0.40),
}
REACH = {
    "verbs": Gates(construction=120, least=True),
    "verbs in test": Gates(construction=20, least=True),
    "top five verbs": Gates(construction=0.25),
    "largest scene": Gates(construction=0.03),
    "largest filler": Gates(construction=0.04),
}
# English has fewer verbs in some, and fewer still that a look-alike shares with its construction.
FEW, FEWER = ("ditransitive", "into-causative", "reflexive-resultative"), {"verbs": 70, "verbs in test": 12}
LOOKALIKES = {"verbs": 40, "verbs in test": 8}
_JOINED = re.compile(r"\b(?:and|then|while|after|before|but|when|whereas)\b", re.IGNORECASE)
_KINDS = {
    "time": "yesterday today tonight last this that one two three four five every each late early then now soon",
    "clause": "when while because as if although though since where whenever once so until unless",
    "PP": "about above across after against along among around at before behind below beneath beside between beyond by despite down during"
    " for from in inside into like near of off on onto out outside over past round through throughout to toward towards under up upon with"
    " within without",
}
_KIND = {word: kind for kind, words in reversed(_KINDS.items()) for word in words.split()}
_WORD = re.compile(r"[a-z]+(?:['’][a-z]+)?")
_DEGREE = frozenset(["just", "right", "shortly", "long", "well", "only", "even", "almost", "nearly", "straight"])


def run(project: Project, seed: int) -> dict[str, Any]:
    """Write and return ``variety.json``: construction of the premises -> counts, `breadth`, `reach`, and `texture` of those with sets."""
    table, report = dataset(project, DEFAULT), dict[str, Any]()
    items = table.filter(config=DEFAULT)
    for (name,), rows in table.sort("construction", maintain_order=True).group_by("construction", maintain_order=True):
        premises, own = rows.unique("premise", maintain_order=True), items.filter(TARGET.eq(name))
        templates = premises["template"].value_counts(sort=True)["count"]
        report[str(name)] = {
            "premises": premises.height,
            "hypotheses": rows["hypothesis"].n_unique(),
            "templates": len(templates),
            "largest template share": round(templates[0] / premises.height, 4),
            "lexemes": rows.select(pl.col("slots").list.eval(pl.element().struct.field("sense")).explode().n_unique()).item(),
            "breadth": breadth(rows),
            "reach": reach(own if own.height else rows),
            **({"texture": texture(own, seed)} if own.height else {}),
            **({} if name in items["construction"] else {"lookalike": True}),
        }
    write_measured(project, "variety", report)
    return report


def texture(rows: pl.DataFrame, seed: int) -> dict[str, float]:
    """Of ``SENTENCES`` premises of a construction, one of each set: the shares of distinct ``bigrams`` and `skeleton`s; mean ``length``
    and its standard deviation, ``sd``, in words; the shares that begin with one of the three commonest ``first`` words and that are
    ``joined`` of clauses (*and, then, while ...*); and of the items the share with the commonest ``mould`` (skeleton) of a hypothesis."""
    drawn = sorted(rows.select("contrast_set", "premise").unique().iter_rows(), key=lambda row: order_key(seed, *row))
    texts = list(dict(drawn).values())
    samples = [texts[start : start + SENTENCES] for start in range(0, min(len(texts), SENTENCES * TIMES), SENTENCES)]
    figures = [_texture(sample) for sample in samples if len(sample) == len(samples[0])]
    moulds = Counter(map(skeleton, rows["hypothesis"]))
    own = {name: mean(each[name] for each in figures) for name in figures[0]} | {"mould": max(moulds.values()) / rows.height}
    return {name: round(value, 4) for name, value in own.items()}


def _texture(premises: Sequence[str]) -> dict[str, float]:
    words = [_WORD.findall(text.lower()) for text in premises]
    bigrams, first = [pair for own in words for pair in pairwise(own)], Counter(own[0] for own in words)
    return {
        "bigrams": len(set(bigrams)) / max(len(bigrams), 1),
        "skeletons": len(set(map(skeleton, premises))) / len(premises),
        "length": mean(map(len, words)),
        "sd": pstdev(map(len, words)),
        "first": sum(count for _, count in first.most_common(3)) / len(premises),
        "joined": mean(bool(_JOINED.search(text)) for text in premises),
    }


def skeleton(text: str) -> str:
    """A sentence's closed-class words in their order, with an X for every run of others: *after that the X wasn't X*."""
    marks = (word if word in CLOSED or word.endswith("n't") else "X" for word in _WORD.findall(text.lower()))
    return re.sub(r"X(?: X)+", "X", " ".join(marks))


def reach(rows: pl.DataFrame) -> dict[str, Any]:
    """How broad the items of a construction are: ``verbs``, ``verbs in test``, ``scenes``; the shares of the items that the ``top five
    verbs`` and the ``largest scene`` have, and of the premises with a role's filler those with the commonest one (``largest filler``, not
    of verbs and circumstances), and that ``filler``."""
    verbs, scenes = (rows[column].value_counts(sort=True)["count"] for column in ("verb", "frame"))
    fillers = rows.unique("premise", keep="first", maintain_order=True).select("premise", "slots").explode("slots").unnest("slots")
    commonest = _commonest(fillers.filter(~pl.col("role").is_in([Role.verb, Role.modifier])))
    varied = [entry for entry in commonest.items() if entry[1]["share"] < 1]  # *way* is the construction's own
    most = max(varied, key=lambda entry: entry[1]["share"], default=("", {"lemma": "", "share": 0.0}))
    return {
        "verbs": len(verbs),
        "verbs in test": rows.filter(split="test")["verb"].n_unique(),
        "scenes": len(scenes),
        "top five verbs": round(verbs[:5].sum() / rows.height, 4),
        "largest scene": round(scenes[0] / rows.height, 4),
        "largest filler": most[1]["share"],
        "filler": f"{most[1]['lemma']} ({most[0]})",
    }


def gated(report: Mapping[str, Any]) -> list[str]:
    """The constructions that the gates are for: those that come with cxgen, with ``ENOUGH`` premises."""
    shipped = {path.stem for path in (shipped_folder() / layout.TEMPLATES).glob("*.yaml")}
    return [name for name, entry in report.items() if name in shipped and "texture" in entry and entry["premises"] >= ENOUGH]


def broken(report: Mapping[str, Any]) -> Iterator[str]:
    """The gates of `texture` and `reach` that do not hold, in words; nothing stops for them."""
    own = {name: report[name] for name in gated(report)}
    for what, gates in GATES.items():
        yield from _faults(what, {name: entry["texture"][what] for name, entry in own.items()}, gates)
    for what, gates in REACH.items():
        figures = {name: entry["reach"][what] for name, entry in own.items()}
        if own and what in LOOKALIKES:
            others = {name: entry["reach"][what] for name, entry in report.items() if "lookalike" in entry}
            yield from _faults(f"{what} of look-alikes", others, replace(gates, construction=LOOKALIKES[what]))
            for name in sorted(figures.keys() & FEW):
                yield from _faults(what, {name: figures.pop(name)}, replace(gates, construction=FEWER[what]))
        yield from _faults(what, figures, gates)


def _faults(what: str, figures: Mapping[str, float], gates: Gates) -> Iterator[str]:
    if figures:
        yield from (f"{what} {fault}" for fault in broken_gates(measured(Figures(mean(figures.values()), {DEFAULT: figures}), gates, 0)))


def breadth(rows: pl.DataFrame) -> dict[str, Any]:
    """Numbers of shapes, pairs of places and results, and the shares of the commonest in the distinct premises that have such."""
    premises = rows.unique("premise", keep="first", maintain_order=True)
    fillers = premises.select("premise", "slots").explode("slots").unnest("slots")
    shapes = Counter(map(shape, premises.iter_rows(named=True)))
    places = fillers.filter(pl.col("role").is_in([Role.goal, Role.source])).unique(["premise", "lemma"])
    pairs = places.group_by("premise").agg(pl.col("lemma").sort()).filter(pl.col("lemma").list.len() > 1)
    commonest = _commonest(fillers)
    return {
        "shapes": len(shapes),
        "largest shape": round(max(shapes.values()) / premises.height, 4),
        "place pairs": pairs["lemma"].n_unique(),
        "results": fillers.filter(pl.col("role") == Role.result)["lemma"].n_unique(),
        "largest result": commonest.get(Role.result.value, {"share": 0.0})["share"],
        "fillers": commonest,
    }


def _commonest(fillers: pl.DataFrame) -> dict[str, dict[str, Any]]:
    counts = fillers.group_by("role", "lemma").agg(n=pl.col("premise").n_unique()).sort("n", "lemma", descending=[True, False])
    wholes = dict(fillers.group_by("role").agg(pl.col("premise").n_unique()).iter_rows())
    first = counts.unique("role", keep="first", maintain_order=True).sort("role")
    return {role: {"lemma": lemma, "share": round(n / wholes[role], 4)} for role, lemma, n in first.iter_rows()}


def shape(row: Mapping[str, Any]) -> str:
    """A premise's template, and the kinds of the adjuncts (or of what stands before a comma) that it begins and ends with."""
    phrases, text = [slot["lemma"].lower() for slot in row["slots"] if slot["role"] == Role.modifier], row["premise"].lower()
    before, comma, _ = text.partition(",")
    opening = next((phrase for phrase in phrases if text.startswith(phrase)), before if comma else "")
    closing = next((phrase for phrase in phrases if text.rstrip(".?!").endswith(phrase)), "")
    return f"{row['template']}/{_kind_of(opening)}/{_kind_of(closing)}"


def _kind_of(phrase: str) -> str:
    """The kind of a phrase, told from its first word: PP, clause, adverb or time; none of another one."""
    words = re.findall(r"[\w'’-]+", phrase.lower())
    word = next((word for word in words if word not in _DEGREE), "")
    adverb = len(words) <= 2 and word.endswith(("ly", "wards", "again", "twice"))
    return _KIND.get(word, "adverb" if adverb else "none")
