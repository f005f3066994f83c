"""Plans and sentences: determinism, independence, agreement, form."""

from __future__ import annotations

import dataclasses
import re

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cxgen.constructicon import load_construction
from cxgen.errors import EmptySlotError
from cxgen.generate import Request, generate_items, set_counts
from cxgen.generate.items import sample_items
from cxgen.project import Project
from cxgen.sets.plan import draw_plan
from cxgen.sets.pools import design_pools
from cxgen.stages.generate import candidates
from cxgen.streams import uniform

SMALL = Request(triples=240, seed=7)


@pytest.fixture(scope="module")
def small(project, constructions):
    return candidates(project, list(constructions), SMALL)


@given(st.integers(0, 500), st.integers(1, 50), st.integers(0, 49))
def test_a_stream_is_the_same_from_wherever_it_is_read(start, count, offset):
    offset = min(offset, count - 1)
    assert np.array_equal(uniform(("s", 1), start, count)[offset:], uniform(("s", 1), start + offset, count - offset))
    assert not np.array_equal(uniform(("s", 1), start, 8), uniform(("s", 2), start, 8))


def test_any_number_of_workers_gives_the_same_rows(project, constructions, small):
    assert small.equals(candidates(project, list(constructions), SMALL, workers=3))


def test_a_ninth_construction_leaves_the_others_as_they_were(scratch, constructions, small):
    text = (scratch / "templates/way-manner.yaml").read_text("utf-8")
    frames = """
frames:
  - name: walk-home
    design: [arrival, manner]
    slots: {verb: wm-crowd-push, sound: [wm-sound-music, wm-sound-laugh], medium: wm-crowds, goal: wm-hall-goals}
  - name: walk-around
    design: rooms
    slots: {verb: wm-crowd-push, origin: wm-rooms, room: wm-rooms}
"""
    (scratch / "templates/ninth.yaml").write_text(text.replace("name: way-manner", "name: ninth") + frames, "utf-8")
    names = [*constructions, "ninth"]
    table = candidates(Project(scratch), names, SMALL)
    assert table.filter(pl.col("construction") == "ninth").height > 0
    rest = table.filter((pl.col("construction") != "ninth") & (pl.col("contrast_of").is_null() | (pl.col("contrast_of") != "ninth")))
    assert rest.equals(small)


def test_another_seed_gives_other_items(project, small):
    other = candidates(project, ["conative"], Request(triples=240, seed=8))
    mine = set(other["premise_id"])
    assert len(mine & set(small["premise_id"])) < len(mine) / 20  # a few come up twice by chance


def test_sentences_are_well_formed(small):
    for column in ("premise", "hypothesis"):
        odd = small.filter(~pl.col(column).str.contains(r"^\p{Lu}[^{}]*[^\s.]\.$") | pl.col(column).str.contains(r"\s\s|\s[,.]|,,"))
        assert odd[column].to_list() == []


def test_articles_agree(small):
    words = re.compile(r"\b(a|an) ([a-z]+)", re.IGNORECASE)
    silent, yoo = ("hour", "heir", "honest"), ("uni", "eu", "ewe", "use", "ukulele", "one")
    for text in small["premise"]:
        for article, word in words.findall(text):
            if word in {"minutes", "few"}:
                continue
            vowel = (word[0].lower() in "aeiou" and not word.startswith(yoo)) or word.startswith(silent)
            assert (article.lower() == "an") == vowel, text


def test_verbs_agree_with_plural_subjects_and_pronouns_with_their_names(lexicon, constructions):
    items = sample_items(constructions["way-manner"], lexicon, 5, 60)
    genders = dict(lexicon.table.drop_nulls("gender").select("lemma", "gender").iter_rows())
    seen = set()
    for premise, slots in items.select("premise", "slots").unique(maintain_order=True).iter_rows():
        agent = next(slot["lemma"] for slot in slots if slot["role"] == "agent")
        pronoun = re.search(r"\b(his|her|their) way\b", premise)[1]
        seen.add(pronoun)
        allowed = {"m": {"his"}, "f": {"her"}, "any": {"his", "her", "their"}}[genders[agent]]
        assert pronoun in allowed, premise
    assert seen == {"his", "her", "their"}
    plural = sample_items(constructions["caused-motion"], lexicon, 5, 60).filter(pl.col("rule").is_in(["nearer", "farther"]))
    assert not plural["hypothesis"].str.contains(r"s was\b.*ed to").any()


def test_distinct_slots_hold_distinct_words(small):
    rows = small.filter(pl.col("design") == "order").unique("premise_id", maintain_order=True)
    for slots in rows["slots"]:
        things = [slot["lemma"] for slot in slots if slot["role"] == "conjunct"]
        assert len(things) == len(set(things)) == 3


def test_ids_are_of_content(small):
    assert small["id"].n_unique() == small.height
    assert small.group_by("premise_id").agg(pl.col("premise").n_unique())["premise"].max() == 1
    again = small.unique("premise_id", maintain_order=True)
    assert again["premise"].n_unique() == again.height


