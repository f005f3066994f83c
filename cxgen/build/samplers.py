"""The samplers of a construction: every design, config and split, verbs divided first; their items, and how many there are."""

import math
import secrets
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from itertools import chain
from typing import Any

import numpy as np
import polars as pl

from cxgen.build.params import Request
from cxgen.constructicon import Construction, Design, load_construction
from cxgen.constructicon.model import verb_rows
from cxgen.errors import CxgenError, DataError, EmptySlotError, SchemaError, some
from cxgen.families import CONFIGS, DEFAULT, family_of
from cxgen.layout import JUDGMENTS
from cxgen.lexicon import Frame, Lexicon
from cxgen.lexicon.verdicts import refusals
from cxgen.project import Project
from cxgen.sampling.draws import Draws, Sampler
from cxgen.sampling.partition import best_partition, frame_verbs, further_verbs, joint_verbs, split_of, verb_pools
from cxgen.sampling.plan import Rows, held_templates
from cxgen.sampling.pools import ABSENT, design_pools
from cxgen.sampling.ways import WORD_FORMS, By, Forms
from cxgen.sampling.wugs import Wugs
from cxgen.vocabulary import PRESETS, SPLITS, Split

# Sets are drawn at random and must share no premise with another one, so that the last ones are hard to find: at a quarter of what can be
# said nearly every draw is still new, in all premises of its set.
EASY = 1 / 4
_SETS = 4_000  # drawn at a time: enough for whole columns, few enough for memory; scattered numbers cost their range: not for 10^6 sets
_ROUNDS = 12  # after which a sampler that still lacks sets has run dry
_SAYS_MUCH = 1_000  # draws, by which a round says how many sets there are
_CHOICE = 16  # times as many sets as are required: those are drawn first that make verbs and scenes come up evenly
_CHOSEN_FROM = 16_000  # sets at most: of many more, all come up
_SPARE = 8  # drawn on top, since a few clash
_ANY, _PRONOUNS = 2, 2  # of the genders: he or she


@dataclass(frozen=True)
class Run:
    """A run of a command: a process keeps what it has loaded for it, since files may have changed since another."""

    project: Project = field(compare=False)
    request: Request = field(compare=False)
    token: str = field(default_factory=lambda: secrets.token_hex(8))


@lru_cache(1)
def _lexicon_of(run: Run) -> Lexicon:
    return Lexicon.of(run.project)


@lru_cache(1)
def wugs_of(run: Run) -> Wugs:
    """The pseudowords."""
    return Wugs.load(run.project.snapshot)


@lru_cache(1)
def samplers_of(run: Run, name: str) -> list[Sampler]:
    """The samplers of a construction, which must be sound."""
    from cxgen.check import require_sound  # previews do without it

    construction = load_construction(run.project, name, _lexicon_of(run))
    require_sound(construction)
    return samplers(only_judged(construction, run.project) if run.request.hears(name) else construction, run.request)


def only_judged(construction: Construction, project: Project) -> Construction:
    """``construction`` with the clauses alone that judges have accepted; a `DataError` if there is none."""
    frames = tuple(replace(frame, slots=frame.slots | kept) for frame, kept, _ in _heard(construction) if all(kept.values()))
    if not frames:
        raise nothing_judged(construction.name, project, refusals((*construction.frames, *construction.refused)))
    return replace(construction, frames=frames)


def nothing_judged(name: str, project: Project, refused: str = "") -> DataError:
    """The error about a construction of which judges have accepted nothing; ``refused``: see `refusals`."""
    what = f"nothing of {name} has been {f'accepted: judges refused all that they saw, {refused}' if refused else 'judged'}"
    begin = "mend the scenes, have others" if refused else "restore the file, have the clauses"
    hint = f"{begin} judged (`cxgen judge`), or name it under judge.unjudged in params.yaml: rules alone then pass it, and the card says so"
    return DataError(what, file=project.root / JUDGMENTS, hint=hint)


