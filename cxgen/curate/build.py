"""From curated YAML and WordNet 3.0 to the committed snapshot, the same bytes from the same sources; candidates for a class."""

import json
import os
import shutil
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import polars as pl

from cxgen.errors import CxgenError, SchemaError, unknown
from cxgen.files import write_text
from cxgen.lexicon.own import Sources, read_sources
from cxgen.lexicon.scenes import gender_of
from cxgen.lexicon.snapshot import WUG_SCHEMA, Lexicon
from cxgen.lexicon.words import LEXNAMES, SCHEMA, SENSES, Reference, banded, blank, inflect, lemma_of, measure
from cxgen.pseudowords import complete, load
from cxgen.sampling import INVENTORY
from cxgen.schema import read_yaml
from cxgen.tables import write_parquet

_SYSTEM = (Path("/usr/share/wordnet"), Path("/usr/local/WordNet-3.0/dict"), Path("/opt/homebrew/opt/wordnet/dict"))
_INSTALL = (
    "install WordNet 3.0 (Debian: wordnet-base and wordnet-sense-index; or nltk.download('wordnet')), or set CXGEN_WORDNET to its folder"
)
_BAD_DOMAINS = {"ethnic_slur.n.01", "disparagement.n.01", "obscenity.n.02", "archaism.n.01", "vulgarism.n.02", "trade_name.n.01"}


def find_wordnet() -> Path | None:
    """The folder with WordNet's database files: ``CXGEN_WORDNET``, or one on NLTK's data path, or one of the system; or None."""
    import nltk

    named = os.environ.get("CXGEN_WORDNET")
    folders = [Path(named)] if named else [*(Path(folder) / "corpora/wordnet" for folder in nltk.data.path), *_SYSTEM]
    return next((folder for folder in folders if all((folder / name).is_file() for name in ("index.sense", "data.noun"))), None)


@contextmanager
def _open_wordnet() -> Iterator[Any]:
    """An NLTK ``WordNetCorpusReader``; takes about 6 s."""
    import nltk
    from nltk.corpus.reader.wordnet import WordNetCorpusReader

    source = find_wordnet()
    if source is None:
        raise CxgenError("WordNet's database is not installed", hint=_INSTALL)
    with tempfile.TemporaryDirectory(prefix="cxgen-wordnet-") as data, warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # no multilingual data: not needed
        folder = Path(shutil.copytree(source, Path(data) / "corpora/wordnet"))  # NLTK reads only below its data path
        numbers = {"noun": 1, "verb": 2, "adj": 3, "adv": 4}
        names = (f"{number:02d}\t{name}\t{numbers[name.split('.')[0]]}\n" for number, name in enumerate(LEXNAMES))
        (folder / "lexnames").write_text("".join(names), "utf-8")
        nltk.data.path.insert(0, data)
        try:
            yield WordNetCorpusReader(nltk.data.find("corpora/wordnet"), None)
        finally:
            nltk.data.path.remove(data)


def _all_senses(wordnet: Any) -> pl.DataFrame:
    """Every sense of WordNet's: ``lemma`` (lower case), ``pos``, ``sense`` (what follows % in its key); the most frequent first."""
    rows = []
    for line in wordnet.open("index.sense"):
        key, _, number, _ = line.split()
        rows.append((*lemma_of(key), int(number), key.partition("%")[2]))
    table = pl.DataFrame(rows, schema=["lemma", "pos", "number", "sense"], orient="row")
    return table.sort(table.columns).drop("number")


def build(folder: Path) -> dict[str, int]:
    """Build ``folder/snapshot`` from the sources in ``folder``: the number of lexemes, classes and senses."""
    sources, reference, out = read_sources(folder), Reference(), folder / "snapshot"
    bands = read_yaml(folder / "bands.yaml", "bands").data["percentiles"]
    with _open_wordnet() as wordnet:
        senses = _all_senses(wordnet)
        write_parquet(senses, out / SENSES, compression="zstd", row_group_size=20_000)  # by which the words of scenes are found
        rows = _rows(sources, folder)
        for row in rows.values():
            _fill(row, sources, wordnet, reference)
            measure(row, bands, reference)
    table = pl.DataFrame([rows[key] for key in sorted(rows)], schema=SCHEMA)
    index = {key: number for number, key in enumerate(table["key"])}
    ids = {name: [index[member.key] for member in sources.members(name)] for name in sources.classes}
    classes = {name: {"pos": entry.pos, "gloss": entry.gloss, "ids": ids[name]} for name, entry in sources.classes.items()}
    document = {"bands": bands, "classes": classes, "overrides": sources.overrides}
    write_parquet(table, out / "lexemes.parquet", compression="zstd", statistics=False)
    write_text(out / "classes.json", json.dumps(document, ensure_ascii=False, sort_keys=True, separators=(",", ":")) + "\n")
    return {"lexemes": table.height, "classes": len(classes), "senses": senses.height}


