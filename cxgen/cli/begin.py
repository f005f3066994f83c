"""Commands to begin with: init (a project), new (a construction)."""

import os
import re
import shlex
import uuid
from importlib import resources
from pathlib import Path
from typing import Annotated

from typer import Argument, echo

from cxgen.build.params import Params
from cxgen.cli.options import commands
from cxgen.constructicon.load import readable_targets
from cxgen.errors import CxgenError
from cxgen.facade import Constructicon
from cxgen.files import write_together
from cxgen.layout import DROPPED, LEXICONS, PARAMS, PIPELINE, TEMPLATES
from cxgen.lexicon.scenes import FOLDER as SCENES
from cxgen.project import shipped_folder
from cxgen.schema import read_yaml

_FILES = {
    PARAMS: "params.yaml",
    PIPELINE: "pipeline.yaml",
    DROPPED: "dropped.csv",
    Path("README.md"): "README.md",
    Path(".gitignore"): "gitignore",
}
_PAGES = tuple(
    Path("docs") / name for name in ("annotation.md", "publishing.md", "templates.md", "tutorial.md")
)  # to which comments and hints refer
_LINK = re.compile(r"\[([^]]*)\]\((?!http)([^)#]*)[^)]*\)")
_FIRST = "my-construction"
_DVC = "  git init && dvc init   # without git: dvc init --no-scm"
app = commands()


@app.command(epilog="cxgen init my-bench\ncxgen init .")
def init(folder: Annotated[Path, Argument(metavar="FOLDER", help="A new folder, or one without files of these names.")]) -> None:
    """Begin a project: params.yaml, dvc.yaml, README.md, .gitignore, a construction of its own to change, docs/. Nothing is run."""
    place = Path(os.path.realpath(folder))
    title = re.sub(r"[^\w .-]", "-", place.name) or "my-bench"
    about = {"CONSTRUCTION": _FIRST, "TITLE": title, "GUID GUID": f"GUID {uuid.uuid4()}"}
    files = {folder / path: _starter(source, about) for path, source in _FILES.items()} | _construction(folder, _FIRST)
    files |= {folder / page: _page(page) for page in _PAGES}
    _write(folder, files)
    where = "" if place == Path.cwd() else f"cd {shlex.quote(str(folder))} && "
    lines = ("", "Next (README.md goes on from there):", f"  {where}cxgen sample {_FIRST}", _DVC, "  dvc repro")
    echo("\n".join(lines))


@app.command()
def new(name: Annotated[str, Argument(metavar="NAME", help="A name for it: lower-case letters, digits and hyphens.")]) -> None:
    """Write templates/NAME.yaml and its table of scenes: a small construction, with comments, to change into one of your own."""
    project = Constructicon().project
    if not re.fullmatch("(?!(true|false|null)$)[a-z][a-z0-9-]{0,99}", name):  # YAML's own words would be no names
        raise CxgenError(f"not a name: {name!r}", hint="lower-case letters, digits and hyphens, a letter first: my-construction")
    if name in project.template_files():
        raise CxgenError(f"there is a construction {name!r} already", file=project.template_file(name), hint="take another name")
    for path in map(project.template_file, readable_targets(project)[0]):
        if name in (document := read_yaml(path)).data.get("lookalikes", ()):
            raise document.wrong(["lookalikes", name], f"there is a look-alike {name!r} already", "take another name")
    _write(project.root, _construction(project.root, name))
    heard = Params.read(project.params).request.hears(name)
    more = ", and when its clauses are judged (`cxgen judge`) or it is named under judge.unjudged there" if heard else ""
    echo(f"Look at it with `cxgen sample {name}`. It is built when it is among `constructions` in {PARAMS}{more}.")


def _write(root: Path, files: dict[Path, str]) -> None:
    if there := [path.relative_to(root).as_posix() for path in files if os.path.lexists(path)]:
        hint = "move them, or take another place or name: nothing was written"
        raise CxgenError(f"there are already: {', '.join(there)}", file=root, hint=hint)
    write_together(root, files)
    for path in files:
        echo(f"{path}: written")


def _construction(root: Path, name: str) -> dict[Path, str]:
    """The files of a small construction -> what they say."""
    about = {"NAME": name, "TITLE": name.replace("-", " ").capitalize()}
    template, scenes = root / TEMPLATES / f"{name}.yaml", root / LEXICONS / SCENES / f"{name}.tsv"
    return {template: _starter("construction.yaml", about), scenes: _starter("scenes.tsv", about)}


def _page(page: Path) -> str:
    """A page of docs; of a link to a page that a project does not get, its words."""
    text = (shipped_folder() / page).read_text("utf-8")
    return _LINK.sub(lambda link: link[0] if not link[2] or page.parent / link[2] in _PAGES else link[1], text)


def _starter(file: str, about: dict[str, str]) -> str:
    """What a file of the folder `starter` says, with the words in capitals replaced."""
    text = resources.files("cxgen.cli").joinpath("starter", file).read_text("utf-8")
    return re.sub("|".join(about), lambda match: about[match[0]], text)
