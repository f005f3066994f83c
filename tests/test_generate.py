"""Plans and sentences: determinism, independence, agreement, form."""

import dataclasses
import re
from collections import Counter

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from wordfreq import top_n_list, zipf_frequency

from cxgen.build import preview
from cxgen.build.params import Request, read_splits
from cxgen.build.preview import Wanted, sample_items
from cxgen.build.preview import sampled as sampled_blocks
from cxgen.build.samplers import fillable, generate_items, items_of, previews, samplers
from cxgen.constructicon import load_construction
from cxgen.errors import EmptySlotError
from cxgen.lexicon import Lexicon
from cxgen.lexicon.words import CORPUS, HIGH, LOW
from cxgen.project import Project
from cxgen.sampling.plan import draw_plan
from cxgen.sampling.pools import ABSENT, Segments, crowded, design_pools
from cxgen.sampling.ways import By, choice
from cxgen.semantics import label_matrix, solve
from cxgen.streams import uniform
from cxgen.vocabulary import PRESETS
from tests.conftest import ROOT, edit, sampled

SMALL = Request({"nli": 240, "distinction": 120}, seed=7)


@pytest.fixture(scope="module")
def small(constructions):
    """Some sets of every design of every shipped construction."""
    return pl.concat([sample_items(construction, 5, 24) for construction in constructions.values()], how="diagonal")


@pytest.fixture(scope="module")
def few(reach, mini_lexicon):
    """Few items of the tests' own construction."""
    return generate_items(reach, SMALL)


@given(st.integers(0, 500), st.integers(1, 50), st.integers(0, 49))
def test_a_stream_is_the_same_from_wherever_it_is_read(start, count, offset):
    offset = min(offset, count - 1)
    assert np.array_equal(uniform(("s", 1), start, count)[offset:], uniform(("s", 1), start + offset, count - offset))
    assert not np.array_equal(uniform(("s", 1), start, 8), uniform(("s", 2), start, 8))


def test_a_long_sample_is_that_of_whole_blocks_in_small_ones(reach, monkeypatch):
    """Small enough that memory does not grow with what is asked for: a block has at most so many rows."""
    wanted = Wanted(9_000, seed=3)
    small = list(sampled_blocks(reach, wanted))
    assert max(block.height for block in small) < 12_000
    monkeypatch.setattr(preview, "MOST", 100_000)
    large = list(sampled_blocks(reach, wanted))
    assert len(large) < len(small)
    assert pl.concat(large, how="diagonal_relaxed").equals(pl.concat(small, how="diagonal_relaxed"))


def test_sets_are_the_same_in_whatever_company_and_order(reach):
    sampler = samplers(reach, SMALL)[0]
    large = items_of(sampler.draw(np.arange(600)))
    some = np.array([599, 17, 400, 0])
    small = pl.concat([items_of(sampler.draw(some[:1])), items_of(sampler.draw(some[1:]))])
    order = pl.Series("set_number", some).to_frame()
    assert order.join(large, on="set_number", how="left", maintain_order="left").select(small.columns).equals(small)
    elsewhere = dataclasses.replace(sampler, split="validation").draw(some).plan  # of the same words, other ones
    assert any((rows != sampler.draw(some).plan.fillers[name]).any() for name, rows in elsewhere.fillers.items())


def test_bands_are_drawn_evenly_but_no_word_twice_as_often_as_its_share(reach):
    """A list of which one word is rare: without the cap it would be drawn in every third set."""
    bands = np.array([0] + [1] * 9 + [2] * 10, dtype=np.int8)
    chances = (np.arange(60_000) + 0.5) / 60_000
    drawn = Segments([list(range(20))], bands).draw(np.zeros(60_000, dtype=np.int64), chances)
    shares = np.bincount(drawn, minlength=20) / 60_000
    assert shares[0] == pytest.approx(2 / 20 / (2 / 20 + 2 / 3), abs=1e-3)  # capped at twice its share, before norming
    assert shares[1:10].sum() == pytest.approx(shares[10:].sum(), abs=1e-3)
    plain = np.bincount(Segments([list(range(20))], bands, even=False).draw(np.zeros(60_000, dtype=np.int64), chances)) / 60_000
    assert plain == pytest.approx(1 / 20, abs=1e-3)


