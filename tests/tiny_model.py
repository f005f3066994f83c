"""A real language model, made on the spot: a llama of two layers over bytes, with random weights.

    python tests/tiny_model.py FOLDER

writes it there, serves it on a port of llama.cpp's choosing with llama.cpp's own server, and prints the address.
"""

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
    settings = {"context_length": CONTEXT, "embedding_length": WIDTH, "block_count": LAYERS, "feed_forward_length": HIDDEN}
    settings |= {"head_count": HEADS, "head_count_kv": HEADS, "rope_dimension_count": WIDTH // HEADS, "layer_norm_rms_eps": 1e-5}
    settings |= {"vocab_size": len(tokens), "tokenizer_model": "llama", "token_list": tokens, "token_types": types}
    settings |= {"token_scores": [0.0] * len(tokens), "bos_token_id": 1, "eos_token_id": 2, "unk_token_id": 0}
    settings["chat_template"] = "{% for message in messages %}{{ message['content'] }}\n{% endfor %}"
    for name, value in settings.items():
        getattr(writer, f"add_{name}")(value)
    square, shapes = (WIDTH, WIDTH), {"token_embd": (len(tokens), WIDTH), "output_norm": (WIDTH,), "output": (len(tokens), WIDTH)}
    for layer in range(LAYERS):
        parts = {"attn_q": square, "attn_k": square, "attn_v": square, "attn_output": square, "attn_norm": (WIDTH,), "ffn_norm": (WIDTH,)}
        parts |= {"ffn_gate": (HIDDEN, WIDTH), "ffn_up": (HIDDEN, WIDTH), "ffn_down": (WIDTH, HIDDEN)}
        shapes |= {f"blk.{layer}.{name}": shape for name, shape in parts.items()}
    for name, shape in shapes.items():
        weights = np.ones(shape) if "norm" in name else random.normal(0.0, 0.3, shape)
        writer.add_tensor(f"{name}.weight", weights.astype(np.float32))
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
