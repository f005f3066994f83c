"""The page about the dataset, parsed: figures, results, constructions, the browser's data; and what is refused."""

import json
import re
import shutil
from html.parser import HTMLParser
from pathlib import Path

import polars as pl
import pytest

from cxgen import layout
from cxgen.build.tables import dataset
from cxgen.errors import DataError
from cxgen.measures.figures import Figures, Gates, measured
from cxgen.project import Project
from cxgen.report import page
from cxgen.schema import TARGET
from cxgen.vocabulary import LABELS, SPLITS

FIGURE = {"value": 0.5, "low": 0.25, "high": 0.75}
PART = {"items": 1234, "chance": 0.3333, "accuracy": FIGURE, "consistency": {**FIGURE, "low": None}, "capture": None}
BOUNDS = ("value", "low", "high")
EVALUATION = {"name": "<script>alert(1)</script>", "configs": {"nli": {**PART, "by": {"verb_role": {"lexical": PART}}}}}
AGREEMENT = {
    "label": {"judges": 2, "items": 1200, "agreement": 0.9512, "alpha": 0.8712},
    "appropriateness": {"judges": 2, "items": 7, "agreement": 1.0, "alpha": None},
    "acceptability": {"judges": 1, "items": 0, "agreement": None, "alpha": None},
}
RESULT = {"setting": "fine-tuned", "trained_on": "nli, 40 items", "seeds": 2, "config": "nli", "items": 1234, "sets": 100, "chance": 0.3333}
RESULT |= {"accuracy": 0.91, "low": 0.8, "high": 0.95, "consistency": 0.4, "capture": None}
RESULTS = [{**RESULT, "name": "m", "part": "all"}, {**RESULT, "name": "m", "part": "construction let-alone", "accuracy": 0.85}]
REFUSED = {"frame": "f", "verb": "v", "votes": "event a: inappropriate"}
PER_DESIGN = 3


class Page(HTMLParser):
    """Tables (by the heading before them, rows of texts), links, ids, and the texts of scripts by id."""

    def __init__(self, text):
        super().__init__()
        self.tables, self.links, self.ids, self.scripts = {}, [], set(), {}
        self._heading, self._script, self._cell = "", None, False
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.ids.add(given.get("id"))
        self.links += [value for name, value in attrs if name in {"src", "href", "action", "xlink:href"}]
        if tag == "h2":
            self._heading = given["id"]
        elif tag == "table":
            self.tables.setdefault(self._heading, []).append([])
        elif tag == "tr":
            self.tables[self._heading][-1].append([])
        elif tag in {"td", "th"}:
            self.tables[self._heading][-1][-1].append("")
            self._cell = True
        elif tag == "script":
            self._script = given.get("id", "code")

    def handle_endtag(self, tag):
        if tag == "script":
            self._script = None
        elif tag in {"td", "th"}:
            self._cell = False

    def handle_data(self, data):
        if self._script:
            self.scripts[self._script] = self.scripts.get(self._script, "") + data
        elif self._cell:
            self.tables[self._heading][-1][-1][-1] += data


@pytest.fixture(scope="module")
def project(mini_dataset, tmp_path_factory):
    """The mini dataset with a measure that keeps its gate and one that does not."""
    root = Path(shutil.copytree(mini_dataset, tmp_path_factory.mktemp("page") / "p"))
    figures = {
        "hypothesis_only": measured(Figures(0.34, {"nli": {"reach": 0.34}}), Gates(overall=0.345)),
        "words_only": measured(Figures(0.4, {}), Gates(construction=0.7)),
        "turn_rate": measured(Figures(0.5, {"nli": {"reach": 0.5}}, {"nli": 0.5}, {"lexical": 0.5}), Gates(config=0.75, least=True), 0),
    }
    (root / layout.metric("baselines")).write_text(json.dumps({"nli": figures}))
    (root / layout.metric("judge")).write_text(json.dumps({"judges": ["model <a>", "model b"], "agreement": AGREEMENT}))
    (root / layout.metric("results")).write_text(
        json.dumps({"data_version": 1, "content_hash": "0", "date": "2026-11-28", "rows": RESULTS})
    )
    names = dataset(Project(root)).select(TARGET).to_series().unique().sort()
    reasons = [*["event: 2 of 3 votes are against it"] * 5, "review: odd"]
    rows = [
        {**REFUSED, "id": f"{name}/{n}", "construction": name, "premise": f"Refused {n}.", "reason": reason, "contrast_set": None}
        for name in names
        for n, reason in enumerate(reasons)
    ]
    (root / layout.table("rejected", "rejected")).parent.mkdir(exist_ok=True)
    pl.DataFrame(rows, schema_overrides={"contrast_set": pl.String}).write_parquet(root / layout.table("rejected", "rejected"))
    (root / "evaluation.json").write_text(json.dumps(EVALUATION))
    (root / layout.HUB).mkdir(parents=True, exist_ok=True)
    (root / layout.HUB / layout.VERSION_FILE).write_text(json.dumps({"content_hash": "0"}))
    return Project(root)


