#!/usr/bin/env bash
# CxMP (Oba and Sugawara 2026): all pairs of config cxmp, 300 a cell, scored by the length-normalised log-probability of whole texts (appendix D),
# by side, type of noun and order, with both biases (section 5.2); several checkpoints as a trajectory (Figures 6 and 7).
#   recipes/papers/cxmp.sh FOLDER ...     models that continue texts; masked ones: MEASURE=pll_original; PAIRS=TABLE: outside pairs (good, bad) such
#   as BLiMP's beside ours; SPLITS=test: fewer pairs
set -euo pipefail
cd "$(dirname "$0")/../.."
: "${1:?FOLDER ..., see the head of this file}"
part=(--config cxmp)
for split in ${SPLITS:-train dev test}; do part+=(--split "$split"); done
[ -z "${PAIRS:-}" ] || part+=(--items "$PAIRS")
out=outputs/papers/cxmp && mkdir -p "$out" && files=()
for folder in "$@"; do
  file="$out/$(basename "$folder").jsonl" && files+=("$file")
  cxgen evaluate --model "hf:$folder" "${part[@]}" --measure "${MEASURE:-normalised}" --unit text -o "$file" --by side
done
cxgen evaluate "${files[@]}" "${part[@]}" --by entity_type
