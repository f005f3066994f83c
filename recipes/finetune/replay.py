"""Ordinary text beside the items, so that a model keeps what it could do: ConTest-NLI, Table 7."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from cxgen.errors import DataError
from cxgen.files import read_text
from recipes.finetune.settings import Replay
from recipes.shared import is_local, loading


def passages(path: Path) -> list[str]:
    """The lines of a text file that are not empty.

    Raises:
        DataError: unreadable, or there is none.
    """
    lines = [line.strip() for line in read_text(path, "replay.file is a text file, a passage a line").splitlines()]
    found = [line for line in lines if line]
    if not found:
        raise DataError("has no text", file=path, hint="a passage a line")
    return found


def beside(items: int, share: float) -> int:
    """How many passages go with some items, so that they are ``share`` of them all: at least one."""
    return max(1, round(items * share / (1 - share)))


def replayed(model: Any, tokenizer: Any, name: str, texts: Sequence[str], how: Replay, most: int) -> Callable[[int, Any], Any]:
    """The weighted loss on passages drawn beside some items: of their masked words, or of every next word if the tokenizer has no mask.

    The language model ``name`` lends its head, which is not trained; all below it is that of ``model``, adapters included. Passages are
    drawn by torch's generator, whose state is kept in checkpoints.

    Args:
        model, tokenizer: from `build`.
        texts: the passages.
        most: tokens of a passage.

    Returns:
        From a number of items and a device to a number.

    Raises:
        CxgenError: the model cannot be loaded as a language model.
    """
    masked = tokenizer.mask_token is not None
    with loading(name):
        import torch
        from transformers import AutoModelForCausalLM, AutoModelForMaskedLM, DataCollatorForLanguageModeling

        speaker: Any = (AutoModelForMaskedLM if masked else AutoModelForCausalLM).from_pretrained(name, local_files_only=is_local(name))
    speaker.requires_grad_(requires_grad=False)
    setattr(speaker, speaker.base_model_prefix, model.get_base_model().base_model)
    collate = DataCollatorForLanguageModeling(tokenizer, mlm=masked)

    def loss(items: int, device: Any) -> Any:
        drawn = [texts[number] for number in torch.randint(len(texts), (beside(items, how.share),)).tolist()]
        read = tokenizer(drawn, truncation=True, max_length=most)["input_ids"]
        batch = collate([{"input_ids": ids} for ids in read]).to(device)
        if (batch["labels"][:, 1:] == -100).all():  # nothing was masked, or there is no next word
            return 0.0
        half = device.type == "cuda" and torch.cuda.is_bf16_supported()
        with torch.autocast(device.type, torch.bfloat16, enabled=half):
            return how.weight * speaker.to(device)(**batch).loss.float()

    return loss