def test_every_balanced_selection_is_drawn(reach):
    """Which cells of the label matrix a set has is drawn anew for each: all selections come up, none much more often."""
    sampler = next(each for each in samplers(reach, SMALL) if each.config == "nli")
    items = items_of(sampler.draw(np.arange(900)))
    cells = items.group_by("set_number").agg((pl.col("kind") + "/" + pl.col("rule")).sort().str.join(" ").alias("cells"))["cells"]
    counts = cells.value_counts()["count"].to_list()
    selections = len(solve(label_matrix(reach, sampler.design)))
    assert len(counts) == selections > 1
    assert max(counts) < 2 * 900 / selections


def test_a_denied_claim_has_the_opposite_label(small):
    """Polarity: where one set entails a claim, what denies it is contradicted, in every construction."""
    rows = small.filter(pl.col("claim").is_not_null()).with_columns(plain=pl.col("claim").str.strip_prefix("not "))
    signs = rows.select("premise_id", "plain", sign=(1 - pl.col("label").cast(pl.Int64)) * pl.when("polarity").then(1).otherwise(-1))
    assert signs.group_by("premise_id", "plain").agg(pl.col("sign").n_unique())["sign"].max() == 1


def test_an_item_says_what_its_hypothesis_claims_and_whether_it_denies_it(few):
    claims = {"got(agent, target)": ("with", "without"), "repeated(agent)": ("repeated", "single")}
    claims["accompanied(agent)"] = ("company", "no-company")
    expected = {(rule, claim, not denies) for claim, rules in claims.items() for denies, rule in enumerate(rules)}
    assert set(few.select("rule", "claim", "polarity").iter_rows()) == expected


def test_sets_are_drawn_so_that_verbs_and_scenes_come_up_evenly_and_what_is_to_come_up_seldom_does(constructions):
    usual = next(each for each in samplers(constructions["caused-motion"], SMALL) if (each.design.name, each.split) == ("swap", "train"))

    def often(sampler, numbers):
        plan = sampler.draw(numbers).plan
        return Counter(plan.fillers["verb"].tolist()), Counter(plan.frame.tolist())

    order = usual.evenly(100, 400)
    assert sorted(order.tolist()) == [*range(400)]
    for plain, even in zip(often(usual, np.arange(100)), often(usual, order[:100]), strict=True):
        assert max(even.values()) < max(plain.values())
    frequent = often(usual, order[:100])[0].most_common(1)[0][0]
    seldom = {"verb": {(at, frequent): 0.01 for at in range(len(usual.pools.frames))}}
    shy = dataclasses.replace(usual, pools=dataclasses.replace(usual.pools, seldom=seldom))
    assert frequent not in often(shy, shy.evenly(100, 400)[:100])[0]


def test_the_only_scene_that_nobody_marks_does_not_prevail(constructions):
    sampler = next(each for each in samplers(constructions["caused-motion"], SMALL) if (each.design.name, each.split) == ("swap", "train"))
    frames = len(sampler.pools.frames)
    seldom = {"verb": {(at, verb): 0.02 for at in range(1, frames) for verb in sampler.pools.candidates["verb"][at]}}
    shy = dataclasses.replace(sampler, pools=dataclasses.replace(sampler.pools, seldom=seldom))
    came_up = Counter(shy.draw(shy.evenly(5 * frames, 50 * frames)[: 5 * frames]).plan.frame.tolist())
    assert came_up[0] == came_up.most_common(1)[0][1]  # most often, and no more than three times as often as it would evenly
    assert 5 < came_up[0] <= 3 * 1.2 * 5


def test_words_of_which_there_are_few_come_up_evenly(constructions):
    """Beyond what comes of scenes that come up evenly, of which many have the result *open*, or a hill."""
    for name, slot in (("intransitive-resultative", "result"), ("intransitive-motion", "slope")):
        made = [each for each in samplers(constructions[name], SMALL) if each.split == "train" and slot in each.pools.candidates]
        lemmas = made[0].construction.lexicon.lemma_codes
        lists = [{*lemmas[rows].tolist()} for rows in made[0].pools.candidates[slot]]
        by_scene = max(sum((word in words) / len(words) for words in lists) for word in set().union(*lists)) / len(lists)
        drawn = lemmas[made[0].draw(made[0].evenly(200, 3200)[:200]).plan.fillers[slot]]
        assert Counter(drawn.tolist()).most_common(1)[0][1] / 200 < by_scene * 0.85


