"""Models of one's own machine, by what they find likely: transformers for models that continue texts, minicons for masked ones."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Any

from cxgen.errors import CxgenError, DataError, needs
from cxgen.families.scoring import Scoring
from cxgen.tables import one_line
from cxgen.vocabulary import UNDECIDED

_NEED = "models of one's own machine need the packages torch, transformers and minicons"
Counted = tuple[str, str, str]  # what is before the tokens that count, these, and what is after them


class Measure(StrEnum):
    """What of a model's probabilities is compared between the answers.

    ``likelihood``: sum_i log p(t_i | before), over the tokens of an answer. ``normalised``: the same divided by their number, so
    that long answers are not worse for being long. ``pll_original``, for masked models: the sum of log p(t_i | all others) (Salazar et al.
    2020, "Masked language model scoring"). ``pll``: the same with the tokens to the right in t_i's own word masked as well (Kauf and
    Ivanova 2023, "A better way to do masked language model scoring").

    CxMP (Oba and Sugawara 2026, section 4.1 and appendix E) takes ``normalised`` and ``pll_original`` of whole texts.
    """

    likelihood = "likelihood"
    normalised = "normalised"
    pll = "pll"
    pll_original = "pll_original"


_PLL = {Measure.pll: "within_word_l2r", Measure.pll_original: "original"}  # what minicons calls them


class Unit(StrEnum):
    """Which tokens count: those of what follows (given what is before it), those of the whole text, or those of the words in which the
    answers differ (given what is before them; by masked models, what is after them as well).
    """

    answer = "answer"
    text = "text"
    word = "word"


def predictions(
    path: str,
    items: Sequence[tuple[str, tuple[str, list[str]]]],
    scoring: Scoring,
    *,
    measure: Measure = Measure.likelihood,
    unit: Unit = Unit.answer,
    batch: int = 16,
) -> Iterator[dict[str, Any]]:
    """What a model finds the likeliest answer to each item.

    Args:
        path: folder of the model and its tokenizer, or a name that transformers knows.
        items: id, and (context, one continuation per answer).
        scoring: the family's.
        measure, unit: what is compared.
        batch: texts at a time.

    Yields:
        A prediction per item: ``id, label`` (undecided for a tie), and a number per answer: the measure, where the family's numbers are
        probabilities made into such (softmax over the answers).

    Raises:
        CxgenError: there is no such model.
        DataError: a text is longer than it takes, or packages are missing.
    """
    with needs(_NEED, "hf"):
        import minicons  # noqa: F401
        import torch  # noqa: F401
        import transformers  # noqa: F401
    width = len(scoring.answers)
    try:
        model = _Masked(path, _PLL[measure]) if measure in _PLL else _Causal(path, normalised=measure is Measure.normalised)
    except (OSError, ValueError, KeyError) as error:
        hint = "hf:FOLDER with config.json, weights, tokenizer; masked models: --measure pll"
        raise CxgenError(f"no model at {path}: {one_line(error)}", hint=hint) from error
    per_step = max(1, batch // width)
    for start in range(0, len(items), per_step):
        step = items[start : start + per_step]
        values = model.scores([text for _, (context, answers) in step for text in _counted(context, answers, unit)])
        for number, (name, _) in enumerate(step):
            yield _prediction(name, values[number * width : (number + 1) * width], scoring)


def _counted(context: str, answers: Sequence[str], unit: Unit) -> list[Counted]:
    """Of every answer: what is before the tokens that count, these, and what is after them."""
    if unit is Unit.answer:
        return [(context, answer, "") for answer in answers]
    if unit is Unit.text:
        return [("", context + answer, "") for answer in answers]
    words = [answer.split(" ") for answer in answers]
    most = min(map(len, words)) - 1
    before = next((place for place in range(most) if len({own[place] for own in words}) > 1), most)
    after = next((place for place in range(most - before) if len({own[-1 - place] for own in words}) > 1), most - before)
    cut = [(own[:before], own[before : len(own) - after], own[len(own) - after :]) for own in words]
    return [(context + " ".join(first), " " * bool(first) + " ".join(own), " " * bool(last) + " ".join(last)) for first, own, last in cut]


def _prediction(name: str, values: Sequence[float], scoring: Scoring) -> dict[str, Any]:
    """The prediction that scores of the answers make."""
    best = [answer for answer, value in zip(scoring.answers, values, strict=True) if value == max(values)]
    if scoring.probabilities:
        weights = [math.exp(value - max(values)) for value in values]
        values = [weight / sum(weights) for weight in weights]
    numbers = dict(zip(scoring.answers, (round(value, 6) for value in values), strict=True))
    return {"id": name, "label": best[0] if len(best) == 1 else UNDECIDED, **numbers}


def _device() -> str:
    import torch

    return "cuda" if torch.cuda.is_available() else "cpu"


class _Causal:
    """A model that continues texts."""

    def __init__(self, path: str, *, normalised: bool) -> None:
        from transformers import AutoModelForCausalLM, AutoTokenizer

        self._normalised, local = normalised, Path(path).is_dir()
        self._tokenizer: Any = AutoTokenizer.from_pretrained(path, local_files_only=local)
        self._model: Any = AutoModelForCausalLM.from_pretrained(path, local_files_only=local).eval().to(_device())
        first = self._tokenizer.bos_token_id
        self._first = self._tokenizer.eos_token_id if first is None else first

    def scores(self, texts: Sequence[Counted]) -> list[float]:
        """The measure of each text's middle; what is after it is not seen."""
        import torch

        encoded = [self._encoded(context, text) for context, text, _ in texts]
        ids = torch.nn.utils.rnn.pad_sequence([torch.tensor(tokens) for tokens, _ in encoded], batch_first=True)
        mask = torch.nn.utils.rnn.pad_sequence([torch.ones(len(tokens), dtype=torch.int64) for tokens, _ in encoded], batch_first=True)
        with torch.no_grad():
            logits = self._model(ids.to(_device()), attention_mask=mask.to(_device())).logits
        sums = []
        for row, (tokens, start) in enumerate(encoded):
            # Position i - 1 says what is likely at position i.
            likely = torch.log_softmax(logits[row, start - 1 : len(tokens) - 1].float(), dim=-1).cpu()
            values = likely.gather(1, ids[row, start : len(tokens)].unsqueeze(1))
            sums.append(float(values.mean() if self._normalised else values.sum()))
        return sums

    def _encoded(self, context: str, text: str) -> tuple[list[int], int]:
        """The tokens of the whole, and from which one on they count: the first that is not the context's own."""
        before, whole = (list(self._tokenizer(part, add_special_tokens=False)["input_ids"]) for part in (context, context + text))
        tokens = whole if self._first is None else [self._first, *whole]
        start = max(1, _first_new(before, whole) + len(tokens) - len(whole))  # nothing says how likely the very first token is
        _require_room(len(tokens), self._model)
        return tokens, start