def _rows(sources: Sources, folder: Path) -> dict[str, dict[str, Any]]:
    """Key -> row of the members of classes, the words of scenes and what is related to either."""
    rows: dict[str, dict[str, Any]] = {}

    def row_of(key: str) -> dict[str, Any]:
        lemma, pos = lemma_of(key)
        free = "%" not in key
        return rows.setdefault(key, blank(key, lemma if free else "", pos, None if free and not key.startswith("own:") else key))

    for name, entry in sources.classes.items():
        if entry.extends and entry.extends not in sources.classes:
            raise entry.document.wrong(["classes", name, "extends"], f"class {name!r}: no class {entry.extends!r}", "name another")
        for member in sources.members(name):
            row, own = row_of(member.key), member.changes.get("gender")
            if own and row["gender"] not in {None, own}:
                what = f"{member.key!r} is {own} in class {name!r}, and {row['gender']} in another one"
                raise entry.wrong(what, "one gender for a word")
            row["gender"], row["sense"] = own or row["gender"], member.sense or row["sense"]
    lexicon = Lexicon(pl.DataFrame(schema=SCHEMA), {}, folders=(folder,))
    for construction in lexicon.constructions:
        for (_, _, pin), key in lexicon.scenes(construction).keys.items():
            row = row_of(key)
            row["gender"] = row["gender"] or (gender_of(pin) if key.startswith("own:") else None)
    for key, relations in sources.relations.items():
        for relation, others in relations.items():
            row_of(key)[relation] = list(others)
            for other in others:
                row_of(other)
    return rows


def _fill(row: dict[str, Any], sources: Sources, wordnet: Any, reference: Reference) -> None:
    """Lemma, derived words and forms."""
    if (sense := row["sense"] or "").count("%"):
        try:
            lemma = wordnet.lemma_from_key(sense)
        except Exception as error:
            places = ((document.path, document.line_with(sense)) for document in sources.documents)
            path, line = next(((path, line) for path, line in places if line), (None, None))
            raise SchemaError(f"WordNet has no sense {sense}", file=path, line=line, hint="see `cxgen lexicon show LEMMA`") from error
        if not row["lemma"]:
            row["lemma"] = lemma.name().replace("_", " ")
            row["derived"] = sorted({other.name().lower() for other in lemma.derivationally_related_forms()} - {row["lemma"].lower()})
    overrides = sources.overrides.get(row["pos"], {}).get(row["lemma"], {})
    inflect(row, overrides | sources.stated.get(row["key"], {}), reference)


def build_inventory(folder: Path) -> dict[str, int]:
    """Bring the snapshot's pseudowords up to date with its lexemes: how many there are, and how many nobody has read yet.

    Readers approved those in the committed file, which only grows. What they refuse is listed in ``wug.yaml`` and left out, and made up for
    only where nothing else is left for a lexeme.
    """
    snapshot = folder / "snapshot"
    path, known = snapshot / INVENTORY, load(snapshot)
    bad = {*read_yaml(folder / "wug.yaml", "wug").data["refused"], *known.rare}  # rare words come out of the search, too
    committed = pl.read_parquet(path) if path.is_file() else pl.DataFrame(schema=WUG_SCHEMA)
    kept = committed.filter(~pl.col("lemma").is_in(list(bad)))
    kept = kept.with_columns(variant=pl.int_range(pl.len()).over("key").cast(pl.Int8))
    table = complete(pl.read_parquet(snapshot / "lexemes.parquet"), kept, known, bad)
    write_parquet(table, path, compression="zstd", statistics=False)
    return {"pseudowords": table.height, "new pseudowords": table.join(committed, on="lemma", how="anti").height}


def propose(folder: Path, name: str) -> pl.DataFrame:
    """Synonyms, sisters and hyponyms of the members of a class, less what was accepted or refused; the rarest last.

    Only main senses (the candidate's first) are proposed, without slurs, obscenities, archaisms and trade names by WordNet's usage domains.
    Columns ``band``, ``zipf``, ``lemma``, ``sense``, ``because`` (the member that it neighbours), ``gloss``.
    """
    sources, cuts, reference = read_sources(folder), read_yaml(folder / "bands.yaml", "bands").data["percentiles"], Reference()
    if name not in sources.classes:
        raise unknown("class", name, sources.classes)
    entry = sources.classes[name]
    taken = {member.key for member in sources.members(name)} | entry.rejected
    rows: dict[str, tuple[str, float, str, str, str, str]] = {}
    with _open_wordnet() as wordnet:
        for key in sorted(key for key in taken if "%" in key):
            synset = wordnet.lemma_from_key(key).synset()
            sisters = (sister for parent in synset.hypernyms() for sister in parent.hyponyms())
            near = (synset, *synset.hyponyms(), *synset.similar_tos(), *sisters)
            decent = (other for other in near if _BAD_DOMAINS.isdisjoint(domain.name() for domain in other.usage_domains()))
            for lemma in (lemma for other in decent for lemma in other.lemmas()):
                main = wordnet.synsets(lemma.name(), lemma.synset().pos())[:1] == [lemma.synset()]
                if main and lemma.key() not in taken | rows.keys():
                    text, gloss = lemma.name().replace("_", " "), lemma.synset().definition()[:80]
                    zipf = reference.frequency(text)[0]
                    rows[lemma.key()] = banded(entry.pos, zipf, cuts)[1], zipf, text, lemma.key(), key.partition("%")[0], gloss
    schema = {"band": pl.String, "zipf": pl.Float64, **dict.fromkeys(("lemma", "sense", "because", "gloss"), pl.String)}
    return pl.DataFrame(list(rows.values()), schema=schema, orient="row").sort(["zipf", "sense"], descending=[True, False])
