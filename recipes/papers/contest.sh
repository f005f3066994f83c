#!/usr/bin/env bash
# ConTest-NLI (2025): 4,000 items in each of eight constructions, verbs of middling frequency, test verbs unseen in training; a model before (asked
# without examples) and after training with adapters (Table 4, appendix D), what it gets wrong by construction (Table 8).
#   recipes/papers/contest.sh FOLDER     a model that continues texts; REGIME=heads; ITEMS=TABLE: CxNLI's own items, answered too; N=4000
#   CONFIG=recipes/finetune/config.yaml: other ones for a first try
set -euo pipefail
model=$(realpath "${1:?FOLDER, see the head of this file}")
config=$(realpath "${CONFIG:-$(dirname "$0")/../finetune/config.yaml}")
asked=() && [ -z "${ITEMS:-}" ] || asked=(--file "$(realpath "$ITEMS")")
cd "$(dirname "$0")/../.."
out=outputs/papers/contest && mkdir -p "$out"
eight="conative, comparative-correlative, let-alone, causative-with, caused-motion, intransitive-motion, resultative, way-manner"
changes="s/^n_per_construction: .*/n_per_construction: ${N:-4000}/; s/^constructions: .*/constructions: [$eight]/; s/preset: sliced/preset: contest-corpus/"
sed -E "$changes" params.yaml > "$out/params.yaml"
recipe=$PWD/recipes/finetune/run.py
cd "$out"
cxgen build
before=outputs/before-$(basename "$model")
printf 'prompting: {shots: 0}\n' > before.yaml
python "$recipe" --model "$model" --config before.yaml --regime in-context --output "$before" "${asked[@]}"
python "$recipe" --model "$model" --config "$config" --regime "${REGIME:-shared}" --output outputs/after --baseline "$(echo "$before"/*/)" "${asked[@]}"
