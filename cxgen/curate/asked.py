"""Asking a model for words (``cxgen ask``). What comes back people decide on."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from cxgen.asking import Consultation, Limits, Outcome, consult
from cxgen.build.preview import sample_items
from cxgen.constructicon import Construction
from cxgen.errors import unknown
from cxgen.lexicon import Lexicon
from cxgen.project import Project
from cxgen.vocabulary import INFLECTIONS

GAP = "_____"
_TASK = "fill"
_FORMS = ("lemma", *INFLECTIONS)


def slot_questions(construction: Construction, slot: str, n: int, count: int, seed: int, frame: str = "") -> dict[str, dict[str, str]]:
    """Premises with the filler of ``slot`` left open: premise id -> the fields of the prompt ``fill``.

    Args:
        n: how many premises at most; those that do not show the slot are passed over.
        count: words wanted for each.
        frame: only premises with words of this frame.

    Raises:
        UnknownNameError: the construction has no such slot or frame.
    """
    if frame and frame not in {each.name for each in construction.frames}:
        raise unknown("frame", frame, [each.name for each in construction.frames], file=construction.document.path)
    if slot not in construction.slots:
        raise unknown("slot", slot, construction.slots, file=construction.document.path)
    if frame:  # the scene is drawn alone, so that it need not be met by chance
        construction = replace(construction, frames=tuple(each for each in construction.frames if each.name == frame))
        designs = {name: each for name, each in construction.designs.items() if each.frames in construction.frames[0].designs}
        construction = replace(construction, designs=designs)
    items = sample_items(construction, seed, n, "nli").unique("premise_id", keep="first", maintain_order=True)
    role = construction.slots[slot].role
    asked: dict[str, dict[str, str]] = {}
    for item in items.filter(items["construction"] == construction.name).iter_rows(named=True):
        filler = next((each for each in item["slots"] if each["slot"] == slot), None)
        sentence = _blanked(item["premise"], construction.lexicon, filler) if filler else None
        if sentence is None:
            continue
        described = {"construction": construction.title, "meaning": " ".join(construction.meaning.split())}
        asked[item["premise_id"]] = {**described, "sentence": sentence, "gap": f"the {role}", "count": str(count)}
        if len(asked) == n:
            break
    return asked


def _blanked(premise: str, lexicon: Lexicon, filler: Mapping[str, Any]) -> str | None:
    """``premise`` with the filler, in whatever form it has, replaced by underscores; None if it is not to be found."""
    row = lexicon.index.get(filler["sense"] or "")
    forms = {filler["lemma"]} if row is None else {str(lexicon.table[name][row]) for name in _FORMS if lexicon.table[name][row]}
    found = re.search(rf"\b({'|'.join(re.escape(form) for form in sorted(forms, key=len, reverse=True))})\b", premise)
    return premise[: found.start()] + GAP + premise[found.end() :] if found else None


def propose(
    project: Project, lexicon: Lexicon, asked: Mapping[str, Mapping[str, str]], model: str, base_url: str | None, limits: Limits
) -> tuple[list[dict[str, Any]], Outcome]:
    """Put ``asked`` to a model, one at a time; its proposals (see `proposals`), and how the run went.

    Args:
        project: whose prompts and kept replies.
        lexicon: the words that are known.
        asked: id -> the fields of the prompt ``fill``.
        model: its name.
        base_url: the server; None: OpenAI's own.
        limits: bounds of the run.

    Raises:
        BackendError: the run cannot go on; what was answered is kept.
    """
    consultation = Consultation(models=(model,), tasks=(_TASK,), base_url=base_url, per_request=1, limits=limits).bounded(project)
    (outcome,) = consult.ask(consultation, consult.load_prompts(project, [_TASK]), {_TASK: asked}, logprobs=False)
    return proposals(outcome, asked, lexicon), outcome


def proposals(outcome: Outcome, asked: Mapping[str, Mapping[str, str]], lexicon: Lexicon) -> list[dict[str, Any]]:
    """One row per proposed word: ``sentence, filler, in_lexicon``. What a model did not answer is left out."""
    known = {lemma.lower() for lemma in lexicon.lemmas}
    rows: list[dict[str, Any]] = []
    for judgment in outcome.judgments:
        words = dict.fromkeys(word.lower() for word in json.loads(judgment.value or "[]"))
        sentence = asked[judgment.item]["sentence"]
        rows += [{"sentence": sentence, "filler": word, "in_lexicon": word in known} for word in words]
    return rows


def accepted(found: Iterable[Mapping[str, Any]], chosen: Sequence[str]) -> list[str]:
    """The proposed words that were ``chosen`` by name, or all.

    Raises:
        UnknownNameError: one of them was not proposed.
    """
    proposed = list(dict.fromkeys(row["filler"] for row in found))
    if "all" in chosen:
        return proposed
    for word in chosen:
        if word.lower() not in proposed:
            raise unknown("proposal", word, proposed)
    return [word.lower() for word in chosen]
