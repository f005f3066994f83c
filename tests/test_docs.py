"""What the pages and schemas say is so: commands exist, columns are those of the data, modules are where they are said to be."""

import importlib.util
import json
import re
import tomllib
from pathlib import Path

import pytest
import typer
import yaml

from cxgen import __version__
from cxgen.cli.app import app
from cxgen.schema.document import load_schema
from cxgen.vocabulary import MODES, PRESETS, SPLITS, TASKS, Role
from tests import data_columns

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "cxgen/cli/starter/README.md", *sorted((ROOT / "docs").glob("*.md"))]
COMMAND = re.compile(r"cxgen ([a-z]+)(?: ([a-z-]+))?")


def commands() -> dict[str, set[str]]:
    """Name of a command -> names of its subcommands."""
    group = typer.main.get_command(app)
    return {name: set(getattr(group.get_command(None, name), "commands", ())) for name in group.commands}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_command_of_a_page_exists(page):
    known = commands()
    code = re.findall(r"^    (.+)$|`([^`]+)`", page.read_text("utf-8"), re.MULTILINE)
    named = [match for block, inline in code for match in COMMAND.findall(block or inline)]
    assert {name for name, _ in named} <= set(known)
    assert {(name, sub) for name, sub in named if known[name] and sub} <= {(name, sub) for name in known for sub in known[name]}


def test_the_readme_is_read_in_ten_minutes_and_names_pages_that_are_there():
    text = (ROOT / "README.md").read_text("utf-8")
    assert len(text.splitlines()) <= 150
    linked = [target for target in re.findall(r"\]\(([^)#]+)", text) if "://" not in target]
    assert linked and [target for target in linked if not (ROOT / target).is_file()] == []


def test_those_who_cite_are_told_this_version():
    citation, zenodo = ((ROOT / name).read_text("utf-8") for name in ("CITATION.cff", ".zenodo.json"))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert yaml.safe_load(citation)["version"] == json.loads(zenodo)["version"] == project["version"] == __version__


def test_the_names_that_say_knows_are_listed_with_what_they_say():
    shared = yaml.safe_load((ROOT / "templates/_shared.yaml").read_text("utf-8"))["templates"]
    listed = re.findall(r"^    ([a-z, -]+?)  +(\S.*)$", (ROOT / "docs/templates.md").read_text("utf-8"), re.MULTILINE)
    said = {name: ", ".join(pattern) if isinstance(pattern, list) else pattern for name, pattern in shared.items()}
    assert {name: pattern for names, pattern in listed for name in names.split(", ")}.items() >= said.items()


def test_the_table_of_columns_is_the_schemas():
    assert data_columns.stated() == data_columns.table(), "run `make generated`"


def test_the_architecture_names_modules_that_exist():
    """Names such as `sample.plan` in backticks are modules, or something in them."""
    text = (ROOT / "ARCHITECTURE.md").read_text("utf-8")
    packages = {path.parent.name for path in (ROOT / "cxgen").glob("*/__init__.py")}
    named = {match for match in re.findall(r"`(\w+\.\w+)[`(]", text) if match.partition(".")[0] in packages}
    assert len(named) > 10
    for name in named:
        package, _, thing = name.partition(".")
        parent = importlib.import_module(f"cxgen.{package}")
        assert hasattr(parent, thing) or importlib.util.find_spec(f"cxgen.{name}"), name


construction, params, prompt = (load_schema(name) for name in ("construction", "params", "prompt"))
role = construction["$defs"]["own-slot"]["properties"]["role"]


@pytest.mark.parametrize(
    ("in_schema", "in_program"),
    [
        (role["enum"], list(Role)),
        (params["properties"]["split"]["required"], list(SPLITS)),
        (params["properties"]["bands"]["properties"]["preset"]["enum"], list(PRESETS)),
        (params["properties"]["wug"]["properties"]["modes"]["items"]["enum"], list(MODES)),
        (prompt["properties"]["task"]["enum"], list(TASKS)),
    ],
    ids=["roles", "splits", "presets", "modes", "tasks"],
)
def test_schemas_and_program_use_the_same_words(in_schema, in_program):
    assert in_schema == in_program
