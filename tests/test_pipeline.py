"""The pipeline's own map: what dvc.yaml lists as code is what the stages import, so that "out of date" means it."""

from __future__ import annotations

import pytest
import yaml

from tests.code_dependencies import ENTRIES, FILE, code_of, is_code

STAGES = yaml.safe_load(FILE.read_text("utf-8"))["stages"]


@pytest.mark.parametrize("stage", ENTRIES)
def test_a_stage_depends_on_just_the_code_that_it_imports(stage):
    listed = sorted(path for path in STAGES[stage]["deps"] if is_code(path))
    assert listed == code_of(stage), "run `make code-deps`"


def test_every_stage_is_checked():
    assert set(ENTRIES) == set(STAGES)
