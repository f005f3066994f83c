"""What lemminflect and wordfreq say of a word. They take seconds to load, so that answers are remembered in a file."""

from __future__ import annotations

import json
import string
from contextlib import suppress
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from cxgen.errors import CxgenError
from cxgen.files import read_text, write_atomically


@cache
def _most_frequent() -> frozenset[str]:
    from wordfreq import top_n_list

    return frozenset(top_n_list("en", 10_000))


class Reference:
    """Inflections and frequencies.

    Args:
        path: a JSON file of earlier answers, which is read, and written by `save`; None remembers nothing. It holds only what the
            libraries said, under their versions: what is made of it is decided anew each time.
    """

    def __init__(self, path: Path | None = None) -> None:
        self._path = path
        self._versions = {name: version(name) for name in ("lemminflect", "wordfreq")}
        self._known = self._kept()
        self._fresh = False

    def inflected(self, word: str, tag: str) -> tuple[str, ...]:
        """The forms of ``word`` with the Penn Treebank ``tag``, the dictionary's first one first; made by rule for an unknown word."""
        key = f"{tag} {word}"
        if key not in self._known:
            from lemminflect import getInflection

            self._keep(key, list(getInflection(word, tag, inflect_oov=True)))
        return tuple(self._known[key])

    def frequency(self, lemma: str) -> tuple[float, bool]:
        """Zipf value, and whether the lemma is among the 10,000 most frequent tokens (wordfreq, its largest English list).

        The value of a multiword lemma is wordfreq's estimate from its parts.
        """
        text = lemma.strip(string.punctuation).lower()
        key = f"zipf {text}"
        if key not in self._known:
            from wordfreq import zipf_frequency

            self._keep(key, [float(zipf_frequency(text, "en")), text in _most_frequent()])
        zipf, top = self._known[key]
        return zipf, top

    def _kept(self) -> dict[str, Any]:
        if self._path is not None:
            with suppress(CxgenError, ValueError, TypeError, KeyError, RecursionError):
                kept = json.loads(read_text(self._path))
                return dict(kept["words"]) if kept["versions"] == self._versions else {}
        return {}

    def _keep(self, key: str, answer: list[Any]) -> None:
        self._known[key] = answer
        self._fresh = True

    def save(self) -> None:
        """Write what was learnt; where that cannot be written, it is only asked again."""
        if self._path is None or not self._fresh:
            return
        self._known = {**self._kept(), **self._known}  # others may have learnt something meanwhile
        text = json.dumps({"versions": self._versions, "words": self._known}, ensure_ascii=False, sort_keys=True)
        with suppress(OSError):
            write_atomically(self._path, lambda path: path.write_text(text, "utf-8"))
        self._fresh = False
