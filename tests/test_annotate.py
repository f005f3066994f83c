"""Gold annotation: well-formed trees, CoNLL-U and DocBin round trips, and a form check that rejects."""

import conllu
import polars as pl
import pytest
import spacy
from spacy.tokens import DocBin

from cxgen.build.gold import element_roles
from cxgen.build.preview import sample_items
from cxgen.build.tables import table_file
from cxgen.check.trees import examples
from cxgen.project import Project
from cxgen.trees import Annotator, dependency_matcher, has_form, to_conllu, to_doc, vocabulary
from cxgen.trees.words import RELATIONS, UPOS, base
from tests.conftest import sampled
from tests.test_trees import well_formed

SOME = ("caused-motion", "resultative")
NOMINAL = {"NOUN", "PROPN", "PRON"}
OF = {"case": {"ADP", "ADV", "VERB", "PART"}, "mark": {"SCONJ", "PART"}, "nsubj": NOMINAL, "obj": NOMINAL, "punct": {"PUNCT"}}
OF |= {"det": {"DET"}, "aux": {"AUX"}, "aux:pass": {"AUX"}, "cop": {"AUX"}, "cc": {"CCONJ"}, "amod": {"ADJ"}}


@pytest.fixture(scope="module", params=["some", pytest.param("all", marks=pytest.mark.slow)])
def annotated(request, constructions, chunks):
    """A premise of every shape with its sentence, by construction; `cxgen check` sees to it that all have trees."""
    names = SOME if request.param == "some" else dict.fromkeys((*SOME, *sampled(constructions, 2)))
    annotators = {name: Annotator(constructions[name], chunks) for name in names}
    return {name: [(item, annotators[name].sentence(item)) for item in examples(constructions[name])] for name in names}


def test_every_way_to_word_a_premise_is_there(constructions, annotated):
    for name, pairs in annotated.items():
        construction = constructions[name]

        def worded(kind, template, construction=construction):
            return tuple((part.text, part.form, part.deprel) for part in construction.premise_parts(kind, template))

        designs = [design for design in construction.designs.values() if "cxmp" not in design.configs]  # which has no trees
        wanted = {worded(k, t.name) for d in designs for k in d.kinds for t in construction.templates_for(k)}
        assert {worded(item["kind"], item["template"]) for item, _ in pairs} == wanted


def test_trees_are_well_formed_and_relations_go_with_parts_of_speech(constructions, annotated):
    for name, pairs in annotated.items():
        for item, sentence in pairs:
            tokens = sentence.tokens
            well_formed(sentence, item["premise"])
            assert {base(t.relation) for t in tokens} <= RELATIONS, item["premise"]
            assert all(t.upos in OF.get(t.relation, UPOS) for t in tokens), item["premise"]
            verb, slot = tokens[sentence.verb - 1], constructions[name].kinds[item["kind"]].verb
            assert (verb.slot, verb.upos) == (slot, "VERB")
            assert verb.lemma in {entry["lemma"].split(" ")[0] for entry in item["slots"] if entry["slot"] == slot}


def test_premises_have_their_form_and_not_that_of_others(constructions, annotated):
    """Of motion, of results, and of all others' sentences a ditransitive has none."""
    other = dependency_matcher(constructions["ditransitive"], vocabulary())
    other.remove("1")  # the form of its look-alike, V NP at NP
    for name, pairs in annotated.items():
        assert constructions[name].form_check, name
        matcher, own = dependency_matcher(constructions[name], vocabulary()), {name, *constructions[name].lookalikes}
        assert all(has_form(sentence, matcher) for item, sentence in pairs[::7] if item["construction"] in own)
        assert name == "ditransitive" or not any(has_form(sentence, other) for _, sentence in pairs[::5]), name


def camel(name):
    return "".join(part.capitalize() for part in name.split("-"))


def test_conllu_is_valid_and_says_which_words_make_the_construction(constructions, annotated):
    for name, pairs in annotated.items():
        roles = element_roles(constructions[name])
        parsed = conllu.parse("".join(to_conllu(sentence, roles) for _, sentence in pairs))
        assert [s.metadata["text"] for s in parsed] == [item["premise"] for item, _ in pairs]
        for (item, sentence), rows in zip(pairs, parsed, strict=True):
            assert rows.to_tree().token["head"] == 0
            verb = [(row["id"], row["misc"]["Cxn"]) for row in rows if (row["misc"] or {}).get("Cxn")]
            assert verb == [(sentence.verb, camel(item["construction"]))]
            elements = {row["misc"]["CxnElt"] for row in rows if (row["misc"] or {}).get("CxnElt")}
            governed = {token.slot for token in sentence.tokens if token.anchor and token.head == sentence.verb}
            own = {camel(roles[entry["slot"]]) for entry in item["slots"] if entry["slot"] in roles.keys() & governed}
            assert elements == {f"{sentence.verb}:{camel(item['construction'])}.{role}" for role in own}


