"""Frames as scenes: plain words by part of speech, adjuncts of the scene, verbs that entail the answer by themselves."""

import dataclasses
import json

import pytest

from cxgen.build.preview import sample_items
from cxgen.check import findings
from cxgen.constructicon import load_construction
from cxgen.errors import SchemaError
from cxgen.lexicon import Lexicon
from cxgen.lexicon.scenes import gender_of
from cxgen.project import Project
from cxgen.trees import Annotator
from cxgen.trees.phrases import phrase_chunk
from tests.conftest import edit
from tests.mini import write_params

SCENES = """\
name: sending
title: Sending
form: "NP V NP PP"
meaning: The agent makes the theme go to a place.
schematicity: 9
sources: ["Goldberg 1995, Constructions, ch. 7"]
no_lookalike: a test
predicates:
  at: {gloss: "x came to be at y"}
slots:
  one: {role: theme, class: names}
  two: {role: theme, class: names, distinct: [one]}
  verb: {role: verb, frame: true, carries: true}
  a: {role: goal, frame: true}
  b: {role: goal, frame: true, distinct: [a]}
  opening: shared
  closing: shared
kinds:
  two-to-b: {gloss: 2 to b, bind: {what: "{one} {verb:past} {two} out of {a} into {b}"}, entails: ["at(two, b)"], excludes: ["at(two, a)"]}
  two-to-a: {gloss: 2 to a, bind: {what: "{one} {verb:past} {two} out of {b} into {a}"}, entails: ["at(two, a)"], excludes: ["at(two, b)"]}
  one-to-b: {gloss: 1 to b, bind: {what: "{two} {verb:past} {one} out of {a} into {b}"}, entails: ["at(one, b)"], excludes: ["at(one, a)"]}
  one-to-a: {gloss: 1 to a, bind: {what: "{two} {verb:past} {one} out of {b} into {a}"}, entails: ["at(one, a)"], excludes: ["at(one, b)"]}
templates:
  front: "{opening}{@what}."
  end: "{@what}{closing}."
hypotheses:
  one-a: {claim: "at(one, a)", wordings: ["{one} ended up in {a}."]}
  one-b: {claim: "at(one, b)", wordings: ["{one} ended up in {b}."]}
  two-a: {claim: "at(two, a)", wordings: ["{two} ended up in {a}."]}
  two-b: {claim: "at(two, b)", wordings: ["{two} ended up in {b}."]}
designs:
  goals: {kinds: [two-to-b, two-to-a, one-to-b, one-to-a], hypotheses: [one-a, one-b, two-a, two-b]}
chunks:
  - "into/ADP/IN/case>NEXT NEXT=obl>V"
classes:
  ways: {pos: verb, gloss: of sending, members: [{lemma: zorb, past: zorbed}]}
"""
TABLE = """\
id ; designs ; verb:verb ; a ; b ; opening:phrase ; closing:phrase ; entails_alone
cellar ; goals ; kick | @ways | roll | push | nudge ; cellar | wodget ; shed | garage ; before lunch ; with both hands ; roll
barn ; goals ; shove ; barn ; orchard
"""


def project(folder, table=TABLE):
    for path, text in ((folder / "templates/sending.yaml", SCENES), (folder / "lexicons/scenes/sending.tsv", table.replace(" ; ", "\t"))):
        path.parent.mkdir(parents=True)
        path.write_text(text, "utf-8")
    return Project(folder)


@pytest.fixture(scope="module")
def sending(tmp_path_factory):
    mine = project(tmp_path_factory.mktemp("scenes"))
    return load_construction(mine, "sending", Lexicon.of(mine))


@pytest.fixture(scope="module")
def items(sending):
    return sample_items(sending, 5, 60).unique("premise_id", maintain_order=True)