def test_some_slots_are_drawn_as_with_all_others(constructions):
    for name in ("resultative", "let-alone", "intransitive-motion"):
        for one in (each for each in samplers(constructions[name], SMALL) if each.split == "train"):
            stream, numbers = (1, name, one.design.name, "train"), np.arange(300)
            whole = draw_plan(one.construction, one.design, one.pools, stream, numbers)
            for slot, fillers in whole.fillers.items():  # a slot is drawn anew where it repeats the word of one before it
                some = draw_plan(one.construction, one.design, one.pools, stream, numbers, {slot})
                assert some.fillers[slot].tolist() == fillers.tolist()


def test_ids_tell_wordings_rules_and_continuations_apart(constructions):
    for config, said in (("nli", ("rule", "wording")), ("minimal_pairs", ("diagnostic_good", "diagnostic_bad"))):
        request = Request({"nli": 0, config: 960})
        items = generate_items(constructions["caused-motion"], request).filter(config=config)
        assert items["id"].n_unique() == items.select("premise_id", *said).n_unique() == items.height
    groups = items.group_by("pair_group").agg(pl.len(), sets=pl.col("contrast_set").n_unique())
    assert groups.select(pl.col("len").eq(2).all() & pl.col("sets").eq(1).all()).item()


def test_an_id_stands_for_one_premise_and_hypothesis_whatever_the_seed(constructions):
    """Words that only the hypothesis has (the other gift, whoever else was thanked) and its pronouns, too."""
    shipped = read_splits(ROOT)
    for name, config in (
        ("ditransitive", "nli"),
        ("comparative-correlative", "nli"),
        ("causative-with", "minimal_pairs"),
        ("conative", "cxmp"),
    ):
        made = [
            generate_items(constructions[name], Request({"nli": 0, config: 960}, seed=seed, splits=shipped)).filter(config=config)
            for seed in (1, 2, 3)
        ]
        items = pl.concat(made)
        texts = [column for column in ("premise", "hypothesis", "diagnostic_good", "diagnostic_bad") if column in items.columns]
        assert items["id"].n_unique() == items.select("id", *texts).n_unique()
        assert items.select(texts).n_unique() <= items["id"].n_unique()


def test_an_id_changes_with_the_wording_of_its_hypothesis(constructions):
    construction, wanted = constructions["caused-motion"], Request({"nli": 480})
    name = construction.designs["swap"].rules[0]
    rule = construction.rules[name]
    reworded = dataclasses.replace(rule, wordings=tuple(text.replace(".", " at last.") for text in rule.wordings))
    changed = dataclasses.replace(construction, rules={**construction.rules, name: reworded})
    before, after = (generate_items(one, wanted).filter(config="nli") for one in (construction, changed))
    assert before.select("premise", "rule", "label").equals(after.select("premise", "rule", "label"))
    assert ((before["id"] != after["id"]) == (before["rule"] == name)).all()


def test_what_is_marked_keeps_about_its_rate(constructions):
    """Whatever is taken evenly: neither all of it, as seldom as it is, nor none."""
    made = samplers(constructions["caused-motion"], dataclasses.replace(SMALL, marked=0.12))
    sampler = next(each for each in made if (each.design.name, each.split) == ("swap", "train"))

    def share(numbers):
        plan, seldom = sampler.draw(numbers).plan, sampler.pools.seldom["verb"]
        return np.mean([own in seldom for own in zip(plan.frame.tolist(), plan.fillers["verb"].tolist(), strict=True)])

    drawn, taken = share(np.arange(1600)), share(sampler.evenly(200, 1600)[:200])
    assert 0.05 < drawn < 0.5
    assert drawn / 2 < taken < 2 * drawn


@pytest.mark.parametrize("config", ["nli", "minimal_pairs", "cxmp", "cxnli"])
def test_items_stand_in_the_order_of_the_draws(constructions, config):
    """By it the sets are told that come first, where others are left out."""
    wanted = Request({config: 480}, seed=7)
    sampler = next(each for each in samplers(constructions["resultative"], wanted) if each.config == config and each.split == "train")
    numbers = [11, 3, 24, 7, 15, 2]
    said = items_of(sampler.draw(np.array(numbers)))["set_number"].unique(maintain_order=True).to_list()
    assert said == [number for number in numbers if number in said]
    assert len(said) > 3


