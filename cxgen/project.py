"""Where things are: a project's own templates and lexicons first, then those shipped with the package."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from cxgen import layout
from cxgen.errors import CxgenError, unknown

_PACKAGE = Path(__file__).resolve().parent


def shipped_folder() -> Path:
    """The folder that holds the shipped ``templates`` and ``lexicons``: inside a wheel, or the checkout."""
    bundled = _PACKAGE / "_data"
    return bundled if bundled.is_dir() else _PACKAGE.parent


def closed_class_file() -> Path:
    """The table of English function words."""
    return shipped_folder() / layout.LEXICONS / "closed.tsv"


@dataclass(frozen=True)
class Project:
    """A project folder.

    Attributes:
        root: the folder in which ``templates/``, ``lexicons/`` and ``params.yaml`` are looked for first.
    """

    root: Path

    @classmethod
    def find(cls, start: Path | None = None) -> Project:
        """The nearest folder at or above ``start`` (default: the working directory) with ``templates`` or ``params.yaml``.

        The environment variable ``CXGEN_PROJECT`` overrides the search.
        """
        named = os.environ.get("CXGEN_PROJECT")
        if named:
            root = Path(named)
            if not root.is_dir():
                raise CxgenError(f"CXGEN_PROJECT is not a folder: {named}", hint="unset it or point it at a project folder")
            return cls(root)
        here = (start or Path.cwd()).resolve()
        for folder in (here, *here.parents):
            if (folder / layout.TEMPLATES).is_dir() or (folder / layout.PARAMS).is_file():
                return cls(folder)
        return cls(here)

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
        shipped = [*self.snapshot.iterdir(), *(self.lexicons / "scenes").glob("*.tsv")]
        return sorted(shipped) + sorted(path for path in (own.rglob("*.*") if own else ()) if path.suffix in {".yaml", ".tsv"})

    def chunk_files(self) -> list[Path]:
        """The files of annotated closed-class words: the shipped one, then the project's own."""
        folders = [self.lexicons, *([self.own_lexicons] if self.own_lexicons else [])]
        return [path for folder in folders if os.path.lexists(path := folder / "chunks.yaml")]

    @property
    def params(self) -> Path:
        """The parameter file: the project's own, else the shipped default."""
        own = self.root / layout.PARAMS
        return own if own.exists() else shipped_folder() / layout.PARAMS

    @staticmethod
    def ships(path: Path) -> bool:
        """Whether a file comes with the package."""
        return path.resolve().is_relative_to(shipped_folder())

    def _yaml_files(self, relative: Path) -> dict[str, Path]:
        """Name -> file in a folder; a project's own file shadows a shipped one of the same name."""
        found: dict[str, Path] = {}
        for folder in (shipped_folder() / relative, self.root / relative):
            found.update({path.stem: path for path in sorted(folder.glob("[!_]*.yaml"))})
        return dict(sorted(found.items()))

    def template_files(self) -> dict[str, Path]:
        """Construction name -> its YAML file; a project's own file shadows a shipped one of the same name."""
        return self._yaml_files(layout.TEMPLATES)

    def grammar_file(self, name: str) -> Path:
        """The file of grammar ``name``.

        Raises:
            UnknownNameError: no such grammar.
        """
        return _named("grammar", name, self._yaml_files(layout.GRAMMARS))

    def prompt_files(self) -> dict[str, Path]:
        """Task -> the file with its prompt; a project's own file shadows a shipped one of the same name."""
        return self._yaml_files(layout.PROMPTS)

    def prompt_file(self, task: str) -> Path:
        """The file with the prompt of ``task``.

        Raises:
            UnknownNameError: no such prompt; the nearest names are suggested.
        """
        return _named("prompt", task, self.prompt_files())

    def shared_files(self) -> list[Path]:
        """The files of what templates share, as far as they exist: the shipped one, then the project's own."""
        folders = dict.fromkeys(
            Path(os.path.realpath(folder)) for folder in (shipped_folder() / layout.TEMPLATES, self.root / layout.TEMPLATES)
        )
        return [path for folder in folders if os.path.lexists(path := folder / "_shared.yaml")]  # what is no file is named where it is read

    def template_file(self, name: str) -> Path:
        """The file of construction ``name``.

        Raises:
            UnknownNameError: no such construction; the nearest names are suggested.
        """
        return _named("construction", name, self.template_files())


def _named(what: str, name: str, files: dict[str, Path]) -> Path:
    if name not in files:
        raise unknown(what, name, files)
    return files[name]
