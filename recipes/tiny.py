"""A tiny model with random weights, to try a recipe in minutes, without network: `python recipes/tiny.py FOLDER`."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer


class Kind(StrEnum):
    """What a model does: fill gaps, or continue texts."""

    masked = "masked"
    causal = "causal"


def write_causal(folder: Path) -> None:
    """A GPT-2 of two layers over bytes."""
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

    letters = ["<s>", *sorted(pre_tokenizers.ByteLevel.alphabet())]
    tokenizer: Any = Tokenizer(models.BPE(vocab={letter: number for number, letter in enumerate(letters)}, merges=[]))
    tokenizer.pre_tokenizer, tokenizer.decoder = pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel()
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, bos_token="<s>", eos_token="<s>").save_pretrained(folder)
    torch.manual_seed(7)
    config = GPT2Config(vocab_size=len(letters), n_positions=2048, n_embd=32, n_layer=2, n_head=2, bos_token_id=0, eos_token_id=0)
    GPT2LMHeadModel(config).save_pretrained(folder)


def write_masked(folder: Path) -> None:
    """A BERT of two layers over letters and the pieces that follow them."""
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import BertConfig, BertForMaskedLM, PreTrainedTokenizerFast

    letters = [chr(code) for code in range(33, 127)]
    names = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *letters, *(f"##{letter}" for letter in letters)]
    tokenizer: Any = Tokenizer(models.WordPiece(vocab={name: number for number, name in enumerate(names)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    special = {"unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]", "pad_token": "[PAD]", "mask_token": "[MASK]"}
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, **special).save_pretrained(folder)
    torch.manual_seed(7)
    config = BertConfig(
        vocab_size=len(names), hidden_size=32, num_hidden_layers=2, num_attention_heads=2, intermediate_size=64, max_position_embeddings=512
    )
    BertForMaskedLM(config).save_pretrained(folder)


def main(folder: Path, kind: Annotated[Kind, typer.Option()] = Kind.masked) -> None:
    """Write a tiny random model into FOLDER."""
    import transformers

    transformers.logging.disable_progress_bar()
    {Kind.masked: write_masked, Kind.causal: write_causal}[kind](folder)


if __name__ == "__main__":
    typer.run(main)
