"""Relations that templates state, every word form in every position, and what is found wrong with trees."""

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
from cxgen.trees.sentence import looks
from cxgen.trees.words import HEADS, RELATIONS, UPOS, base, closed_class
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
def chunks(project):
    return Chunks.load(*project.chunk_files())


@pytest.fixture(scope="module")
def mini_chunks(mini_source):
    return Chunks.load(mini_source / "lexicons/chunks.yaml")


@pytest.fixture(scope="module")
def words(lexicon):
    """The lexicon with an adverb, and (part of speech, lemma) -> row."""
    row = lexicon.table.filter(pl.col("pos") == "phrase").head(1)
    adverb = row.with_columns(pos=pl.lit("adverb"), lemma=pl.lit("slowly"), key=pl.lit("phrase:slowly"))
    table = pl.concat([lexicon.table.filter(pl.col("lemma").is_in([lemma for lemmas in WORDS.values() for lemma in lemmas])), adverb])
    rows = {(pos, lemma): row for row, (pos, lemma) in reversed(list(enumerate(table.select("pos", "lemma").iter_rows())))}
    return Lexicon(table, {}, {}), rows


def little(lexicon, pattern, slots=()):
    """A construction with one template."""
    names = {
        name: Slot(name, "verb" if name == "verb" else "theme")
        for name in ["agent", "verb", "recipient", "theme", "x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7"]
    }
    names |= {slot.name: slot for slot in slots}
    kind = Kind("k", "", "little", "verb", {}, (), ())
    text = f"name: little\ntemplates:\n  t: '{pattern}'\n"
    document = Document(Path("little.yaml"), {"name": "little", "slots": {}, "templates": {"t": pattern}}, text)
    parts = {"predicates": {}, "rules": {}, "designs": {}, "frames": (), "lookalikes": (), "lexicon": lexicon}
    return Construction(
        "little", "", "", "", 1, slots=names, kinds={"k": kind}, templates={"t": Template("t", pattern)},
        form_check=(), documents=(document,), **parts,
    )  # fmt: skip


def item(text, fillers, lexicon):
    """An item as candidates have it; ``fillers`` are slot -> row of the lexicon."""
    slots = [{"slot": slot, "lemma": lexicon.lemmas[row], "sense": lexicon.table["sense"][row]} for slot, row in fillers.items()]
    return {"premise_id": "p", "construction": "little", "kind": "k", "template": "t", "premise": text, "slots": slots}


GIVE = {"agent": ("name", "Noah"), "verb": ("verb", "hammer"), "recipient": ("name", "James"), "theme": ("noun", "dog")}


def tree(pattern, text, words, chunks, slots=(), **fillers):
    """Token -> (relation, form of the head)."""
    lexicon, rows = words
    filled = {slot: rows[word] for slot, word in {**GIVE, **fillers}.items() if f"{{{slot}" in pattern}
    sentence = Annotator(little(lexicon, pattern, slots), chunks).sentence(item(text, filled, lexicon))
    forms = ["0", *(token.form for token in sentence.tokens)]
    return {token.form: (token.relation, forms[token.head]) for token in sentence.tokens}


IOBJ = Slot("recipient", "recipient", deprel="iobj")


def test_two_nouns_after_the_verb_are_no_tree_until_one_says_what_it_is(words, chunks):
    pattern, text = "{agent} {verb:past} {recipient} {theme:a}.", "Noah hammered James a dog."
    with pytest.raises(
        DataError, match=r"little: template 't' as 'k': 'James' \(recipient\) and 'dog' \(theme\) would all be obj"
    ) as error:
        tree(pattern, text, words, chunks)
    assert error.value.line == 3
    assert "relation:" in error.value.message
    for stated in (pattern, "{agent} {verb:past} {recipient=iobj} {theme:a=obj>V}."):
        found = tree(stated, text, words, chunks, [IOBJ] if stated is pattern else [])
        assert (found["James"], found["dog"], found["Noah"]) == (("iobj", "hammered"), ("obj", "hammered"), ("nsubj", "hammered"))


