"""Relations that templates state, every word form in every position, and what is found wrong with trees."""

import json
import re
from collections import Counter
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cxgen.check import TREES, findings
from cxgen.constructicon import Construction, Slot, load_construction
from cxgen.constructicon.model import Kind, Template
from cxgen.errors import DataError, SchemaError
from cxgen.lexicon import Lexicon
from cxgen.project import Project
from cxgen.sampling.ways import FORMS, WORD_FORMS, compose
from cxgen.schema import Document
from cxgen.trees import Annotator, Chunks
from cxgen.trees.words import base, closed_class
from tests.conftest import ROOT, edit

WORDS = {
    "noun": ("dog", "air duct", "ball of yarn", "apple"),
    "name": ("Noah", "James"),
    "verb": ("hammer", "sweet-talk"),
    "adjective": ("wet", "hopeful"),
    "adverb": ("slowly",),
    "phrase": ("this morning", "according to the neighbors"),
}


@pytest.fixture(scope="module")
def words(lexicon):
    """The lexicon with an adverb, and (part of speech, lemma) -> row."""
    row = lexicon.table.filter(pl.col("pos") == "phrase").head(1)
    adverb = row.with_columns(pos=pl.lit("adverb"), lemma=pl.lit("slowly"), key=pl.lit("phrase:slowly"))
    table = pl.concat([lexicon.table.filter(pl.col("lemma").is_in([lemma for lemmas in WORDS.values() for lemma in lemmas])), adverb])
    rows = {(pos, lemma): row for row, (pos, lemma) in reversed(list(enumerate(table.select("pos", "lemma").iter_rows())))}
    return Lexicon(table, {}, {}), rows


FILLERS = {**dict.fromkeys(("recipient", "given"), ("name", "James")), "agent": ("name", "Noah"), "verb": ("verb", "hammer")}
FILLERS |= {"theme": ("noun", "dog"), "fruit": ("noun", "apple"), "duct": ("noun", "air duct"), "state": ("adjective", "wet")}
FILLERS |= {"act": ("verb", "sweet-talk"), "time": ("phrase", "this morning")}


def tree_of(pattern, text, words, chunks, fillers=FILLERS):
    """The sentence of a construction with one template, in which ``fillers`` are slot -> (part of speech, lemma)."""
    lexicon, rows = words
    slots = {name: Slot(name, "verb" if name in {"verb", "act"} else "theme", deprel="iobj" if name == "given" else "") for name in fillers}
    document = Document(Path("little.yaml"), {"templates": {"t": pattern}}, f"name: little\ntemplates:\n  t: {json.dumps(pattern)}\n")
    parts = {"predicates": {}, "rules": {}, "designs": {}, "frames": (), "lookalikes": (), "form_check": (), "documents": (document,)}
    kinds, templates = {"k": Kind("k", "", "little", "verb", {}, (), ())}, {"t": Template("t", pattern)}
    little = Construction("little", "", "", "", 1, slots=slots, kinds=kinds, templates=templates, lexicon=lexicon, **parts)
    filled = [(name, rows[word]) for name, word in fillers.items() if f"{{{name}" in pattern]
    entries = [{"slot": name, "lemma": lexicon.lemmas[row], "sense": lexicon.table["sense"][row]} for name, row in filled]
    item = {"premise_id": "p", "construction": "little", "kind": "k", "template": "t", "premise": text, "slots": entries}
    return Annotator(little, chunks).sentence(item)


