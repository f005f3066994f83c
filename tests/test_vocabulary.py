"""Words that stand in files of their own (schemas for editors, parameters) say what the program says."""

import pytest

from cxgen.schema.document import load_schema
from cxgen.vocabulary import JUDGING, MODES, PRESETS, SPLITS, TASKS, Role

construction, params, prompt = (load_schema(name) for name in ("construction", "params", "prompt"))


role = construction["$defs"]["own-slot"]["properties"]["role"]


@pytest.mark.parametrize(
    ("in_schema", "in_program"),
    [
        (role["enum"], list(Role)),
        (params["properties"]["split"]["required"], list(SPLITS)),
        (params["properties"]["bands"]["properties"]["preset"]["enum"], list(PRESETS)),
        (params["properties"]["wug"]["properties"]["modes"]["items"]["enum"], list(MODES)),
        (params["properties"]["judge"]["properties"]["tasks"]["items"]["enum"], list(JUDGING)),
        (prompt["properties"]["task"]["enum"], list(TASKS)),
    ],
    ids=["roles", "splits", "presets", "modes", "judging", "tasks"],
)
def test_schemas_and_program_use_the_same_words(in_schema, in_program):
    assert in_schema == in_program