def test_plain_words_are_the_lexicons_or_new_ones(sending):
    frame = next(frame for frame in sending.frames if frame.name == "cellar")
    kick, ways, *_ = frame.slots["verb"]
    assert (kick[:6], ways) == ("kick%2", "ways")
    assert sending.lexicon.row("own:verb:zorb")["past"] == "zorbed"
    assert "own:noun:wodget" in frame.slots["a"]
    assert frame.slots["opening"] == ("phrase:before lunch",)


def test_adjuncts_are_said_where_the_frame_has_them_and_verbs_are_judged_by_it(sending, items):
    by_frame = {name: " ".join(rows["premise"]) for (name,), rows in items.group_by("frame")}
    assert "Before lunch, " in by_frame["cellar"]
    assert "with both hands." in by_frame["cellar"]
    assert "lunch" not in by_frame["barn"]
    assert not items["premise"].str.contains(r"  | \.|,,|, ,|^,").any()
    judged = {verb: set(items.filter(items["verb"] == verb)["verb_role"]) for verb in ("roll", "kick")}
    assert judged == {"roll": {"lexical"}, "kick": {"constructional"}}, "of verbs that entail the answer alone, and others"
    scales = dataclasses.replace(sending, argument_structure=False)
    assert set(sample_items(scales, 5, 10)["verb_role"]) == {None}, "of what no verb could mean"


def test_adjuncts_have_trees(sending, items, chunks):
    annotator = Annotator(sending, chunks)
    for item in items.filter(items["premise"].str.contains("lunch|hands")).rows(named=True):
        tokens = {token.form: token for token in annotator.sentence(item).tokens}
        noun, case = (tokens["lunch"], tokens["Before"]) if "lunch" in tokens else (tokens["hands"], tokens["with"])
        assert (noun.relation, case.relation) == ("obl", "case")


def test_nothing_is_wrong_with_scenes_but_an_adjunct_without_a_tree_is_found(sending, chunks, tmp_path):
    assert not any(finding.code.startswith("E") for finding in findings(sending, chunks))
    # of *back home*, word by word, *home* would be an object
    mine = project(tmp_path, TABLE.replace("with both hands", "with both hands | zorb vlim").replace("before lunch", "back home | at noon"))
    found = [one for one in findings(load_construction(mine, "sending", Lexicon.of(mine)), chunks) if one.code == "E401"]
    assert [(one.file.name, one.line) for one in found] == [("sending.tsv", 2)] * 2
    told = " ".join(f"{one.message} {one.hint}" for one in found)
    assert [f"no annotation for {words}" in told for words in ("'back home'", "'zorb vlim'")] == [True, True]
    assert "column opening" in told and "column closing" in told


ADJUNCTS = {  # none: the build does not say what belongs to what
    "before lunch": "case>2 obl>P",
    "in front of the guests": "case>5 fixed>1 fixed>1 det>5 obl>P",
    "two days ago": "nummod>2 obl:npmod>3 advmod>P",
    "that evening": "det>2 obl:tmod>P",
    "early in the morning": "advmod>P case>4 det>4 obl>1",
    "just before dawn": "advmod>3 case>3 obl>P",
    "with a flick of the wrist": "case>3 det>3 obl>P case>6 det>6 nmod>3",
    "on a cold night in March": "case>4 det>4 amod>4 obl>P case>6 nmod>4",
    "quietly": "advmod>P",
    "during the morning break": "case>4 det>4 compound>4 obl>P",
    **dict.fromkeys(
        ("when the bell rang", "humming to himself", "on the way home", "to make room", "one by one", "because it was late"), ""
    ),
}


@pytest.mark.parametrize("text", ADJUNCTS)
def test_the_trees_of_plain_adjuncts(text):
    chunk = phrase_chunk(tuple(text.split()))
    assert " ".join(f"{word.relation}>{word.head}" for word in (chunk.words if chunk else ())) == ADJUNCTS[text]


# ---------------------------------------------------------------- tables

PEOPLE = {"noun.person", "noun.group", "noun.animal"}
# What does things and is no person, group or animal: pinned one by one.
MACHINES = {"airline", "bulldozer", "crane", "excavator", "hotel", "hurricane", "icebreaker", "laundry", "locomotive", "museum", "storm"}
MACHINES |= {"studio", "tugboat"}