TREES_OF = """
{agent} {verb:past} {recipient=iobj} {theme:a=obj>V}. | Noah hammered James a dog. | James iobj hammered; dog obj hammered
{agent} {verb:past} {given} {theme:a}. | Noah hammered James a dog. | James iobj hammered; dog obj hammered; Noah nsubj hammered
{agent} {verb:past} {theme:a} at {given}. | Noah hammered a dog at James. | James obl hammered; dog obj hammered
{given} {given:was} {verb:participle} it. | James was hammered it. | James nsubj:pass hammered; was aux:pass hammered
{theme:poss-of} {fruit:bare} {verb:past} it. | The dogs' apple hammered it. | dogs nmod:poss apple; ' case dogs; apple nsubj hammered
{verb:base} {agent:poss-of} {state} {duct:bare}. | Hammer Noah's wet air duct. | Noah nmod:poss duct; 's case Noah; wet amod duct
{agent} {verb:past} at {fruit:this} {theme:bare}. | Noah hammered at this dog. | this det dog; dog obl hammered; at case dog
{agent} doesn't even {verb:base} it. | Noah doesn't even hammer it. | does aux hammer; n't advmod hammer; even advmod hammer
{agent} was {verb:participle} by {recipient}. | Noah was hammered by James. | was aux:pass hammered; by case James
Last night, {agent} {verb:past} it. | Last night, Noah hammered it. | night obl:tmod hammered; , punct night; it obj hammered
{agent} managed to {verb:base} it. | Noah managed to hammer it. | Noah nsubj managed; to mark hammer; hammer xcomp managed
{agent} was too shy to {verb:base}. | Noah was too shy to hammer. | was cop shy; too advmod shy; shy root 0; hammer advcl shy
I doubt that {agent} {verb:past}. | I doubt that Noah hammered. | I nsubj doubt; doubt root 0; that mark hammered; hammered ccomp doubt
{agent} {verb:past} it and in the end kicked it. | Noah hammered it and in the end kicked it. | end obl kicked; kicked conj hammered
{agent} {verb:past} it and then kicked it. | Noah hammered it and then kicked it. | and cc kicked; then advmod kicked; kicked conj hammered
{agent} {verb:past} it or {theme}, let alone my uncle. | Noah hammered it or the dog, let alone my uncle. | let cc uncle; alone fixed let
While my aunt slept, {agent} {verb:past}. | While my aunt slept, Noah hammered. | While mark slept; aunt nsubj slept; slept advcl hammered
{agent} {verb:past} it instead of {recipient}. | Noah hammered it instead of James. | instead case James; of fixed instead
{agent} {verb:past} {theme} open in the barn. | Noah hammered the dog open in the barn. | open xcomp hammered; barn obl hammered
{agent}, who had {verb:participle} it, left. | Noah, who had hammered it, left. | who nsubj hammered; hammered acl:relcl Noah
{agent} was. {verb:past}. | Noah was. hammered. | hammered root 0
Behind Ann's back, {agent} {verb:past} it. | Behind Ann's back, Noah hammered it. | back obl hammered; Ann nmod:poss back; 's case Ann
Before {given=dep>P} {given:was} copied, {agent} {verb:past} it. | Before James was copied, Noah hammered it. | was aux:pass copied
The louder {agent} {act:third}, the faster {given} {verb:third}. | The louder Noah sweet-talks, the faster James hammers. | \
louder advmod sweet-talks; louder RBR; sweet-talks advcl hammers; faster advmod hammers; faster RBR; hammers root 0
It {verb:third} faster the louder {agent} {act:third}. | It hammers faster the louder Noah sweet-talks. | \
faster advmod hammers; hammers root 0; louder advmod sweet-talks; sweet-talks advcl hammers
The louder {agent} {verb:third}, the better for {recipient}. | The louder Noah hammers, the better for James. | \
better root 0; better JJR; hammers advcl better
{agent=nsubj>act} {act:third=root} louder, and it {verb:third=conj>act} faster. | Noah sweet-talks louder, and it hammers faster. | \
sweet-talks root 0; louder advmod sweet-talks; hammers conj sweet-talks; faster advmod hammers
{agent=nsubj>act} {act:third=root} louder, and it {verb:third=conj>act} more often. | \
Noah sweet-talks louder, and it hammers more often. | more advmod often; more RBR; often advmod hammers
{time=obl:tmod>act}, {agent=nsubj>act} {act:past=root} it, and {given} {verb:past=conj>act} it. | \
This morning, Noah sweet-talked it, and James hammered it. | morning obl:tmod sweet-talked; This det morning
Later we heard that {agent} {verb:past} it. | Later we heard that Noah hammered it. | \
Later advmod heard; Noah nsubj hammered; hammered ccomp heard
After lunch, {agent=nsubj>act} {act:past=root} it, and {given} {verb:past=conj>act} it. | \
After lunch, Noah sweet-talked it, and James hammered it. | lunch obl sweet-talked; hammered conj sweet-talked
I still remember how {agent} wouldn't {verb:base} it. | I still remember how Noah wouldn't hammer it. | \
how advmod hammer; Noah nsubj hammer; hammer ccomp remember; it obj hammer
The more {theme:bare} {act:past}, the more {given} {verb:past}. | The more dogs sweet-talked, the more James hammered. | \
more amod dogs; more JJR; dogs nsubj sweet-talked; more advmod hammered; more RBR
"""


