"""A classifier with low-rank updates: transformers' model for sequences with peft's adapters, and one head or one per construction.

Heads are slices of one linear layer: with K heads it has 3 K outputs, and an item's answer is read off the three of its construction.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cxgen.errors import CxgenError
from cxgen.vocabulary import LABELS
from recipes.finetune.settings import Lora
from recipes.shared import is_local, loading

WIDTH = len(LABELS)
_HEADS = {"classifier", "score"}  # what peft trains and saves by itself
Floats = NDArray[np.float64]


def build(name: str, lora: Lora, heads: int, seed: int) -> tuple[Any, Any]:
    """The model, with adapters and new heads, and its tokenizer; the same for the same seed.

    Args:
        name: a folder, or a name on the Hub.
        lora: the adapters.
        heads: how many.
        seed: of what is new in it.

    Raises:
        CxgenError: it cannot be loaded, or has no such layers or matrices.
    """
    with loading(name):
        from transformers import AutoModelForSequenceClassification, AutoTokenizer, set_seed

        set_seed(seed)
        local = {"local_files_only": is_local(name)}
        tokenizer: Any = AutoTokenizer.from_pretrained(name, **local)
        if tokenizer.pad_token_id is None:
            tokenizer.pad_token = tokenizer.eos_token or tokenizer.unk_token
        options = {"num_labels": WIDTH * heads, "ignore_mismatched_sizes": True, "output_loading_info": True, **local}
        model, told = AutoModelForSequenceClassification.from_pretrained(name, **options)
        model.config.pad_token_id = tokenizer.pad_token_id
    return _adapted(model, name, lora, _new_modules(told)), tokenizer


def _new_modules(told: dict[str, Any]) -> list[str]:
    """Modules with weights that the model's files do not have, beside the head: they are trained and saved whole."""
    keys = [*told["missing_keys"], *(mismatch[0] for mismatch in told["mismatched_keys"])]
    modules = {key.rpartition(".")[0] for key in keys}
    return sorted(module for module in modules if not _HEADS & set(module.split(".")))


def _adapted(model: Any, name: str, lora: Lora, new: list[str]) -> Any:
    from peft import LoraConfig, TaskType, get_peft_model

    config = LoraConfig(
        task_type=TaskType.SEQ_CLS,
        r=lora.r,
        lora_alpha=lora.alpha,
        lora_dropout=lora.dropout,
        target_modules=None if lora.modules is None else list(lora.modules),
        layers_to_transform=layers(lora.layers, model.config.num_hidden_layers, name),
        modules_to_save=new,
    )
    try:
        return get_peft_model(model, config)
    except ValueError as error:
        said = " ".join(str(error).split())[:200]
        matrices = sorted({place.rpartition(".")[2] for place, module in model.named_modules() if type(module).__name__ == "Linear"})
        hint = f"name matrices under lora.modules in the config; it has {', '.join(matrices)}"
        raise CxgenError(f"no adapters for {name}: {said}", hint=hint) from error


def layers(wanted: str | tuple[int, ...], depth: int, name: str) -> list[int] | None:
    """The layers that get adapters, by number from 0; None: all of them.

    Raises:
        CxgenError: the model has no such layer.
    """
    if wanted == "all":
        return None
    if isinstance(wanted, str):
        return list(range(3 * depth // 8, 5 * depth // 8 + 1))  # 12 to 20 of 32: ConTest-NLI, appendix D
    if max(wanted) >= depth:
        raise CxgenError(f"lora.layers: {max(wanted)}, and {name} has the layers 0 to {depth - 1}", hint="middle, all, or such numbers")
    return list(wanted)


def save(model: Any, tokenizer: Any, folder: Path) -> None:
    """Write adapters, heads and tokenizer to a folder that comes to be there only when it is whole."""
    partial = folder.with_name(f".{folder.name}.partial")
    model.save_pretrained(partial)
    tokenizer.save_pretrained(partial)
    partial.rename(folder)


def restore(model: Any, folder: Path) -> None:
    """Give a model from `build` the adapters and heads that `save` wrote.

    Raises:
        CxgenError: they are not there, or another model's.
    """
    with loading(str(folder)):
        from peft import load_peft_weights, set_peft_model_state_dict

        set_peft_model_state_dict(model, load_peft_weights(str(folder), device="cpu"))


def probabilities(logits: Floats, heads: NDArray[np.int64]) -> Floats:
    """The labels' probabilities.

    Args:
        logits: item by item, 3 for each head.
        heads: item by item, whose head counts; -1: none, and the mean over all heads' probabilities is taken.

    Returns:
        Item by item, one per label.
    """
    each = logits.astype(np.float64).reshape(len(logits), -1, WIDTH)
    each = np.exp(each - each.max(axis=2, keepdims=True))
    each /= each.sum(axis=2, keepdims=True)
    mine: Floats = each[np.arange(len(each)), heads]
    return np.where(heads[:, None] < 0, each.mean(axis=1), mine)
