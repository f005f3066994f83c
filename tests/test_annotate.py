"""Gold annotation: well-formed trees, the right heads, CoNLL-U and DocBin round trips, and a form check that rejects."""

import conllu
import polars as pl
import pytest
import spacy
from spacy.tokens import DocBin
from typer.testing import CliRunner

from cxgen.build.gold import element_roles
from cxgen.build.params import Params
from cxgen.build.preview import sample_items
from cxgen.build.run import build as run_build
from cxgen.build.tables import table_file
from cxgen.check.trees import examples
from cxgen.cli.app import app
from cxgen.errors import DataError
from cxgen.project import Project
from cxgen.trees import Annotator, Chunks, FormCheck, to_conllu, to_doc
from cxgen.trees.words import RELATIONS, UPOS, base
from tests.conftest import ROOT, edit, sampled


@pytest.fixture(scope="module")
def chunks(project):
    return Chunks.load(*project.chunk_files())


def camel(name):
    return "".join(part.capitalize() for part in name.split("-"))


SOME = ("caused-motion", "resultative")


@pytest.fixture(scope="module", params=["some", pytest.param("all", marks=pytest.mark.slow)])
def premises(request, constructions):
    """Premises of every kind in every template, by target construction; `cxgen check` sees to it that all have trees."""
    names = SOME if request.param == "some" else dict.fromkeys((*SOME, *sampled(constructions, 2)))
    return {name: as_items(examples(constructions[name]), constructions[name]) for name in names}


def as_items(premises, construction):
    """With the columns that items have beside."""
    rows = [{**premise, "id": premise["premise_id"]} for premise in premises]
    for row in rows:
        row["slots"] = [{**slot, "role": construction.slots[slot["slot"]].role} for slot in row["slots"]]
        row["verb"] = next(slot["lemma"] for slot in row["slots"] if slot["slot"] == construction.kinds[row["kind"]].verb)
    return pl.DataFrame(rows, infer_schema_length=None)


@pytest.fixture(scope="module")
def annotated(constructions, chunks, premises):
    found = {}
    for name, items in premises.items():
        annotator = Annotator(constructions[name], chunks)
        found[name] = [(item, annotator.sentence(item)) for item in items.iter_rows(named=True)]
    return found


def every(annotated):
    return [pair for pairs in annotated.values() for pair in pairs]


def test_every_kind_and_template_is_there(constructions, annotated):
    for name, pairs in annotated.items():
        construction = constructions[name]
        seen = {(item["kind"], item["template"]) for item, _ in pairs}
        wanted = {(k, t.name) for d in construction.designs.values() for k in d.kinds for t in construction.templates_for(k)}
        assert seen == wanted


def test_trees_are_well_formed(annotated):
    for item, sentence in every(annotated):
        tokens = sentence.tokens
        assert "".join(t.form + " " * t.space_after for t in tokens).strip() == item["premise"]
        assert [t.relation for t in tokens if t.head == 0] == ["root"]
        assert {t.upos for t in tokens} <= UPOS
        assert {base(t.relation) for t in tokens} <= RELATIONS, item["premise"]
        for number in range(1, len(tokens) + 1):
            path, here = set(), number
            while here:
                assert here not in path, item["premise"]
                path.add(here)
                here = tokens[here - 1].head


def test_functional_relations_go_with_their_parts_of_speech(annotated):
    wanted = {
        "case": {"ADP", "ADV", "VERB", "PART"},
        "det": {"DET"},
        "aux": {"AUX"},
        "aux:pass": {"AUX"},
        "cop": {"AUX"},
        "mark": {"SCONJ", "PART"},
    }
    wanted |= {"nsubj": {"NOUN", "PROPN", "PRON"}, "obj": {"NOUN", "PROPN", "PRON"}, "cc": {"CCONJ"}, "punct": {"PUNCT"}, "amod": {"ADJ"}}
    for item, sentence in every(annotated):
        for token in sentence.tokens:
            assert token.upos in wanted.get(token.relation, UPOS), (item["premise"], token)


def test_the_verb_of_the_dataset_is_the_verb_of_the_tree(annotated):
    for item, sentence in every(annotated):
        assert sentence.tokens[sentence.verb - 1].lemma == item["verb"]
        assert sentence.tokens[sentence.verb - 1].upos == "VERB"


def test_every_premise_of_every_template_has_the_form(constructions, lexicon, chunks, premises):
    for name, items in premises.items():
        assert constructions[name].form_check, name
        check, annotator = FormCheck(constructions[name]), Annotator(constructions[name], chunks)
        mine = items.filter(pl.col("construction").is_in([name, *constructions[name].lookalikes])).unique("premise_id")
        assert all(check.holds(annotator.sentence(item)) for item in mine.gather_every(7).iter_rows(named=True))