def test_every_filler_of_a_slot_for_persons_and_animals_is_one(constructions):
    others = set()
    for name, construction in constructions.items():
        lexicon = construction.lexicon
        for frame in lexicon.frames(name):
            types = frame.scene.types
            slots = (frame.slots.get(slot, ()) for slot, kind in types.items() if set(kind.split("/")) <= {"person", "group", "animal"})
            keys = {lexicon.keys[row] for fillers in slots for filler in fillers for row in lexicon.resolve(filler).ids}
            rows = [lexicon.row(key) for key in keys if "%1:" in key]
            others |= {row["lemma"] for row in rows if row["lexfile"] not in PEOPLE}
    assert others <= MACHINES


def test_a_word_in_lower_case_is_no_proper_name(constructions, lexicon):
    """*The rhino nudged the hippo*, which has no capital, though WordNet's first sense of the word is a town."""
    assert {*constructions} == {*lexicon.constructions}
    for name, construction in constructions.items():
        keys = {key for word, key in construction.lexicon.scenes(name).keys.items() if word[0].islower()}
        assert [key for key in sorted(keys & lexicon.index.keys()) if not lexicon.row(key)["lemma"].islower()] == [], name


@pytest.mark.parametrize(
    ("kinds", "gender"), [("person", "any"), ("person/animal", "any"), ("person/artifact", None), ("animal", None), ("own", None)]
)
def test_who_is_no_word_of_a_dictionary_is_he_or_she_and_no_thing_is(kinds, gender):
    assert gender_of(kinds) == gender


def test_a_stated_gender_is_that_of_words_of_our_own_too(lexicon):
    """No roller skater is on *its* way, though no dictionary has one."""
    genders = {f"own:noun:{lemma}": forms["gender"] for lemma, forms in lexicon.overrides["noun"].items() if "gender" in forms}
    own = {key: gender for key, gender in genders.items() if key in lexicon.index}
    assert len(own) > 5
    assert {key: lexicon.row(key)["gender"] for key in own} == own


FIRST = {
    ("causative-with", "x"): "medic%1:18:00::",
    ("caused-motion", "agent"): "porter%1:18:00::",
    ("ditransitive", "people"): "dishwasher%1:18:00::",
    ("resultative", "agent"): "climber%1:18:01::",
    ("conative", "agent"): "goose%1:05:00::",
}


def test_a_word_has_the_first_sense_of_its_slots_type(lexicon):
    for (construction, slot), key in FIRST.items():
        keys = {filler for frame in lexicon.frames(construction) for filler in frame.slots.get(slot, ())}
        assert {one for one in keys if one.startswith(f"{key.partition('%')[0]}%")} == {key}


def table(folder, text):
    (folder / "lexicons/scenes").mkdir(parents=True)
    path = folder / "lexicons/scenes/conative.tsv"
    path.write_text(text.replace(" ; ", "\t"), "utf-8")
    return path, Lexicon.of(Project(folder))


def test_a_table_says_what_stands_in_it(tmp_path):
    text = """\
# mine
words ; hit ; did=hit | left=missed
id ; designs ; agent:person ; verb:verb ; x ; opening:phrase ; words ; entails_alone ; comment
one ; a | b ; medic | @names ; kick | zorb ; crane~artifact | splonk ; at noon ; hit | no=never hit ; kick ; a note
id ; designs ; x:animal
two ; a ; crane
"""
    path, lexicon = table(tmp_path, text)
    one, two = lexicon.frames("conative")[-2:]
    assert (one.name, one.designs, one.entails_alone) == ("one", ("a", "b"), {"kick"})
    assert one.slots["agent"] == ("medic%1:18:00::", "names")
    assert one.slots["verb"] == ("kick%2:35:01::", "own:verb:zorb")
    assert one.slots["x"] == ("crane%1:06:00::", "own:noun:splonk")
    assert one.slots["opening"] == ("phrase:at noon",)
    assert one.words == {"did": "hit", "left": "missed", "no": "never hit"}
    assert two.slots == {"x": ("crane%1:05:00::",)}
    assert (two.source.path, two.source.line((two.number,))) == (path, 6)


