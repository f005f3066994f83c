"""The registry of checks, and how to run them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial

from cxgen.check import contents, evenness, items, references, style
from cxgen.check.finding import Finding
from cxgen.check.trees import TREES, Trees
from cxgen.constructicon import Construction
from cxgen.constructicon.words import unknown_words
from cxgen.errors import CxgenError
from cxgen.project import shipped_folder
from cxgen.trees import Chunks

Check = Callable[[Construction], Iterable[Finding]]

# In order: what a later check looks at is sound by the earlier ones.
CHECKS: dict[str, Check] = {
    "E101": references.unknown_slot,
    "E102": references.unknown_form,
    "E103": references.unknown_binding,
    "E104": references.unknown_name,
    "E105": references.unknown_predicate,
    "E106": references.unread_frame_slot,
    "E107": references.uneven_predicate,
    "E108": references.circular_slots,
    "E109": references.optional_verb,
    "E111": references.unfit_square,
    "E201": contents.unfillable_slot,
    "E202": contents.contradictory_facts,
    "E203": contents.one_label_hypothesis,
    "E204": contents.unbalanced_design,
    "E206": contents.same_sentence,
    "E207": items.repeated_words,
    "E208": items.faulty_items,
    "W301": style.unused_slot,
    "W302": style.duplicate_surface,
    "W303": style.missing_lookalike,
    "W304": style.few_templates,
    "W305": style.unmentioned_noun,
    "W306": style.unused_part,
    "W307": style.stray_mark,
    "W308": evenness.uneven_kinds,
    "W309": style.missing_misreading,
}


def lint(construction: Construction, skip: frozenset[str] = frozenset(), chunks: Chunks | None = None) -> Iterator[Finding]:
    """Every finding but those of the codes ``skip``, errors first; a check that earlier errors make meaningless is left out.

    Args:
        construction: what to check.
        skip: codes not to look for.
        chunks: the annotated closed-class words; without them the trees (E4xx) are not checked.
    """
    failed = ""
    checks = {code: partial(check, construction) for code, check in CHECKS.items()}
    if chunks is not None:
        trees = Trees(construction, chunks)
        checks |= {code: partial(check, trees) for code, check in TREES.items()}
    for code, run in sorted(checks.items()):
        if failed and code[1] > failed:
            return
        if code in skip:
            continue
        for finding in run():
            if code.startswith("E"):
                failed = code[1]
            yield finding


def require_sound(construction: Construction, codes: str = "E") -> None:
    """Raise the first error before anything is drawn: of a user's own construction any, of a shipped one only names (E1).

    The rest of what is shipped is left to `cxgen check`, and so is E208, which draws items. Of E201 only unknown words are looked for: the
    generator says the rest.

    Args:
        codes: only codes that begin so: ``E1`` for names that refer to something.

    Raises:
        CxgenError: the first error.
    """
    if codes == "E":
        for error in unknown_words(construction):
            raise error
    shipped = all(document.path.is_relative_to(shipped_folder()) for document in construction.documents)
    skip = frozenset(code for code in CHECKS if not code.startswith("E1" if shipped else codes) or code in {"E201", "E208"})
    for finding in lint(construction, skip):
        raise CxgenError(f"{finding.code} {finding.message}", file=finding.file, line=finding.line, hint=finding.hint)