def unjudged(construction: Construction, request: Request) -> Iterator[str]:
    """A line that says how many clauses nobody has judged, where a build draws from judged ones alone."""
    built = {design.frames for design in construction.designs.values() if design.configs}
    scenes = {frame.name: len(left) for frame, _, left in _heard(construction) if left and built.intersection(frame.designs or built)}
    if scenes and request.hears(construction.name):
        yield not_judged(construction.name, sum(scenes.values()), f" (scenes {some([*scenes])})")


def not_judged(name: str, count: int, where: str = "") -> str:
    """How many clauses of a construction nobody has judged, in words."""
    return f"{count} clauses of {name} are not judged, and not built{where}: `cxgen judge {name}`"


def _heard(construction: Construction) -> Iterator[tuple[Frame, dict[str, tuple[str, ...]], list[str]]]:
    """Every scene, its verbs that judges have accepted (slot -> keys), and those that nobody has judged."""
    lexicon = construction.lexicon
    for frame in construction.frames:
        kept, left = dict[str, tuple[str, ...]](), list[str]()
        for slot, rows in verb_rows(construction, frame).items():
            kept[slot] = tuple(lexicon.keys[row] for row in rows if (slot, lexicon.lemmas[row]) in frame.judged)
            left += [lexicon.lemmas[row] for row in rows if (slot, lexicon.lemmas[row]) not in frame.judged]
        yield frame, kept, left


def samplers(construction: Construction, request: Request) -> list[Sampler]:
    """Those of every design, config and split."""
    construction = fillable(construction, request)
    splits, forms, made = placed(construction, request), Forms(construction.lexicon), []
    for design in construction.designs.values():
        for config in (name for name in design.configs if request.rows(name)):
            _require_sets(construction, design, config)
            for split in SPLITS:
                pools = design_pools(construction, design, splits, split, request.preset, request.marked)
                made.append(Sampler(construction, design, config, split, request.seed, pools, forms, request.hold_out))
    return made


def unfilled(construction: Construction, request: Request) -> Iterator[EmptySlotError]:
    """The error about the first design that a build cannot fill in a split, as where no verb of its scenes is one of test."""
    try:
        samplers(construction, request)
    except EmptySlotError as error:
        yield error


def drawable(construction: Construction, design: Design, split: str, request: Request) -> set[str]:
    """The verbs that a design is made with in a split: not those that all lack there what their scenes need beside them."""
    try:
        pools = design_pools(construction, design, placed(construction, request), split, request.preset, request.marked)
    except EmptySlotError:
        return set()
    lists = (pools.candidates[name] for name in pools.candidates.keys() & {*construction.verb_slots})
    return {construction.lexicon.lemmas[row] for rows in chain.from_iterable(lists) for row in rows}


def previews(construction: Construction, seed: int, family: str = "") -> list[Sampler]:
    """Those of the designs over all verbs, each for the first of its configs that belongs to ``family`` (default: its first)."""
    forms, made = Forms(construction.lexicon), []
    for design in construction.designs.values():
        config = next((name for name in design.configs if not family or family_of(name).name == family), None)
        if config is not None:
            _require_sets(construction, design, config)
            made.append(Sampler.preview(construction, design, config, seed, forms))
    if not made:
        other = next((family_of(name).name for design in construction.designs.values() for name in design.configs), "")
        config = next((name for name, owner in CONFIGS.items() if owner.name == family), DEFAULT)
        hint = f"add {config} to a design's config" + (f", or ask for the family that it has: --family {other}" if other else "")
        what = f"no design for the family {family!r}" if family else f"its designs are in no config: {', '.join(construction.designs)}"
        raise _fault(SchemaError, construction, [], what, hint if family else f"{hint}, or take another scene")
    return made


def divided(construction: Construction, request: Request) -> dict[str, str]:
    """Verb lemma -> split: as before; new ones by hash or with their company; the best partition if none was, or bands are strict."""
    verbs, joint = verb_pools(construction, request.preset), joint_verbs(construction, request.preset)
    own = sorted(frozenset().union(*verbs))
    known = dict(request.splits.get(construction.name, {})) if request.preset == PRESETS[0] else {}
    if known.keys().isdisjoint(own):
        usable, usual = (frame_verbs(construction, request.preset, marked=marked) for marked in (True, False))
        return best_partition(verbs, usable, usual, request.shares, (request.seed, construction.name), joint)
    for verb in own:
        company = [other for group in joint if verb in group for other in sorted(group) if other in known]
        known.setdefault(verb, known[company[0]] if company else split_of(verb, {}, request.shares, request.seed, construction.name))
    return known


