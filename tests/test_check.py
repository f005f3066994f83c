"""Every code fires on the fault it names, and only there."""

import json

import pytest

from cxgen.check import CHECKS, TREES, findings, require_sound
from cxgen.constructicon import load_construction
from cxgen.errors import CxgenError
from cxgen.lexicon import Lexicon
from cxgen.project import Project
from tests.conftest import ROOT, edit

# Faults planted in the tests' own construction: code, what stands there, what is put there, what the message names.
FAULTS = [
    ("E101", '  this-afternoon: "This afternoon, {agent}', '  this-afternoon: "This afternoon, {agents}', "agents"),
    ("E101", "kinds: [missed, caught, twice", "kinds: [mised, caught, twice", "mised"),
    ("E101", 'excludes: ["got(agent, target)"]', 'excludes: ["gott(agent, target)"]', "gott"),
    ("E101", '  this-afternoon: "This afternoon, {agent}', '  this-afternoon: "{opening}{agent}', "opening"),
    ("E101", '{verb: verb, rest: " entirely in vain"}', '{verb: "", rest: " entirely in vain"}', "slot ''"),
    ("E102", '"Last night, {agent} {@verb:past}', '"Last night, {agent} {@verb:pst}', "no form 'pst'"),
    ("E102", "{@verb:past} for {target}{@rest}.", "{@verb:past} for {target}{@tail}.", "@tail"),
    ("E102", '"Last night, {agent} {@verb', '"Last night,\u00a0{agent} {@verb', "'\\xa0' between words"),
    ("W313", "@companions\tgrope", "@companions\tgropse", "'gropse' is under `marked`"),
    ("E102", "{@verb:past} for {target}{@rest}.", "{@verb} for {target}{@rest}.", "the name of a slot"),
    ("E102", "{@verb:past} for {target}{@rest}.", "{@verb:past} fоr {target}{@rest}.", "no Latin letter"),
    ("E107", "  verb: {role: verb, frame: true", "  verb: {role: verb, optional: 0.5, frame: true", "without a verb"),
    (
        "E107",
        "\ndesigns:\n",
        "\nnatural:\n  outcome:\n    tells: somebody tries\n    slots: {agent: who, target: what}\n"
        "    kinds: {missed: no, caught: yes, twice: two}\n    says: [for]\n\ndesigns:\n",
        "not those of the design",
    ),
    ("E201", "  opener: {role: modifier, class: times", "  opener: {role: modifier, class: time", "'time'"),
    (
        "E202",
        'entails: ["got(agent, target)"]',
        'entails: ["got(agent, target)"]\n    excludes: ["got(agent, target)"]',
        "both true and false",
    ),
    ("E204", "claim: repeated(agent)", "claim: accompanied(target)", "always neutral"),
    ("E204", "claim: not repeated(agent)", "claim: repeated(agent)", "no hypothesis"),
    ("E206", "{agent} made another attempt.", "{agent} made no other attempt.", "says repeated(agent) and not repeated(agent)"),
    (
        "E206",
        "{agent} made another attempt.",
        "AFTERWARDS, {agent:np} was without {target}.",
        "says not got(agent, target) and repeated(agent)",
    ),
    ("E207", "\t@animals", "\t@animals | @people", "can both say"),
    ("E207", '"{agent} did get {target}."', '"{agent} {verb:past} for {target}."', "premise"),
    ("E207", '"{agent} did get {target}."', '"{agent} did get {target} ."', "not a well-formed sentence"),
    ("E207", 'wrap: "{}, "', 'wrap: "{},, "', "a comma too many"),
    ("W301", "  opener: {role: modifier", "  extra: {role: agent, class: people}\n  opener: {role: modifier", "'extra'"),
    ("W301", '  last-night: "Last night', '  again: "{agent} {@verb:past} for {target}{@rest}."\n  last-night: "Last night', "twice"),
    ("W301", "  repeated: {gloss:", "  spare: {gloss: nothing}\n  repeated: {gloss:", "'spare'"),
    ("W311", '"{agent} did get {target}."', '"{agent} didn\'t get no {target:bare}."', "negates twice"),
]
MISREAD = '{entails: ["got(agent, target)"]}'
FAULTS += [  # the same in its look-alike, which is misread
    ("W303", f"    misread: {MISREAD}\n", "", "wait/in-company"),
    ("W303", MISREAD, '{entails: ["repeated(target)"]}', "no hypothesis of design"),
    ("E202", MISREAD, '{entails: ["got(agent, target)"], excludes: ["got(agent, target)"]}', "if it is misread"),
    ("E101", MISREAD, '{entails: ["gott(agent, target)"]}', "gott"),
    ("E101", MISREAD, '{entails: ["got(agent, targt)"]}', "targt"),
    ("E101", "    misread: {", '    unasked: ["gott(agent, target)"]\n    misread: {', "gott"),
    ("W301", "    misread: {", '    unasked: ["got(target, agent)"]\n    misread: {', "no hypothesis claims got(target, agent)"),
]