@pytest.mark.parametrize("case", TREES_OF.strip().splitlines())
def test_what_is_stated_and_what_follows_from_words_and_places(words, chunks, case):
    pattern, text, links = case.split(" | ")
    tokens = tree_of(pattern, text, words, chunks).tokens
    forms = ["0", *(token.form for token in tokens)]
    found = {f"{token.form} {token.relation} {forms[token.head]}" for token in tokens} | {f"{token.form} {token.xpos}" for token in tokens}
    assert {*links.split("; ")} <= found


NO_TREES = """
{agent} {verb:past} {recipient} {theme:a}. | Noah hammered James a dog. | 'James' (recipient) and 'dog' (theme) would all be obj
{theme} {verb:past=advcl}. | The dog hammered. | the tree has no root
{agent} {verb:past} {recipient=iobj>theme} {theme:a=nmod>recipient} well. | Noah hammered James a dog well. | not depend on the root
{agent} {verb:past} {fruit:this}. | Noah hammered this. | 'this' needs a word after it
{agent} {theme:a}. | Noah a dog. | its verb is not in it
{agent} {verb:past}. | Noah hammered it. | does not follow its template
{agent} {verb:past} it. | Noah hammered. | does not follow its template
Zorb vlim, {agent} {verb:past} it. | Zorb vlim, Noah hammered it. | no annotation for 'vlim'
"""


@pytest.mark.parametrize("case", NO_TREES.strip().splitlines())
def test_what_is_no_tree_is_an_error_that_says_why(words, chunks, case):
    pattern, text, said = case.split(" | ")
    with pytest.raises(DataError, match=re.escape(said)) as error:
        tree_of(pattern, text, words, chunks)
    assert (error.value.file, error.value.line) == ((None, None) if "template" in said else (Path("little.yaml"), 3))
    assert "template" in said or "lexicons/chunks.yaml" in error.value.hint


@pytest.mark.parametrize(("kind", "link"), [("k", "James obl:arg hammered"), ("another", "James obl hammered")])
def test_a_chunk_may_be_for_the_premises_of_some_kinds(words, chunks, kind, link):
    own = Document(Path("x.yaml"), {"chunks": [{"chunk": "at/ADP/IN/case>NEXT NEXT=obl:arg>V", "only": [kind]}]}, "")
    tokens = tree_of("{agent} {verb:past} at {recipient}.", "Noah hammered at James.", words, chunks.also([own])).tokens
    assert link in {f"{token.form} {token.relation} {tokens[token.head - 1].form}" for token in tokens}


def test_chunks_of_a_later_file_add_to_those_of_an_earlier_one(words, tmp_path, project):
    own = tmp_path / "chunks.yaml"
    own.write_text('chunks:\n  - "lo/INTJ/UH/discourse>P"\n  - "at/ADP/IN/case>NEXT NEXT=obl:arg>V"\n', "utf-8")
    both = Chunks.load(project.lexicons / "chunks.yaml", own)
    tokens = tree_of("Lo {agent} {verb:past} at {theme}.", "Lo Noah hammered at the dog.", words, both).tokens
    assert {token.form: token.relation for token in tokens}.items() >= {"Lo": "discourse", "dog": "obl:arg"}.items()


@pytest.mark.parametrize(
    ("chunk", "said"),
    [
        ("in/ADP/IN/case", "it must be form"),
        ("in/ADP/IN/case>3", "'3' is no head"),
        ("in/ADP/IN/cas>NEXT", "'cas' is no relation of Universal Dependencies: case?"),
        ("in/PREP/IN/case>NEXT", "'PREP' is no part of speech"),
        ("in/ADP/IN/case>NXT", "'NXT' is no head"),
    ],
)
def test_a_chunk_that_cannot_be_meant_is_refused(tmp_path, chunk, said):
    path = tmp_path / "chunks.yaml"
    path.write_text(f'chunks:\n  - "{chunk}"\n', "utf-8")
    with pytest.raises(SchemaError, match=said) as error:
        Chunks.load(path)
    assert error.value.line == 2


def test_every_line_of_the_closed_class_can_be_meant_and_chosen():
    for key, rows in closed_class().items():
        conditions = [row.before for row in rows]
        assert len(set(conditions)) == len(conditions), key
        assert "" not in conditions[:-1], key
        heads = [head for row in rows for head in (*(word.head for word in row.words), *(head for _, head in row.others.values()))]
        assert not any(head.islower() for head in heads), key  # here are no slots


