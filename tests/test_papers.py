"""What published benchmarks are said to be: the strings that define them, their cells, their labels."""

import polars as pl
import pytest

from cxgen.build.hypothesise import hypothesise
from cxgen.build.params import Request
from cxgen.build.samplers import generate_items
from cxgen.errors import CxgenError
from cxgen.families import CONFIGS, FAMILIES
from cxgen.measures import Items, begin
from cxgen.measures.words import copying
from cxgen.project import Project
from tests.conftest import ROOT

N = r"(?:[A-Z][a-z]+|[Tt]he [a-z]+|Name [A-Z])"  # who or whom
HIM = "(?:him|her|them)"
STRINGS = {  # construction -> context, diagnostic A, diagnostic B (Oba and Sugawara 2026, Table 1)
    "let-alone": (
        f"He can't [a-z]+ {N}, let alone {N}",
        f"[A-Z][a-z]+ing {N} is more difficult than [a-z]+ing {N}",
        f"[A-Z][a-z]+ing {N} is easier than [a-z]+ing {N}",
    ),
    "causative-with": (f"{N} [a-z]+ {N} with .+", f"The one who provided the .+ is {N}", f"The one who received the .+ is {N}"),
    "way-manner": (
        f"{N} [a-z]+ (?:his|her|their) way (?:into|to) the .+",
        "(?:He|She|They) did so while (?:moving|staying)",
        "(?:He|She|They) did so (?:with|without) effort",
    ),
    "comparative-correlative": (
        rf"The .+ you .+, the .+ you .+\. {N} .+ than {N}",
        f"The one who becomes .+ is {N}",
        f"The one who [a-z]+s (?:longer|louder|harder|faster|farther|more) is {N}",
    ),
    "conative": (
        f"{N} [a-z]+ (?:at )?the .+",
        "Whether (?:he|she|they) succeeded in [a-z]+ing the .+ is (?:un)?clear",
        "Whether the .+ was affected is (?:un)?clear",
    ),
    "ditransitive": (f"{N} [a-z]+ {N} .+", f"The one who gave the .+ is {N}", f"The one who received the .+ is {N}"),
    "caused-motion": (
        f"{N} [a-z]+ {N} (?:into|onto|off|out of) the .+",
        f"The one who moved {HIM} is {N}",
        f"The one who got moved is {N}",
    ),
    "resultative": (f"{N} [a-z]+ {N} [a-z]+", f"The one who caused {HIM} to become [a-z]+ is {N}", f"The one who became [a-z]+ is {N}"),
    "intransitive-motion": (
        f"{N} [a-z]+ (?:over|up) to {N}",
        f"The one who moved is {N}",
        f"The one who (?:he|she|they) moved toward is {N}",
    ),
}


@pytest.mark.parametrize("name", STRINGS)
def test_cxmp_has_the_published_strings_and_of_two_continuations_one_word_or_name_differs(constructions, name):
    items = generate_items(constructions[name], Request({**dict.fromkeys(CONFIGS, 0), "cxmp": 192}, seed=3, oversample=1))
    context, *sides = (rf"^{pattern}\.$" for pattern in STRINGS[name])
    assert items["context"].str.contains(context).all(), items.filter(~pl.col("context").str.contains(context))["context"][0]
    for variant, side in zip("AB", sides, strict=True):
        said = items.filter(variant=variant)
        for column in ("diagnostic_good", "diagnostic_bad"):
            assert said[column].str.contains(side).all(), said.filter(~pl.col(column).str.contains(side))[column][0]
    assert (items["diagnostic_good"].str.split(" ").list.len() == items["diagnostic_bad"].str.split(" ").list.len()).mean() > 0.8
    assert set(FAMILIES["cxmp"].violations(items).values()) == {0}


def test_neither_copying_nor_pairs_of_words_solve_our_pairs_and_the_replica_says_where_they_do(constructions):
    own = {}
    for config in ("minimal_pairs", "cxmp"):
        asked = Request({**dict.fromkeys(CONFIGS, 0), config: 480}, seed=3, oversample=1)
        rows = pl.concat([generate_items(constructions[name], asked) for name in ("resultative", "way-manner")], how="diagonal")
        own[config] = begin(config, rows, 2)()
        assert copying(Items(rows.with_columns(context="diagnostic_good"))).configs[config]["resultative/A"] == 1
    for name in ("copying", "pairs_of_words"):
        assert max(own["minimal_pairs"][name]["configs"]["minimal_pairs"].values()) <= 0.55
        assert own["minimal_pairs"][name]["gates"] == {"construction": 0.55, "least": False}
    found = own["cxmp"]["pairs_of_words"]
    assert (found["configs"]["cxmp"]["way-manner/A"], found["configs"]["cxmp"]["resultative/A"], found["gates"]) == (
        1.0,
        0.5,
        {"least": False},
    )


