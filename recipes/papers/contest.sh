#!/usr/bin/env bash
# ConTest-NLI (2025): 4,000 items in each of eight constructions, verbs of middling frequency, test verbs unseen in training; a model before and after
# training with adapters (Table 4, appendix D), what it gets wrong by construction (Table 8).
#   recipes/papers/contest.sh FOLDER [OPTION ...]     options go to recipes/finetune/run.py: --regime heads, --file TABLE (CxNLI's own items);
#   N=4000 CONFIG=recipes/finetune/config.yaml: other ones for a first try
set -euo pipefail
model=$(realpath "${1:?FOLDER, see the head of this file}")
shift
cd "$(dirname "$0")/../.."
out=outputs/papers/contest && mkdir -p "$out"
eight="conative, comparative-correlative, let-alone, causative-with, caused-motion, intransitive-motion, resultative, way-manner"
changes="s/^n_per_construction: .*/n_per_construction: ${N:-4000}/; s/^constructions: .*/constructions: [$eight]/; s/preset: sliced/preset: contest-corpus/"
sed -E "$changes" params.yaml > "$out/params.yaml"
recipe=$PWD/recipes/finetune config=$(realpath "${CONFIG:-recipes/finetune/config.yaml}")
cd "$out"
cxgen build
python "$recipe/run.py" --model "$model" --config "$config" --regime in-context --output outputs/before "$@"
python "$recipe/run.py" --model "$model" --config "$config" --output outputs/after --baseline "$(ls -d outputs/before/*/ | tail -1)" "$@"