def test_another_seed_gives_other_items(reach, mini_lexicon, few):
    other = generate_items(reach, Request({"nli": 240, "distinction": 120}, seed=8))
    assert len(set(other["premise_id"]) & set(few["premise_id"])) < few["premise_id"].n_unique() / 5  # a few come up twice by chance


def test_sentences_are_well_formed(small):
    for column in ("premise", "hypothesis"):
        odd = small.filter(~pl.col(column).str.contains(r"^\p{Lu}[^{}]*[^\s.]\.$") | pl.col(column).str.contains(r"\s\s|\s[,.]|,,"))
        assert odd[column].to_list() == []


def test_articles_agree(small):
    words = re.compile(r"\b(a|an) ([a-z]+)", re.IGNORECASE)
    silent, yoo = ("hour", "heir", "honest"), ("uni", "eu", "ewe", "use", "ukulele", "one")
    for text in small["premise"]:
        for article, word in words.findall(re.sub(r"\bName [A-Z]\b", "Sam", text)):
            if word in {"minutes", "few"}:
                continue
            vowel = (word[0].lower() in "aeiou" and not word.startswith(yoo)) or word.startswith(silent)
            assert (article.lower() == "an") == vowel, text


def test_pronouns_agree_with_their_nouns(reach, mini_lexicon):
    genders = dict(mini_lexicon.table.drop_nulls("gender").select("lemma", "gender").iter_rows())
    rows = generate_items(reach, Request({"nli": 0, "distinction": 4800})).filter(pl.col("hypothesis").str.contains(" own"))
    seen = set()
    for hypothesis, slots in rows.select("hypothesis", "slots").iter_rows():
        agent = next(slot["lemma"] for slot in slots if slot["role"] == "agent")
        pronoun = re.search(r"\b(his|her|their) own\b", hypothesis)[1]
        seen.add((genders[agent], pronoun))
    assert seen == {("m", "his"), ("f", "her"), ("any", "his"), ("any", "her")}


def test_distinct_slots_hold_distinct_words(small, constructions):
    for construction in constructions.values():
        rows = small.filter(pl.coalesce("contrast_of", "construction") == construction.name).unique("premise_id", maintain_order=True)
        for slots in rows["slots"]:
            lemmas = {slot["slot"]: slot["lemma"] for slot in slots}
            for name, lemma in lemmas.items():
                assert all(lemma != lemmas.get(other) for other in construction.slots[name].distinct), lemmas


def test_the_band_of_a_corpus_is_that_of_wordfreqs_list():
    zipf = [zipf_frequency(word, "en") for word in top_n_list("en", 1_000_000, "small")]
    assert np.percentile(zipf, [LOW, HIGH]) == pytest.approx(CORPUS)


@pytest.mark.slow
@pytest.mark.parametrize("preset", PRESETS[1:])
def test_a_strict_preset_keeps_to_its_band_and_meets_every_count(constructions, preset):
    asked = Request({"nli": 1000, "distinction": 250}, preset=preset)
    for name in sampled(constructions, 3):
        construction = constructions[name]
        items = generate_items(construction, asked)
        found = {key: rows["contrast_set"].n_unique() for key, rows in items.group_by("config", "design", "split")}
        kept = fillable(construction, asked)  # designs that the bands empty are left out
        for design in kept.designs.values():
            for config in asked.sizes.keys() & set(design.configs):
                wanted = asked.sets(kept, design, config)
                assert all(found[config, design.name, split] >= number for split, number in wanted.items())
        carried = {name for name, slot in construction.slots.items() if slot.carries}
        slots = items.select("slots").explode("slots").unnest("slots").filter(pl.col("slot").is_in(sorted(carried)))
        if preset == "contest-corpus":
            zipf = slots["lemma"].unique().map_elements(lambda lemma: zipf_frequency(lemma.lower(), "en"), return_dtype=pl.Float64)
            assert zipf.is_between(*CORPUS).all()
        else:
            assert slots["band"].unique().to_list() == ["mid"]
            assert slots["percentile"].is_between(20, 60).all()