def found_in(folder, lexicon):
    return list(findings(load_construction(Project(folder), "reach", lexicon)))


def test_the_tests_own_construction_is_clean(mini, mini_lexicon):
    assert found_in(mini, mini_lexicon) == []


def test_a_kind_that_is_nowhere_is_told_where_scenes_are_judged(scratch):
    (scratch / "pipelines").symlink_to(ROOT / "pipelines")
    edit(scratch / "templates/resultative.yaml", "kinds: [x-result, x-had", "kinds: [x-resultx, x-had")
    project = Project(scratch)
    found = findings(load_construction(project, "resultative", Lexicon.of(project)))
    assert [finding.message for finding in found if finding.code == "E101"] == ["unknown kind 'x-resultx'"]


@pytest.mark.parametrize(("code", "old", "new", "said"), FAULTS)
def test_a_planted_fault_is_found_at_its_line(mini, mini_lexicon, code, old, new, said):
    path, table, lookalike = mini / "templates/reach.yaml", mini / "lexicons/scenes/reach.tsv", mini / "templates/wait.yaml"
    changed = lookalike if "misread: " in old or old == MISREAD else table if "@" in old and "{" not in old else path
    line = edit(changed, old, new)
    found = found_in(mini, Lexicon.of(Project(mini)))
    told = [finding.line for finding in found if finding.code == code and said in finding.message]
    assert told and (code[:2] == "E2" or code == "W303" or told[0] in range(line, line + new.count("\n") + 1))  # others: of several places
    assert code.startswith("E") or {finding.code for finding in found} == {code}
    assert all(finding.file.stem == changed.stem and finding.line > 1 and finding.hint for finding in found)


def test_a_noun_that_is_said_in_both_numbers_is_told(mini, mini_lexicon):
    line = edit(mini / "templates/reach.yaml", "target: {role: target,", "target: {role: target, number: plural,")
    assert not [finding for finding in found_in(mini, mini_lexicon) if finding.code == "W314"]
    edit(mini / "templates/reach.yaml", '"{agent} did get {target}."', '"{agent} did get {target:np}."')
    told = [(finding.line, finding.message) for finding in found_in(mini, mini_lexicon) if finding.code == "W314"]
    assert told == [(line, "{target:np} is singular in scene 'reach-things', other forms of target plural")]


def test_stated_forms_that_no_dictionary_has_are_told(tmp_path, cxgen):
    cxgen("new", "opening", cwd=tmp_path)
    (tmp_path / "lexicons/overrides.yaml").write_text("verb:\n  kick: {past: kack}\n  push: {past: pushed}\n", "utf-8")
    members = "[{lemma: keep, past: keeped, participle: kept}, {lemma: yeet, past: yote}]"
    template = tmp_path / "templates/opening.yaml"
    template.write_text(template.read_text("utf-8") + f"classes:\n  mine: {{pos: verb, gloss: x, members: {members}}}\n", "utf-8")
    found = json.loads(cxgen("check", "opening", "--json", cwd=tmp_path).stdout)
    line = len(template.read_text("utf-8").splitlines())
    told = {("lexicons/overrides.yaml", 2): "past of kick (verb) is 'kack' here, elsewhere kicked"}
    told["templates/opening.yaml", line] = "past of keep (verb) is 'keeped' here, elsewhere kept"
    assert {(row["file"], row["line"]): row["message"] for row in found if row["code"] == "W312"} == told


def test_a_stated_form_is_one_line(tmp_path, cxgen):
    cxgen("new", "opening", cwd=tmp_path)
    (tmp_path / "lexicons/overrides.yaml").write_text('verb:\n  kick: {past: "kicked\\n"}\n', "utf-8")
    told = cxgen("sample", "opening", cwd=tmp_path)
    assert (told.returncode, "overrides.yaml:2: 'kicked\\n' is no form of kick" in told.stderr) == (2, True), told.stderr


def test_forms_that_a_file_states_hold_for_its_scenes_whichever_sense_they_take(tmp_path, cxgen):
    """*Outride* is in WordNet: the scene's word is its sense, the class's a word of one's own."""
    cxgen("new", "opening", cwd=tmp_path)
    edit(tmp_path / "lexicons/scenes/opening.tsv", "kick | push", "outride | push")
    template = tmp_path / "templates/opening.yaml"
    said = "classes:\n  mine: {pos: verb, gloss: x, members: [{lemma: outride, past: outrode, participle: outridden}]}\n"
    assert "outrided" in cxgen("sample", "opening", "--n", 40, cwd=tmp_path).stdout
    template.write_text(template.read_text("utf-8") + said, "utf-8")
    out = cxgen("sample", "opening", "--n", 40, cwd=tmp_path).stdout
    assert "outrode" in out and "outrided" not in out


