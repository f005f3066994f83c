"""A real language model, made on the spot: a llama of two layers over bytes, with random weights.

    python tests/tiny_model.py FOLDER

writes it there, serves it on a port of llama.cpp's choosing with llama.cpp's own server, and prints the address.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

WIDTH, HEADS, LAYERS, HIDDEN, CONTEXT = 64, 4, 2, 128, 8192


def write_model(path):
    import gguf

    random = np.random.default_rng(7)
    tokens = [b"<unk>", b"<s>", b"</s>", *(f"<0x{byte:02X}>".encode() for byte in range(256))]
    types = [gguf.TokenType.UNKNOWN, *[gguf.TokenType.CONTROL] * 2, *[gguf.TokenType.BYTE] * 256]
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(LAYERS)
    writer.add_feed_forward_length(HIDDEN)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(HEADS)
    writer.add_rope_dimension_count(WIDTH // HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_vocab_size(len(tokens))
    writer.add_tokenizer_model("llama")
    writer.add_token_list(tokens)
    writer.add_token_scores([0.0] * len(tokens))
    writer.add_token_types(types)
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_unk_token_id(0)
    writer.add_chat_template("{% for message in messages %}{{ message['content'] }}\n{% endfor %}")

    def tensor(name, *shape):
        data = np.ones(shape) if "norm" in name else random.normal(0.0, 0.3, shape)
        writer.add_tensor(name, data.astype(np.float32))

    tensor("token_embd.weight", len(tokens), WIDTH)
    tensor("output_norm.weight", WIDTH)
    tensor("output.weight", len(tokens), WIDTH)
    for layer in range(LAYERS):
        for name in ("attn_q", "attn_k", "attn_v", "attn_output"):
            tensor(f"blk.{layer}.{name}.weight", WIDTH, WIDTH)
        tensor(f"blk.{layer}.attn_norm.weight", WIDTH)
        tensor(f"blk.{layer}.ffn_norm.weight", WIDTH)
        tensor(f"blk.{layer}.ffn_gate.weight", HIDDEN, WIDTH)
        tensor(f"blk.{layer}.ffn_up.weight", HIDDEN, WIDTH)
        tensor(f"blk.{layer}.ffn_down.weight", WIDTH, HIDDEN)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def main():
    import xllamacpp

    path = Path(sys.argv[1]) / "tiny.gguf"
    write_model(path)
    params = xllamacpp.CommonParams()
    params.model.path = str(path)
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.n_ctx, params.n_parallel, params.n_gpu_layers = CONTEXT, 2, 0
    params.warmup = params.ui = False
    # Several threads wait for each other by spinning: on a busy machine that takes minutes.
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    server = xllamacpp.Server(params)
    print(server.listening_address, flush=True)
    sys.stdin.read()  # until the parent goes


if __name__ == "__main__":
    main()
