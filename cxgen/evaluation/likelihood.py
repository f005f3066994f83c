"""Models of one's own machine, by what they find likely (transformers for models that continue texts, minicons for masked ones), or by the
head of a classifier."""

import math
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from enum import StrEnum
from importlib import import_module
from itertools import takewhile
from pathlib import Path
from typing import Any

from cxgen.errors import CxgenError, DataError, needs, some
from cxgen.families.scoring import Scoring
from cxgen.files import read_json
from cxgen.tables import one_line
from cxgen.vocabulary import UNDECIDED

Continued = tuple[str, tuple[str, list[str]]]  # an item's id, and its context with one continuation per answer
Counted = tuple[str, str, str]  # what is before the tokens that count, these, and what is after them
Likely = Callable[[Sequence[Counted]], list[float]]
# What is compared between answers: the sum of log p(token | before), or its mean (normalised); of masked models the sum of log p(token |
# all others) (pll_original, Salazar et al. 2020), or with the rest of the token's word masked, too (pll, Kauf and Ivanova 2023). CxMP (Oba
# and Sugawara 2026, section 4.1) takes normalised and pll_original of whole texts. A classifier of premise and hypothesis has its head.
Measure = StrEnum("Measure", ["likelihood", "normalised", "pll", "pll_original", "head"])
# Which tokens count: the answer's, the whole text's, or those of the words in which answers differ.
Unit = StrEnum("Unit", ["answer", "text", "word"])
# How transformers' classes end -> what such a model does, and the measures that are for it.
_KINDS = {
    "ForSequenceClassification": ("is a classifier of premise and hypothesis", (Measure.head,)),
    **dict.fromkeys(("ForMaskedLM", "ForPreTraining"), ("fills gaps", (Measure.pll, Measure.pll_original))),
    **dict.fromkeys(("ForCausalLM", "LMHeadModel"), ("continues texts", (Measure.likelihood, Measure.normalised))),
}
_ANY = ("is no classifier of premise and hypothesis", tuple(measure for measure in Measure if measure is not Measure.head))
_TRIED = "The dog is there."  # of which every tokenizer of English knows a part
_WHOLE = "name the model as it was pretrained, with its last layer; an encoder without one: recipes/probe or recipes/finetune"
_LABELS = "say what its outputs stand for, in their order (see its model card): --labels entailment,neutral,contradiction"
_THREE = "three labels are scored: recipes/finetune gives it an output for each, recipes.results.classify sets bounds between them"
_PLL = {Measure.pll: "within_word_l2r", Measure.pll_original: "original"}  # what minicons calls them


