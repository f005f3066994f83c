"""What previews say stays the same until DATA_VERSION is raised: `dvc repro` reruns by it, not by lists of files of code."""

import hashlib

from cxgen import facade
from cxgen.version import DATA_VERSION

SHOWN = ["id", "contrast_set", "premise", "hypothesis", "label", "context", "sentence_good", "sentence_bad", "sentence", "text"]
# When a change is meant to change the data, raise DATA_VERSION, write both here, and say in CHANGELOG.md what is new.
VERSION, DIGEST = 21, "f7b18a655dd66a63"


def digest() -> str:
    """A digest of some items of every construction, of some with pseudowords and as minimal pairs, too, and of the suites."""
    told, shipped = hashlib.blake2b(digest_size=8), facade.Constructicon()
    entries = {name: shipped[name] for name in shipped}  # each is loaded once
    asked = [(name, {}) for name in entries] + [(name, {"wug": "content"}) for name in list(entries)[::4]]
    asked += [("resultative", {"family": family}) for family in ("minimal_pairs", "cxmp", "cxnli")]
    asked += [("comparative-correlative", {"family": family}) for family in ("cc_syntax", "cc_semantics")]
    for name, how in asked:
        items = entries[name].sample(6, **how)
        told.update(items.select(column for column in SHOWN if column in items.columns).write_csv().encode())
    return told.hexdigest()


def test_the_data_are_those_of_their_version():
    assert DATA_VERSION == VERSION, "the version was raised: record it here, with the digest of its data"
    assert digest() == DIGEST, "the data changed: raise DATA_VERSION in cxgen/version.py, and record the new digest here"