def test_docs_survive_spacy_s_own_round_trip(annotated):
    binary = DocBin(attrs=["LEMMA", "POS", "TAG", "HEAD", "DEP"], store_user_data=True)
    sentences = [sentence for pairs in annotated.values() for _, sentence in pairs[:20]]
    for sentence in sentences:
        binary.add(to_doc(sentence))
    docs = list(DocBin().from_bytes(binary.to_bytes()).get_docs(spacy.blank("en").vocab))
    for sentence, doc in zip(sentences, docs, strict=True):
        assert (doc.text, doc.user_data["premise_id"]) == (sentence.text, sentence.item)
        for token, gold in zip(doc, sentence.tokens, strict=True):
            assert (token.lemma_, token.pos_, token.tag_) == (gold.lemma, gold.upos, gold.xpos)
            assert token.head.i + 1 == (gold.head or token.i + 1)
        spans = [(span.label_, span.text) for span in doc.spans["slots"]]
        anchors = [(token.slot, token.form) for token in sentence.tokens if token.anchor]
        assert {slot for slot, _ in spans} == {slot for slot, _ in anchors}
        for slot, form in anchors:
            assert any(slot == name and form in text for name, text in spans), sentence.text


def test_the_commands_write_both_files(mini_dataset, mini, tmp_path, cxgen):
    assert cxgen("export", "conllu", "--split", "validation", "-o", tmp_path / "x.conllu", cwd=mini_dataset).returncode == 0
    premises = pl.read_parquet(table_file(Project(mini_dataset), "nli", "validation"))["premise_id"].unique(maintain_order=True).to_list()
    sentences = conllu.parse((tmp_path / "x.conllu").read_text("utf-8"))
    assert [sentence.metadata["sent_id"] for sentence in sentences] == premises
    elements: dict[str, set[str]] = {}
    for row in (row for sentence in sentences for row in sentence if (row["misc"] or {}).get("CxnElt")):
        elements.setdefault(row["misc"]["CxnElt"].partition(":")[2], set()).add(row["deprel"])
    assert elements
    assert all(len(relations) == 1 for relations in elements.values()), elements  # nobody who changes places has a role
    assert cxgen("export", "docbin", "--split", "validation", "-o", tmp_path / "x.spacy", cwd=mini_dataset).returncode == 0
    assert len(DocBin().from_disk(tmp_path / "x.spacy")) == len(premises)
    sampled = ("export", "conllu", "--sample", "reach", "--n", 4)  # of what nobody has built
    shown = conllu.parse(printed := cxgen(*sampled, cwd=mini).stdout)
    assert cxgen(*sampled, "-o", tmp_path / "y.conllu", cwd=mini).stdout.startswith("4 premises: ")
    assert (tmp_path / "y.conllu").read_text("utf-8") == printed
    told = cxgen("sample", "reach", "--n", 4, cwd=mini).stdout
    assert len(shown) == 4
    assert all(f". {sentence.metadata['text']} [" in told for sentence in shown)
    missing = cxgen("export", "conllu", cwd=mini)
    assert missing.returncode == 2
    assert "run `cxgen build`" in missing.stderr


@pytest.mark.slow
def test_no_adjunct_of_a_scene_has_the_root_in_it(constructions, chunks):
    """As where a noun of it is taken for a verb: *in the mosh pit*. Each is seen in the shortest premise that has it."""
    for name, construction in constructions.items():
        annotator, seen = Annotator(construction, chunks), set()
        for item in (
            sample_items(construction, 1, 600, "nli").unique("premise_id").sort(pl.col("premise").str.len_chars()).iter_rows(named=True)
        ):
            for adjunct in {slot["lemma"] for slot in item["slots"] if slot["slot"] in {"opening", "closing"}} - seen:
                seen.add(adjunct)
                (root,) = (token for token in annotator.sentence(item).tokens if token.relation == "root")
                assert root.form not in adjunct.split(), (name, item["premise"])
