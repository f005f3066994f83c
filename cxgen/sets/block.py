"""Planned contrast sets of one design, ready to be said: premises as a table, other sentences as columns. Families make items of it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl

from cxgen.constructicon import Construction, Design, Template, parse_pattern
from cxgen.sets.forms import Forms, Texts
from cxgen.sets.holdout import NOTHING, HoldOut, choose, held_templates, seen_wordings
from cxgen.sets.plan import Plan, Rows
from cxgen.sets.pools import ABSENT, Pools
from cxgen.sets.realise import pick, realise, scatter
from cxgen.sets.ways import AGREEING


@dataclass(frozen=True)
class Block:
    """Contrast sets of one design.

    Attributes:
        construction, design: what they are sets of.
        plan, pools: the draws, and what they were drawn from.
        forms: the words' forms.
        broken: slots whose words are replaced by pseudowords, so that no label may rest on what they mean.
        hold_out: what occurs in test only.
        split: of the sets; in a preview, which is none, nothing is held out.
    """

    construction: Construction
    design: Design
    plan: Plan
    pools: Pools
    forms: Forms
    broken: frozenset[str] = frozenset()
    hold_out: HoldOut = NOTHING
    split: str = ""

    def __len__(self) -> int:
        return len(self.plan)

    def choose(self, name: str, size: int) -> Rows:
        """For every set a number below ``size``, from the stream ``name``."""
        return pick(self.plan.chance(name), size)

    @cached_property
    def premises(self) -> pl.DataFrame:
        """The premises: those of the design's first kind in the order of the sets, then those of the next.

        Columns: ``set_number`` (i64, the set's number in its stream), ``contrast_set, premise_id, construction, contrast_of, kind,
        template, frame, premise, verb`` (strings), ``template_held_out`` (bool) and ``slots`` (list of structs).
        """
        table = pl.concat([self._of_kind(kind) for kind in self.design.kinds])
        fillers = pl.col("slots").list.eval(pl.element().struct.field("slot") + "=" + pl.element().struct.field("lemma")).list.join(" ")
        lineage = pl.concat_str(
            pl.lit(self.construction.name), pl.lit(self.design.name), "kind", "template", fillers, "premise", separator="\x1f"
        )
        table = table.with_columns(premise_id=digests(table.select(lineage).to_series()))
        ids = table["premise_id"].to_list()
        sets = digests(" ".join(ids[number :: len(self)]) for number in range(len(self)))
        return table.with_columns(contrast_set=pl.concat([sets] * len(self.design.kinds)))

    def statement(self, name: str, choice: Rows | None = None) -> pl.DataFrame:
        """What a rule says in every set: ``hypothesis`` (one of its wordings), ``wording`` (i16: which), ``wording_held_out`` (bool).

        Args:
            name: of the hypothesis rule.
            choice: for every set the number of the wording; drawn if not given.
        """
        wordings = self.construction.rules[name].wordings
        choice = self.wordings(name) if choice is None else choice
        held = choice >= (seen_wordings(len(wordings)) if self.split and self.hold_out.wordings else len(wordings))
        pieces = []
        for number, wording in enumerate(wordings):
            rows = np.flatnonzero(choice == number)
            if len(rows):
                pieces.append((rows, realise(parse_pattern(wording), self.construction, self.plan, self.pools, self.forms, rows)))
        said = {"hypothesis": scatter(pieces, len(self)), "wording": pl.Series(choice, dtype=pl.Int16), "wording_held_out": held}
        return pl.DataFrame(said)

    def wordings(self, *rules: str) -> Rows:
        """For every set the number of a wording that all ``rules`` have. A set's rules are all worded as held out, or as seen."""
        counts = [len(self.construction.rules[rule].wordings) for rule in rules]
        seen = min(map(seen_wordings, counts)) if self.hold_out.wordings else min(counts)
        return choose(self.split, self.plan.chance(f"wording:{'|'.join(rules)}"), self.plan.chance("wordings?"), seen, min(counts))

    @cached_property
    def _held_templates(self) -> frozenset[str]:
        return held_templates(self.construction, int(self.plan.stream[0])) if self.split and self.hold_out.templates else frozenset()

    def _of_kind(self, kind: str) -> pl.DataFrame:
        count, construction = len(self), self.construction
        meaning = construction.kinds[kind]
        held = self._held_templates
        templates = sorted(construction.templates_for(kind), key=lambda template: template.name in held)
        seen = sum(template.name not in held for template in templates)
        choice = choose(self.split, self.plan.chance("template"), self.plan.chance("templates?"), seen, len(templates))
        pieces, used = [], {}
        for number, template in enumerate(templates):
            rows = np.flatnonzero(choice == number)
            if len(rows):
                pieces.append((rows, self._said(kind, template, rows)))
                parts = construction.premise_parts(kind, template.name)
                used[number] = {part.slot for part in parts if part.slot in construction.slots}
        lemmas = self.forms.lexicon.table["lemma"]
        return pl.DataFrame(
            {
                "set_number": self.plan.numbers,
                "construction": [meaning.construction] * count,
                "contrast_of": [None if meaning.construction == construction.name else construction.name] * count,
                "kind": [kind] * count,
                "template": pl.Series([template.name for template in templates]).gather(choice),
                "template_held_out": choice >= seen,
                "frame": pl.Series([frame.name for frame in self.pools.frames]).gather(self.plan.frame),
                "premise": scatter(pieces, count),
                "verb": lemmas.gather(self.plan.fillers[meaning.verb]),
                "slots": self._slots(choice, used),
            },
            schema_overrides={"contrast_of": pl.String},
        )

    def _said(self, kind: str, template: Template, rows: Rows) -> Texts:
        parts = self.construction.premise_parts(kind, template.name)
        return realise(parts, self.construction, self.plan, self.pools, self.forms, rows)

    def _slots(self, choice: Rows, used: dict[int, set[str]]) -> pl.Series:
        """The premise's fillers: a list of structs, in the order in which the slots are declared."""
        long = []
        words = self.forms.lexicon.table.select("lemma", "sense", "zipf", "percentile", "band")
        for order, (name, slot) in enumerate(self.construction.slots.items()):
            numbers = [number for number, slots in used.items() if name in slots]
            if not numbers:
                continue
            rows = np.flatnonzero(np.isin(choice, numbers) & (self.plan.fillers[name] != ABSENT))
            facts = words[self.plan.fillers[name][rows]]
            long.append(facts.with_columns(pl.Series("row", rows), slot=pl.lit(name), role=pl.lit(slot.role), order=pl.lit(order)))
        listed = (
            pl.concat(long)
            .sort("row", "order")
            .group_by("row", maintain_order=True)
            .agg(slots=pl.struct("slot", "role", "lemma", "sense", "zipf", "percentile", "band"))
        )
        return listed["slots"]


def said_alike(construction: Construction, kinds: Sequence[str]) -> bool:
    """Whether ``kinds`` share their templates and, in each, the slots: then their premises differ in construction or roles only."""
    templates = [[template.name for template in construction.templates_for(kind)] for kind in kinds]
    if any(names != templates[0] for names in templates):
        return False

    def words(kind: str, template: str) -> tuple[str, ...]:
        parts = construction.premise_parts(kind, template)
        return tuple(sorted(part.slot for part in parts if part.slot and part.form not in AGREEING))

    return all(len({words(kind, name) for kind in kinds}) == 1 for name in templates[0])


def digests(texts: Iterable[str]) -> pl.Series:
    """Content addresses: 16 hexadecimal digits of BLAKE2b."""
    return pl.Series([hashlib.blake2b(text.encode(), digest_size=8).hexdigest() for text in texts], dtype=pl.String)
