"""Mining raw text: passages, the tag pattern, false comparatives, trees made over, interrupted runs, labels of groups."""

import csv
import gzip
import json
import re
from collections import Counter
from itertools import product

import polars as pl
import pytest
import spacy
from hypothesis import given, settings
from hypothesis import strategies as st
from spacy.tokens import Doc

from cxgen.errors import DataError
from cxgen.mining import search as stage
from cxgen.mining.find import Correlative, as_universal
from cxgen.mining.search import COLUMNS, Passage, Search, passages, read_candidates
from cxgen.project import Project
from cxgen.tables import write_rows
from recipes.probe.probing import tasks
from recipes.probe.sentences import read_sentences
from recipes.probe.settings import Controlled, Curve
from tests import tiny_pipeline

HIT = "The longer we waited, the colder the soup grew."
FALSE = "The former is cold, the latter is warm."
ATTRIBUTIVE = "The older man met the younger woman."
GROUP = "the RBR PRP VBD , the JJR DT NN"
TEXT = f"{HIT} {FALSE}\nWe met the man.\n\n{ATTRIBUTIVE} {HIT}\n"


@pytest.fixture(scope="session")
def tagger(shared):
    return shared("tiny-tagger", tiny_pipeline.write_tagger)


@pytest.fixture(scope="session")
def parser(shared):
    return shared("tiny-parser", tiny_pipeline.write_parser)


@pytest.fixture
def text(tmp_path):
    (tmp_path / "params.yaml").touch()
    path = tmp_path / "text.txt"
    path.write_text(TEXT)
    return path


def test_passages_are_lines_paragraphs_or_fields_and_know_where_their_words_stand(text, tmp_path):
    packed = tmp_path / "packed"  # gzip, whatever it is called
    packed.write_bytes(gzip.compress(TEXT.encode()))
    for path in (text, packed):
        lines = [(line, number) for number, line in enumerate(TEXT.splitlines(), 1) if line]
        assert [(passage.text, passage.line) for passage in passages([path], Counter())] == lines
    path = tmp_path / "wrapped.txt"
    path.write_text("\n\nThe longer we\nwaited, the colder\n\nThe end.\n")
    first, second = passages([path], Counter(), paragraphs=True)
    assert first.text == "The longer we\nwaited, the colder"
    assert (first.where(0), first.where(first.text.index("colder")), second.where(0)) == ((3, 1), (4, 13), (6, 1))
    path.write_text(json.dumps({"text": f"One.\n{HIT}", "url": "x"}) + "\n" + json.dumps({"text": "Two."}) + "\n")
    found = passages([path], Counter(), field="text")
    assert [(passage.text, passage.line, passage.column) for passage in found] == [("One.", 1, 1), (HIT, 1, 6), ("Two.", 2, 1)]
    path.write_text(json.dumps({"text": "The longer\nwe waited.\n\nThe end."}))
    assert [passage.text for passage in passages([path], Counter(), paragraphs=True, field="text")] == [
        "The longer we waited.",
        "The end.",
    ]
    path.write_bytes("café\nbar\n".encode("latin-1"))
    counts = Counter()
    assert [passage.text for passage in passages([path], counts)] == ["caf\ufffd", "bar"]
    assert counts == {"lines": 2, "damaged": 1}
    path.write_text('{"text": "The \\ud800 longer"}\n{"text": "plain"}\n')  # crawled: half a surrogate pair, which no parser takes
    counts = Counter()
    assert [passage.text for passage in passages([path], counts, field="text")] == ["The \ufffd longer", "plain"]
    assert counts == {"lines": 2, "damaged": 1}


def test_a_line_without_end_is_cut_where_words_end_in_time_that_grows_with_it(tmp_path, monkeypatch):
    path, long = tmp_path / "long", "the longer we wait " * 40_000
    path.write_text(f"first\n{long}\n")
    monkeypatch.setattr(Passage, "where", lambda passage, start, where=Passage.where: looked.append(start) or where(passage, start))
    looked = []
    _, *pieces = passages([path], Counter())
    assert "".join(piece.text for piece in pieces) == long
    assert all(piece.text.endswith(" ") and piece.line == 2 and long.startswith(piece.text, piece.column - 1) for piece in pieces)
    assert sum(looked) <= len(long) + 5  # characters through which it was looked for ends of lines
    monkeypatch.setattr(stage, "_MOST", 1000)
    with pytest.raises(DataError, match="long:2: a line of more than"):
        list(passages([path], Counter()))


