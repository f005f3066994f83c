"""Asking a model for material (``cxgen ask``): words for a slot, sentences around given words. What comes back people decide on."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from cxgen.constructicon import Construction
from cxgen.errors import unknown
from cxgen.generate import sample_items
from cxgen.layout import REPLIES
from cxgen.lexicon import Lexicon
from cxgen.llm import Limits, Outcome
from cxgen.project import Project
from cxgen.stages import consult
from cxgen.vocabulary import INFLECTIONS, Role

GAP = "_____"
_FORMS = ("lemma", *INFLECTIONS)


def slot_questions(construction: Construction, slot: str, n: int, count: int, seed: int) -> dict[str, dict[str, str]]:
    """Premises with the filler of ``slot`` left open: premise id -> the fields of the prompt ``fill``.

    Args:
        n: how many premises at most; those that do not show the slot are passed over.
        count: words wanted for each.

    Raises:
        UnknownNameError: the construction has no such slot.
    """
    if slot not in construction.slots:
        raise unknown("slot", slot, construction.slots, file=construction.document.path)
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


def word_questions(construction: Construction, n: int, seed: int) -> dict[str, dict[str, str]]:
    """Seed lemmas for sentences of a model's own: premise id of the draw -> the fields of the prompt ``premise``.

    The seeds are the words of a draw that its scene brings, adjuncts left out: the verb and what it is said of.
    """
    items = sample_items(construction, seed, n, "nli").unique("premise_id", keep="first", maintain_order=True)
    asked: dict[str, dict[str, str]] = {}
    for item in items.filter(items["construction"] == construction.name).head(n).iter_rows(named=True):
        words = [each["lemma"] for each in item["slots"] if construction.slots[each["slot"]].from_frame and each["role"] != Role.modifier]
        described = {"construction": construction.title, "form": construction.form, "meaning": " ".join(construction.meaning.split())}
        asked[item["premise_id"]] = {**described, "words": ", ".join(dict.fromkeys(words))}
    return asked


def propose(
    project: Project, lexicon: Lexicon, task: str, asked: Mapping[str, Mapping[str, str]], model: str, base_url: str | None, limits: Limits
) -> tuple[list[dict[str, Any]], Outcome]:
    """Put ``asked`` to a model, one at a time; its proposals (see `proposals`), and how the run went.

    Args:
        project: whose prompts and kept replies.
        lexicon: the words that are known.
        task: ``fill`` or ``premise``.
        asked: id -> the fields of the task's prompt.
        model: its name.
        base_url: the server; None: OpenAI's own.
        limits: bounds of the run.

    Raises:
        BackendError: the run cannot go on; what was answered is kept.
    """
    cache = project.root / REPLIES
    consultation = consult.Consultation(models=(model,), tasks=(task,), base_url=base_url, per_request=1, limits=limits, cache=cache)
    backends = consult.connect(consultation, logprobs=False)
    (outcome,) = consult.ask(consultation, consult.load_prompts(project, [task]), {task: asked}, backends)
    return proposals(outcome, asked, lexicon), outcome


def proposals(outcome: Outcome, asked: Mapping[str, Mapping[str, str]], lexicon: Lexicon) -> list[dict[str, Any]]:
    """One row per proposed word or sentence.

    Returns:
        For ``fill``: ``sentence, filler, in_lexicon``; for ``premise``: ``words, sentence, words_used`` (whether each of the words, or its
        first four letters, occurs). What a model did not answer is left out.
    """
    known = {lemma.lower() for lemma in lexicon.lemmas}
    rows: list[dict[str, Any]] = []
    for judgment in outcome.judgments:
        shown = asked[judgment.item]
        if not judgment.value:
            continue
        if judgment.task == "fill":
            words = dict.fromkeys(word.lower() for word in json.loads(judgment.value))
            rows += [{"sentence": shown["sentence"], "filler": word, "in_lexicon": word in known} for word in words]
        else:
            text = judgment.value.lower()
            used = all(word[:4].lower() in text for word in shown["words"].split(", "))
            rows.append({"words": shown["words"], "sentence": judgment.value, "words_used": used})
    return rows
