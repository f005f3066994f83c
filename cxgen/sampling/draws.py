"""Contrast sets of one design as they were drawn: premises as a table, other sentences as columns. Families make items of them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from cxgen.constructicon import Construction, Design, Part, Template, parse_pattern
from cxgen.errors import UnknownNameError
from cxgen.sampling.fillers import Fillers
from cxgen.sampling.forms import Forms, capitalised
from cxgen.sampling.holdout import choose, held_templates, seen_wordings
from cxgen.sampling.plan import Plan, Rows, pick
from cxgen.sampling.pools import ABSENT, Pools, extended_verbs
from cxgen.sampling.ways import AGREEING
from cxgen.vocabulary import EXTENDED, PROTOTYPICAL, Role

if TYPE_CHECKING:
    from cxgen.sampling.sampler import Sampler

_SLOTS_AT = 9  # where ``slots`` stands among the columns


@dataclass(frozen=True)
class Draws:
    """Contrast sets of one design.

    Attributes:
        sampler: what they are sets of.
        plan: the draws.
        forms: the words' forms.
        broken: mode -> slots whose words are replaced by pseudowords, so that no label may rest on what they mean; none of real words.
        modes: per set the number of its mode in ``broken``.
    """

    sampler: Sampler
    plan: Plan
    forms: Forms
    broken: Mapping[str, frozenset[str]] = field(default_factory=dict)
    modes: Rows | None = None

    def __len__(self) -> int:
        return len(self.plan)

    @property
    def construction(self) -> Construction:
        """Whose sets they are."""
        return self.sampler.construction

    @property
    def design(self) -> Design:
        """Their design."""
        return self.sampler.design

    def choose(self, name: str, size: int) -> Rows:
        """For every set a number below ``size``, from the stream ``name``."""
        return pick(self.plan.chance(name), size)

    def render(self) -> pl.DataFrame:
        """The premises: those of the design's first kind in the order of the sets, then those of the next.

        Columns: ``set_number`` (i64, the set's number in its stream), ``contrast_set, premise_id, construction, contrast_of, kind,
        template, frame, premise, verb, config, design, split`` (strings), ``template_held_out`` (bool), ``slots`` (list of structs) and
        ``acceptability`` (string: whether the verb by itself entails what the construction says); with pseudowords ``mode`` instead.
        """
        return self.gather(np.arange(len(self.design.kinds) * len(self)))

    def gather(self, rows: Rows) -> pl.DataFrame:
        """The premises at ``rows`` of `render`, in that order, as often as they are named there."""
        return self._table[rows].insert_column(_SLOTS_AT, self.fillers.listed(rows))

    def statement(self, name: str, choice: Rows | None = None) -> pl.DataFrame:
        """What a rule says in every set: ``hypothesis`` (one of its wordings), ``wording`` (i16: which), ``wording_held_out`` (bool).

        Args:
            name: of the hypothesis rule.
            choice: for every set the number of the wording; drawn if not given.
        """
        wordings = self.construction.rules[name].wordings
        choice = self.wordings(name) if choice is None else choice
        seen = seen_wordings(len(wordings)) if self.sampler.held.wordings else len(wordings)
        pieces = []
        for number, wording in enumerate(wordings):
            rows = np.flatnonzero(choice == number)
            if len(rows):
                pieces.append((rows, realise(parse_pattern(wording), self.construction, self.plan, self.sampler.pools, self.forms, rows)))
        texts = scatter(pieces, len(self))
        return pl.DataFrame({"hypothesis": texts, "wording": pl.Series(choice, dtype=pl.Int16), "wording_held_out": choice >= seen})

    def wordings(self, *rules: str) -> Rows:
        """For every set the number of a wording that all ``rules`` have. A set's rules are all worded as held out, or as seen."""
        counts = [len(self.construction.rules[rule].wordings) for rule in rules]
        seen = min(map(seen_wordings, counts)) if self.sampler.held.wordings else min(counts)
        return choose(self.sampler.split, self.plan.chance(f"wording:{'|'.join(rules)}"), self.plan.chance("wordings?"), seen, min(counts))

    @cached_property
    def templates(self) -> list[tuple[str, Template]]:
        """Every kind with each of its templates, one kind after the other."""
        return [(kind, template) for kind in self.design.kinds for template in self._templates(kind)]

    @cached_property
    def chosen(self) -> Rows:
        """Of every premise, in the order of `render`, which of `templates` it has."""
        choices, before = [], 0
        for kind in self.design.kinds:
            own = self._templates(kind)
            seen = sum(template.name not in self._held_templates for template in own)
            choice = choose(self.sampler.split, self.plan.chance("template"), self.plan.chance("templates?"), seen, len(own))
            choices.append(choice + before)
            before += len(own)
        return np.concatenate(choices)

    @cached_property
    def fillers(self) -> Fillers:
        """The fillers of the premises, in the order of `render`."""
        parts = [{part.slot for part in self.construction.premise_parts(kind, template.name)} for kind, template in self.templates]
        return Fillers.of(self.construction, self.forms.lexicon, self.plan.fillers, parts, self.chosen)

    def groups(self) -> Iterator[tuple[str, Template, Rows]]:
        """The premises of every kind and template: their places in `render`."""
        order = np.argsort(self.chosen.astype(np.uint16), kind="stable")  # sorted by radix: a fifth of the time
        ends = np.cumsum(np.bincount(self.chosen, minlength=len(self.templates)))
        for (kind, template), rows in zip(self.templates, np.split(order, ends[:-1]), strict=True):
            if len(rows):
                yield kind, template, rows

    @cached_property
    def texts(self) -> pl.Series:
        """The texts of the premises, in the order of `render`."""
        pieces = []
        for kind, template, rows in self.groups():
            parts = self.construction.premise_parts(kind, template.name)
            pieces.append((rows, realise(parts, self.construction, self.plan, self.sampler.pools, self.forms, rows % len(self))))
        return scatter(pieces, len(self.chosen))

    @cached_property
    def _table(self) -> pl.DataFrame:
        """`render` without ``slots``: lists of structs are gathered a hundred times as slowly as made anew."""
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
            frame=pl.Series([frame.name for frame in self.sampler.pools.frames])[np.tile(self.plan.frame, len(meanings))],
            premise=self.texts,
            verb=self.forms.lexicon.table["lemma"][verbs],
            config=pl.lit(self.sampler.config),
            design=pl.lit(design.name),
            split=pl.lit(self.sampler.split),
        )
        if self.modes is None:
            return self._identified(table.with_columns(acceptability=self._acceptability()))
        return self._identified(table.with_columns(mode=pl.Series(list(self.broken))[np.tile(self.modes, len(meanings))]))

    def _identified(self, table: pl.DataFrame) -> pl.DataFrame:
        """The premises with ``premise_id`` and ``contrast_set``."""
        count, design = len(self), self.design
        names = (pl.lit(name) for name in (self.construction.name, design.name))
        lineage = pl.concat_str(*names, "kind", "template", self.fillers.lineage(), "premise", separator="\x1f")
        ids = digests(table.select(lineage).to_series())
        by_kind = [ids.slice(at, count) for at in range(0, len(ids), count or 1)]
        sets = digests(pl.select(pl.concat_str(by_kind, separator=" ")).to_series())
        return table.with_columns(premise_id=ids, contrast_set=pl.concat([sets] * len(design.kinds)))

    def _acceptability(self) -> pl.Series:
        """Of every premise, whether its verb by itself entails what the construction says."""
        lexicon, frames = self.construction.lexicon, np.tile(self.plan.frame, len(self.design.kinds))
        extended = np.zeros(len(self.chosen), dtype=bool)
        for at, slot in enumerate(self.fillers.slots):
            if slot.role == Role.verb:
                codes = [
                    n * len(lexicon) + row
                    for n, frame in enumerate(self.sampler.pools.frames)
                    for row in extended_verbs(frame, slot, lexicon)
                ]
                rows = self.fillers.rows[:, at]
                extended |= np.isin(frames * len(lexicon) + rows, codes) & (rows != ABSENT)
        return pl.Series([PROTOTYPICAL, EXTENDED])[extended.astype(np.int64)]

    @cached_property
    def _held_templates(self) -> frozenset[str]:
        return held_templates(self.construction, self.sampler.seed) if self.sampler.held.templates else frozenset()

    def _templates(self, kind: str) -> list[Template]:
        """The templates of a kind, those that are held out last."""
        return sorted(self.construction.templates_for(kind), key=lambda template: template.name in self._held_templates)