def test_the_form_check_refuses_other_forms(constructions, annotated):
    """Of motion, of results, and of all others' sentences a ditransitive has none."""
    check = FormCheck(constructions["ditransitive"])
    for name, pairs in annotated.items():
        assert name == "ditransitive" or not any(check.holds(sentence) for _, sentence in pairs[::5]), name


def test_words_without_annotation_are_an_error_that_names_them(mini, mini_lexicon, chunks):
    from cxgen.constructicon import load_construction

    edit(mini / "templates/reach.yaml", "Last night,", "Zorb vlim,")
    construction = load_construction(Project(mini), "reach", mini_lexicon)
    items = sample_items(construction, 3, 40).filter(pl.col("template") == "last-night")
    with pytest.raises(DataError, match=r"reach: template 'last-night' as .*: no annotation for 'vlim'") as error:
        Annotator(construction, Chunks.load(*Project(mini).chunk_files())).sentence(items.row(0, named=True))
    assert "lexicons/chunks.yaml" in error.value.hint


def test_conllu_is_valid_and_says_which_words_make_the_construction(constructions, annotated):
    for name, pairs in annotated.items():
        roles = element_roles(constructions[name])
        text = "".join(to_conllu(sentence, roles) for _, sentence in pairs)
        parsed = conllu.parse(text)
        assert [s.metadata["text"] for s in parsed] == [item["premise"] for item, _ in pairs]
        for (item, sentence), rows in zip(pairs, parsed, strict=True):
            assert rows.to_tree().token["head"] == 0
            verb = [row for row in rows if (row["misc"] or {}).get("Cxn")]
            assert [(row["id"], row["misc"]["Cxn"]) for row in verb] == [(sentence.verb, camel(item["construction"]))]
            elements = {row["misc"]["CxnElt"] for row in rows if (row["misc"] or {}).get("CxnElt")}
            fillers = {slot["slot"]: slot["role"] for slot in item["slots"]}
            wanted = {f"{sentence.verb}:{camel(item['construction'])}.{camel(role)}" for slot, role in fillers.items() if slot in roles}
            assert elements == wanted


def test_docs_survive_spacy_s_own_round_trip(annotated):
    binary = DocBin(attrs=["LEMMA", "POS", "TAG", "HEAD", "DEP"], store_user_data=True)
    sentences = [sentence for pairs in annotated.values() for _, sentence in pairs[:20]]
    for sentence in sentences:
        binary.add(to_doc(sentence))
    docs = list(DocBin().from_bytes(binary.to_bytes()).get_docs(spacy.blank("en").vocab))
    for sentence, doc in zip(sentences, docs, strict=True):
        assert doc.text == sentence.text
        assert doc.user_data["premise_id"] == sentence.item
        for token, gold in zip(doc, sentence.tokens, strict=True):
            assert (token.lemma_, token.pos_, token.tag_) == (gold.lemma, gold.upos, gold.xpos)
            assert token.head.i + 1 == (gold.head or token.i + 1)
        spans = [(span.label_, span.text) for span in doc.spans["slots"]]
        anchors = [(token.slot, token.form) for token in sentence.tokens if token.anchor]
        assert {slot for slot, _ in spans} == {slot for slot, _ in anchors}
        for slot, form in anchors:
            assert any(slot == name and form in text for name, text in spans), sentence.text


@pytest.mark.slow
def test_the_commands_write_both_files(tmp_path, monkeypatch):
    (tmp_path / "params.yaml").write_text((ROOT / "params.yaml").read_text("utf-8"), "utf-8")
    edit(tmp_path / "params.yaml", "n_per_construction: 4000", "n_per_construction: 300")
    edit(tmp_path / "params.yaml", "n_per_lookalike: 1200", "n_per_lookalike: 60")
    edit(tmp_path / "params.yaml", "constructions: all", "constructions: [conative]")
    project = Project(tmp_path)
    params = Params.read(project.params)
    run_build(project, params)
    monkeypatch.chdir(tmp_path)

    def run(*args):
        return CliRunner().invoke(app, ["export", *args])

    assert run("conllu", "--config", "distinction", "--split", "dev").exit_code == 0
    text = (tmp_path / "outputs/annotation/distinction-dev.conllu").read_text("utf-8")
    premises = pl.read_parquet(table_file(project, "distinction", "dev"))["premise_id"].unique(maintain_order=True).to_list()
    assert [sentence.metadata["sent_id"] for sentence in conllu.parse(text)] == premises
    assert run("docbin", "--split", "test", "-o", "x.spacy").exit_code == 0
    assert len(DocBin().from_disk(tmp_path / "x.spacy")) > 0
    (tmp_path / "other").mkdir()
    monkeypatch.setenv("CXGEN_PROJECT", str(tmp_path / "other"))
    missing = run("conllu")
    assert isinstance(missing.exception, DataError)
    assert "dvc repro" in missing.exception.hint