@pytest.fixture(scope="module")
def text(project):
    path = project.root / layout.PAGE
    size = page.write_page(project, path, [project.root / "evaluation.json"], PER_DESIGN)
    assert size == path.stat().st_size < 1_000_000
    return path.read_text("utf-8")


@pytest.fixture(scope="module")
def shown(text):
    return Page(text)


def test_the_page_stands_alone(text, shown):
    assert all(link.startswith("#") for link in shown.links)
    assert {link[1:] for link in shown.links} <= shown.ids
    assert not re.search(r"https?://|@import|url\(|innerHTML", text)
    assert "prefers-color-scheme: dark" in text
    assert set(re.findall(r'\$\("(\w+)"\)', shown.scripts["code"])) <= shown.ids


def test_counts_are_the_datasets(project, shown):
    rows = {row[0]: row[1:] for row in shown.tables["counts"][0][1:]}
    for (config,), items in dataset(project).group_by("config"):
        splits = [items.filter(pl.col("split") == split).height for split in SPLITS]
        others = [items[name].n_unique() for name in ("contrast_set", "premise_id", "verb")]
        assert rows[config] == [f"{number:,}" for number in (items.height, *splits, *others)]


def test_measures_stand_beside_gates_and_published_figures(shown):
    rows = {row[1].split("\n")[0]: row for row in shown.tables["measures"][0][1:]}
    kept, broken, none = (
        next(own for name, own in rows.items() if name.startswith(one)) for one in ("hypothesis_only", "turn_rate", "words_")
    )
    assert kept[2:] == ["0.34", "0.333", "at most 0.345 (overall)", "kept", "0.72"]
    assert none[4:6] == ["", "no gate"], "of what there are no figures of its construction"
    assert broken[2] == "0.5lexical 0.5" and broken[5].startswith("is 0.5 in nli")
    assert {row[2] for row in shown.tables["audit"][0][1:]} == {"0"}


def test_agreement_is_shown_of_what_several_judges_were_asked(text, shown):
    assert shown.tables["judges"][0][1:] == [["label", "2", "1,200", "95.1%", "0.8712"], ["appropriateness", "2", "7", "100.0%", "-"]]
    assert "model &lt;a&gt;, model b" in text
    assert "#judges" in shown.links


def test_results_and_evaluations_are_shown_best_first_and_names_are_no_code(text, shown):
    whole, by_construction, by_role = shown.tables["results"]
    assert [name for name, *_ in whole] == ["model", "mfine-tuned, nli, 40 items, 2 seeds", f"{EVALUATION['name']} yours"]
    assert whole[1][2:] == ["91.0%80.0% to 95.0%", "40.0%", "1,234"]
    assert whole[2][2:] == ["50.0%25.0% to 75.0%", "50.0%", "1,234"]
    assert [row[0] for row in by_construction[1:]] == ["let-alone", "mfine-tuned, nli, 40 items, 2 seeds"]
    assert by_role[1] == ["the verb holds the meaning"]
    assert "m: 91.0% (80.0% to 95.0%); chance 33.3%" in text
    assert "not that of this page" in text  # they are of another data version
    assert "<script>alert" not in text


def test_each_construction_has_its_verbs_a_set_and_what_was_refused(project, text, shown):
    items, sets = dataset(project), json.loads(shown.scripts["data"])
    names = items.select(TARGET).to_series().unique().sort().to_list()
    reasons = [[row[1] for row in table[1:]] for table in shown.tables["gallery"]]
    assert reasons == [["event: 2 of 3 votes are against it"] * 3 + ["review: odd"]] * len(names)
    drawn = [sets[int(place)] for place in re.findall(r'data-set="(\d+)"', text)]
    assert [one["construction"] for one in drawn[1:]] == names
    for one in drawn:
        assert any({*column} >= {"E", "C"} for column in zip(*one["cells"], strict=True))
    verbs = items.select("verb", "split", name="construction").unique()  # without those of look-alikes, as splits.json counts them
    for name in names:
        counts = ", ".join(f"{split} {verbs.filter(name=name, split=split).height}" for split in SPLITS)
        assert f'aria-label="Verbs: {counts}"' in text


