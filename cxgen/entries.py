"""The constructicon of a project and its entries. Nothing heavy is imported before it is used."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

    from cxgen.check import Finding
    from cxgen.constructicon import Construction
    from cxgen.errors import CxgenError
    from cxgen.lexicon import Lexicon
    from cxgen.project import Project

# What a sample shows of an item before and after its family's columns.
LINEAGE = ("id", "contrast_set", "construction", "contrast_of", "config", "design", "kind", "template")
MATERIAL = ("verb", "slots")


class Constructicon:
    """The constructions of a project, by name; the shipped ones are among them.

    Args:
        folder: the project's folder; by default the one at or above the working directory.
    """

    def __init__(self, folder: str | Path | None = None) -> None:
        from cxgen.project import Project

        self.project: Project = Project.find() if folder is None else Project(Path(folder))

    @cached_property
    def lexicon(self) -> Lexicon:
        """The project's words."""
        from cxgen.lexicon import Lexicon

        return Lexicon.of(self.project)

    def __getitem__(self, name: str) -> Entry:
        """The construction ``name``.

        Raises:
            UnknownNameError: there is none, with the nearest names; or it is the opposite in another one's file.
        """
        if name not in self.project.template_files():
            raise self._unknown(name)
        return Entry(self, name)

    def __iter__(self) -> Iterator[str]:
        """The names, sorted; without look-alikes, and without files that cannot be read (see `readable`)."""
        return iter(self.readable()[0])

    def readable(self) -> tuple[list[str], list[CxgenError]]:
        """The names of the constructions whose files can be read, and what is wrong with the other files."""
        from cxgen.constructicon import readable_targets

        return readable_targets(self.project)

    def _unknown(self, name: str) -> CxgenError:
        """Why there is no construction ``name``."""
        from cxgen.errors import UnknownNameError, unknown
        from cxgen.schema import read_yaml

        names, _ = self.readable()
        for owner in names:
            kinds = read_yaml(self.project.template_file(owner)).data.get("kinds", {})
            if any(isinstance(kind, dict) and kind.get("construction") == name for kind in kinds.values()):
                return UnknownNameError(
                    f"{name!r} is what the opposite of {owner!r} is called: it has no file of its own",
                    hint=f"its items come with those of {owner}: cxgen sample {owner}",
                )
        return unknown("construction", name, names)


