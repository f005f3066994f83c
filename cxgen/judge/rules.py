"""The rule judge: offline, deterministic, and able to reject.

It reads an item's sentences and fillers, and the frame that the fillers were drawn from: who writes candidates by hand names a frame and
pins the words to senses.
"""

from __future__ import annotations

from collections.abc import Iterable

import polars as pl

from cxgen.constructicon import Construction
from cxgen.families import FAMILIES
from cxgen.judge.verdicts import VERDICTS
from cxgen.lexicon import Lexicon
from cxgen.schema import TARGET
from cxgen.sets.pools import frame_candidates, frames_of
from cxgen.vocabulary import APPROPRIATE, EXTENDED, INAPPROPRIATE, NOT_NOUNS, PROTOTYPICAL, UNACCEPTABLE, Role

ANY = "*"  # in place of a frame


def judge_items(items: pl.DataFrame, constructions: Iterable[Construction]) -> pl.DataFrame:
    """Verdicts on ``items``.

    Args:
        items: columns ``id, premise_id, construction, contrast_of, config, frame, premise, slots`` and those of the configs' families.
        constructions: those of the items.

    Returns:
        One row per item, in their order: ``id, premise_verdict, premise_reason, pair_verdict, pair_reason`` (strings; reasons empty where
        there is nothing to say).
    """
    premises = items.unique("premise_id", keep="first", maintain_order=True)
    judged = pl.concat([_premises(premises.filter(each.name == TARGET), each) for each in constructions])
    pairs = items.select("id", "premise_id", pair_reason=_fault(items))
    pair = pl.when(pl.col("pair_reason") == "").then(pl.lit(APPROPRIATE)).otherwise(pl.lit(INAPPROPRIATE))
    return pairs.join(judged, on="premise_id", how="left", maintain_order="left").with_columns(pair_verdict=pair).select(list(VERDICTS))


def _fault(items: pl.DataFrame) -> pl.Expr:
    """What each item's family finds wrong with it."""
    present = set(items["config"])
    found = pl.lit("")
    for family in FAMILIES.values():
        if present & set(family.configs):
            found = pl.when(pl.col("config").is_in(list(family.configs))).then(family.fault()).otherwise(found)
    return found


def _premises(premises: pl.DataFrame, construction: Construction) -> pl.DataFrame:
    """``premise_id, premise_verdict, premise_reason`` of the premises of one construction's contrast sets."""
    allowed = allowed_senses(construction)
    slots = premises.select("premise_id", "frame", "slots").explode("slots").unnest("slots")
    reasons = pl.concat([_repeated(slots), _result_in_verb(slots, construction.lexicon), _outside(slots, allowed)])
    first = reasons.sort("premise_id", "rank").unique("premise_id", keep="first", maintain_order=True).select("premise_id", "reason")
    extended = (
        slots.filter(pl.col("role") == Role.verb)
        .join(allowed.filter(pl.col("extended")), on=["frame", "slot", "sense"], how="semi")
        .select("premise_id", extended=pl.lit(value=True))
        .unique()
    )
    judged = premises.select("premise_id").join(first, on="premise_id", how="left").join(extended, on="premise_id", how="left")
    verdict = (
        pl.when(pl.col("reason").is_not_null())
        .then(pl.lit(UNACCEPTABLE))
        .when(pl.col("extended"))
        .then(pl.lit(EXTENDED))
        .otherwise(pl.lit(PROTOTYPICAL))
    )
    return judged.select("premise_id", premise_verdict=verdict, premise_reason=pl.col("reason").fill_null(""))


def _reason(table: pl.DataFrame, rank: int, text: pl.Expr) -> pl.DataFrame:
    return table.select("premise_id", rank=pl.lit(rank, dtype=pl.Int8), reason=text)


def _repeated(slots: pl.DataFrame) -> pl.DataFrame:
    """A noun used twice, or a verb made from one of the nouns (mop the floor with mops)."""
    words = slots.filter(pl.col("role") != Role.modifier).with_columns(lemma=pl.col("lemma").str.to_lowercase())
    nouns = words.filter(~pl.col("role").is_in(NOT_NOUNS))
    twice = nouns.group_by("premise_id", "lemma").len().filter(pl.col("len") > 1)
    verbs = words.filter(pl.col("role") == Role.verb).join(nouns.select("premise_id", "lemma"), on=["premise_id", "lemma"], how="semi")
    return pl.concat(
        [
            _reason(twice, 2, pl.format("repeated noun: {}", "lemma")),
            _reason(verbs, 2, pl.format("the verb repeats a noun: {}", "lemma")),
        ]
    )