HEAD = "id ; designs ; agent:person ; x\n"
WRONG = {
    "a tab should be: 'id  designs'": ("id  designs  agent\n", 1),
    "a tab should be: 'id designs'": ("id designs agent\n", 1),
    "a tab should be: 'a   nurse'": (f"{HEAD}one ; a   nurse ; cup\n", 2),
    "no row above names the columns": ("one ; a ; nurse\n", 1),
    "5 cells under 4 columns": (f"{HEAD}one ; a ; nurse ; cup ; jug\n", 2),
    "column agent: unknown type 'people'": ("id ; designs ; agent:people\n", 1),
    "the column 'x' stands there twice": ("id ; designs ; x ; x\n", 1),
    "'\\x00', which no sentence has": (f"{HEAD}one ; a ; nurse ; cup\ntwo ; a ; nurse ; c\0p\n", 3),
    "'{', which no sentence has": (f"{HEAD}one ; a ; nurse ; {{agent}}\n", 2),
    "column x: 'cup, jug' is no word": (f"{HEAD}one ; a ; nurse ; cup, jug\n", 2),
    "column designs: empty": (f"{HEAD}one ;  ; nurse ; cup\n", 2),
    "column x: an empty word": (f"{HEAD}one ; a ; nurse ; cup |  | jug\n", 2),
    "det=an, which no noun can have": ("words ; some ; number=plural | det=an\n", 1),
    "number=plurals, which no noun can have": ("id ; designs ; words\none ; a ; number=plurals\n", 2),
    "column words: no set of words 'hit'": ("id ; designs ; words\none ; a ; hit\n", 2),
    "column agent: 'jug' has no sense 'person'": (f"{HEAD}one ; a ; jug ; cup\n", 2),
    "there is a scene 'one' already": (f"{HEAD}one ; a ; nurse ; cup\none ; a ; nurse ; cup\n", 3),
}


@pytest.mark.parametrize("message", WRONG)
def test_a_wrong_row_is_told_with_its_line_and_column(tmp_path, message):
    text, line = WRONG[message]
    path, lexicon = table(tmp_path, text)
    with pytest.raises(SchemaError) as caught:
        lexicon.frames("conative")
    assert message in caught.value.message
    assert (caught.value.file, caught.value.line) == (path, line)


def checked(cxgen, folder, text):
    path = folder / "conative.tsv"
    path.write_text(text.replace(" ; ", "\t"), "utf-8")
    return cxgen("check", "scenes", path, "--format", "json"), path


def test_a_table_is_checked_before_it_is_used(tmp_path, cxgen):
    text = """\
id ; designs ; agent:person ; verb:verb ; x ; colour ; words
one ; hit-or-missed | foo ; nurse ; kick | splonk ; lamp | vase ; red ; did=hit
two ; hit-or-missed ; nurse | @nurses ; kick ; lamp | vase ;  ; zip=zap
three ; hit-or-missed ; nurse ;  ; lamp
"""
    result, _ = checked(cxgen, tmp_path, text)
    faults = [(row["line"], row["column"], row["fault"]) for row in json.loads(result.stdout)[0]["faults"]]
    assert result.returncode == 2
    assert {(2, "colour", "unknown column"), (3, "agent", "unknown class 'nurses'"), (4, "verb", "empty, and hit-or-missed needs it")} <= {
        *faults
    }
    assert any(line == 2 and "'foo'" in fault for line, _, fault in faults)
    assert any(line == 3 and "'zip'" in fault for line, _, fault in faults)