def predictions(
    path: str,
    items: list[Continued],
    scoring: Scoring,
    *,
    measure: Measure = Measure.likelihood,
    unit: Unit = Unit.answer,
    batch: int = 16,
    labels: Sequence[str] = (),
) -> Iterator[dict[str, Any]]:
    """What the model in a folder finds likeliest of ``items``: id, and (context, one continuation per answer; for a head premise and
    hypothesis): ``id, label`` (undecided for a tie), and the measure of every answer, where the family's numbers are probabilities its
    softmax. ``batch``: texts at a time; ``labels``: what a head's outputs stand for, if its own names do not say so."""
    require_fit(path, measure)
    with needs("models of one's own machine need the packages torch, transformers and minicons", "hf"):
        _, _, transformers = (import_module(package) for package in ("minicons", "torch", "transformers"))
    transformers.logging.set_verbosity_error()  # what is wrong with a model is told here, once
    if not sys.stderr.isatty():
        transformers.logging.disable_progress_bar()
    try:
        if measure is Measure.head:
            likely = _headed(path, scoring.answers, labels)
        elif measure in _PLL:
            likely = _masked(path, _PLL[measure])
        else:
            likely = _causal(path, normalised=measure is Measure.normalised)
    except CxgenError:
        raise
    except Exception as error:  # libraries raise what they like about damaged files
        raise CxgenError(f"no model at {path}: {one_line(error)}", hint="hf:FOLDER with config.json, weights, tokenizer") from error
    width = len(scoring.answers)
    per_step = max(1, batch // len(items[0][1][1]))
    for start in range(0, len(items), per_step):
        step = items[start : start + per_step]
        try:
            values = likely([text for _, (context, answers) in step for text in _counted(context, answers, unit)])
        except IndexError as error:
            raise CxgenError(f"{path}: its tokenizer has tokens that the model has not", hint="is it that of another model?") from error
        for number, (name, _) in enumerate(step):
            own = values[number * width : (number + 1) * width]
            best = [answer for answer, value in zip(scoring.answers, own, strict=True) if value == max(own)]
            if scoring.probabilities:
                weights = [math.exp(value - max(own)) for value in own]
                own = [weight / sum(weights) for weight in weights]
            numbers = dict(zip(scoring.answers, (round(value, 6) for value in own), strict=True))
            yield {"id": name, "label": best[0] if len(best) == 1 else UNDECIDED, **numbers}


def _counted(context: str, answers: Sequence[str], unit: Unit) -> list[Counted]:
    if unit is Unit.answer:
        return [(context, answer, "") for answer in answers]
    if unit is Unit.text:
        return [("", context + answer, "") for answer in answers]
    words = [answer.split(" ") for answer in answers]
    most = min(map(len, words)) - 1
    before = min(most, _shared(words))
    after = min(most - before, _shared([own[::-1] for own in words]))
    cut = [(own[:before], own[before : len(own) - after], own[len(own) - after :]) for own in words]
    return [(context + " ".join(first), " " * bool(first) + " ".join(own), " " * bool(last) + " ".join(last)) for first, own, last in cut]


def _loaded(kind: Any, path: str) -> tuple[Any, Any]:
    """A model of a kind, of which no weight would be made anew, on the GPU if there is one, and its tokenizer."""
    import torch
    from transformers import AutoTokenizer

    local, device = Path(path).is_dir(), "cuda" if torch.cuda.is_available() else "cpu"
    exact = {} if device == "cuda" else {"dtype": torch.float32}  # in bfloat16, what is beside an item in its batch shows
    model, told = kind.from_pretrained(path, local_files_only=local, output_loading_info=True, **exact)
    if lacking := sorted({*told["missing_keys"]} & {name for name, _ in model.named_parameters()}):
        raise CxgenError(f"{path} is not a whole model, its answers would be random: it has no {some(lacking, 3)}", hint=_WHOLE)
    tokenizer = AutoTokenizer.from_pretrained(path, local_files_only=local)
    if {*tokenizer(_TRIED, add_special_tokens=False)["input_ids"]} <= {tokenizer.unk_token_id}:  # transformers makes an empty one
        raise CxgenError(
            f"{path} has no tokenizer that knows a word", hint="copy tokenizer.json etc. there from the model that it began as"
        )
    return model.eval().to(device), tokenizer


def _causal(path: str, *, normalised: bool) -> Likely:
    """A model that continues texts; what is after the tokens that count is not seen."""
    import torch
    from transformers import AutoModelForCausalLM

    model, tokenizer = _loaded(AutoModelForCausalLM, path)
    special = (tokenizer.bos_token_id, tokenizer.eos_token_id)
    start = [token for token in special if token is not None][:1]
    padded = torch.nn.utils.rnn.pad_sequence

    def likely(texts: Sequence[Counted]) -> list[float]:
        rows = []  # of each text the tokens, and from which one on they count: the first that is not the context's own
        for context, text, _ in texts:
            before, whole = (list(tokenizer(part, add_special_tokens=False)["input_ids"]) for part in (context, context + text))
            tokens = [*start, *whole]
            _require_room(len(tokens), model)
            rows.append((tokens, max(1, _first_new(before, whole) + len(start))))  # nothing says how likely the very first token is
        ids = padded([torch.tensor(tokens) for tokens, _ in rows], batch_first=True)
        mask = padded([torch.ones(len(tokens), dtype=torch.int64) for tokens, _ in rows], batch_first=True)
        with torch.no_grad():
            logits = model(ids.to(model.device), attention_mask=mask.to(model.device)).logits
        sums = []
        for row, (tokens, first) in enumerate(rows):  # position i - 1 says what is likely at position i
            values = torch.log_softmax(logits[row, first - 1 : len(tokens) - 1].float(), dim=-1).cpu()
            values = values.gather(1, ids[row, first : len(tokens)].unsqueeze(1))
            sums.append(float(values.mean() if normalised else values.sum()))
        return sums

    return likely


def _masked(path: str, metric: str) -> Likely:
    """A model that fills gaps. Texts are encoded here: minicons' own way asks for a method that tokenizers of transformers 5 lack."""
    from minicons.scorer import MaskedLMScorer
    from transformers import AutoModelForMaskedLM

    model, tokenizer = _loaded(AutoModelForMaskedLM, path)
    scorer: Any = MaskedLMScorer(model, str(model.device), tokenizer=tokenizer)

    def likely(texts: Sequence[Counted]) -> list[float]:
        encoded = scorer.tokenizer(["".join(text) for text in texts], padding=True)
        starts, counts = [], []
        for number, (context, text, after) in enumerate(texts):
            _require_room(sum(encoded["attention_mask"][number]), scorer.model)
            whole = encoded["input_ids"][number]
            starts.append(_first_new(scorer.tokenizer(context)["input_ids"], whole))
            counts.append(_first_new(scorer.tokenizer(context + text)["input_ids"], whole) - starts[-1] if after else None)
        masked = scorer.get_masked_tensors(encoded, metric, targets_start=starts)
        values = scorer.compute_stats(masked, return_tensors=True)
        return [float(own[:count].sum()) for own, count in zip(values, counts, strict=True)]

    return likely


def measures_for(path: str) -> tuple[str, tuple[Measure, ...]]:
    """What the model in a folder does, by the class that its config.json names, and the measures that are for it."""
    with suppress(CxgenError, LookupError, TypeError, AttributeError, StopIteration):  # which is told where the model is loaded
        names = read_json(Path(path) / "config.json")["architectures"]
        return next(kind for end, kind in _KINDS.items() if any(name.endswith(end) for name in names))
    return _ANY


def require_fit(path: str, measure: Measure) -> None:
    """See that a measure is for what the model in a folder does."""
    does, measures = measures_for(path)
    if measure not in measures:
        raise CxgenError(f"{path} {does}, and --measure {measure} is for others", hint=f"--measure {' or '.join(measures)}")


def head_labels(path: str, answers: Sequence[str], labels: Sequence[str]) -> list[str]:
    """What the outputs of the classifier in a folder stand for, in their order: its config.json says it, or the user's ``labels``.
    CxgenError: that is not one of each of ``answers``."""
    file = Path(path) / "config.json"
    try:
        named = read_json(file).get("id2label") or {"0": "label_0", "1": "label_1"}  # transformers' default
        names = [name.strip().lower() for name in labels or (named[place] for place in sorted(named, key=int))]
    except (AttributeError, TypeError, ValueError) as error:
        raise DataError("id2label is no mapping of numbers to names", file=file, hint=_LABELS) from error
    if sorted(names) != sorted(answers) or len(named) != len(names):
        hint = _LABELS if len(named) == len(answers) else _THREE
        raise CxgenError(f"{path} has {len(named)} outputs, here called {', '.join(names)}", hint=hint)
    return names


def _headed(path: str, answers: Sequence[str], labels: Sequence[str]) -> Likely:
    """A classifier of premise and hypothesis: its logits, of each text one per answer."""
    import torch
    from transformers import AutoModelForSequenceClassification

    names = head_labels(path, answers, labels)
    model, tokenizer = _loaded(AutoModelForSequenceClassification, path)
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token
    model.config.pad_token_id = tokenizer.pad_token_id

    def likely(texts: Sequence[Counted]) -> list[float]:
        premises, hypotheses, _ = zip(*texts, strict=True)
        encoded = tokenizer(list(premises), list(hypotheses), padding=True, return_tensors="pt")
        _require_room(encoded["input_ids"].shape[1], model)
        with torch.no_grad():
            logits = model(**encoded.to(model.device)).logits.float().cpu()
        return [float(logit) for logit in logits[:, [names.index(answer) for answer in answers]].flatten()]

    return likely


def _shared(sequences: Sequence[Sequence[Any]]) -> int:
    """How many members sequences share from their start on."""
    return sum(1 for _ in takewhile(lambda column: len({*column}) == 1, zip(*sequences, strict=False)))


def _first_new(before: Sequence[int], whole: Sequence[int]) -> int:
    """Where a text leaves that of its context, in tokens: at the latest, at its last one."""
    return min(_shared([before, whole]), len(whole) - 1)


def _require_room(tokens: int, model: Any) -> None:
    most = getattr(model.config, "max_position_embeddings", None) or math.inf
    if tokens > most:
        raise DataError(f"a text of {tokens} tokens, and the model takes {most}", hint="fewer --shots make texts shorter")
