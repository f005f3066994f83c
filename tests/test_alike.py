"""Templates say a thing once: what differs in its participants only is one entry that stands for several."""

import re
from collections import defaultdict

import pytest
import yaml

from tests.conftest import ROOT

# What is declared once for each participant, clause or writer's kind: a declaration is short, and says what that one is.
DECLARED = re.compile(r"^\s*(?:- )?[<>a-z-]+: (?:&[a-z-]+ )?(?:\{role:|\")|^\s*(?:kinds: \{|slots: \{)?\"?[a-z-]+\"?: [^{\"\[]")
HEAD = re.compile(r"^\s*(?:- )?[<>a-z0-9_-]+: \{(?:pair|rotate|vary): .*claim: [^\[]*,$")  # the first line of an entry of several


def plain(line: str, names: set[str]) -> str:
    """A line without its name, and with every participant alike."""
    line = re.sub(r"<(?!clause|also)[a-z0-9-]+>|\{@?[a-z-]+", "_", re.sub(r"^\s*(- )?[<>a-z0-9_-]+:", "", line))
    return re.sub(r"\b(" + "|".join(map(re.escape, sorted(names, key=len, reverse=True))) + r")\b", "_", line).strip()


@pytest.mark.parametrize("path", sorted((ROOT / "templates").glob("*.yaml")), ids=lambda path: path.stem)
def test_no_two_lines_of_a_file_are_alike_up_to_the_participants(path):
    text, lines = path.read_text("utf-8"), defaultdict(list)
    names = {"participant", *yaml.load(text, yaml.BaseLoader).get("slots", {})}
    for number, line in enumerate(text.splitlines(), 1):
        if len(plain(line, names)) > 30 and not (line.lstrip().startswith("#") or DECLARED.search(line) or HEAD.search(line)):
            lines[plain(line, names)].append(number)
    assert [numbers for numbers in lines.values() if len(numbers) > 1] == []
    assert len(text.splitlines()) <= 150