def test_a_good_table_is_shown_to_be_read(tmp_path, cxgen):
    words = "blow=blow | land=landed on | rel=who"
    row = " ; blows ; nurse | butler ; kick | poke | splonk | flonk | bite | slap"
    text = f"id ; designs ; both:person ; verb:verb ; words ; marked\none{row} ; {words} ; pokke\n"
    result, path = checked(cxgen, tmp_path, text)
    (report,) = json.loads(result.stdout)
    assert (result.returncode, report["faults"]) == (0, [])
    assert [row["fault"][:12] for row in report["doubts"]] == ["W310 splonk ", "W310 flonk (", "W313 'pokke'"]
    assert [(row["lemma"], row["past"]) for row in report["forms"] if row["pos"] == "verb"] == [
        ("splonk", "splonked"),
        ("flonk", "flonked"),
    ]
    assert any("splonk" in row["new"] for row in report["verbs"])
    assert report["senses"]["kick"] == "contact"
    assert 0 < len(report["premises"]) <= 20
    doubted = cxgen("check", "scenes", path, "--strict", "-o", tmp_path / "found.json")
    assert (doubted.returncode, json.loads((tmp_path / "found.json").read_text())) == (2, [report])
    path.write_text((text + f"two{row} ; {words}\n").replace(" ; ", "\t"))
    assert "words of line 2" in cxgen("check", "scenes", path).stdout
    path.write_text(text.replace("nurse | butler", "nurse~verb | butler").replace(" ; ", "\t"))
    assert "a verb has no form" in cxgen("check", "scenes", path).stderr
    path.write_text("")
    assert f"{path.name}: has no scenes" in cxgen("check", "scenes", path).stderr


def test_a_table_whose_slots_can_say_the_same_is_refused(mini, cxgen):
    table = mini / "lexicons/scenes/reach.tsv"
    assert cxgen("check", "scenes", table, cwd=mini).returncode == 0
    edit(table, "\t@animals", "\t@animals | @people")
    told = cxgen("check", "scenes", table, cwd=mini)
    assert (told.returncode, "E207 scene 'reach-animals': slots 'agent' and 'target'" in told.stdout) == (2, True), told.stdout


def test_verbs_that_a_build_cannot_draw_are_not_counted_and_a_split_without_any_is_a_fault(tmp_path, cxgen):
    mine = project(tmp_path, TABLE.replace("verb:verb", "verb:verb ; also:verb").replace("nudge ;", "nudge ; nod | wave | cough ;"))
    also = "  also: {role: verb, frame: true, carries: true, distinct: [verb]}\n  a: {role"
    edit(tmp_path / "templates/sending.yaml", "  a: {role", also)
    edit(
        tmp_path / "templates/sending.yaml", '{verb:past} {one} out of {b} into {a}"', '{also:past} {one} out of {b} into {a}", verb: also'
    )
    edit(tmp_path / "lexicons/scenes/sending.tsv", "shove\t", "shove\tyawn\t")
    write_params(tmp_path, constructions=["sending"])
    splits = {"train": "kick nod roll zorb yawn", "validation": "push wave", "test": "nudge cough shove"}
    rows = [f"sending\t{verb}\t{split}\n" for split, verbs in splits.items() for verb in verbs.split()]
    (tmp_path / "lexicons/splits.tsv").write_text("construction\tverb\tsplit\n" + "".join(rows))

    def told():
        done = cxgen("check", "scenes", "lexicons/scenes/sending.tsv", "--json", cwd=mine.root)
        (report,) = json.loads(done.stdout)
        return done.returncode, {row["split"]: (row["verbs"], row["left_out"]) for row in report["verbs"]}, report["faults"]

    assert told() == (0, {"train": (4, "yawn"), "validation": (2, ""), "test": (2, "shove")}, [])
    edit(tmp_path / "lexicons/splits.tsv", "cough\ttest", "cough\ttrain")
    code, verbs, (fault,) = told()
    assert (code, verbs["test"], fault["fault"][:45]) == (2, (0, "nudge, shove"), "E201 sending: nothing fills design 'goals' in")
