"""What is generated into files of the repository is up to date: `make generated` writes it."""

from __future__ import annotations

import importlib.util
import re

import pytest
import yaml

from tests import readme_columns, shipped_digests, sound_files
from tests.code_dependencies import ENTRIES, FILE, code_of, is_code

STAGES = yaml.safe_load(FILE.read_text("utf-8"))["stages"]


@pytest.mark.parametrize("stage", ENTRIES)
def test_a_stage_depends_on_just_the_code_that_it_imports(stage):
    """So that "out of date" means it."""
    listed = sorted(path for path in STAGES[stage]["deps"] if is_code(path))
    assert listed == code_of(stage), "run `make generated`"


def test_every_stage_is_checked():
    assert set(ENTRIES) == set(STAGES)


def test_the_readme_names_the_columns_as_the_schema_does():
    assert readme_columns.stated() == readme_columns.table(), "run `make generated`"


def test_what_is_shipped_is_known_to_the_release_gate():
    assert shipped_digests.FILE.read_text("utf-8") == shipped_digests.digests(), "run `make generated`"


def test_what_is_shipped_is_sound_and_need_not_be_checked_again():
    assert sound_files.FILE.read_text("utf-8") == sound_files.sound(), "run `make generated`"


def test_the_architecture_names_modules_that_exist():
    """Names such as `sets.plan` or `stages.split` in backticks are modules, or what stands in them."""
    text = (readme_columns.README.parent / "ARCHITECTURE.md").read_text("utf-8")
    packages = {path.parent.name for path in (readme_columns.README.parent / "cxgen").glob("*/__init__.py")}
    named = {match for match in re.findall(r"`(\w+\.\w+)[`(]", text) if match.partition(".")[0] in packages}
    assert len(named) > 10
    for name in named:
        package, _, thing = name.partition(".")
        parent = importlib.import_module(f"cxgen.{package}")
        assert hasattr(parent, thing) or importlib.util.find_spec(f"cxgen.{name}"), name
