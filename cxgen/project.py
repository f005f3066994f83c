"""Where things are: a project's own templates and lexicons first, then those shipped with the package."""

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from cxgen import layout
from cxgen.errors import CxgenError, UnknownNameError, unknown
from cxgen.files import listed

_PACKAGE = Path(__file__).resolve().parent


def shipped_folder() -> Path:
    """The folder that holds the shipped ``templates`` and ``lexicons``: inside a wheel, or the checkout."""
    bundled = _PACKAGE / "_data"
    return bundled if bundled.is_dir() else _PACKAGE.parent


def require_utf8(path: Path, what: str = "file") -> None:
    """See that tables can be at ``path``: polars takes names for UTF-8, whatever the locale says."""
    if os.fsencode(path) != str(path).encode("utf-8", "replace"):
        hint = f"rename the {what} or choose another one; in a locale without UTF-8: export LC_ALL=C.UTF-8"
        raise CxgenError(f"the {what}'s name is not UTF-8: {str(path)!a}", hint=hint)


@dataclass(frozen=True)
class Project:
    """A project folder: ``root``, in which ``templates/``, ``lexicons/`` and ``params.yaml`` are looked for first."""

    root: Path

    def __post_init__(self) -> None:
        require_utf8(self.root.absolute(), "folder")

    @classmethod
    def at(cls, folder: Path) -> "Project":
        """The project in a folder that is there."""
        if not folder.is_dir():
            raise CxgenError(f"not a folder: {folder}", hint="name the folder of a project")
        return cls(folder)

    @classmethod
    def find(cls) -> "Project":
        """``CXGEN_PROJECT``, or the nearest folder at or above the working directory with ``templates`` or ``params.yaml``."""
        named = os.environ.get("CXGEN_PROJECT")
        if named and not Path(named).is_dir():
            raise CxgenError(f"CXGEN_PROJECT is not a folder: {named}", hint="unset it or point it at a project folder")
        try:
            here = Path.cwd().resolve()
        except FileNotFoundError as error:
            raise CxgenError("the folder in which this is run is not there any more", hint="cd to one that is") from error
        above = (folder for folder in (here, *here.parents) if (folder / layout.TEMPLATES).is_dir() or (folder / layout.PARAMS).is_file())
        return cls(Path(named)) if named else cls(next(above, here))

    @property
    def lexicons(self) -> Path:
        """The folder of the built snapshot and its sources: the project's own if it holds a snapshot, else the shipped one."""
        own, shipped = self.root / layout.LEXICONS, shipped_folder() / layout.LEXICONS
        return own if (own / "snapshot").is_dir() or os.path.realpath(own) == os.path.realpath(shipped) else shipped

    @property
    def own_lexicons(self) -> Path | None:
        """The project's folder of words, classes, frames, overrides and chunks that come in addition to `lexicons`, if it has one."""
        own = self.root / layout.LEXICONS
        return own if own.is_dir() and own != self.lexicons else None

    @property
    def snapshot(self) -> Path:
        """The folder of the built lexicon snapshot."""
        return self.lexicons / "snapshot"

    def lexicon_files(self) -> list[Path]:
        """Every file that the lexicon is read from: the snapshot's, and the project's own sources if they add to it."""
        own = self.own_lexicons
        shipped = [*self.snapshot.iterdir(), *listed(self.lexicons / "scenes", ".tsv")]
        return sorted(shipped) + sorted(path for path in (own.rglob("*.*") if own else ()) if path.suffix in {".yaml", ".tsv"})

    def chunk_files(self) -> list[Path]:
        """The files of annotated closed-class words: the shipped one, then the project's own."""
        return _existing("chunks.yaml", self.lexicons, *([self.own_lexicons] if self.own_lexicons else []))

    def shared_files(self) -> list[Path]:
        """The files of what templates share: the shipped one, then the project's own."""
        folders = (Path(os.path.realpath(folder / layout.TEMPLATES)) for folder in (shipped_folder(), self.root))
        return _existing("_shared.yaml", *dict.fromkeys(folders))

    @property
    def params(self) -> Path:
        """The parameter file: the project's own, else the shipped default."""
        own = self.root / layout.PARAMS
        return own if os.path.lexists(own) else shipped_folder() / layout.PARAMS

    @staticmethod
    def ships(path: Path) -> bool:
        """Whether a file comes with the package."""
        return path.resolve().is_relative_to(shipped_folder())

    def template_files(self) -> dict[str, Path]:
        """Construction name -> its YAML file; a project's own file shadows a shipped one of the same name."""
        return self._yaml_files(layout.TEMPLATES)

    def unknown(self, name: str, known: Iterable[str], file: Path | None = None, line: int | None = None) -> UnknownNameError:
        """The error about a construction that is none of ``known``, perhaps since its file is called NAME.yml."""
        error = unknown("construction", name, known, file=file, line=line)
        if os.path.lexists(self.root / layout.TEMPLATES / f"{name}.yml"):
            error.hint = f"call its file {layout.TEMPLATES}/{name}.yaml, not .yml"
        return error

    def template_file(self, name: str) -> Path:
        """The file of construction ``name``."""
        return _named("construction", name, self.template_files())

    def grammar_file(self, name: str) -> Path:
        """The file of grammar ``name``."""
        return _named("grammar", name, self._yaml_files(layout.GRAMMARS))

    def prompt_files(self) -> dict[str, Path]:
        """Task -> the file with its prompt; a project's own file shadows a shipped one of the same name."""
        return self._yaml_files(layout.PROMPTS)

    def prompt_file(self, task: str) -> Path:
        """The file with the prompt of ``task``."""
        return _named("prompt", task, self.prompt_files())

    def _yaml_files(self, relative: Path) -> dict[str, Path]:
        folders = (shipped_folder() / relative, self.root / relative)
        files = {path.stem: path for folder in folders for path in listed(folder, ".yaml") if path.name[0] != "_"}
        return dict(sorted(files.items()))


def _existing(name: str, *folders: Path) -> list[Path]:
    return [path for folder in folders if os.path.lexists(path := folder / name)]  # what is no file is named where it is read


def _named(what: str, name: str, files: dict[str, Path]) -> Path:
    if name not in files:
        raise unknown(what, name, files)
    return files[name]
