"""Where things are: a project's own templates and lexicons first, then those shipped with the package."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from cxgen.errors import CxgenError, unknown

_PACKAGE = Path(__file__).resolve().parent


def _shipped() -> Path:
    """The folder that holds the shipped ``templates`` and ``lexicons``: inside a wheel, or the checkout."""
    bundled = _PACKAGE / "_data"
    return bundled if bundled.is_dir() else _PACKAGE.parent


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
            if (folder / "templates").is_dir() or (folder / "params.yaml").is_file():
                return cls(folder)
        return cls(here)

    def _first(self, relative: str) -> Path:
        own = self.root / relative
        return own if own.exists() else _shipped() / relative

    @property
    def lexicons(self) -> Path:
        """The folder of curated lexicon sources and of the built snapshot."""
        return self._first("lexicons")

    @property
    def snapshot(self) -> Path:
        """The folder of the built lexicon snapshot."""
        return self.lexicons / "snapshot"

    @property
    def params(self) -> Path:
        """The parameter file: the project's own, else the shipped default."""
        return self._first("params.yaml")

    @property
    def prompts(self) -> Path:
        """The folder of the judge's prompts: the project's own, else the shipped ones."""
        return self._first("pipelines/prompts")

    def template_files(self) -> dict[str, Path]:
        """Construction name -> its YAML file; a project's own file shadows a shipped one of the same name."""
        found: dict[str, Path] = {}
        for folder in (_shipped() / "templates", self.root / "templates"):
            if folder.is_dir():
                found.update({path.stem: path for path in sorted(folder.glob("[!_]*.yaml"))})
        return dict(sorted(found.items()))

    def template_file(self, name: str) -> Path:
        """The file of construction ``name``.

        Raises:
            UnknownNameError: no such construction; the nearest names are suggested.
        """
        files = self.template_files()
        if name not in files:
            raise unknown("construction", name, files)
        return files[name]


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A temporary path beside ``path`` which takes its place only if the block ends well."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        temporary.chmod(0o644)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def write_atomically(path: Path, write: Callable[[Path], object]) -> None:
    """Call ``write`` on a temporary file, then rename it to ``path``: a reader never sees half a file."""
    with replacing(path) as temporary:
        write(temporary)
