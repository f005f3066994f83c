"""Planned contrast sets of one design, ready to be said: premises as a table, other sentences as columns. Families make items of it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import polars as pl

from cxgen.constructicon import Construction, Design, Template, parse_pattern
from cxgen.sets.fillers import Fillers
from cxgen.sets.forms import Forms
from cxgen.sets.holdout import NOTHING, HoldOut, choose, held_templates, seen_wordings
from cxgen.sets.plan import Plan, Rows
from cxgen.sets.pools import Pools
from cxgen.sets.realise import pick, realise, scatter
from cxgen.sets.ways import AGREEING

_SLOTS_AT = 9  # where ``slots`` stands among the columns


@dataclass(frozen=True)
class Block:
    """Contrast sets of one design.

    Attributes:
        construction, design: what they are sets of.
        plan, pools: the draws, and what they were drawn from.
        forms: the words' forms.
        hold_out: what occurs in test only.
        split: of the sets; in a preview, which is none, nothing is held out.
        broken: mode -> slots whose words are replaced by pseudowords, so that no label may rest on what they mean; none of real words.
        modes: per set the number of its mode in ``broken``.
    """

    construction: Construction
    design: Design
    plan: Plan
    pools: Pools
    forms: Forms
    hold_out: HoldOut = NOTHING
    split: str = ""
    broken: Mapping[str, frozenset[str]] = field(default_factory=dict)
    modes: Rows | None = None

    def __len__(self) -> int:
        return len(self.plan)

    def choose(self, name: str, size: int) -> Rows:
        """For every set a number below ``size``, from the stream ``name``."""
        return pick(self.plan.chance(name), size)

    @property
    def premises(self) -> pl.DataFrame:
        """The premises: those of the design's first kind in the order of the sets, then those of the next.

        Columns: ``set_number`` (i64, the set's number in its stream), ``contrast_set, premise_id, construction, contrast_of, kind,
        template, frame, premise, verb`` (strings), ``template_held_out`` (bool) and ``slots`` (list of structs); with pseudowords also
        ``mode`` (string).
        """
        return self.gather(np.arange(len(self.design.kinds) * len(self)))

    def gather(self, rows: Rows) -> pl.DataFrame:
        """The premises at ``rows`` of `premises`, in that order, as often as they are named there."""
        return self._plain[rows].insert_column(_SLOTS_AT, self.fillers.listed(rows))

    @cached_property
    def _plain(self) -> pl.DataFrame:
        """`premises` without ``slots``: lists of structs are gathered a hundred times as slowly as made anew."""
        table = self._said()
        lineage = pl.concat_str(
            pl.lit(self.construction.name), pl.lit(self.design.name), "kind", "template", self.fillers.told, "premise", separator="\x1f"
        )
        ids = digests(table.select(lineage).to_series())
        by_kind = [ids.slice(at, len(self)) for at in range(0, len(ids), len(self) or 1)]
        sets = digests(pl.select(pl.concat_str(by_kind, separator=" ")).to_series())
        return table.with_columns(premise_id=ids, contrast_set=pl.concat([sets] * len(self.design.kinds)))

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

    @cached_property
    def templates(self) -> list[tuple[str, Template]]:
        """Every kind with each of its templates, one kind after the other."""
        return [(kind, template) for kind in self.design.kinds for template in self._templates(kind)[0]]

    @cached_property
    def chosen(self) -> Rows:
        """Of every premise, in the order of `premises`, which of `templates` says it."""
        choices, before = [], 0
        for kind in self.design.kinds:
            mine, seen = self._templates(kind)
            choice = choose(self.split, self.plan.chance("template"), self.plan.chance("templates?"), seen, len(mine))
            choices.append(choice + before)
            before += len(mine)
        return np.concatenate(choices)

    @cached_property
    def fillers(self) -> Fillers:
        """The fillers of the premises, in the order of `premises`."""
        parts = [{part.slot for part in self.construction.premise_parts(kind, template.name)} for kind, template in self.templates]
        return Fillers.of(self.construction, self.forms.lexicon, self.plan.fillers, parts, self.chosen)

    def groups(self) -> Iterator[tuple[str, Template, Rows]]:
        """The premises of every kind and template: their places in `premises`."""
        order = np.argsort(self.chosen.astype(np.uint16), kind="stable")  # sorted by radix: a fifth of the time
        ends = np.cumsum(np.bincount(self.chosen, minlength=len(self.templates)))
        for (kind, template), rows in zip(self.templates, np.split(order, ends[:-1]), strict=True):
            if len(rows):
                yield kind, template, rows

    @cached_property
    def said(self) -> pl.Series:
        """The texts of the premises, in the order of `premises`."""
        texts = []
        for kind, template, rows in self.groups():
            parts = self.construction.premise_parts(kind, template.name)
            texts.append((rows, realise(parts, self.construction, self.plan, self.pools, self.forms, rows % len(self))))
        return scatter(texts, len(self.chosen))

    def _said(self) -> pl.DataFrame:
        """`premises`, but for the ids: put together at once for all kinds, since each step costs more than the rows that a kind has."""
        construction, design, count = self.construction, self.design, len(self)
        meanings = [construction.kinds[kind] for kind in design.kinds]
        targets = [None if meaning.construction == construction.name else construction.name for meaning in meanings]
        names = pl.DataFrame(
            {"construction": [meaning.construction for meaning in meanings], "contrast_of": targets, "kind": design.kinds},
            schema_overrides={"contrast_of": pl.String},
        )
        held = [template.name in self._held_templates for _, template in self.templates]
        verbs = np.concatenate([self.plan.fillers[meaning.verb] for meaning in meanings])
        table = names[np.repeat(np.arange(len(meanings)), count)].select(
            pl.Series("set_number", np.tile(self.plan.numbers, len(meanings))),
            pl.all(),
            pl.Series("template", [template.name for _, template in self.templates])[self.chosen],
            template_held_out=pl.Series(np.array(held, dtype=bool)[self.chosen]),
            frame=pl.Series([frame.name for frame in self.pools.frames])[np.tile(self.plan.frame, len(meanings))],
            premise=self.said,
            verb=self.forms.lexicon.table["lemma"][verbs],
        )
        if self.modes is None:
            return table
        return table.with_columns(mode=pl.Series(list(self.broken))[np.tile(self.modes, len(meanings))])

    def _templates(self, kind: str) -> tuple[list[Template], int]:
        """The templates of a kind, those that are held out last, and how many are not."""
        held = self._held_templates
        templates = sorted(self.construction.templates_for(kind), key=lambda template: template.name in held)
        return templates, sum(template.name not in held for template in templates)


def said_alike(construction: Construction, kinds: Sequence[str]) -> bool:
    """Whether ``kinds`` share their templates and, in each, the slots: then their premises differ in construction or roles only."""
    templates = [[template.name for template in construction.templates_for(kind)] for kind in kinds]
    if any(names != templates[0] for names in templates):
        return False

    def words(kind: str, template: str) -> tuple[str, ...]:
        parts = construction.premise_parts(kind, template)
        return tuple(sorted(part.slot for part in parts if part.slot and part.form not in AGREEING))

    return all(len({words(kind, name) for kind in kinds}) == 1 for name in templates[0])


def digest(text: str) -> str:
    """A content address: 16 hexadecimal digits of BLAKE2b."""
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


def digests(texts: Iterable[str]) -> pl.Series:
    """The `digest` of each."""
    fresh = hashlib.blake2b(digest_size=8).copy  # to copy a state takes a fifteenth of the time of making one
    found = []
    for text in texts.to_list() if isinstance(texts, pl.Series) else texts:
        state = fresh()
        state.update(text.encode())
        found.append(state.digest())
    return pl.Series(found, dtype=pl.Binary).bin.encode("hex")