NOMINAL = [(pos, form) for pos in ("noun", "name") for form in FORMS[pos] if form not in {"was", "is", "has", "does"}]
AGREEING = ["", "was", "is", "has", "does"]


@st.composite
def sentences(draw):
    """Fields and literal words in an order in which each can stand."""

    def field(name, pos, relation=""):
        return (name, pos, draw(st.sampled_from([form for form in FORMS[pos] if form != "a"])) + relation)  # an article needs its noun

    def nominal(name, relation=""):
        """Possessors, determiners and adjectives stand before a bare noun."""
        pos, form = draw(st.sampled_from(NOMINAL))
        if form not in {"poss", "poss-of", "this"}:
            return [(name, pos, form + relation)]
        adjective = (f"{name}a", "adjective", draw(st.sampled_from(FORMS["adjective"])))
        return [(name, pos, form), *[adjective] * draw(st.booleans()), (f"{name}b", "noun", f"bare{relation}")]

    before, agreeing = nominal("s"), draw(st.sampled_from(AGREEING))
    parts = [
        *before,
        *([("s", before[0][1], agreeing)] if agreeing else []),
        field("verb", "verb"),
        *(nominal("o") if draw(st.booleans()) else []),
    ]
    for number in range(draw(st.integers(0, 3))):
        place = draw(st.sampled_from(["with", "stated", "adjective", "verb", "adverb", "phrase"]))
        if place in {"with", "stated"}:
            parts += ["with", *nominal(f"w{number}")] if place == "with" else nominal(f"i{number}", "=obl")
        else:
            parts.append(field(f"m{number}", place, "=advcl" if place == "verb" else ""))
    return parts


def realised(parts, words, draw):
    """Pattern, sentence and fillers of ``parts``."""
    lexicon, rows = words
    pattern, text, fillers = [], [], {}
    for part in parts:
        if isinstance(part, str):
            pattern.append(part)
            text.append(part)
            continue
        name, pos, stated = part
        form, _, relation = stated.partition("=")
        lemma = fillers.setdefault(name, (pos, draw(st.sampled_from(WORDS[pos]))))[1]
        pattern.append(f"{{{name}{':' + form if form else ''}{'=' + relation if relation else ''}}}")
        way = draw(st.sampled_from(WORD_FORMS[form].ways[fillers[name][0]]))
        text.append(lexicon.table[rows[fillers[name][0], lemma]].select(compose(way)).item())
    sentence = " ".join(text) + "."
    return " ".join(pattern) + ".", sentence[:1].upper() + sentence[1:], fillers


def well_formed(sentence, text):
    tokens = sentence.tokens
    assert "".join(t.form + " " * t.space_after for t in tokens).strip() == text
    assert [t.relation for t in tokens if t.head == 0] == ["root"]
    assert all(0 <= t.head <= len(tokens) for t in tokens)
    for number in range(1, len(tokens) + 1):
        path, here = set(), number
        while here:
            assert here not in path
            path.add(here)
            here = tokens[here - 1].head
    once = Counter((t.head, base(t.relation)) for t in tokens if base(t.relation) in {"obj", "nsubj", "iobj"})
    assert not once or max(once.values()) == 1


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_every_form_in_every_place_gives_a_tree_that_spells_the_sentence(words, chunks, data):
    pattern, text, fillers = realised(data.draw(sentences()), words, data.draw)
    sentence = tree_of(pattern, text, words, chunks, fillers)
    well_formed(sentence, text)
    assert sentence.tokens[sentence.verb - 1].slot == "verb"


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_whatever_the_order_there_is_a_tree_or_an_error_that_says_where(words, chunks, data):
    pairs = st.sampled_from([(pos, form) for pos, forms in FORMS.items() for form in forms])
    fields = st.builds(lambda n, pair: (f"x{n}", *pair), st.integers(0, 7), pairs)
    literals = st.sampled_from([" ".join(key) for key in closed_class()] + ["kicked", "uncle", "open", "longer"])
    parts = data.draw(st.lists(st.one_of(literals, fields), max_size=6, unique_by=lambda part: part if isinstance(part, str) else part[0]))
    place = data.draw(st.integers(0, len(parts)))
    pattern, text, fillers = realised([*parts[:place], ("verb", "verb", "past"), *parts[place:]], words, data.draw)
    try:
        sentence = tree_of(pattern, text, words, chunks, fillers)
    except DataError as error:
        assert error.message.startswith("little: template 't' as 'k': ")
    else:
        well_formed(sentence, text)