def placed(construction: Construction, request: Request) -> dict[str, str]:
    """Verb lemma -> split, those included that are not divided (`further_verbs`): they go where `split_of` puts them."""
    splits = divided(construction, request)
    further = sorted(further_verbs(construction, request.preset))
    return {verb: split_of(verb, splits, request.shares, request.seed, construction.name) for verb in further} | splits


def fillable(construction: Construction, request: Request) -> Construction:
    """``construction`` without the designs that the strict bands leave empty in a split; as it is if none would be left."""
    if request.preset == PRESETS[0]:
        return construction
    splits, filled = placed(construction, request), {}
    for name, design in construction.designs.items():
        with suppress(EmptySlotError):
            for split in SPLITS:
                design_pools(construction, design, splits, split, request.preset, request.marked)
            filled[name] = design
    whole = len(filled) in {0, len(construction.designs)}
    return construction if whole else fillable(replace(construction, designs=filled), request)


def _require_sets(construction: Construction, design: Design, config: str) -> None:
    known = config in CONFIGS
    why = family_of(config).unsound(construction, design, config) if known else f"unknown config {config!r}"
    if why:
        hint = f"see `cxgen explain {construction.name}`" if known else f"configs: {', '.join(CONFIGS)}"
        raise _fault(SchemaError, construction, [design.name], f"design {design.name!r}: {why}", hint)


def _fault(error: type[SchemaError] | type[EmptySlotError], where: Construction, design: list[str], what: str, hint: str) -> CxgenError:
    return error(f"{where.name}: {what}", file=where.document.path, line=where.document.line(["designs", *design]), hint=hint)


def items_of(draws: Draws) -> pl.DataFrame:
    """The items that the family of their config makes of contrast sets; rows of a set are adjacent."""
    return family_of(draws.sampler.config).items(draws)


@dataclass
class _Source:
    """A sampler, the sets to stop at and those that must be there in the end, and the numbers of those so far whose premises are new."""

    sampler: Sampler
    wanted: int
    required: int
    drawn: int = 0  # places of `order`, and the numbers behind it
    kept: list[int] = field(default_factory=list)
    items: list[pl.DataFrame] = field(default_factory=list)
    dry: bool = False  # so few of many draws were new that the rounds which are left cannot give what is required, even twice as lucky

    @cached_property
    def order(self) -> Rows:
        """The numbers of the sets that are drawn first, in order."""
        return self.sampler.evenly(self.required, max(self.required, min(self.required * _CHOICE, _CHOSEN_FROM)))

    def draw(self, left: int, most: int, seen: set[int]) -> None:
        """Draw as many sets as are lacking; keep those with premises new to one another and to ``seen``, and the items of the first."""
        before, end = len(self.kept), self.drawn + self.wanted - len(self.kept) + _SPARE
        numbers = np.concatenate([self.order[self.drawn : end], np.arange(max(self.drawn, len(self.order)), end)])
        for own in np.split(numbers, range(_SETS, len(numbers), _SETS)):
            draws = self.sampler.draw(own)
            for number, premises in zip(own.tolist(), draws.texts.hash(0).to_numpy().reshape(-1, len(draws)).T.tolist(), strict=True):
                if seen.isdisjoint(premises):
                    seen.update(premises)
                    self.kept += [number] if len(self.kept) < self.wanted else []
            items, kept = items_of(draws), {*self.kept[:most]}
            if items.height:
                self.items.append(items if kept.issuperset(own) else items.filter(pl.col("set_number").is_in(kept)))
        count, self.drawn = end - self.drawn, end
        self.dry = count >= _SAYS_MUCH and len(self.kept) + 2 * left * (len(self.kept) - before) < self.required


