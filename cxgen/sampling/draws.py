"""Contrast sets of one design in one split: a sampler gives any of them by number, premises as a table, hypotheses as columns."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import polars as pl

from cxgen.constructicon import Construction, Design, Part, Slot, parse_pattern
from cxgen.constructicon.model import Template
from cxgen.errors import UnknownNameError
from cxgen.sampling.plan import NOTHING, HoldOut, Plan, Rows, draw_plan, held_templates, pick
from cxgen.sampling.pools import ABSENT, Pools, design_pools
from cxgen.sampling.ways import AGREEING, Forms
from cxgen.sampling.wugs import Substitution
from cxgen.streams import Codes, addresses, code_of, codes_of, mixed
from cxgen.vocabulary import CONSTRUCTIONAL, LEXICAL, Role

PREVIEW = "sample"  # in place of a split: all verbs, and nothing is held out
_MOST = 3  # times its even share, after which a scene or a verb comes up as seldom as what is marked
_FEW, _WORDS = {Role.result, Role.goal, Role.path, Role.property}, 2.0  # roles whose words are few, and how much one may come up
_PART, _LATE = 25, 16  # a filler is to stand in one of so many sets at most, and how much later the others with it come
_SCENES = 1.2  # how much a scene may come up beyond its even share, since its verbs have theirs
_SLOTS_AT = 9  # where ``slots`` stands among the columns
_Sentence = tuple[Sequence[Part], Rows, Rows]  # the parts of a sentence, the sets that say it, and its places among all sentences


@dataclass(frozen=True)
class Sampler:
    """Contrast sets of one design for one config, in one split or `PREVIEW`; ``held`` is what occurs in test only."""

    construction: Construction
    design: Design
    config: str
    split: str
    seed: int
    pools: Pools
    forms: Forms
    held: HoldOut = NOTHING

    @classmethod
    def preview(cls, construction: Construction, design: Design, config: str, seed: int, forms: Forms) -> "Sampler":
        """One over all verbs."""
        return cls(construction, design, config, PREVIEW, seed, design_pools(construction, design, {}, None), forms)

    def draw(self, numbers: Rows) -> "Draws":
        """The sets ``numbers`` (from 0, without end): the same ones in whatever company and order they are asked for."""
        return Draws(self, self._plan(numbers), self.forms)

    def evenly(self, wanted: int, count: int) -> Rows:
        """The first ``count`` sets, in the order in which to draw ``wanted``: those first whose scene and verbs have come up least before,
        by an even share; so it is for results, goals, paths and properties, of which one may come up twice as often. A set that is to
        come up seldom is counted among its like, as 1 / its chance; where one of these has had `_MOST` times its even share of what is
        wanted, the set counts as the one that is to come up most seldom. Where a role's filler (verbs and circumstances apart) has had
        1 / `_PART` of what is wanted, the set comes `_LATE` times as late."""
        slots = dict.fromkeys(self.construction.kinds[kind].verb for kind in self.design.kinds)
        marked = {name: seldom for name, seldom in self.pools.seldom.items() if seldom}
        known = self.construction.slots
        roles = {name: known[name].role for name in self.pools.candidates if known[name].role not in {Role.verb, Role.modifier}}
        few = [name for name, role in roles.items() if role in _FEW]
        plan, weight = self._plan(span(0, count), {*slots, *marked, *roles}), np.ones(count)
        for name, seldom in marked.items():
            weight *= [seldom.get(own, 1.0) for own in zip(plan.frame.tolist(), plan.fillers[name].tolist(), strict=True)]
        chance, like, share = plan.chance("evenly?"), weight < 1, np.zeros(count)
        lemmas, words = self.construction.lexicon.lemma_codes, dict.fromkeys(slots, 1.0) | dict.fromkeys(few, _WORDS)
        words_of = {slot: np.where(rows == ABSENT, ABSENT, lemmas[rows]) for slot, rows in plan.fillers.items()}
        columns = [(words_of[slot], most) for slot, most in words.items()]
        for column, most in [(plan.frame, _SCENES), *columns]:
            there = column != ABSENT
            own = (_earlier(2 * column[there] + like[there]) + chance[there]) * len(np.unique(column[there])) / most
            share[there] = np.maximum(share[there], own)
        weight[share > _MOST * wanted] = weight.min()
        place = share / weight
        order, most = np.argsort(place, kind="stable"), max(wanted // _PART, 1)
        for role in {*roles.values()}:
            own = np.stack([words_of[name][order] for name in roles if roles[name] == role], axis=1)
            before = _earlier(own.ravel()).reshape(own.shape)
            place[order[((own != ABSENT) & (before >= most)).any(axis=1)]] *= _LATE
        return np.argsort(place, kind="stable")

    def _plan(self, numbers: Rows, only: Collection[str] = ()) -> Plan:
        stream = (self.seed, self.construction.name, self.design.name, self.split)
        return draw_plan(self.construction, self.design, self.pools, stream, numbers, only)

    def draw_with(self, by: Substitution, modes: list[str], numbers: Rows) -> "Draws":
        """The sets ``numbers`` with pseudowords, once in each of ``modes``; in a set, a lexeme has one pseudoword throughout."""
        plan, of = by.plan(self.draw(np.sort(numbers)).plan, modes)
        return Draws(self, plan, by.forms, by.broken, of)


def _earlier(column: Rows) -> Rows:
    """How many places before each one have the same value."""
    order = np.argsort(column, kind="stable")
    earlier = np.empty_like(order)
    earlier[order] = np.arange(len(column)) - np.searchsorted(column[order], column[order])
    return earlier


def span(start: int, count: int) -> Rows:
    """The set numbers from ``start`` on."""
    return np.arange(start, start + count, dtype=np.int64)


@dataclass(frozen=True)
class Draws:
    """Contrast sets of one design; premises stand kind after kind, those of a kind in the order of the sets."""

    sampler: Sampler
    plan: Plan
    forms: Forms
    broken: Mapping[str, frozenset[str]] = field(default_factory=dict)  # mode -> slots with pseudowords, on which no label may rest
    modes: Rows | None = None  # per set the number of its mode in ``broken``

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

    def gather(self, rows: Rows) -> pl.DataFrame:
        """The premises at ``rows``, in that order, as often as they are named there.

        Columns: ``set_number`` (i64, the set's number in its stream), ``contrast_set, premise_id, construction, contrast_of, kind,
        template, frame, premise, verb, config, design, split`` (strings), ``template_held_out`` (bool), ``slots`` (list of structs) and
        ``verb_role`` (string: whether the verb by itself entails what the construction says), ``acceptability`` (what judges said), with
        pseudowords ``mode`` instead; ``code`` (u64, ``premise_id`` as a number).
        """
        (slots, fillers), lexicon = self._fillers, self.forms.lexicon
        row, slot = np.nonzero(fillers[rows] != ABSENT)
        names = pl.DataFrame([(own.name, own.role) for own in slots], schema=dict.fromkeys(("slot", "role"), pl.String), orient="row")
        facts = lexicon.table.select("lemma", "sense", "zipf", "percentile", "band")[fillers[rows][row, slot]]
        long = pl.DataFrame({"row": row, "slots": pl.concat([names[slot], facts], how="horizontal").to_struct()})
        grouped = long.with_columns(pl.col("row").set_sorted()).group_by("row", maintain_order=True)  # groups are then slices
        return self._table[rows].insert_column(_SLOTS_AT, grouped.agg("slots")["slots"])

    def statements(self) -> pl.DataFrame:
        """As `worded`, of all rules of the design with wordings that are drawn for each."""
        return self.worded(self.design.rules, [self.wordings(name) for name in self.design.rules])

    def worded(self, rules: Sequence[str], choices: Sequence[Rows]) -> pl.DataFrame:
        """What rules, one after the other, say in every set, in the wordings that are chosen: ``hypothesis``, ``wording`` (i16),
        ``wording_held_out`` (bool), ``said`` (u64, a code of rule, wording and what is said)."""
        groups, held, codes = [], [], []
        for number, (rule, choice) in enumerate(zip(rules, choices, strict=True)):
            wordings = self.construction.rules[rule].wordings
            for wording in np.unique(choice):
                rows = np.flatnonzero(choice == wording)
                groups.append((parse_pattern(wordings[wording]), rows, rows + number * len(self)))
            held.append(np.array(self.sampler.held.of_wordings(len(wordings)))[choice])
            codes.append(codes_of((rule,), wordings)[choice])
        laid = lay(groups, self.construction, self.plan, self.sampler.pools, self.forms, len(rules) * len(self))
        numbers, said = pl.Series(np.concatenate(choices), dtype=pl.Int16), self._coded(np.concatenate(codes), laid)
        texts = written(laid, self.forms)
        return pl.DataFrame({"hypothesis": texts, "wording": numbers, "wording_held_out": np.concatenate(held), "said": said})

    def wordings(self, *rules: str) -> Rows:
        """For every set the number of a wording that all ``rules`` have. A set's rules are all worded as held out, or as seen."""
        count = min(len(self.construction.rules[rule].wordings) for rule in rules)
        return self.plan.choose(f"wording:{'|'.join(rules)}", range(count), self.sampler.held.of_wordings(count), self.sampler.split)

    @cached_property
    def texts(self) -> pl.Series:
        """The texts of the premises."""
        return written(self._laid, self.forms)

    @cached_property
    def _laid(self) -> Rows:
        """The pieces of the premises, see `lay`."""
        order = np.argsort(self._chosen.astype(np.uint16), kind="stable")  # sorted by radix: a fifth of the time
        ends = np.cumsum(np.bincount(self._chosen, minlength=len(self._templates)))
        groups = [
            (self.construction.premise_parts(kind, template.name), rows % len(self), rows)
            for (kind, template), rows in zip(self._templates, np.split(order, ends[:-1]), strict=True)
            if len(rows)
        ]
        return lay(groups, self.construction, self.plan, self.sampler.pools, self.forms, len(self._chosen))

    @cached_property
    def codes(self) -> Codes:
        """A number of 64 bits for every premise: what it says, as what kind of which design."""
        names = [f"{kind}\x1f{template.name}" for kind, template in self._templates]
        return self._coded(codes_of((self.construction.name, self.design.name), names)[self._chosen], self._laid)

    def _coded(self, codes: Codes, laid: Rows) -> Codes:
        """``codes``, of one sentence each, mixed with those of its pieces."""
        for column in laid:  # row 0 is no piece: how many there are depends on the other sentences
            codes = np.where(column, mixed(codes, self.forms.codes(column)), codes)
        return codes

    @cached_property
    def sets(self) -> Codes:
        """The same for every set."""
        return mixed(code_of("set"), *self.codes.reshape(len(self.design.kinds), -1))

    @cached_property
    def _held_templates(self) -> frozenset[str]:
        return held_templates(self.construction, self.sampler.seed) if self.sampler.held.templates else frozenset()

    @cached_property
    def _templates(self) -> list[tuple[str, Template]]:
        """Every kind with each of its templates, one kind after the other."""
        return [(kind, template) for kind in self.design.kinds for template in self.construction.templates_for(kind)]

    @cached_property
    def _chosen(self) -> Rows:
        """Of every premise, which of `_templates` it has."""
        choices, before = [], 0
        for own in map(self.construction.templates_for, self.design.kinds):
            names = [template.name for template in own]
            held = [name in self._held_templates for name in names]
            choices.append(before + self.plan.choose("template", names, held, self.sampler.split))
            before += len(own)
        return np.concatenate(choices)

    @cached_property
    def _fillers(self) -> tuple[list[Slot], Rows]:
        """The slots that some premise has, as they are declared, and what fills them: premises x slots, `ABSENT` where there is nothing."""
        parts = [{part.slot for part in self.construction.premise_parts(kind, template.name)} for kind, template in self._templates]
        slots, columns = [], []
        for name, slot in self.construction.slots.items():
            has = np.array([name in names for names in parts])[self._chosen]
            if has.any():
                slots.append(slot)
                columns.append(np.where(has, np.resize(self.plan.fillers[name], len(has)), ABSENT))
        return slots, np.array(columns, dtype=np.int64).reshape(len(slots), len(self._chosen)).T

    @cached_property
    def _table(self) -> pl.DataFrame:
        """All premises without ``slots``: lists of structs are gathered a hundred times as slowly as made anew."""
        name, design, kinds = self.construction.name, self.design, [self.construction.kinds[kind] for kind in self.design.kinds]
        rows = [(kind.construction, None if kind.construction == name else name, kind.name) for kind in kinds]
        per_kind = pl.DataFrame(rows, schema=dict.fromkeys(("construction", "contrast_of", "kind"), pl.String), orient="row")
        held = [(template.name, template.name in self._held_templates) for _, template in self._templates]
        per_template = pl.DataFrame(held, schema=["template", "template_held_out"], orient="row")
        verbs = np.concatenate([self.plan.fillers[kind.verb] for kind in kinds])
        last = self._judged if self.modes is None else {"mode": pl.Series(list(self.broken))[np.tile(self.modes, len(kinds))]}
        table = pl.concat([per_kind[np.repeat(np.arange(len(kinds)), len(self))], per_template[self._chosen]], how="horizontal").select(
            pl.Series("set_number", np.tile(self.plan.numbers, len(kinds))),
            pl.all(),
            frame=pl.Series([frame.name for frame in self.sampler.pools.frames])[np.tile(self.plan.frame, len(kinds))],
            premise=self.texts,
            verb=self.forms.lexicon.table["lemma"][verbs],
            config=pl.lit(self.sampler.config),
            design=pl.lit(design.name),
            split=pl.lit(self.sampler.split),
        )
        ids = pl.DataFrame({"premise_id": addresses(self.codes), "contrast_set": addresses(self.sets) * len(kinds), "code": self.codes})
        return table.with_columns(**last).hstack(ids)

    @property
    def _judged(self) -> dict[str, pl.Expr]:
        """Whether the scene names the verb as one that holds the meaning (null where none could), and what judges said of the two."""
        frames, clause = self.construction.frames, pl.concat_str("frame", "verb", separator="\x1f")
        alone = [f"{frame.name}\x1f{verb}" for frame in frames for verb in frame.entails_alone]
        role = pl.when(clause.is_in(alone)).then(pl.lit(LEXICAL)).otherwise(pl.lit(CONSTRUCTIONAL))
        said = {f"{frame.name}\x1f{verb}": value for frame in frames for (_, verb), value in frame.judged.items() if value}
        acceptability = clause.replace_strict(said, default=None, return_dtype=pl.String)
        return {"verb_role": role if self.construction.argument_structure else pl.lit(None, pl.String), "acceptability": acceptability}


def realise(groups: Iterable[_Sentence], construction: Construction, plan: Plan, pools: Pools, forms: Forms, count: int) -> pl.Series:
    """The texts of ``count`` sentences, or of several with a full stop between them: with capitals, and without double spaces."""
    return written(lay(groups, construction, plan, pools, forms, count), forms)


def lay(groups: Iterable[_Sentence], construction: Construction, plan: Plan, pools: Pools, forms: Forms, count: int) -> Rows:
    """The pieces that ``count`` sentences consist of, first, second ... x sentences, as rows of ``forms.pieces``."""
    known: dict[Part, Rows] = {}  # which piece a part is, set by set
    columns: list[Rows] = []
    for parts, sets, places in groups:
        columns += [np.zeros(count, dtype=np.int64) for _ in range(len(parts) - len(columns))]
        for column, part in zip(columns, parts, strict=False):
            if part not in known:
                known[part] = _pieces(part, construction, plan, pools, forms)
            column[places] = known[part][sets]
    return np.array(columns)


def written(laid: Rows, forms: Forms) -> pl.Series:
    """The texts of sentences that are laid out, with capitals and without double spaces."""
    pieces = forms.pieces[laid.reshape(-1)]
    text = pl.select(pl.concat_str([pieces.slice(at, laid.shape[1]) for at in range(0, len(pieces), laid.shape[1])])).to_series()
    if text.str.contains("  ", literal=True).any():  # a quarter of the time of replacing none
        text = text.str.replace_all("  ", " ", literal=True)
    one = pl.element() if (several := text.str.contains(". ", literal=True).any()) else pl.col("text")
    capital = one.str.slice(0, 1).str.to_uppercase() + one.str.slice(1)
    with_capitals = pl.col("text").str.split(". ").list.eval(capital).list.join(". ") if several else capital
    return text.to_frame("text").select(with_capitals).to_series()


def _pieces(part: Part, construction: Construction, plan: Plan, pools: Pools, forms: Forms) -> Rows:
    if part.slot in construction.slots:
        return forms.rows(construction.slots[part.slot], part.form, plan, pools)
    if not part.slot:
        return np.full(len(plan), forms.literal(part.text))
    if not all(part.slot in frame.words for frame in pools.frames):
        raise UnknownNameError(f"{{{part.slot}}} is neither a slot nor a word of every frame", file=construction.document.path)
    return np.array([forms.literal(frame.words[part.slot]) for frame in pools.frames], dtype=np.int64)[plan.frame]


def same_templates_and_slots(construction: Construction, kinds: Sequence[str]) -> bool:
    """Whether ``kinds`` share their templates and, in each, the slots: then their premises differ in construction or roles only."""

    def slots(kind: str) -> dict[str, list[str]]:
        parts = {template.name: construction.premise_parts(kind, template.name) for template in construction.templates_for(kind)}
        return {name: sorted(part.slot for part in own if part.slot and part.form not in AGREEING) for name, own in parts.items()}

    return all(slots(kind) == slots(kinds[0]) for kind in kinds)