def found_in(mini, lexicon):
    construction = load_construction(Project(mini), "reach", lexicon)
    return [finding for finding in findings(construction, Chunks.load(mini / "lexicons/chunks.yaml")) if finding.code in TREES]


def test_e401_names_all_words_without_annotation_at_once(mini, mini_lexicon):
    line = edit(mini / "templates/reach.yaml", 'last-night: "Last night,', 'last-night: "Zorb vlim,')
    edit(mini / "templates/reach.yaml", 'rest: " with great success"', 'rest: " blarg zorb"')
    first, second = found_in(mini, mini_lexicon)
    assert (first.code, second.code) == ("E401", "E401")
    opening, rest = (first, second) if "vlim" in first.message else (second, first)
    assert (opening.file.name, opening.line) == ("reach.yaml", line)
    assert "reach: template 'last-night'" in opening.message
    assert "no annotation for 'vlim': 'Zorb vlim," in opening.message
    assert "'blarg zorb'" in rest.message


def test_e401_is_told_once_of_a_kind_and_says_what_to_state(mini, mini_lexicon):
    edit(mini / "templates/reach.yaml", "  verb: {role: verb,", "  also: {role: verb, frame: verb, distinct: [verb]}\n  verb: {role: verb,")
    edit(mini / "templates/reach.yaml", 'rest: " with great success"', 'rest: " and {also:past} {target:obj} {agent:obj}"')
    (found,) = found_in(mini, mini_lexicon)
    assert (found.code, "state {also:past=conj>verb} for a second verb" in found.hint) == ("E401", True)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("{agent} {@verb:past} for {target}", "{agent} {@verb:past} {target} {agent:obj=iobjj}", "Universal Dependencies: iobj?"),
        ("role: target, frame: true", "role: target, relation: subj, frame: true", "{target}: 'subj' is no relation"),
    ],
)
def test_e401_finds_relations_that_do_not_exist(mini, mini_lexicon, old, new, said):
    line = edit(mini / "templates/reach.yaml", old, new)
    found = found_in(mini, mini_lexicon)
    assert {finding.code for finding in found} == {"E401"}
    assert said in found[0].message
    assert "relation:" in new or found[0].line == line


BAD = {  # what spaCy says -> a pattern that cannot be matched
    "E101": ("[DEP=obl] > preposition", "[DEP=obl]; aim > preposition"),
    "E1007": ("> target", "~ target"),
    "COLOUR": ("LEMMA=for", "COLOUR=red"),
}


@pytest.mark.slow
@pytest.mark.parametrize("said", sorted(BAD))
def test_e404_finds_patterns_that_cannot_be_matched(mini, mini_lexicon, said):
    line = edit(mini / "templates/reach.yaml", *BAD[said])
    (found,) = found_in(mini, mini_lexicon)
    assert found.code == "E404"
    assert said in found.message
    assert found.line <= line


def test_e404_finds_a_form_check_that_its_own_premises_fail(mini, mini_lexicon):
    edit(mini / "templates/reach.yaml", "LEMMA=for]", "LEMMA=at]")
    found = found_in(mini, mini_lexicon)
    assert {finding.code for finding in found} == {"E404"}
    assert len(found) == 8
    assert "template 'plain' (missed): form_check refuses '" in found[0].message
    assert "for=case>" in found[0].message
    assert not any("alone" in finding.message for finding in found if "wait" not in finding.message)


def test_without_spacy_check_says_that_the_form_check_is_left_out(mini, cxgen, monkeypatch):
    edit(mini / "templates/reach.yaml", "LEMMA=for]", "LEMMA=at]")
    monkeypatch.setattr("cxgen.errors.find_spec", lambda _: None)
    done = cxgen("check", "reach", cwd=mini)
    assert (done.returncode, done.stdout) == (0, "1 construction, 0 errors, 0 warnings\n")
    assert "needs spaCy" in done.stderr


def test_the_reference_of_word_forms_is_the_table_that_is_used():
    text = (ROOT / "docs/annotation.md").read_text("utf-8")
    for name, form in WORD_FORMS.items():
        assert f"| `{'{x:' + name + '}' if name else '{x}'}` | {', '.join(form.ways)} |" in text