def test_what_is_cut_is_cut_where_a_sentence_ends(tmp_path):
    path = tmp_path / "long"
    path.write_text("We wait. We go on! Do we? " * 2_000)
    pieces = [piece.text for piece in passages([path], Counter())]
    assert len(pieces) == 3 and all(piece.rstrip()[-1] in ".!?" for piece in pieces)
    path.write_text("We wait,\nand go on.\nSo we\n" + "go on,\n" * 500 + "\nThe end.\n")
    found = [(piece.line, piece.text.count("\n") + 1) for piece in passages([path], Counter(), paragraphs=True)]
    assert found == [(1, 2), (3, 200), (203, 200), (403, 101), (505, 1)]


@pytest.mark.parametrize(
    ("content", "options", "message"),
    [
        (b"one\n\0\n", {}, "text:2: not text"),
        (gzip.compress(b"one\n" * 5000, mtime=0)[:-20], {}, r"text:\d+: damaged gzip data"),
        (b'{"text": "a"}\n{"body": "b"}\n', {"field": "text"}, "the line has: body"),
        (b"plain\n", {"field": "text"}, "text:1: not JSON"),
    ],
)
def test_what_is_no_text_is_named_with_its_line(tmp_path, content, options, message):
    path = tmp_path / "text"
    path.write_bytes(content)
    with pytest.raises(DataError, match=message):
        list(passages([path], Counter(), **options))


def doc(line):
    """A document of words written word/TAG."""
    words, tags = zip(*(word.rsplit("/", 1) for word in line.split()), strict=True)
    return Doc(VOCAB, words, tags=tags, sent_starts=[place == 0 for place in range(len(words))])


VOCAB = spacy.blank("en").vocab


def said(line, **options):
    return [found if isinstance(found, str) else found[1:] for found in Correlative(**options).find(doc(line))]


def test_two_halves_are_a_candidate_with_its_spans():
    ((group, spans),) = said("The/DT longer/RBR we/PRP waited/VBD ,/, the/DT colder/JJR the/DT soup/NN grew/VBD ./.")
    assert group == GROUP
    expected = "first: The waited, first comparative: longer longer, second: the grew, second comparative: colder colder"
    assert ", ".join(f"{name}: {first} {last}" for name, first, last in spans) == expected


def test_groups_leave_the_middle_of_long_halves_out_unless_all_is_wanted():
    line = "the/DT more/JJR old/JJ men/NNS in/IN hats/NNS sang/VBD ,/, the/DT better/JJR"
    assert said(line)[0][0] == "the JJR JJ NNS ... , the JJR"
    assert said(line, width=0)[0][0] == "the JJR ... , the JJR"
    assert said(line, whole=True)[0][0] == "the JJR JJ NNS IN NNS VBD , the JJR"
    assert said(line, most_between=6)[0][0] and not said(line, most_between=5)


HALVES = {
    "the/DT former/JJR ate/VBD the/DT latter/JJR": "one of two: the former, the latter",
    "the/DT upper/JJR shelf/NN ,/, the/DT better/JJR one/NN": "a place, not a degree",
    "all/PDT the/DT more/RBR so/RB the/DT better/JJR it/PRP got/VBD": "a degree: all the more",
    "it/PRP changed/VBD for/IN the/DT better/JJR ,/, the/DT longer/RBR it/PRP took/VBD": "for the better",
    "the/DT older/JJR of/IN them/PRP met/VBD the/DT younger/JJR": "one of two: the older of the brothers",
    "the/DT more/JJR than/IN ten/CD men/NNS and/CC the/DT older/JJR one/CD": "compares by itself",
    "in/IN the/DT Lower/JJR East/NNP side/NN ,/, the/DT higher/JJR it/PRP got/VBD": "part of a name",
    "the/DT more/JJR of/IN it/PRP you/PRP eat/VBP ,/, the/DT less/JJR there/EX is/VBZ": "",
    "the/DT lower/JJR the/DT price/NN ,/, the/DT better/JJR": "",
    "The/DT More/JJR You/PRP Read/VBP The/DT Better/RBR You/PRP Write/VBP": "",
    "the/DT more/JJR people/NNS come/VBP the/DT better/JJR": "",
}


def test_false_comparatives_are_dropped_with_the_reason_and_true_halves_stay():
    for line, why in HALVES.items():
        (found,) = said(line)
        assert why in found if why else isinstance(found, tuple), line