def test_a_statement_of_the_slot_yields_to_a_preposition_and_to_the_place_before_a_passive_verb(words, chunks):
    found = tree("{agent} {verb:past} {theme:a} at {recipient}.", "Noah hammered a dog at James.", words, chunks, [IOBJ])
    assert (found["James"], found["dog"]) == (("obl", "hammered"), ("obj", "hammered"))
    pattern = "{recipient} {recipient:was} {verb:participle} {theme:a}."
    found = tree(pattern, "James was hammered a dog.", words, chunks, [IOBJ])
    assert (found["James"], found["was"], found["dog"]) == (("nsubj:pass", "hammered"), ("aux:pass", "hammered"), ("obj", "hammered"))
    with pytest.raises(DataError, match="the tree has no root"):
        tree("{theme} {verb:past=advcl}.", "The dog hammered.", words, chunks)


def test_agreeing_words_have_their_own_tags(words):
    lexicon, rows = words
    dog = lexicon.table.row(rows["noun", "dog"], named=True)
    tags = {form: [(text, look[0].upos, look[0].xpos) for text, look in looks(dog, form)] for form in ("this", "is", "has", "does", "was")}
    assert tags["this"] == [("this", "DET", "DT"), ("these", "DET", "DT")]
    assert tags["is"] == [("is", "AUX", "VBZ"), ("are", "AUX", "VBP")]
    assert tags["has"] == [("has", "AUX", "VBZ"), ("have", "AUX", "VBP")]
    assert tags["does"] == [("does", "AUX", "VBZ"), ("do", "AUX", "VBP")]
    assert tags["was"] == [("was", "AUX", "VBD"), ("were", "AUX", "VBD")]


def test_possessors_and_determiners_belong_to_the_noun_that_comes_next(words, chunks):
    plural = Slot("theme", "theme", number="plural")
    pattern = "{theme:poss-of} {x0:bare} {verb:past} {agent:poss-of} {x1} {x2:bare}."
    found = tree(pattern, "The dogs' apple hammered Noah's wet air duct.",
                 words, chunks, [plural], x0=("noun", "apple"), x1=("adjective", "wet"), x2=("noun", "air duct"))  # fmt: skip
    assert (found["dogs"], found["'"]) == (("nmod:poss", "apple"), ("case", "dogs"))
    assert (found["Noah"], found["'s"], found["wet"]) == (("nmod:poss", "duct"), ("case", "Noah"), ("amod", "duct"))
    assert (found["duct"], found["apple"]) == (("obj", "hammered"), ("nsubj", "hammered"))
    found = tree("{agent} {verb:past} at {x0:this} {x0:bare}.", "Noah hammered at this dog.", words, chunks, x0=("noun", "dog"))
    assert (found["this"], found["dog"], found["at"]) == (("det", "dog"), ("obl", "hammered"), ("case", "dog"))
    with pytest.raises(DataError, match="'this' needs a word after it"):
        tree("{agent} {verb:past} {x0:this}.", "Noah hammered this.", words, chunks, x0=("noun", "dog"))


CLAUSES = {  # what the rules make of function words and of verbs and nouns that are written out
    "{agent} doesn't even {verb:base} {theme:a}.": "doesn't even hammer a dog|does aux hammer|n't advmod hammer|even advmod hammer",
    "{agent} was {verb:participle} by {recipient}.": ("was hammered by James|was aux:pass hammered|Noah nsubj:pass hammered|by case James"),
    "Last night, {agent} {verb:past} it.": "Last night, Noah hammered it|night obl:tmod hammered|, punct night|it obj hammered",
    "{agent} managed to {verb:base} {theme:a}.": (
        "managed to hammer a dog|Noah nsubj managed|managed root 0|to mark hammer|hammer xcomp managed"
    ),
    "{agent} was too shy to {verb:base}.": "was too shy to hammer|was cop shy|too advmod shy|shy root 0|hammer advcl shy",
    "I doubt that {agent} {verb:past}.": ("I doubt that Noah hammered|I nsubj doubt|doubt root 0|that mark hammered|hammered ccomp doubt"),
    "{agent} {verb:past} at {theme:a} and then kicked it.": (
        "hammered at a dog and then kicked it|and cc kicked|then advmod kicked|kicked conj hammered|it obj kicked"
    ),
    "{agent} {verb:past} {theme:a} or {recipient}, let alone my uncle.": (
        "hammered a dog or James, let alone my uncle|or cc James|James conj dog|let cc uncle|alone fixed let|my nmod:poss uncle"
    ),
    "While my aunt slept, {agent} {verb:past}.": (
        "While my aunt slept, Noah hammered|While mark slept|aunt nsubj slept|slept advcl hammered"
    ),
    "{agent} {verb:past} {theme:a} instead of {recipient}.": "hammered a dog instead of James|instead case James|of fixed instead",
    "{agent} {verb:past} {theme} open in the barn.": (
        "hammered the dog open in the barn|open xcomp hammered|barn obl hammered|in case barn"
    ),
    "{agent}, who had {verb:participle} {theme:a}, left.": (
        "had hammered a dog, left|who nsubj hammered|had aux hammered|hammered acl:relcl Noah"
    ),
}