def test_the_strict_preset_keeps_to_its_band_and_meets_every_count(lexicon, constructions):
    request = Request(preset="contest")
    for construction in constructions.values():
        items = generate_items(construction, lexicon, request)
        sets = items.select("design", "split", "contrast_set").unique().group_by("design", "split").len().rows()
        wanted = set_counts(construction, request.wanted, request.shares)
        assert all(number >= wanted[design, split] for design, split, number in sets)
        assert len(sets) == len(wanted)
        carried = {name for name, slot in construction.slots.items() if slot.carries}
        slots = items.select("slots").explode("slots").unnest("slots").filter(pl.col("slot").is_in(sorted(carried)))
        assert slots["band"].unique().to_list() == ["mid"]
        assert slots["percentile"].is_between(20, 60).all()


def test_too_many_sets_asked_for_is_an_error(scratch, lexicon):
    path = scratch / "templates/conative.yaml"
    head, rest = path.read_text("utf-8").split("\ntemplates:")
    hypotheses = rest.split("\nhypotheses:")[1].split("\ndesigns:")[0]
    tail = """
designs:
  contact: {frames: tiny, kinds: [missed, made-contact, again-and-again, only-once], hypotheses: [untouched, touched, repeated, single]}
frames:
  - {name: tiny, design: tiny, slots: {agent: co-crab-agents, verb: co-hanging-verbs, target: "dummy%1:06:00::", landed: co-land-hit}}
"""
    plain = '\ntemplates:\n  plain: "{agent} {@verb:past} at {target}{@rest}."\n'
    path.write_text(f"{head}{plain}\nhypotheses:{hypotheses}{tail}", "utf-8")
    construction = load_construction(Project(scratch), "conative", lexicon)
    with pytest.raises(EmptySlotError, match=r"only \d+ distinct contrast sets of design 'contact' in train, 700 are needed"):
        generate_items(construction, lexicon, Request(triples=12_000))


def test_a_marked_verb_still_comes_up_but_as_seldom_as_asked(lexicon, constructions):
    construction = constructions["caused-motion"]
    design = construction.designs["path"]
    frames = [dataclasses.replace(frame, marked=frozenset()) for frame in construction.frames if design.frames in frame.designs]
    frame = max(frames, key=lambda frame: sum(len(lexicon.resolve(name).ids) for name in frame.slots["verb"]))
    keys = [lexicon.table["key"][row] for name in frame.slots["verb"] for row in lexicon.resolve(name).ids]
    other = next(other for other in frames if other is not frame)

    def shares(marked: list[str]) -> tuple[float, float]:
        """How often the frame is drawn, and how often the first of its verbs is when it is."""
        changed = dataclasses.replace(construction, frames=(dataclasses.replace(frame, marked=frozenset(marked)), other))
        plan = draw_plan(changed, design, design_pools(changed, design, lexicon, {}, None, marked=0.1), lexicon, ("s",), 0, 40_000)
        mine = plan.frame == 0
        return mine.mean(), (plan.fillers["verb"][mine] == lexicon.index[keys[0]]).mean()

    _, usual = shares([])
    _, seldom = shares(keys[:1])
    assert 0 < seldom < usual / 4
    frequent, _ = shares([])
    rare, same = shares(keys)
    assert same == pytest.approx(usual, abs=0.02)
    assert rare / (1 - rare) == pytest.approx(frequent / (1 - frequent) / 10, rel=0.15)


def test_a_frame_whose_nouns_are_all_marked_comes_up_as_seldom(lexicon, constructions):
    construction = constructions["caused-motion"]
    design = construction.designs["path"]
    first, other = [dataclasses.replace(f, marked=frozenset()) for f in construction.frames if design.frames in f.designs][:2]
    keys = frozenset(lexicon.table["key"][row] for name in first.slots["theme"] for row in lexicon.resolve(name).ids)

    def weights(frame):
        return design_pools(dataclasses.replace(construction, frames=(frame, other)), design, lexicon, {}, None, marked=0.1).weights

    usual, seldom = weights(first), weights(dataclasses.replace(first, marked=keys))
    assert seldom[0] / seldom[1] == pytest.approx(usual[0] / usual[1] / 10)


def test_marks_on_all_fillers_but_one_do_not_make_two_slots_alike(lexicon, constructions):
    construction = constructions["causative-with"]
    design = construction.designs["contents"]
    frame = next(f for f in construction.frames if design.frames in f.designs)
    keys = [lexicon.table["key"][row] for name in frame.slots["content"] for row in lexicon.resolve(name).ids]
    changed = dataclasses.replace(construction, frames=(dataclasses.replace(frame, marked=frozenset(keys[1:])),))
    plan = draw_plan(changed, design, design_pools(changed, design, lexicon, {}, None), lexicon, ("s",), 0, 5_000)
    assert not (plan.fillers["content"] == plan.fillers["other"]).any()