@settings(max_examples=100, deadline=None)
@given(
    st.lists(
        st.sampled_from(["the/DT", "The/DT", "longer/RBR", "more/JJR", "worse/JJR", "the/DT less/RBR", "river/NN", "ran/VBD", "./."]),
        max_size=14,
    )
)
def test_no_passage_with_a_candidate_is_left_untagged(words):
    """The quick look at the words must not lose what the tags would find."""
    if words and said(" ".join(words)):
        assert Correlative().may_have(doc(" ".join(words)).text)


def test_clearnlp_trees_become_universal_dependencies():
    docs = [as_universal(tiny_pipeline.parsed(VOCAB, text)) for text in tiny_pipeline.PARSED]
    told = [" ".join(f"{token.text}<{token.dep_}<{token.head.text}" for token in doc) for doc in docs]
    assert "into<case<net the<det<net net<obl<kicked" in told[0]
    assert "ball<nsubj:pass<kicked" in told[1]
    assert "out<case<net of<fixed<out the<det<net net<obl<kicked by<case<him him<obl:agent<kicked" in told[1]
    assert "into<mark<singing singing<advcl<talked" in told[2]
    assert "clean<xcomp<wiped" in told[3]
    assert "open<xcomp<swung" in told[4]
    assert "her<iobj<kicked the<det<ball ball<obj<kicked" in told[5]
    assert "to<case<her her<obl<kicked" in told[6]
    assert "let<cc<ball alone<fixed<let the<det<ball ball<conj<see" in told[7]


@pytest.mark.slow
def test_verbs_with_the_form_are_written_with_their_parts(cxgen, parser, text):
    text.write_text("\n".join(tiny_pipeline.parsed(VOCAB, line).text for line in tiny_pipeline.PARSED))
    result = cxgen("mine", "caused-motion", text, "--model", parser, "--format", "json", cwd=text.parent)
    assert json.loads(result.stdout)[0]["count"] == 1
    row = pl.read_ndjson(text.parent / "outputs/mined/caused-motion.jsonl").row(0, named=True)
    assert " ".join(f"{span['name']}={span['text']}" for span in row["spans"]) == "verb=kicked theme=ball preposition=into path=net"
    assert all(row["sentence"][span["start"] : span["end"]] == span["text"] for span in row["spans"])


def test_candidates_are_grouped_counted_and_written(cxgen, tagger, text):
    again = text.with_stem("again")
    again.write_bytes(text.read_bytes())
    result = cxgen("mine", "cc", text, again, f"../{text.parent.name}/{text.name}", "--model", tagger, "--json", cwd=text.parent)
    report = json.loads(result.stdout)
    assert (report["files"], report["lines"], report["passages"], report["candidates"]) == (2, 8, 4, 6)
    assert report["dropped"] == {"one of two: the former, the latter": 2}
    assert report["groups"] == [
        {"group": GROUP, "count": 4, "examples": [HIT]},
        {"group": "the JJR NN VBD the JJR NN .", "count": 2, "examples": [ATTRIBUTIVE]},
    ]
    rows = pl.read_ndjson(text.parent / "outputs/mined/cc.jsonl")
    assert rows["line"].to_list() == [1, 4, 4] * 2
    assert rows["column"].to_list() == [1, 1, len(ATTRIBUTIVE) + 2] * 2
    assert rows["tags"][0] == "DT RBR PRP VBD , DT JJR DT NN VBD ."
    assert [path.name for path in (text.parent / "outputs/mined").iterdir()] == ["cc.jsonl"]
    assert "dropped 2: one of two" in result.stderr


def test_labels_of_groups_become_labels_of_sentences(cxgen, tagger, text):
    folder = text.parent
    listed = cxgen("mine", "cc", text, "--model", tagger, "--format", "csv", "-o", "found.csv", cwd=folder).stdout
    rows = list(csv.DictReader(listed.splitlines()))
    assert [(row["group"], row["count"], row["label"]) for row in rows] == [(GROUP, "2", ""), ("the JJR NN VBD the JJR NN .", "1", "")]
    pl.DataFrame([row | {"label": label} for row, label in zip(rows, ("yes", ""), strict=True)]).write_csv(folder / "groups.csv")
    given = ("--label", folder / "groups.csv", "--candidates", "found.csv")
    result = cxgen("mine", "cc", *given, "--format", "json", cwd=folder)
    assert json.loads(result.stdout) == [{"label": "yes", "candidates": 2}]
    read = pl.read_ndjson(folder / "outputs/mined/cc-labelled.jsonl")
    assert (read["sentence"].to_list(), read["label"].to_list()) == ([HIT, HIT], ["yes", "yes"])
    result = cxgen("mine", "cc", *given, "-o", "found.csv", cwd=folder)
    assert (result.returncode, "would overwrite what is read" in result.stderr) == (2, True)


