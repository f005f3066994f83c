"""A new score, export or suite is a function, or one file: these are written here as they would stand in the package."""

from importlib import import_module

import polars as pl

from cxgen.build import run as stage
from cxgen.build.params import Params
from cxgen.build.tables import read_tables
from cxgen.evaluate.exports import HARNESSES, export
from cxgen.evaluate.report import Evaluated, Part, slices
from cxgen.evaluate.scores import CELL, SCORES
from cxgen.facade import load
from cxgen.measures.figures import Resampling, figure
from cxgen.project import Project
from cxgen.suites import SUITES
from cxgen.suites import __path__ as suites_path
from tests.mini import write_params

SUITE = '''
"""Numbers, and whether they are even."""

import polars as pl

from cxgen.schema import Column
from cxgen.suites.cc_syntax import Instances
from cxgen.suites import Suite, register

COLUMNS = tuple(Column(name, pl.String, name) for name in ("id", "contrast_set", "construction", "sentence", "split"))
COLUMNS += (Column("label", pl.Int8, "whether it is even"),)


def rows(project, seed, sizes):
    numbers = [str(number) for number in range(sizes["numbers"])]
    sets = [str(int(number) // 2) for number in numbers]
    table = {"id": numbers, "contrast_set": sets, "sentence": numbers, "label": [1 - int(number) % 2 for number in numbers]}
    return pl.DataFrame(table, schema_overrides={"label": pl.Int8}).with_columns(construction=pl.lit("let-alone"), split=pl.lit("test"))


register(
    Suite(
        name="even", construction="let-alone", holds="numbers", sizes={"numbers": 10}, columns=COLUMNS, splits=("test",), card="",
        scoring=Instances(), cluster=pl.col("sentence"), dimensions={}, rows=rows, sample=lambda *_: pl.DataFrame(),
        violations=lambda project, rows: {"odd ones out": 0}, counts=lambda rows: {"rows": rows.height}, measures=lambda rows: {},
        shown=lambda rows: iter([]),
    )
)
'''


def test_a_score(mini_dataset, monkeypatch):
    def doubt(rows, how):
        """How often an answer is neutral."""
        return {"doubt": figure(rows.select(*CELL, value=pl.col("answer") == 1), how)}

    monkeypatch.setitem(SCORES, ("doubt",), doubt)
    part = Evaluated.read(Project(mini_dataset), Part(("nli",)))
    neutral = pl.DataFrame({"id": part.questions["id"], "label": "neutral"})
    report = part.report("m", part.answers(neutral), Resampling(0))
    assert report["configs"]["nli"]["by"]["construction"]["reach"]["doubt"]["value"] == 1
    assert slices(report, [])[0]["doubt"] == 1


def test_an_export(mini_dataset, tmp_path, monkeypatch):
    def premises(exported, version):
        return [version], {f"{part.config}.txt": "".join(f"{item['premise']}\n" for item in part.items) for part in exported}

    monkeypatch.setitem(HARNESSES, "premises", premises)
    (version,) = export("premises", Project(mini_dataset), Part(("nli",)), tmp_path / "out")
    assert version == Params.read(Project(mini_dataset).params).publish.version
    lines = (tmp_path / "out/nli.txt").read_text("utf-8").splitlines()
    assert sorted(lines) == sorted(load("nli", "test", project=mini_dataset)["premise"])


def test_a_suite(tmp_path, cxgen, monkeypatch):
    (tmp_path / "even.py").write_text(SUITE, "utf-8")
    monkeypatch.setattr("sys.dont_write_bytecode", True)
    suites_path.append(str(tmp_path))
    try:
        import_module("cxgen.suites.even")
        write_params(tmp_path, suites={"cc_syntax": {"general": 2, "per_value": 1}, "cc_semantics": {"draws": 1}})
        project = Project(tmp_path)
        report = stage.build_suites(project, Params.read(project.params))
        assert report["suites"]["even"]["counts"] == {"rows": 10}
        assert read_tables(project)["even", "test"]["id"].to_list() == load("even", project=tmp_path)["id"].to_list()
        load("even", project=tmp_path).select("id", label=pl.lit("instance")).write_csv(tmp_path / "p.csv")
        found = cxgen("evaluate", tmp_path / "p.csv", "--config", "even", "--resamples", 0, "--format", "csv", cwd=tmp_path)
        assert found.stdout.splitlines()[1].startswith("even,all,10,10,0,0.5,"), found.stderr
    finally:
        suites_path.remove(str(tmp_path))
        del SUITES["even"]