@pytest.mark.parametrize("pattern", CLAUSES)
def test_function_words_get_their_heads_by_rule(words, chunks, pattern):
    rest, *links = CLAUSES[pattern].split("|")
    text = next(text for text in (rest, f"Noah {rest}", f"Noah, who {rest}") if text.startswith(("Last", "I ", "While", "Noah")))
    text = f"Noah, who {rest}" if "who" in pattern else text
    found = tree(pattern, f"{text}.", words, chunks)
    assert {link.split(" ")[0]: tuple(link.split(" ")[1:]) for link in links}.items() <= found.items()


def test_chunks_of_a_later_file_add_to_those_of_an_earlier_one(words, tmp_path, project):
    own = tmp_path / "chunks.yaml"
    own.write_text('chunks:\n  - "lo/INTJ/UH/discourse>P"\n  - "at/ADP/IN/case>NEXT NEXT=obl:arg>V"\n', "utf-8")
    found = tree("Lo {agent} {verb:past} at {theme}.", "Lo Noah hammered at the dog.", words,
                 Chunks.load(project.lexicons / "chunks.yaml", own))  # fmt: skip
    assert (found["Lo"], found["dog"]) == (("discourse", "hammered"), ("obl:arg", "hammered"))


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
        for row in rows:
            links = [*((word.relation, word.head) for word in row.words), *row.others.values()]
            assert {word.upos for word in row.words} <= UPOS, key
            assert {base(relation) for relation, _ in links} <= RELATIONS, key
            assert all(head.isdigit() or head in {*HEADS, "VERB", "HOST"} for _, head in links), key


NOMINAL = [(pos, form) for pos in ("noun", "name") for form in FORMS[pos] if form not in {"was", "is", "has", "does"}]
AGREEING = ["", "was", "is", "has", "does"]


@st.composite
def nominals(draw, name):
    """A nominal place: possessors, determiners and adjectives stand before a bare noun."""
    pos, form = draw(st.sampled_from(NOMINAL))
    fields = [(name, pos, form)]
    if form in {"poss", "poss-of", "this"}:
        if draw(st.booleans()):
            fields.append((f"{name}a", "adjective", draw(st.sampled_from(FORMS["adjective"]))))
        fields.append((f"{name}b", "noun", "bare"))
    return fields


@st.composite
def sentences(draw):
    """Fields and literal words in an order in which each can stand."""
    before = draw(nominals("s"))
    agreeing = draw(st.sampled_from(AGREEING))
    parts = [*before, *([("s", before[0][1], agreeing)] if agreeing else []), ("verb", "verb", draw(st.sampled_from(FORMS["verb"])))]
    if draw(st.booleans()):
        parts += draw(nominals("o"))
    for number in range(draw(st.integers(0, 3))):
        place = draw(st.sampled_from(["with", "stated", "adjective", "verb", "adverb", "phrase"]))
        if place == "with":
            parts += ["with", *draw(nominals(f"w{number}"))]
        elif place == "stated":
            *leaning, (name, pos, form) = draw(nominals(f"i{number}"))
            parts += [*leaning, (name, pos, f"{form}=obl")]
        elif place == "verb":
            parts.append((f"v{number}", "verb", f"{draw(st.sampled_from(FORMS['verb']))}=advcl"))
        else:
            parts.append((f"m{number}", place, draw(st.sampled_from(FORMS[place]))))
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
    return " ".join(pattern) + ".", sentence[:1].upper() + sentence[1:], {name: rows[word] for name, word in fillers.items()}


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
    construction = little(words[0], pattern, [Slot(name, "verb" if name == "verb" else "theme") for name in fillers])
    sentence = Annotator(construction, chunks).sentence(item(text, fillers, words[0]))
    well_formed(sentence, text)
    assert sentence.tokens[sentence.verb - 1].slot == "verb"