@pytest.mark.slow
def test_too_many_sets_asked_for_is_an_error(mini, mini_lexicon):
    path = mini / "lexicons/scenes/reach.tsv"
    edit(path, "@people | @names\t@reach-verbs\t@things", "@names\t@reach-verbs\tball")
    edit(path, "@people\t@reach-verbs\t@animals", "@names\t@reach-verbs\tball")
    construction = load_construction(Project(mini), "reach", Lexicon.load(mini / "lexicons/snapshot"))
    with pytest.raises(
        EmptySlotError, match=r"only \d+ distinct contrast sets of design 'waiting' for distinction in train, 700 are needed"
    ):
        generate_items(construction, Request({"nli": 240, "distinction": 6_000}))


def drawn(construction, *frames, marked=0.1, count=40_000):
    """A plan for the design ``outcome`` with these frames only."""
    changed = dataclasses.replace(construction, frames=frames)
    design = changed.designs["outcome"]
    return draw_plan(changed, design, design_pools(changed, design, {}, None, marked=marked), ("s",), np.arange(count))


def fillers(lexicon, frame, slot):
    """Keys of the words that the frame has for the slot."""
    return [lexicon.table["key"][row] for name in frame.slots[slot] for row in lexicon.resolve(name).ids]


def test_a_referent_of_either_gender_is_he_as_often_as_she(reach):
    plan, pools = drawn(reach, *reach.frames), design_pools(reach, reach.designs["outcome"], {}, None)
    either = reach.lexicon.genders[plan.fillers["agent"]] == 2
    pronouns = choice(By.PRONOUN, reach.slots["agent"], plan, pools, reach.lexicon)
    assert np.bincount(pronouns[either]) / either.sum() == pytest.approx([0.5, 0.5], abs=0.01)


def test_a_marked_verb_still_comes_up_but_as_seldom_as_asked(reach, mini_lexicon):
    frame, other = (dataclasses.replace(frame, marked=frozenset()) for frame in reach.frames)
    keys = fillers(mini_lexicon, frame, "verb")
    first = mini_lexicon.index[keys[0]]

    def shares(marked: list[str]) -> tuple[float, float]:
        """How often the frame is drawn, and how often the first of its verbs is when it is."""
        plan = drawn(reach, dataclasses.replace(frame, marked=frozenset(marked)), other)
        mine = plan.frame == 0
        return mine.mean(), (plan.fillers["verb"][mine] == first).mean()

    frequent, usual = shares([])
    _, seldom = shares(keys[:1])
    assert 0 < seldom < usual / 4
    rare, same = shares(keys)
    assert same == pytest.approx(usual, abs=0.02)
    assert rare / (1 - rare) == pytest.approx(frequent / (1 - frequent) / 10, rel=0.15)


def test_an_optional_slot_is_left_out_as_often_as_it_says(reach):
    for share in (0, 0.3):
        slots = {**reach.slots, "opener": dataclasses.replace(reach.slots["opener"], optional=share)}
        plan = drawn(dataclasses.replace(reach, slots=slots), *reach.frames, count=10_000)
        assert (plan.fillers["opener"] == ABSENT).mean() == pytest.approx(share, abs=0.02)


def test_a_slot_whose_only_word_another_holds_is_lacking_however_many_words_a_third_has(reach, mini_lexicon):
    slots = [dataclasses.replace(reach.slots["agent"], name=name, distinct=(*{"one", "two", "three"} - {name},)) for name in ("one", "two")]
    assert crowded(slots, {"one": [0], "two": [], "three": [1, 2, 3]}, mini_lexicon)
    assert not crowded(slots, {"one": [0], "two": [4], "three": [1, 2, 3]}, mini_lexicon)


@pytest.mark.parametrize(
    ("number", "words", "plural"),
    [
        ("singular", {}, False),
        ("plural", {}, True),
        ("singular", {"number": "plural"}, False),
        ("frame", {}, False),
        ("frame", {"number": "plural"}, True),
    ],
)
def test_a_noun_has_the_number_of_its_slot_or_of_its_frame(reach, number, words, plural):
    slots = {**reach.slots, "agent": dataclasses.replace(reach.slots["agent"], number=number)}
    frame = dataclasses.replace(reach.frames[1], words=words)  # people, no names
    changed = dataclasses.replace(reach, slots=slots, frames=(frame,), designs={"outcome": reach.designs["outcome"]})
    rows = items_of(previews(changed, 1)[0].draw(np.arange(40)))
    for premise, filled in rows.select("premise", "slots").iter_rows():
        agent = next(slot["lemma"] for slot in filled if slot["role"] == "agent")
        assert (f"{agent}s " in premise) == plural, premise