@pytest.mark.parametrize(
    ("premises", "marked"),
    [
        (["Bo eased Al up .", "Al eased Bo up ."], [["Bo", "Al"], ["Al", "Bo"]]),  # participants change places
        (["Bo ran .", "Bo ran and sang ."], [[], ["and", "sang"]]),  # the same words, and more
        (["Bo eased Al into it .", "Al eased Bo out of it ."], [["Bo", "Al", "into"], ["Al", "Bo", "out", "of"]]),
    ],
)
def test_what_differs_between_premises_is_marked(premises, marked):
    pieces = page._pieces([[(f"{word} ", f"slot-{place}") for place, word in enumerate(text.split())] for text in premises])
    assert [[text.strip() for text, _, changed in own if changed] for own in pieces] == marked


def test_the_browser_has_whole_sets_of_every_design_with_slots_and_labels(project, shown):
    items = dataset(project, "nli")
    sets = json.loads(shown.scripts["data"])
    per_design = items.group_by("config", "design", target=TARGET).agg(n=pl.col("contrast_set").n_unique())
    assert len(sets) == sum(min(PER_DESIGN, n) for n in per_design["n"])
    for each in sets:
        rows = items.filter((pl.col("contrast_set") == each["id"]) & (pl.col("config") == each["config"]))
        cells = [
            (row, text, letter)
            for row, letters in enumerate(each["cells"])
            for text, letter in zip(each["hypotheses"], letters, strict=True)
        ]
        texts = ["".join(text for text, *_ in premise["pieces"]) for premise in each["premises"]]
        assert {(texts[row], hypothesis, letter) for row, hypothesis, letter in cells if letter} == {
            (row["premise"], row["hypothesis"], LABELS[row["label"]][0].upper()) for row in rows.iter_rows(named=True)
        }
        slots = {slot for premise in each["premises"] for _, slot, _ in premise["pieces"]} - {""}
        assert slots >= {"verb"}
        assert slots <= {slot["slot"] for row in rows["slots"] for slot in row}


def test_figures_of_another_dataset_are_not_shown(project, tmp_path):
    hub = project.root / layout.HUB / layout.VERSION_FILE
    ours, theirs = (tmp_path / name for name in ("ours.json", "theirs.json"))
    for path, content in ((ours, "1"), (theirs, "2")):
        path.write_text(json.dumps(EVALUATION | {"about": {"content_hash": content}}))
    before = hub.read_text("utf-8")
    try:
        hub.write_text(json.dumps({"content_hash": "1"}))
        page.write_page(project, tmp_path / "x.html", [ours])
        text = (tmp_path / "x.html").read_text("utf-8")
        assert "Measured 2026-11-28" not in text and "were measured on another dataset" in text
        with pytest.raises(DataError, match="another dataset: its content hash is 2, that of this one 1"):
            page.write_page(project, tmp_path / "x.html", [theirs])
    finally:
        hub.write_text(before)


@pytest.mark.slow
def test_what_the_page_cannot_show_is_told(project, tmp_path, monkeypatch, cxgen):
    wrong = {"items": {"items": "x"}, "five": {"accuracy": dict.fromkeys(BOUNDS, 5)}, "none": {"accuracy": dict.fromkeys(BOUNDS)}}
    texts = {name: json.dumps({**EVALUATION, "configs": {"nli": {**PART, **own, "by": {}}}}) for name, own in wrong.items()}
    texts |= {"list": "[]", "other": '{"name": "x"}', "half": '{"name": "x", "configs": {"nli": {"items": 1}}}', "no": "{"}
    texts["nobody"] = json.dumps({**EVALUATION, "name": None})
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
        with pytest.raises(DataError) as caught:
            page.write_page(project, tmp_path / "x.html", [tmp_path / name])
        assert caught.value.file.name == name
    monkeypatch.setattr(page, "_MOST_PAGE", 10_000)
    done = cxgen("report", "html", "-o", tmp_path / "x.html", "--sets", "4", cwd=project.root)
    assert done.returncode == 2
    assert "--sets 2" in done.stderr
    assert not (tmp_path / "x.html").exists()


@pytest.mark.slow
def test_a_dataset_of_other_templates_is_told(project, tmp_path):
    root = Path(shutil.copytree(project.root, tmp_path / "p"))
    file = root / layout.table("nli", "train")
    pl.read_parquet(file).with_columns(kind=pl.lit("gone")).write_parquet(file)
    with pytest.raises(DataError, match="know no 'gone'"):
        page.write_page(Project(root), tmp_path / "x.html")