def realise(parts: Sequence[Part], construction: Construction, plan: Plan, pools: Pools, forms: Forms, rows: Rows) -> pl.Series:
    """The texts of ``parts`` for the sets ``rows``, as sentences: with a capital, and without double spaces.

    Raises:
        UnknownNameError: a part names neither a slot nor a word of the frames.
    """
    pieces: list[pl.Expr | pl.Series] = []
    gaps = small = False  # whether two spaces may meet, and a first letter stay small
    for number, part in enumerate(parts):
        if not part.slot:
            pieces.append(pl.lit(capital(part.text) if not number else part.text))
            gaps = gaps or "  " in part.text
        elif part.slot in construction.slots:
            slot = construction.slots[part.slot]
            pieces.append(forms.texts(slot, part.form, plan, pools, rows, capital=not number))
            gaps = gaps or slot.may_lack or slot.wrap != slot.wrap.strip()
        else:
            words = frame_words(part.slot, construction, pools)
            pieces.append(pl.Series(words if number else list(map(capital, words)))[plan.frame[rows]])
            gaps = gaps or any(not word or word != word.strip() or "  " in word for word in words)
        small = small if number else gaps
    text = pl.select(pl.concat_str(pl.lit(piece) if isinstance(piece, pl.Series) else piece for piece in pieces)).to_series()
    if len(text) != len(rows):
        text = text.new_from_index(0, len(rows))
    if gaps and text.str.contains("  ", literal=True).any():  # a quarter of the time of replacing none
        text = text.str.replace_all("  ", " ", literal=True)
    return capitalised(text) if small else text


