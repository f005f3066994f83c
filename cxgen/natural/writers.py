"""Contrast sets from a writer (``cxgen elicit``): asked for, and checked. What judges then say of them: `cxgen.natural.judged`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from cxgen.asking import Budget, Consultation, Outcome, Prompt, consult
from cxgen.asking.calls import items_in, read_requests
from cxgen.constructicon import Construction
from cxgen.errors import DataError
from cxgen.natural import Asked, Written, asked, check, shape_of
from cxgen.natural.words import Fillers
from cxgen.project import Project
from cxgen.schema import read_yaml
from cxgen.vocabulary import WRITING


@dataclass(frozen=True)
class Answer:
    """What came of a set that was asked for.

    Attributes:
        asked: the set.
        written: what was written, if it is sound.
        faults: why it is not; or why there is none.
        text: the answer, as JSON; empty if there is none.
        model: who answered, by its own account, or by the run's.
        prompt: content hash of the prompt.
        acceptability, judgments: what the judges say: kind -> verdict, kind -> judgments; empty if none was asked.
    """

    asked: Asked
    written: Written | None
    faults: tuple[str, ...]
    text: str
    model: str
    prompt: str
    acceptability: dict[str, str] = field(default_factory=dict)
    judgments: dict[str, list[dict[str, str]]] = field(default_factory=dict)


@dataclass(frozen=True)
class Elicitation:
    """Sets to be asked for, with what they are asked with.

    Attributes:
        construction: whose.
        sets: id -> the set.
        prompts: job (prompt and design) -> wording.
        shown: job -> id -> field -> text.
    """

    construction: Construction
    sets: dict[str, Asked]
    prompts: dict[str, Prompt]
    shown: dict[str, dict[str, Mapping[str, str]]]

    @classmethod
    def of(cls, project: Project, construction: Construction, sets: Iterable[Asked]) -> Elicitation:
        """With the prompts of ``project``."""
        listed = {wanted.id: wanted for wanted in sets}
        wordings = consult.load_prompts(project, WRITING)
        prompts: dict[str, Prompt] = {}
        shown: dict[str, dict[str, Mapping[str, str]]] = {}
        for name, wanted in listed.items():
            job = f"{wanted.task}/{wanted.design}"
            prompts[job] = replace(wordings[wanted.task], shape=shape_of(construction, construction.natural[wanted.design]))
            shown.setdefault(job, {})[name] = wanted.fields
        return cls(construction, listed, prompts, shown)

    def consulting(self, project: Project, consultation: Consultation) -> Consultation:
        """``consultation`` about these sets, one a request.

        Raises:
            CxgenError: see `Consultation.bounded`.
        """
        return replace(consultation, tasks=tuple(self.prompts), per_request=1).bounded(project)


def of_numbers(project: Project, construction: Construction, seed: int, start: int, count: int) -> Elicitation:
    """The sets of these numbers; see `asked`."""
    return Elicitation.of(project, construction, asked(construction, seed, start, count))


def of_requests(project: Project, construction: Construction, path: Path) -> Elicitation:
    """The sets that a file of requests asks for, of ``construction``: as they were asked for, whatever would be asked for today.

    Raises:
        DataError: there is no such file, none is of the construction, or one was made with another wording of the prompts.
    """
    wordings = {prompt.system: task for task, prompt in consult.load_prompts(project, WRITING).items()}
    sets = []
    for number, (system, user) in enumerate(read_requests(path), 1):
        fields = items_in(user)[0] if len(items_in(user)) == 1 else {}
        asked_for = str(fields.pop("id", ""))
        name, design, *_ = [*asked_for.split("."), ""]
        if name != construction.name:
            continue
        if system not in wordings or design not in construction.natural:
            other = "prompts" if system not in wordings else construction.document.path.name
            hint = f"restore {other}, or write the requests anew"
            raise DataError(f"a request that {other} would not make any more", file=path, line=number, hint=hint)
        sets.append(Asked(asked_for, design, wordings[system], {key: str(value) for key, value in fields.items()}))
    if not sets:
        hint = "write some: `cxgen elicit ... --backend file --out FILE`"
        raise DataError(f"no request for sets of {construction.name}", file=path, hint=hint)
    return Elicitation.of(project, construction, sets)


def run(project: Project, elicitation: Elicitation, consultation: Consultation, budget: Budget) -> tuple[list[Answer], list[Outcome]]:
    """Ask for the sets and check what comes; the answers in the sets' order, and how each run went.

    Raises:
        BackendError: the run cannot go on; what was answered is kept.
    """
    asking = elicitation.consulting(project, consultation)
    outcomes = consult.ask(asking, elicitation.prompts, elicitation.shown, budget=budget, logprobs=False)
    look_up, refused = Fillers(elicitation.construction), refused_words(project)
    found: dict[str, Answer] = {}
    for judgment in (judgment for outcome in outcomes for judgment in outcome.judgments):
        each = elicitation.sets[judgment.item]
        result = check(elicitation.construction, each, judgment.value, look_up, refused) if judgment.value else [judgment.reason]
        written, faults = (result, ()) if isinstance(result, Written) else (None, tuple(result))
        found[each.id] = Answer(each, written, faults, judgment.value, judgment.model or judgment.judge, judgment.prompt)
    look_up.save()
    return [found[name] for name in elicitation.sets], outcomes


def refused_words(project: Project) -> frozenset[str]:
    """The lemmas that no sentence may have: the shipped ones and the project's own.

    Raises:
        SchemaError: a file breaks its schema.
    """
    folders = [project.lexicons, *([project.own_lexicons] if project.own_lexicons else [])]
    files = [path for folder in folders if (path := folder / "refused.yaml").exists()]
    return frozenset(word for path in files for word in read_yaml(path, "refused").data["words"])


def table(answers: Iterable[Answer]) -> list[dict[str, Any]]:
    """A row per set: ``set, prompt, verdict`` (sound, accepted by the judges, refused, none), ``reasons``."""
    rows = []
    for answer in answers:
        good = "judged" if answer.judgments else "sound"
        verdict = good if answer.written else "refused" if answer.text else "none"
        rows.append({"set": answer.asked.id, "prompt": answer.asked.task, "verdict": verdict, "reasons": "; ".join(answer.faults)})
    return rows