def test_two_labels_are_data_for_a_probe(cxgen, tmp_path):
    """Sentences with halves of their own lengths: groups 0 to 5 have one label, 6 to 11 the other; of group 11 nothing is short."""
    rows = []
    for group, number in product(range(12), range(24)):
        first = f"The longer {'we ' * (number % 12 + (12 if group == 11 else 0))}sang"
        text = f"{'So ' * (number // 12)}{first}, the better we{group} felt{number}."
        places = [("first", text.index("The longer")), ("second", text.index("the better"))]
        spans = [{"name": name, "start": place, "end": place + 3, "text": "the"} for name, place in places]
        rows.append({"sentence": text, "group": f"g{group}", "tags": "", "spans": spans, "file": "f", "line": 1, "column": 1})
    (tmp_path / "outputs/mined").mkdir(parents=True)
    (tmp_path / "params.yaml").touch()
    write_rows(pl.DataFrame([*rows, *rows], schema=COLUMNS), tmp_path / "outputs/mined/cc.jsonl")
    (tmp_path / "groups.csv").write_text("group,label\n" + "".join(f"g{n},{'non-' * (n > 5)}instance\n" for n in range(12)))
    assert cxgen("mine", "cc", "--label", "groups.csv", cwd=tmp_path).returncode == 0
    labelled = pl.read_ndjson(tmp_path / "outputs/mined/cc-labelled.jsonl")
    row = labelled.filter(sentence="So The longer we we sang, the better we3 felt14.").row(0, named=True)
    assert [row[name] for name in ("length", "start", "second_start", "distance")] == [10, 1, 6, 5]
    assert (labelled.height, labelled.select("split", "group").n_unique()) == (288, 12), "each once, groups in one split"
    assert set(labelled.group_by("label").agg(pl.col("split").n_unique())["split"]) == {2}
    found = pl.read_ndjson(tmp_path / "outputs/mined/cc-labelled-probe.jsonl")
    numbers = found.group_by("feature", "value", "split", "label").len()
    assert dict(numbers.group_by("split").agg(pl.col("len").max()).iter_rows()) == {"train": 10, "test": 5}
    assert numbers.group_by("feature", "value", "split").agg(pl.col("len").n_unique(), n=pl.len()).select("len", "n").unique().rows() == [
        (1, 2)
    ]
    for (feature,), own in found.group_by("feature"):
        train, test = (set(own.filter(split=split)["value"]) for split in ("train", "test"))
        assert max(train) <= min(test) + (max(test) - min(test)) / 4, feature
        assert len(test) > len(train) or feature == "start"
    asked = read_sentences(str(tmp_path / "outputs/mined/cc-labelled-probe.jsonl"), {})
    assert [task.feature for task in tasks(asked, Curve((16,), 1), Controlled(0.25, length=False), 1)] == sorted(found["feature"].unique())


SPANS = [{"name": "first", "start": 0, "end": 3, "text": "The"}]
ROW = {"sentence": "=1 é", "group": GROUP, "tags": "DT", "spans": SPANS, "file": "a", "line": 1, "column": 2}


@pytest.mark.parametrize("ending", ["jsonl", "csv", "tsv", "parquet"])
def test_candidates_are_read_as_they_were_written(tmp_path, ending):
    path = tmp_path / f"found.{ending}"
    write_rows(pl.DataFrame([ROW, ROW], schema=COLUMNS), path)
    assert read_candidates(path).to_dicts() == [ROW, ROW]
    write_rows(pl.DataFrame(schema=COLUMNS), path)
    assert read_candidates(path).height == 0
    path.write_bytes(b"\x00{")
    with pytest.raises(DataError, match="found"):
        read_candidates(path)