PREMISES = """premise,construction,reading,actor,deed,undergoer,undergoer:obj,state,into,spot,finish,at
The gusts blew the candle out of the window.,caused-motion,,the gusts,blow,the candle,it,,out of,the window,,
My aunt hummed the baby asleep.,resultative,,my aunt,hum,the baby,,asleep,,,,
The hunters took the lynx alive.,resultative,depictive,the hunters,take,the lynx,,alive,,,,
James hissed his way to the exit.,way-manner,,James,hiss,,,,to,,the exit,at
"The longer Ann sang, the happier she became.",comparative-correlative,,Ann,sing,she,,happy,,,,
"""
ASKED = {
    "The gusts caused the candle to move out of the window by blowing it.": "entailment",
    "The candle did not change locations.": "contradiction",
    "The gusts changed locations.": "neutral",
    "The humming caused the baby to become asleep.": "entailment",
    "The baby was completely asleep before the humming.": "contradiction",
    "The taking caused the lynx to become alive.": "contradiction",
    "The lynx was completely alive before the taking.": "entailment",
    "The amount of Ann's singing was positively correlated with how happy she became.": "entailment",
    "James traveled to the exit without hissing.": "contradiction",
    "James stayed at the exit for a long time.": "neutral",
}


def test_premises_of_ones_own_get_the_published_questions_with_computed_labels(tmp_path):
    path = tmp_path / "premises.csv"
    path.write_text(PREMISES, "utf-8")
    items = hypothesise(Project(ROOT), path)
    assert ASKED.items() <= dict(items.select("hypothesis", "label").iter_rows()).items()
    assert items.filter(construction="depictive")["target"].unique().to_list() == ["resultative"]
    faults = (
        ("My aunt hummed,resultative,,a,hum,,,,,,,", "no undergoer"),
        ("x,resultative,attributive,a,hum,b,,c,,,,", "unknown reading"),
        (",resultative,,,,,,,,,,", "no premise"),
        ("x,resultativ,,,,,,,,,,", "unknown construction"),
        ("My aunt hummed the babies asleep.,resultative,,my aunt,hum,the lynx,,asleep,,,,", "undergoer is 'the lynx'"),
        ("My aunt hummed the baby asleep.,resultative,,my aunt,kick,the baby,,asleep,,,,", "deed is 'kick'"),
        ("My aunt hummed the car asleep.,resultative,,my aunt,hum,the cat,,asleep,,,,", "undergoer is 'the cat'"),
        ("Bill blew the candle out of the car.,caused-motion,,Bo,blow,the candle,,,out of,the car,,", "actor is 'Bo'"),
        ("My aunt hummed the baby asleep.,resultative,,my aunt,hummed,the baby,,asleep,,,,", "deed is 'hummed', a form of hum"),
        ("She hummed herself asleep.,resultative,,she,hum,herself,,asleep,,,,", "undergoer is 'herself', which is another part"),
        ("Bo hummed Bo asleep.,resultative,,Bo,hum,Bo,,asleep,,,,", "is 'bo', which is another part"),
        ("My aunt hummed.,ditransitive,,,,,,,,,,", "has no design of config cxnli"),
    )
    for row, message in faults:
        path.write_text(PREMISES.splitlines()[0] + "\n" + row + "\n", "utf-8")
        with pytest.raises(CxgenError, match=message) as caught:
            hypothesise(Project(ROOT), path)
        assert caught.value.line == 2
    tables = {"x.csv": (PREMISES.splitlines()[0], "no rows"), "x.jsonl": ('{"premise": ["a"], "construction": "conative"}', "no texts")}
    for name, (text, message) in tables.items():
        (tmp_path / name).write_text(text + "\n", "utf-8")
        with pytest.raises(CxgenError, match=message):
            hypothesise(Project(ROOT), tmp_path / name)


def test_cxnli_asks_one_of_each_label_and_look_alikes_are_misread(constructions):
    items = generate_items(constructions["resultative"], Request({**dict.fromkeys(CONFIGS, 0), "cxnli": 120}, seed=3, oversample=1))
    assert set(FAMILIES["cxnli"].violations(items).values()) == {0}
    cause = items.filter(rule="cause").group_by("construction").agg(pl.col("label").unique(), pl.col("target_label").unique())
    assert {row[0]: (row[1], row[2]) for row in cause.rows()} == {"resultative": ([0], [None]), "depictive": ([2], [0])}