class _Masked:
    """A model that fills gaps."""

    def __init__(self, path: str, metric: str) -> None:
        from minicons.scorer import MaskedLMScorer

        self._metric = metric
        self._scorer: Any = MaskedLMScorer(path, _device())

    def scores(self, texts: Sequence[Counted]) -> list[float]:
        """The pseudo-log-likelihood of each text's middle."""
        # Encoded here: minicons' own way asks for a method that tokenizers of transformers 5 no longer have.
        tokenizer = self._scorer.tokenizer
        encoded = tokenizer(["".join(text) for text in texts], padding=True)
        starts, counts = [], []
        for number, (context, text, after) in enumerate(texts):
            _require_room(sum(encoded["attention_mask"][number]), self._scorer.model)
            whole = encoded["input_ids"][number]
            starts.append(_first_new(tokenizer(context)["input_ids"], whole))
            counts.append(_first_new(tokenizer(context + text)["input_ids"], whole) - starts[-1] if after else None)
        masked = self._scorer.get_masked_tensors(encoded, self._metric, targets_start=starts)
        values = self._scorer.compute_stats(masked, return_tensors=True)
        return [float(own[:count].sum()) for own, count in zip(values, counts, strict=True)]


def _first_new(before: Sequence[int], whole: Sequence[int]) -> int:
    """Where a text leaves that of its context, in tokens: at the latest, at its last one."""
    shared = zip(before, whole, strict=False)
    return next((place for place, (one, other) in enumerate(shared) if one != other), min(len(before), len(whole) - 1))


def _require_room(tokens: int, model: Any) -> None:
    most = getattr(model.config, "max_position_embeddings", None) or math.inf
    if tokens > most:
        raise DataError(f"a text of {tokens} tokens, and the model takes {most}", hint="fewer --shots make texts shorter")