def test_of_many_unknown_words_the_first_get_suggestions_which_take_long(tmp_path, cxgen, monkeypatch):
    cxgen("new", "opening", cwd=tmp_path)
    edit(
        tmp_path / "lexicons/scenes/opening.tsv",
        " | hatch",
        "".join(f" | gaate{letter}x" for letter in "bcdfghjklmnpqrstvwxz") + " | nihgt",
    )
    edit(tmp_path / "lexicons/scenes/opening.tsv", "kick | push", "galumph | kick | push")  # which WordNet has, and wordfreq has not
    asked = []
    monkeypatch.setattr("cxgen.check.words.get_close_matches", lambda word, *_, **__: asked.append(word) or [])
    assert cxgen("check", "opening", cwd=tmp_path).stdout.count("W310") == 21
    assert len(asked) == 20


def test_new_words_are_announced_with_the_forms_of_verbs(tmp_path, cxgen):
    cxgen("new", "opening", cwd=tmp_path)
    table = tmp_path / "lexicons/scenes/opening.tsv"
    line = edit(table, "kick | push", "kick | tiktok | push")
    edit(table, " | hatch", " | nihgt")
    words = "nihgt (noun, not in WordNet), tiktok (verb, not in WordNet: tiktoks, tiktoking, tiktoked)"
    said = f"words that cxgen's lexicon has not, with forms from lemminflect (`classes:` can state others): {words}\n"
    found = cxgen("check", "opening", cwd=tmp_path)
    assert said in found.stderr and f"opening.tsv:{line}: W310 nihgt (noun) is in no word list (night?)" in found.stdout
    assert cxgen("sample", "opening", "--n", 1, cwd=tmp_path).stderr == said + "nihgt (noun) is in no word list (night?)\n"
    edit(table, "tiktok", "sang")
    edit(table, "nihgt", "nihgt~own | gate#2 | the gate | durm | quickly | latch. | Ltd.~own")
    listed = cxgen("check", "opening", cwd=tmp_path).stdout
    assert "nihgt" not in listed, "it is meant"
    assert "W310 sang (verb) is a form of *sing*" in listed
    assert "W310 gate#2 (noun) has '#' in it" in listed
    assert [said in listed for said in ("the gate (noun) begins with an article", "durm (noun) is not in WordNet")] == [True, True]
    assert "quickly (noun) is not in WordNet as a noun (quick or quicklime?)" in listed, "an adverb"
    assert ("W310 latch. (noun) is not in WordNet" in listed, "W310 Ltd." in listed) == (True, False)
    edit(table, "nihgt~own | gate#2 | the gate | durm | quickly | latch. | Ltd.~own", "gate, hatch")
    assert f"opening.tsv:{line}: column thing: 'gate, hatch' is no word" in cxgen("sample", "opening", cwd=tmp_path).stderr
    edit(table, "gate, hatch", "gate")
    edit(table, "sang | ", "")
    whole = "6 premises: the last set is not whole, --n 8 shows all of it\n"
    assert [cxgen("sample", "opening", "--n", n, cwd=tmp_path).stderr for n in (6, 8)] == [whole, ""]


def test_words_that_tell_labels_are_named(mini, cxgen):
    said = cxgen("check", "reach", cwd=mini).stderr
    assert "words tell 100% of the labels of nli (chance 33%):\n" in said
    assert "  outcome: *entirely*, *in*, *vain*: without is entailment 100%, with is contradiction 100% and 2 more\n" in said
    assert "words tell" not in cxgen("check", "caused-motion").stderr, "order alone decides"


def test_codes_are_listed_with_what_they_find_and_every_check_is_tested(cxgen):
    elsewhere = {"E106", "W305", "W307", "W308", "W310", "W312", "W314"}  # W310, W312, W314 above, the others in test_language
    assert set(CHECKS) == {code for code, *_ in FAULTS} | elsewhere
    listed = json.loads(cxgen("check", "--codes", "--format", "json").stdout)
    assert {row["code"] for row in listed} == {"E000", "W000", *CHECKS, *TREES}
    assert all(row["finds"] for row in listed)


def test_of_what_is_shipped_only_names_are_looked_at_before_a_preview(mini, mini_lexicon, monkeypatch):
    edit(mini / "templates/reach.yaml", "claim: not repeated(agent)", "claim: repeated(agent)")
    reach = load_construction(Project(mini), "reach", mini_lexicon)
    with pytest.raises(CxgenError, match="E204"):
        require_sound(reach)
    monkeypatch.setattr("cxgen.check.shipped_folder", lambda: mini)
    require_sound(reach)
    edit(mini / "templates/reach.yaml", "kinds: [missed, caught, twice", "kinds: [mised, caught, twice")
    with pytest.raises(CxgenError, match="E101"):
        require_sound(load_construction(Project(mini), "reach", mini_lexicon))