def frame_words(name: str, construction: Construction, pools: Pools) -> list[str]:
    """What every frame says for ``name``."""
    if not all(name in frame.words for frame in pools.frames):
        raise UnknownNameError(f"{{{name}}} is neither a slot nor a word of every frame", file=construction.document.path)
    return [frame.words[name] for frame in pools.frames]


def capital(text: str) -> str:
    """``text`` with a capital for its first letter."""
    return text[:1].upper() + text[1:]


def scatter(pieces: Sequence[tuple[Rows, pl.Series]], count: int) -> pl.Series:
    """The texts of ``pieces`` in the order of their row numbers."""
    places = np.empty(count, dtype=np.uint32)
    places[np.concatenate([rows for rows, _ in pieces])] = np.arange(count, dtype=np.uint32)
    return pl.concat([texts.alias("text") for _, texts in pieces], rechunk=True)[pl.Series(places)]


def same_templates_and_slots(construction: Construction, kinds: Sequence[str]) -> bool:
    """Whether ``kinds`` share their templates and, in each, the slots: then their premises differ in construction or roles only."""
    templates = [[template.name for template in construction.templates_for(kind)] for kind in kinds]
    if any(names != templates[0] for names in templates):
        return False

    def slots(kind: str, template: str) -> tuple[str, ...]:
        parts = construction.premise_parts(kind, template)
        return tuple(sorted(part.slot for part in parts if part.slot and part.form not in AGREEING))

    return all(len({slots(kind, name) for kind in kinds}) == 1 for name in templates[0])


def digest(text: str) -> str:
    """A content address: 16 hexadecimal digits of BLAKE2b."""
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


def digests(texts: Iterable[str]) -> pl.Series:
    """The `digest` of each."""
    fresh = hashlib.blake2b(digest_size=8).copy  # to copy a state takes a fifteenth of the time of making one
    raw = []
    for text in texts.to_list() if isinstance(texts, pl.Series) else texts:
        state = fresh()
        state.update(text.encode())
        raw.append(state.digest())
    return pl.Series(raw, dtype=pl.Binary).bin.encode("hex")