@dataclass(frozen=True)
class Entry:
    """A construction of a constructicon.

    Attributes:
        constructicon: whose.
        name: its name.
    """

    constructicon: Constructicon
    name: str

    @cached_property
    def construction(self) -> Construction:
        """What its file says.

        Raises:
            SchemaError: the file cannot be read, or is a look-alike's.
        """
        from cxgen.constructicon import load_construction

        return load_construction(self.constructicon.project, self.name, self.constructicon.lexicon)

    def sample(self, n: int = 5, *, family: str = "nli", wug: str = "", seed: int = 1) -> pl.DataFrame:
        """A preview of its items: those of ``n`` premises. For arguments and result see the function `cxgen.sample`."""
        import polars as pl

        from cxgen.families import FAMILIES

        require_positive(n)
        if family not in FAMILIES:
            from cxgen.families import family_named
            from cxgen.suites import SUITES, suite_of

            if family not in SUITES:
                family_named(family, SUITES)
            if wug:
                from cxgen.errors import CxgenError

                raise CxgenError(f"{family} has no items with pseudowords", hint="leave wug out")
            return suite_of(family, self.name).sample(self.constructicon.project, seed, n)
        return readable(pl.concat(self.blocks(n, family=family, wug=wug, seed=seed), how="diagonal_relaxed"), family)

    def blocks(
        self, n: int, *, family: str = "nli", wug: str = "", seed: int = 1, kind: str = "", label: str = ""
    ) -> Iterator[pl.DataFrame]:
        """The items of `sample` as they are drawn, with all columns of the generator, a block at a time in memory.

        Args:
            n, family, wug, seed: as for `sample`.
            kind: only premises of this kind.
            label: only items with this label.

        Raises:
            CxgenError: no such family, mode, kind or label, or a file that is not sound.
        """
        from cxgen.build.preview import Wanted, sampled
        from cxgen.errors import CxgenError, unknown
        from cxgen.families import family_named, own_columns
        from cxgen.sampling import Wugs
        from cxgen.vocabulary import LABELS, MODES

        family_named(family)
        for what, name, known in (("mode", wug, MODES), ("label", label, LABELS)):
            if name and name not in known:
                raise unknown(what, name, known)
        if label and not any(column.labels for column in own_columns(family)):
            raise CxgenError(f"items of {family} have no label", hint="leave --label out")
        loaded = self.construction
        if kind and kind not in loaded.kinds:
            raise unknown("premise kind", kind, loaded.kinds, file=loaded.document.path)
        if not self._shipped:  # else the checks need not even be imported
            self._require_sound("E")
        wugs = Wugs.load(self.constructicon.project.snapshot) if wug else None
        try:
            yield from sampled(loaded, Wanted(n, family, seed, kind, LABELS.index(label) if label else None, wugs, wug))
        except (KeyError, IndexError):  # a shipped file that was edited in the clone
            self._require_sound("E")
            raise

    def explain(self, wug: str = "") -> pl.DataFrame:
        """Its label matrix, computed from facts and claims. For arguments and result see the function `cxgen.explain`."""
        import polars as pl

        from cxgen.errors import unknown
        from cxgen.families.turns import turns
        from cxgen.sampling import broken_slots
        from cxgen.semantics import label_matrix
        from cxgen.vocabulary import LABELS, MODES

        if wug and wug not in MODES:
            raise unknown("mode", wug, MODES)
        loaded = self.construction
        self._require_sound("E1")
        self._require_consistent()
        broken = broken_slots(loaded, wug) if wug else frozenset()
        rows = [
            (design.name, kind, loaded.kinds[kind].construction, rule, loaded.rules[rule].says, LABELS[label], turned[kind][rule])
            for design in loaded.designs.values()
            for matrix in [label_matrix(loaded, design, broken)]
            for turned in [turns(loaded, matrix)]
            for kind, row in matrix.items()
            for rule, label in row.items()
        ]
        return pl.DataFrame(rows, schema=["design", "kind", "construction", "rule", "claim", "label", "turns_on"], orient="row")

    @property
    def _shipped(self) -> bool:
        """Whether all that it is made of comes with the package, which `cxgen check` has seen."""
        project = self.constructicon.project
        files = [self.construction.document.path, *project.shared_files()]
        return project.own_lexicons is None and all(map(project.ships, files))

    def _require_sound(self, codes: str) -> None:
        """Raise the first error that lint has with such a code."""
        from cxgen.check import require_sound

        require_sound(self.construction, codes)

    def _require_consistent(self) -> None:
        from cxgen.errors import SchemaError
        from cxgen.semantics import Inconsistency, truth

        for kind in self.construction.kinds.values():
            try:
                truth(kind, self.construction)
            except Inconsistency as error:
                message = f"kind {kind.name!r} makes {error} both true and false"
                raise SchemaError(message, file=self.construction.document.path) from error

    def check(self) -> list[Finding]:
        """What is wrong with its file, and what looks wrong: those of `cxgen check`, with ``code, file, line, message, hint``."""
        from cxgen.check import lint
        from cxgen.trees import Chunks

        return list(lint(self.construction, chunks=Chunks.load(*self.constructicon.project.chunk_files())))


def readable(items: pl.DataFrame, family: str) -> pl.DataFrame:
    """Drawn items as people want to see them: lineage, what the family has, verb and slots; labels by name."""
    import polars as pl

    from cxgen.families import own_columns
    from cxgen.vocabulary import LABELS

    own = {column.name: column for column in own_columns(family) if column.name in items.columns}
    words = dict(enumerate(LABELS))
    named = {name: pl.col(name).replace_strict(words, return_dtype=pl.String) for name, column in own.items() if column.labels}
    return items.select(*LINEAGE, *own, *MATERIAL).with_columns(**named)


def require_positive(n: int) -> None:
    """Refuse to give less than one of anything.

    Raises:
        CxgenError: ``n`` is less.
    """
    from cxgen.errors import CxgenError

    if n < 1:
        raise CxgenError(f"n is {n}", hint="ask for at least one")