@settings(max_examples=100, deadline=None)
@given(data=st.data())
def test_whatever_the_order_there_is_a_tree_or_an_error_that_says_where(words, chunks, data):
    pairs = st.sampled_from([(pos, form) for pos, forms in FORMS.items() for form in forms])
    fields = st.builds(lambda n, pair: (f"x{n}", *pair), st.integers(0, 7), pairs)
    parts = data.draw(st.lists(st.one_of(st.just("with"), st.just("up"), fields), max_size=5, unique=True))
    parts = [
        part for n, part in enumerate(parts) if isinstance(part, str) or part[0] not in {p[0] for p in parts[:n] if not isinstance(p, str)}
    ]
    place = data.draw(st.integers(0, len(parts)))
    pattern, text, fillers = realised([*parts[:place], ("verb", "verb", "past"), *parts[place:]], words, data.draw)
    construction = little(words[0], pattern)
    try:
        sentence = Annotator(construction, chunks).sentence(item(text, fillers, words[0]))
    except DataError as error:
        assert error.message.startswith("little: template 't' as 'k': ")
    else:
        well_formed(sentence, text)


def found_in(mini, lexicon, chunks):
    construction = load_construction(Project(mini), "reach", lexicon)
    return [finding for finding in findings(construction, chunks) if finding.code in TREES]


def test_e401_names_all_words_without_annotation_at_once(mini, mini_lexicon, mini_chunks):
    line = edit(mini / "templates/reach.yaml", 'last-night: "Last night,', 'last-night: "Zorb vlim,')
    edit(mini / "templates/reach.yaml", 'rest: " with great success"', 'rest: " blarg zorb"')
    first, second = found_in(mini, mini_lexicon, mini_chunks)
    assert (first.code, second.code) == ("E401", "E401")
    opening, rest = (first, second) if "vlim" in first.message else (second, first)
    assert opening.line == line
    assert "reach: template 'last-night'" in opening.message
    assert "no annotation for 'vlim': 'Zorb vlim," in opening.message
    assert "'blarg zorb'" in rest.message


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("{agent} {@verb:past} for {target}", "{agent} {@verb:past} {target} {agent:obj}", "would all be obj"),
        ("{agent} {@verb:past} for {target}", "{agent} {@verb:past} {target} {agent:obj=iobjj}", "Universal Dependencies: iobj?"),
        ("role: target, frame: true", "role: target, relation: subj, frame: true", "{target}: 'subj' is no relation"),
    ],
)
def test_e401_finds_relations_that_are_not_unique_or_do_not_exist(mini, mini_lexicon, mini_chunks, old, new, said):
    line = edit(mini / "templates/reach.yaml", old, new)
    found = found_in(mini, mini_lexicon, mini_chunks)
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
def test_e404_finds_patterns_that_cannot_be_matched(mini, mini_lexicon, mini_chunks, said):
    line = edit(mini / "templates/reach.yaml", *BAD[said])
    (found,) = found_in(mini, mini_lexicon, mini_chunks)
    assert found.code == "E404"
    assert said in found.message
    assert found.line <= line


def test_e404_finds_a_form_check_that_its_own_premises_fail(mini, mini_lexicon, mini_chunks):
    edit(mini / "templates/reach.yaml", "LEMMA=for]", "LEMMA=at]")
    found = found_in(mini, mini_lexicon, mini_chunks)
    assert {finding.code for finding in found} == {"E404"}
    assert len(found) == 8
    assert "template 'plain' (missed): form_check refuses '" in found[0].message
    assert "for=case>" in found[0].message
    assert not any("alone" in finding.message for finding in found if "wait" not in finding.message)


def test_without_spacy_check_says_that_the_form_check_is_left_out(mini, mini_lexicon, mini_chunks, monkeypatch):
    from typer.testing import CliRunner

    from cxgen.cli.app import app

    edit(mini / "templates/reach.yaml", "LEMMA=for]", "LEMMA=at]")
    monkeypatch.setenv("CXGEN_PROJECT", str(mini))
    monkeypatch.setattr("cxgen.check.trees.find_spec", lambda _: None)
    done = CliRunner().invoke(app, ["check", "reach"])
    assert done.exit_code == 0
    assert done.stdout == "1 constructions, 0 findings\n"
    assert "needs spaCy" in done.stderr


def test_the_reference_of_word_forms_is_the_table_that_is_used():
    text = (ROOT / "docs/annotation.md").read_text("utf-8")
    for name, form in WORD_FORMS.items():
        assert f"| `{'{x:' + name + '}' if name else '{x}'}` | {', '.join(form.ways)} |" in text
