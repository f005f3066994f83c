"""The page about the dataset, parsed: figures, charts, the browser's data; and what is refused."""

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
from tests.conftest import edit

FIGURE = {"value": 0.5, "low": 0.25, "high": 0.75}
PART = {"items": 1234, "chance": 0.3333, "accuracy": FIGURE, "consistency": {**FIGURE, "low": None}, "capture": None}
EVALUATION = {"name": "<script>alert(1)</script>", "configs": {"nli": {**PART, "by": {"verb_role": {"lexical": PART}}}}}
AGREEMENT = {
    "label": {"judges": 2, "items": 1200, "agreement": 0.9512, "alpha": 0.8712},
    "appropriateness": {"judges": 2, "items": 7, "agreement": 1.0, "alpha": None},
    "acceptability": {"judges": 1, "items": 0, "agreement": None, "alpha": None},
}
PER_DESIGN = 3


class Page(HTMLParser):
    """Tables (by the heading before them, rows of texts), links, ids, and the texts of scripts by id."""

    def __init__(self, text):
        super().__init__()
        self.tables, self.links, self.ids, self.scripts, self.tags = {}, [], set(), {}, []
        self._heading, self._script, self._cell = "", None, False
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.tags.append(tag)
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
        "turn_rate": measured(Figures(0.5, {"nli": {"reach": 0.5}}, {"nli": 0.5}, {"lexical": 0.5}), Gates(config=0.75, least=True), 0),
    }
    (root / layout.metric("baselines")).write_text(json.dumps({"nli": figures}))
    (root / layout.metric("judge")).write_text(json.dumps({"judges": ["model <a>", "model b"], "agreement": AGREEMENT}))
    (root / "evaluation.json").write_text(json.dumps(EVALUATION))
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
    assert shown.tags.count("svg") == 4  # labels, verbs, bands, verb roles; shapes were not measured


def test_measures_stand_beside_gates_and_published_figures(shown):
    rows = {row[1].split("\n")[0]: row for row in shown.tables["measures"][0][1:]}
    kept, broken = (next(row for name, row in rows.items() if name.startswith(measure)) for measure in ("hypothesis_only", "turn_rate"))
    assert kept[2:] == ["0.34", "0.333", "at most 0.345 (overall)", "kept", "0.72"]
    assert broken[2] == "0.5lexical 0.5" and broken[5].startswith("is 0.5 in nli")
    assert {row[2] for row in shown.tables["audit"][0][1:]} == {"0"}


def test_agreement_is_shown_of_what_several_judges_were_asked(text, shown):
    assert shown.tables["judges"][0][1:] == [["label", "2", "1,200", "95.1%", "0.8712"], ["appropriateness", "2", "7", "100.0%", "-"]]
    assert "model &lt;a&gt;, model b" in text
    assert "#judges" in shown.links


def test_an_evaluation_is_shown_and_its_name_is_no_code(text, shown):
    row = shown.tables["models"][0][1]
    assert row[:4] == [EVALUATION["name"], "nli", "1,234", "33.3%"]
    assert row[4:] == ["50.0% (25.0% to 75.0%)", "50.0%", "", ""]
    assert shown.tables["models"][0][2][1] == "nli, lexical"
    assert "<script>alert" not in text


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
        texts = ["".join(text for text, _ in premise["pieces"]) for premise in each["premises"]]
        assert {(texts[row], hypothesis, letter) for row, hypothesis, letter in cells if letter} == {
            (row["premise"], row["hypothesis"], LABELS[row["label"]][0].upper()) for row in rows.iter_rows(named=True)
        }
        slots = {slot for premise in each["premises"] for _, slot in premise["pieces"]} - {""}
        assert slots >= {"verb"}
        assert slots <= {slot["slot"] for row in rows["slots"] for slot in row}


@pytest.mark.slow
def test_what_the_page_cannot_show_is_told(project, tmp_path, monkeypatch, cxgen):
    half = '{"name": "x", "configs": {"nli": {"items": 1}}}'
    for name, text in {"list": "[]", "other": '{"name": "x"}', "half": half, "no": "{"}.items():
        (tmp_path / name).write_text(text)
        with pytest.raises(DataError) as caught:
            page.write_page(project, tmp_path / "x.html", [tmp_path / name])
        assert caught.value.file.name == name
    monkeypatch.setattr(page, "_MOST_PAGE", 10_000)
    done = cxgen("report", "html", "-o", tmp_path / "x.html", "--sets", "4", cwd=project.root)
    assert done.returncode == 2
    assert "--sets 2" in done.stderr
    assert not (tmp_path / "x.html").exists()


def other_kinds(root):
    file = root / layout.table("nli", "train")
    pl.read_parquet(file).with_columns(kind=pl.lit("gone")).write_parquet(file)


def other_shape(root):
    edit(root / layout.metric("baselines"), '"overall": 0.34', '"everywhere": 0.34')


@pytest.mark.slow
@pytest.mark.parametrize(("spoil", "message"), [(other_kinds, "know no 'gone'"), (other_shape, "do not hold what the page says")])
def test_a_dataset_of_other_templates_and_metrics_of_another_shape_are_told(project, tmp_path, spoil, message):
    root = Path(shutil.copytree(project.root, tmp_path / "p"))
    spoil(root)
    with pytest.raises(DataError, match=message):
        page.write_page(Project(root), tmp_path / "x.html")
