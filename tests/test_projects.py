"""Projects of one's own, in a folder without DVC: their words, their pipeline, whatever configs they have."""

from __future__ import annotations

import json


def test_a_relation_to_an_unknown_word_is_told_with_file_and_line(mini, cxgen):
    (mini / "lexicons/snapshot").rename(mini / "snapshot")  # what is left adds to the shipped lexicon
    path = mini / "lexicons/classes/mine.yaml"
    path.parent.mkdir()
    path.write_text('classes: {}\nproperties:\n  - sense: "frobby%3:00:00::"\n    contrary: ["dry%3:00:01::"]\n')
    result = cxgen("explain", "conative", cwd=mini)
    assert result.returncode == 2
    assert "mine.yaml:3: frobby%3:00:00:: is not in the lexicon" in result.stderr


def test_sizes_names_a_config_that_there_is(mini, cxgen):
    (mini / "outputs/hub").mkdir(parents=True)
    (mini / "outputs/hub/dataset_version.json").write_text(json.dumps({"rows": {"minimal_pairs/train": {"rows": 12}}}))
    assert 'load_dataset("outputs/hub", "minimal_pairs")' in cxgen("report", "sizes", cwd=mini).stdout
