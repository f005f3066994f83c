"""Trees of correlatives: the second half is the main clause, and a number of people is no adverb."""

import re

import pytest

from cxgen.build.preview import sample_items
from cxgen.trees import Annotator, Chunks


@pytest.fixture(scope="module")
def trees(constructions, project):
    construction = constructions["comparative-correlative"]
    items = sample_items(construction, 1, 40).unique(["premise_id"], keep="first", maintain_order=True)
    annotator = Annotator(construction, Chunks.load(*project.chunk_files()))
    return [(item, annotator.tree(item)[0]) for item in items.iter_rows(named=True)]


def relations(tree):
    return [(token.form.lower(), token.relation, token.xpos) for token in tree.tokens]


@pytest.mark.parametrize(
    ("design", "form", "relation", "tag"),
    [("bests", "better", "root", "JJR"), ("rules", "louder", "advmod", "RBR")],
)
def test_comparatives_are_what_they_say_the_degree_of(trees, design, form, relation, tag):
    degrees = re.compile(r"(more|less) (often|\w+ly)")  # of an adverb
    own = [tree for item, tree in trees if item["design"] == design and not degrees.search(item["premise"])]
    found = [(r, t) for tree in own for f, r, t in relations(tree) if f == form]
    assert found
    assert set(found) == {(relation, tag)}


def test_the_first_half_depends_on_the_second_one(trees):
    for item, tree in trees:
        if item["design"] == "rules" and item["template"] == "now-plain":
            assert [token.relation for token in tree.tokens if token.slot in {"act", "verb"}] == ["advcl", "root"]


def test_two_comparatives_belong_to_their_own_verbs(trees):
    found = [(item, tree) for item, tree in trees if item["kind"].startswith("two-comparatives/")]
    assert found
    for item, tree in found:
        degrees = [tree.tokens[token.head - 1] for token in tree.tokens if token.xpos == "RBR" and token.relation == "advmod"]
        heads = [(tree.tokens[word.head - 1] if word.upos == "ADV" else word).slot for word in degrees]
        assert heads[-1:] == ["verb"], item["premise"]
        assert [token.relation for token in tree.tokens if token.slot in {"act", "verb"}][1] == "conj"
