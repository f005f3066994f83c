"""Reading YAML: what is read, and on which line each key stands. Files that cannot be read: test_bad_files."""

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from cxgen.errors import SchemaError
from cxgen.schema import read_yaml
from cxgen.schema.document import complaint
from tests.conftest import ROOT


def read(folder, text):
    (folder / "x.yaml").write_text(text, "utf-8")
    return read_yaml(folder / "x.yaml").data


def test_plain_values_are_those_of_yaml_1_2(tmp_path):
    text = "\ufeffx: {on: off, no: yes, at: 12:30, day: 2024-01-01, n: 12, part: .5, small: 1e-3, nil: ~, sure: true}\n"
    wanted = {"on": "off", "no": "yes", "at": "12:30", "day": "2024-01-01", "n": 12, "part": 0.5, "small": 0.001, "nil": None, "sure": True}
    assert read(tmp_path, text) == {"x": wanted}


def test_aliases_and_merged_keys_are_read(tmp_path):
    text = "a: &a {x: on, y: 2}\nb: {<<: *a, y: 3}\nc: [*a, *a]\n"
    assert read(tmp_path, text) == {"a": {"x": "on", "y": 2}, "b": {"x": "on", "y": 3}, "c": [{"x": "on", "y": 2}] * 2}


def test_a_key_twice_says_where_the_first_stands(tmp_path):
    with pytest.raises(SchemaError) as caught:
        read(tmp_path, "a: b\nc: d\na: e\n")
    assert (caught.value.line, "line 1" in caught.value.hint) == (3, True)


@pytest.mark.parametrize(("text", "shown"), [("a: {@what}", "{@what}"), ("a: {agent} {verb:past}.", "{agent}"), ("a:\n- @what", "@what")])
def test_a_pattern_without_quotes_is_told_to_have_them(tmp_path, text, shown):
    with pytest.raises(SchemaError) as caught:
        read(tmp_path, text)
    assert caught.value.hint == f'put the text in quotes: "{shown} ..."'


def test_a_field_without_quotes_which_is_a_mapping_is_told_to_have_them(mini):
    data = read_yaml(mini / "templates/reach.yaml").data
    assert complaint({**data, "clauses": {"a": {"agent": None}}}, "construction")[2] == 'put the text in quotes: "{agent} ..."'


OWN = {"claim": "p(x)", "wordings": ["{x}."]}
FAULTS = {  # what the file's own keys become -> what is wrong, and how it is mended
    "unexpected key 'hypothesis'; did you mean hypotheses?": {"hypotheses": None, "hypothesis": {"a": OWN}},
    "hypotheses.a: lacks 'claim'; add claim: what the sentence claims": {"hypotheses": {"a": {"wordings": ["x"]}}},
    "hypotheses.a: lacks 'yes' and 'no'; add `yes` and `no`": {"hypotheses": {"a": {"claim": "p(x)"}}},
    "slots.a: lacks one of class, frame; expected: a `role`, and what fills it": {"slots": {"a": {"role": "agent"}}},
    "slots.a: has more than one of class, frame; ": {"slots": {"a": {"role": "agent", "class": "names", "frame": True}}},
    "templates.a.1: 'b' is not of type 'object'; expected: templates for the kinds": {"templates": {"a": [{"clause": "{x}"}, "b"]}},
    "templates.a.b: ['c'] is not of type 'string'; expected: the pattern of a premise": {"templates": {"a": {"b": ["c"]}}},
    "templates.a.say.0: ['b'] is not of type 'string'; expected: a name": {"templates": {"a": {"say": [["b"]]}}},
    "slots.shared.0: ['a'] is not of type 'string'; expected: a name": {"slots": {"shared": [["a"]]}},
    "designs.a.kinds.0: '' should be non-empty; expected: a name": {"designs": {"a": {"kinds": [""], "hypotheses": ["b"]}}},
    "(top level): lacks 'meaning'; add meaning: the meaning": {"meaning": None},
}


@pytest.mark.parametrize("said", FAULTS)
def test_a_key_that_is_misspelt_or_lacks_is_told_in_a_sentence(mini, said):
    data = read_yaml(mini / "templates/reach.yaml").data | FAULTS[said]
    assert said in "; ".join(complaint({key: value for key, value in data.items() if value is not None}, "construction")[1:])


def test_shipped_files_are_what_the_schema_says_as_they_are_written():
    for path in sorted(ROOT.glob("templates/*.yaml")):
        assert complaint(read_yaml(path).data, "shared" if path.name.startswith("_") else "construction") is None, path.name


words = st.text("abcdefghij", min_size=1, max_size=5)
trees = st.recursive(words, lambda inner: st.lists(inner, min_size=1, max_size=3) | st.dictionaries(words, inner, min_size=1, max_size=3))


@settings(max_examples=40)
@given(st.dictionaries(words, trees, min_size=1))
def test_every_key_is_found_on_the_line_where_it_stands(tmp_path_factory, data):
    path = tmp_path_factory.getbasetemp() / "tree.yaml"
    path.write_text(yaml.safe_dump(data, default_flow_style=False), "utf-8")
    document = read_yaml(path)
    assert document.data == data
    lines = document.text.splitlines()

    def walk(value, keys):
        for key, below in value.items() if isinstance(value, dict) else ():
            assert lines[document.line([*keys, key]) - 1].lstrip("- ").startswith((key, f"'{key}'", "?"))
            walk(below, [*keys, key])

    walk(data, [])


def test_a_pattern_of_a_schema_holds_to_the_end_of_a_text():
    wug = {"names": ["ann"], "rude": ["rude"], "rude_parts": ["rude"], "refused": ["x"]}
    assert complaint(wug, "wug") is None
    assert complaint({**wug, "refused": ["x\n"]}, "wug")
