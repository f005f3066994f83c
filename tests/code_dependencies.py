"""Which code each stage of the pipeline imports. ``python -m tests.code_dependencies`` writes it into dvc.yaml."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import grimp

ROOT = Path(__file__).resolve().parent.parent
FILE = ROOT / "dvc.yaml"
# What the command of a stage calls; the command itself only reads options and prints.
ENTRIES = {
    "lint": "cxgen.lint",
    "generate": "cxgen.stages.generate",
    "judge": "cxgen.stages.judge",
    "split": "cxgen.stages.split",
    "substitute": "cxgen.stages.substitute",
    "natural": "cxgen.stages.natural",
    "suites": "cxgen.stages.suites",
    "baselines": "cxgen.stages.baselines",
    "variety": "cxgen.stages.variety",
    "reading": "cxgen.stages.reading",
    "plots": "cxgen.stages.plots",
    "package": "cxgen.stages.package",
}
# Packages of which stages use single modules; the others are listed whole.
_APART = ("cxgen.cli", "cxgen.curate", "cxgen.publish", "cxgen.report", "cxgen.review", "cxgen.stages")


@cache
def _graph() -> grimp.ImportGraph:
    return grimp.build_graph("cxgen", cache_dir=None)


def code_of(stage: str) -> list[str]:
    """The paths, as dvc.yaml lists them, of the code that a stage imports."""
    entry = ENTRIES[stage]
    found = {entry, *_graph().find_descendants(entry)}
    for module in list(found):
        found |= _graph().find_upstream_modules(module)
    return sorted({_path(module) for module in found if module.count(".")} - {"cxgen/facade.py"})


def _path(module: str) -> str:
    package = ".".join(module.split(".")[:2])
    if package in _APART:
        file = Path(*module.split("."))
        return f"{file}/__init__.py" if (ROOT / file).is_dir() else f"{file}.py"
    path = Path(*package.split("."))
    return str(path) if (ROOT / path).is_dir() else f"{path}.py"


def is_code(path: str) -> bool:
    """Whether a dependency in dvc.yaml is code; templates of text beside it are listed by hand."""
    return path.startswith("cxgen/") and not path.endswith(".j2")


def _write() -> None:
    from ruamel.yaml import YAML

    yaml = YAML()
    yaml.width = 1000
    document = yaml.load(FILE.read_text("utf-8"))
    for stage, entry in document["stages"].items():
        entry["deps"] = [path for path in entry["deps"] if not is_code(path)] + code_of(stage)
    with FILE.open("w", encoding="utf-8") as file:
        yaml.dump(document, file)


if __name__ == "__main__":
    _write()