def _result_in_verb(slots: pl.DataFrame, lexicon: Lexicon) -> pl.DataFrame:
    """A result phrase that repeats the verb's own meaning (flatten the dough flat)."""
    results = slots.filter(pl.col("role") == Role.result).select("premise_id", result=pl.col("lemma").str.to_lowercase())
    verbs = slots.filter(pl.col("role") == Role.verb).select("premise_id", "sense", verb=pl.col("lemma").str.to_lowercase())
    derived = lexicon.table.select("sense", "derived").drop_nulls("sense").unique("sense", keep="first", maintain_order=True)
    pairs = results.join(verbs, on="premise_id").join(derived, on="sense", how="left")
    stem = pl.col("result").str.strip_suffix("e")
    repeats = pl.col("verb").str.starts_with(stem) | pl.col("derived").list.contains(pl.col("result")).fill_null(value=False)
    return _reason(pairs.filter(repeats), 0, pl.format("the result repeats the verb's own meaning: {} ... {}", "verb", "result"))


def repeats(lexicon: Lexicon, result: int, verb: int) -> bool:
    """The same of two lexemes, given by their rows."""
    words = lexicon.table.select("lemma", "sense", "derived")[[result, verb]]
    slots = pl.DataFrame({"premise_id": "", "role": [Role.result, Role.verb], "lemma": words["lemma"], "sense": words["sense"]})
    return bool(_result_in_verb(slots, lexicon).height)


def _outside(slots: pl.DataFrame, allowed: pl.DataFrame) -> pl.DataFrame:
    """A verb at odds with the construction, or an argument outside the frame."""
    keys = ["slot", "sense"]
    checked = slots.filter(pl.col("sense").is_not_null() & (pl.col("role") != Role.modifier))
    checked = checked.join(allowed.select("slot").unique(), on="slot", how="semi")
    strange = checked.join(allowed, on=["frame", *keys], how="anti").join(allowed.filter(pl.col("frame") == ANY), on=keys, how="anti")
    no_verb = strange.filter(pl.col("role") == Role.verb).join(allowed, on=keys, how="anti")
    return pl.concat(
        [
            _reason(no_verb, 1, pl.format("the verb is at odds with the construction: {}", "lemma")),
            _reason(strange, 3, pl.format("argument outside the frame: {} as {}", "lemma", "slot")),
        ]
    )


def allowed_senses(construction: Construction) -> pl.DataFrame:
    """Which senses may fill which slot of which frame (``*``: any), and which verbs count as extended there."""
    lexicon = construction.lexicon
    senses = lexicon.table["sense"].to_list()
    rows: dict[tuple[str, str, str], bool] = {}
    for design in construction.designs.values():
        slots = [construction.slots[name] for name in construction.design_slots(design) if not construction.slots[name].lexical]
        for frame in frames_of(construction, design):
            for slot in slots:
                names = frame.slots.get(slot.source)
                classes = [lexicon.resolve(name) for name in names or slot.classes]
                plain = {row for group in classes for row in group.ids if row not in group.extended}
                if slot.role == Role.verb and names:  # of the frame's own verbs, it says itself which are
                    plain -= {
                        row
                        for name in names
                        if name in lexicon.index and lexicon.lemmas[row := lexicon.index[name]] not in frame.entails_alone
                    }
                for row in frame_candidates(frame, slot, lexicon):
                    if senses[row]:
                        rows[frame.name if names else ANY, slot.name, senses[row]] = row not in plain
    keys = list(rows)
    columns = {name: [key[place] for key in keys] for place, name in enumerate(("frame", "slot", "sense"))}
    schema = dict.fromkeys(("frame", "slot", "sense"), pl.String) | {"extended": pl.Boolean}
    return pl.DataFrame({**columns, "extended": list(rows.values())}, schema=schema)