def candidates(made: Sequence[Sampler], request: Request, *, head_room: bool = True) -> pl.DataFrame:
    """Items of the `samplers` of a construction, no premise in two sets of a family; with ``head_room`` more than wanted, for judges."""
    seen: dict[str, set[int]] = defaultdict(set)
    sources = []
    for sampler in made:
        sets = request.sets(sampler.construction, sampler.design, sampler.config)[sampler.split]
        sources.append(_Source(sampler, math.ceil(sets * request.oversample), sets))
    for left in reversed(range(_ROUNDS)):
        for source in sources:
            if len(source.kept) < source.wanted and not source.dry:
                source.draw(left, source.wanted if head_room else source.required, seen[family_of(source.sampler.config).name])
    for source in sources:
        if len(source.kept) < source.required:
            design, where = source.sampler.design.name, f"for {source.sampler.config} in {source.sampler.split}"
            what = f"only {len(source.kept)} distinct contrast sets of design {design!r} {where}, {source.required} are needed"
            hint = "add words or frames, or lower the size in params.yaml or the design's weight"
            raise _fault(EmptySlotError, source.sampler.construction, [design], what, hint)
    tables = [table.with_columns(sampler=number) for number, source in enumerate(sources) for table in source.items if table.height]
    return pl.concat(tables, how="diagonal") if tables else pl.DataFrame()


def generate_items(construction: Construction, request: Request) -> pl.DataFrame:
    """The `candidates` of a construction."""
    return candidates(samplers(construction, request), request)


def capacity(construction: Construction, request: Request) -> list[dict[str, Any]]:
    """How many sets can be had in every config, design and split (`sets_at_most`), beside those that are wanted; nothing is drawn."""
    rows = []
    for sampler in samplers(construction, request):
        wanted = math.ceil(request.sets(construction, sampler.design, sampler.config)[sampler.split] * request.oversample)
        most = sets_at_most(sampler)
        about = {"construction": construction.name, "config": sampler.config, "design": sampler.design.name, "split": sampler.split}
        rows.append({**about, "wanted": wanted, "capacity": most, "used": wanted / most, "enough": wanted <= EASY * most})
    return rows


def sets_at_most(sampler: Sampler) -> int:
    """How many sets share no premise, at most: the premises of the kind that has fewest; what two templates or frames say counts twice."""
    return min(sum(_premises(sampler, kind)) for kind in sampler.design.kinds)


def _premises(sampler: Sampler, kind: str) -> Iterator[int]:
    """The premises of a kind, template by template and frame by frame."""
    construction = sampler.construction
    held = held_templates(construction, sampler.seed) if sampler.held.templates and sampler.split != Split.test else frozenset()
    for template in construction.templates_for(kind):
        if template.name not in held:
            parts = [part for part in construction.premise_parts(kind, template.name) if part.slot in construction.slots]
            names = {part.slot for part in parts}
            by_pronoun = {part.slot for part in parts if WORD_FORMS[part.form].by is By.PRONOUN}
            for frame in range(len(sampler.pools.frames)):
                yield _ways(sampler, names, by_pronoun, frame)


def _ways(sampler: Sampler, names: set[str], by_pronoun: set[str], frame: int) -> int:
    """How many ways there are to fill slots in a frame, at most: a word counts as taken by another slot only where it surely is."""
    lexicon, pools = sampler.construction.lexicon, sampler.pools.candidates
    words: dict[str, set[str]] = {}
    ways = 1
    for slot in (slot for name, slot in sampler.construction.slots.items() if name in names):
        rows = [row for row in pools[slot.name][frame] if row != ABSENT]
        counts = {lexicon.lemmas[row]: _PRONOUNS if slot.name in by_pronoun and lexicon.genders[row] == _ANY else 1 for row in rows}
        words[slot.name] = set(counts)
        taken = sum(words[other] <= words[slot.name] for other in slot.distinct if words.get(other))
        ways *= max(sum(counts.values()) - taken, 0 if rows else 1) + bool(slot.optional)
    return ways