LABELS = {
    "group,count\na,1\n": "has the columns group, count",
    f'group,label\n\n"{GROUP}",yes\n"{GROUP}",no\n': "groups.csv:4: two labels of the group",
    '{"group": ["x"], "label": 1}\n': "the column group holds no texts",
    "group,label\nthe NN,yes\n": "1 groups are no candidate's: 'the NN'",
    f'group,label\n"{GROUP}",\u200b\n': "no group has a label",
    f'group,label,examples\nthe NN,,"[""x""]"\n"{GROUP}",yes,"[""Another.""]"\n': f"groups.csv:3: none of the examples of {GROUP!r}",
    json.dumps({"group": GROUP, "label": "yes", "examples": ["Another."]}): f"none of the examples of {GROUP!r}",
}


def test_candidates_of_another_construction_are_told(cxgen, tmp_path):
    spans = [{"name": "theme", "start": 0, "end": 3, "text": "the"}]
    rows = [
        {"sentence": f"The {group}.", "group": group, "tags": "", "spans": spans, "file": "f", "line": 1, "column": 1} for group in "ab"
    ]
    write_rows(pl.DataFrame(rows, schema=COLUMNS), tmp_path / "found.jsonl")
    (tmp_path / "params.yaml").touch()
    (tmp_path / "groups.csv").write_text("group,label\na,yes\nb,no\n")
    told = cxgen("mine", "cc", "--label", "groups.csv", "--candidates", "found.jsonl", cwd=tmp_path)
    assert (told.returncode, "candidates that are none of cc" in told.stderr) == (2, True)


@pytest.mark.parametrize("content", LABELS)
def test_bad_labels_are_refused(tmp_path, content):
    labels, candidates = tmp_path / ("groups.jsonl" if content[0] == "{" else "groups.csv"), stage.default_output(Project(tmp_path), "cc")
    candidates.parent.mkdir(parents=True)
    labels.write_text(content)
    write_rows(pl.DataFrame([ROW], schema=COLUMNS), candidates)
    with pytest.raises(DataError, match=re.escape(LABELS[content])):
        stage.label(Project(tmp_path), "cc", labels, tmp_path / "labelled.csv")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["cc"], "no text to read, or text and labels at once"),
        (["cc", "missing.txt"], "missing.txt: cannot read"),
        (["cc", "text.txt", "--candidates", "found.csv"], "--candidates found.csv without --label"),
        (["cc", "text.txt", "-o", "found.xlsx"], "unknown kind of file '.xlsx'"),
        (["cc", "text.txt", "--model", "en_core_web_xx"], "no spaCy pipeline 'en_core_web_xx'"),
        (["cc", "text.txt", "--model", "BARE"], "gives no tags"),
        (["caused-motion", "text.txt", "--model", "TAGGER"], "gives no trees"),
        (["caused-moton", "text.txt", "--model", "TAGGER"], "did you mean caused-motion"),
    ],
)
def test_what_cannot_be_mined_is_told_in_a_line(cxgen, tagger, text, arguments, message):
    folder = text.parent
    if "BARE" in arguments:
        spacy.blank("en").to_disk(folder / "bare")
    names = {"TAGGER": tagger, "BARE": folder / "bare"}
    result = cxgen("mine", *[names.get(argument, argument) for argument in arguments], cwd=folder)
    assert result.returncode == 2
    assert message in result.stderr
    assert len(result.stderr.splitlines()) <= 2
    assert not (folder / "outputs").exists()


def test_an_interrupted_run_goes_on_where_it_was(tagger, text, monkeypatch):
    text.write_text(TEXT * 12)
    output, partial = text.with_name("candidates.jsonl"), text.with_name(".candidates.jsonl.partial")
    searched, batches = stage._searched, []

    def run(stop=None):
        """Mine in batches of two passages, and break off before batch ``stop``."""

        def interrupted(*arguments):
            if len(batches) == stop:
                raise KeyboardInterrupt
            batches.append(arguments[-1])
            return searched(*arguments)

        batches.clear()
        monkeypatch.setattr(stage, "_searched", interrupted)
        return stage.mine(Project(text.parent), Search("cc", str(tagger)), [text], output)

    monkeypatch.setattr(stage, "_BATCH", 2)
    whole, every, written = run(), len(batches), output.read_bytes()
    output.unlink()
    with pytest.raises(KeyboardInterrupt):
        run(stop=5)
    assert not output.exists()
    with partial.open("a") as file:
        file.write('\0\0\n{"read": 2, "rows": [{"sen')  # of a disk that lost power; killed while it wrote
    assert (run(), len(batches), output.read_bytes()) == (whole, every - 5, written)
    assert not partial.exists()
