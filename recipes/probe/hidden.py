"""A vector per sentence and layer, from transformers' hidden states; what is made is kept in the run's folder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cxgen.errors import CxgenError
from cxgen.files import write_atomically
from cxgen.tables import track
from recipes.probe.settings import States
from recipes.shared import digest, is_local, loading

_CHUNK = 1024  # sentences in a file: what an interruption may cost
Vectors = NDArray[np.float32]


class Layers:
    """The vectors of sentences, a layer at a time: all of them may be more than memory holds.

    Layer 0 are the embeddings, layer n what the n-th layer gives.
    """

    def __init__(self, paths: Sequence[Path]) -> None:
        self._paths = list(paths)

    def __len__(self) -> int:
        """How many layers there are."""
        return len(np.load(self._paths[0], mmap_mode="r"))

    def __getitem__(self, number: int) -> Vectors:
        """Sentences x width."""
        return np.concatenate([np.load(path, mmap_mode="r")[number] for path in self._paths])


def hidden_states(name: str, sentences: Sequence[str], how: States, folder: Path, identity: object) -> Layers:
    """The vectors of sentences.

    Args:
        name: the model: a folder, or a name on the Hub.
        sentences: different ones.
        how: pooling, and how many at a time.
        folder: where they are kept.
        identity: what they depend on beside the sentences.

    Raises:
        CxgenError: the model cannot be loaded, or is no encoder or decoder alone.
    """
    chunks = [list(sentences[start : start + _CHUNK]) for start in range(0, len(sentences), _CHUNK)]
    paths = [folder / f"{digest(identity, how.pooling, how.max_length, chunk)}.npy" for chunk in chunks]
    encoder: _Encoder | None = None
    for chunk, path in track(list(zip(chunks, paths, strict=True)), "hidden states", len(chunks)):
        if not path.is_file():
            encoder = encoder or _Encoder(name, how)
            _write(encoder.vectors(chunk), path)
    return Layers(paths)


def _write(vectors: Vectors, path: Path) -> None:
    def write(temporary: Path) -> None:
        with temporary.open("wb") as file:
            np.save(file, vectors)

    write_atomically(path, write)


class _Encoder:
    """A model that reads."""

    def __init__(self, name: str, how: States) -> None:
        with loading(name):
            import torch
            from transformers import AutoModel, AutoTokenizer

            local = {"local_files_only": is_local(name)}
            self._tokenizer: Any = AutoTokenizer.from_pretrained(name, **local)
            self._device = "cuda" if torch.cuda.is_available() else "cpu"
            self._model: Any = AutoModel.from_pretrained(name, **local).eval().to(self._device)
        if self._model.config.is_encoder_decoder:
            raise CxgenError(f"{name} is an encoder and a decoder", hint="take a model that is one of them")
        if self._tokenizer.pad_token_id is None:
            self._tokenizer.pad_token = self._tokenizer.eos_token or self._tokenizer.unk_token
        self._tokenizer.padding_side = "right"
        self._how = how

    def vectors(self, sentences: Sequence[str]) -> Vectors:
        """Layers x sentences x width."""
        step = self._how.batch
        parts = [self._batch(sentences[start : start + step]) for start in range(0, len(sentences), step)]
        return np.concatenate(parts, axis=1)

    def _batch(self, sentences: Sequence[str]) -> Vectors:
        import torch

        asked = {"padding": True, "truncation": True, "max_length": self._how.max_length, "return_tensors": "pt"}
        read = self._tokenizer(list(sentences), return_special_tokens_mask=True, **asked).to(self._device)
        special = read.pop("special_tokens_mask").bool()
        with torch.no_grad():
            states = torch.stack(self._model(**read, output_hidden_states=True).hidden_states).float()
        there = read["attention_mask"].bool()
        found: Vectors = self._pooled(states, there, there & ~special).cpu().numpy()
        return found

    def _pooled(self, states: Any, there: Any, words: Any) -> Any:
        """``states``: layers x sentences x tokens x width; ``there``: no padding; ``words``: nor tokens that are no words."""
        import torch

        rows = torch.arange(there.shape[0], device=there.device)
        if self._how.pooling == "first":
            return states[:, :, 0]
        if self._how.pooling == "last":
            return states[:, rows, there.sum(dim=1) - 1]
        counted = torch.where(words.any(dim=1, keepdim=True), words, there).unsqueeze(-1).float()
        return (states * counted).sum(dim=2) / counted.sum(dim=1)
