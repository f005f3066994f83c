"""Weights as they ship in packages, as folders that transformers loads: an int8 ONNX graph of DeBERTa, GGUF files."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer

# What int8 weights do not tell: DeBERTa-v3-xsmall's (He et al. 2023, table 1, and its published config).
_XSMALL = {
    "vocab_size": 128100,
    "hidden_size": 384,
    "num_hidden_layers": 12,
    "num_attention_heads": 6,
    "intermediate_size": 1536,
    "max_position_embeddings": 512,
    "relative_attention": True,
    "position_buckets": 256,
    "norm_rel_ebd": "layer_norm",
    "share_att_key": True,
    "pos_att_type": "p2c|c2p",
    "layer_norm_eps": 1e-7,
    "max_relative_positions": -1,
    "position_biased_input": False,
    "pooler_dropout": 0.0,
    "pooler_hidden_act": "gelu",
    "type_vocab_size": 0,
    "id2label": {0: "entailment", 1: "not_entailment"},
    "label2id": {"entailment": 0, "not_entailment": 1},
}


def dequantised(graph: Path) -> dict[str, Any]:
    """The parameters of an ONNX graph with dynamic int8 weights, by their names in torch: (weight - zero point) * scale.

    Matrices that the graph keeps in full precision beside int8 are taken as they are. Names of products of matrices come from their nodes.
    """
    import numpy as np
    import torch

    onnx: Any = import_module("onnx")  # needed for this alone

    model = onnx.load(str(graph))
    tensors = {tensor.name: onnx.numpy_helper.to_array(tensor) for tensor in model.graph.initializer}
    found: dict[str, Any] = {
        name: tensor for name, tensor in tensors.items() if name.startswith("m.") and tensor.ndim and tensor.dtype == np.float32
    }
    for node in model.graph.node:
        for name in (name for name in node.input if name.endswith("_quantized") and name in tensors):
            stem = name.removesuffix("_quantized")
            whole = (tensors[name].astype(np.float32) - tensors[f"{stem}_zero_point"].astype(np.float32)) * tensors[f"{stem}_scale"]
            weight = tensors.get(stem, whole)
            if stem.startswith("m."):  # an embedding, or a matrix that the graph transposes
                found[stem] = weight if "embeddings" in stem else weight.T
            else:
                found["m." + node.name.removeprefix("/m/").rpartition("/")[0].replace("/", ".") + ".weight"] = weight.T
    return {name.removeprefix("m."): torch.from_numpy(np.array(tensor, np.float32, order="C")) for name, tensor in found.items()}


def from_onnx(graph: Path, tokenizer: Path, folder: Path) -> None:
    """A DeBERTa of two classes as torch has it."""
    from transformers import AutoTokenizer, DebertaV2Config, DebertaV2ForSequenceClassification

    model: Any = DebertaV2ForSequenceClassification(DebertaV2Config(**_XSMALL))
    missing, foreign = model.load_state_dict(dequantised(graph), strict=False)
    if missing or foreign:
        raise SystemExit(f"parameters without a value: {missing}; values without a parameter: {foreign}")
    model.save_pretrained(folder)
    AutoTokenizer.from_pretrained(tokenizer).save_pretrained(folder)


def from_gguf(file: Path, folder: Path) -> None:
    """A model that continues texts, its quantised weights as bfloat16, in which it was published."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    read = AutoModelForCausalLM.from_pretrained(file.parent, gguf_file=file.name, dtype=torch.bfloat16)
    config = type(read.config)(**{name: value for name, value in read.config.to_dict().items() if name != "quantization_config"})
    model: Any = AutoModelForCausalLM.from_config(config)  # one that says nothing of quantisation can be saved
    model.to(torch.bfloat16).load_state_dict(read.state_dict())
    model.save_pretrained(folder)
    AutoTokenizer.from_pretrained(file.parent, gguf_file=file.name).save_pretrained(folder)


def main(file: Path, folder: Path, tokenizer: Annotated[Path | None, typer.Option(help="of an ONNX graph")] = None) -> None:
    """Write FILE (.gguf or .onnx) into FOLDER as transformers has it."""
    if tokenizer:
        from_onnx(file, tokenizer, folder)
    else:
        from_gguf(file, folder)


if __name__ == "__main__":
    typer.run(main)
