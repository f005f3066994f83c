"""Mistakes in projects that a reviewer made: each is named, where it stands, with what to do about it."""

from __future__ import annotations

import pytest
import yaml

from cxgen.errors import SchemaError
from cxgen.project import Project
from cxgen.stages.params import Params
from tests import mini as small
from tests.conftest import ROOT


def test_a_construction_is_asked_for_once(tmp_path):
    small.write_params(tmp_path, constructions=["reach", "reach"])
    with pytest.raises(SchemaError, match=r"^constructions: .* has non-unique elements"):
        Params.read(tmp_path / "params.yaml")
