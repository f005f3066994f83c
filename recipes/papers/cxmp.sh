#!/usr/bin/env bash
# CxMP (Oba and Sugawara 2026): all pairs of config cxmp, 300 a cell, scored by the length-normalised log-probability of whole texts (appendix D),
# by side, type of noun and order, with both biases (section 5.2); several checkpoints as a trajectory (Figures 6 and 7).
#   recipes/papers/cxmp.sh FOLDER ...     models that continue texts; masked ones: MEASURE=pll_original; PAIRS=TABLE: outside pairs (good, bad) such
#   as BLiMP's beside ours; SPLITS=test: fewer pairs. Folders are told apart by their last two names.
set -euo pipefail
: "${1:?FOLDER ..., see the head of this file}"
folders=() && for folder in "$@"; do folders+=("$(realpath "$folder")"); done
part=(--config cxmp)
for split in ${SPLITS:-train validation test}; do part+=(--split "$split"); done
[ -z "${PAIRS:-}" ] || part+=(--items "$(realpath "$PAIRS")")
cd "$(dirname "$0")/../.."
out=outputs/papers/cxmp && mkdir -p "$out" && files=()
for folder in "${folders[@]}"; do
  file="$out/$(basename "$(dirname "$folder")")-$(basename "$folder").jsonl" && files+=("$file")
  cxgen evaluate --model "hf:$folder" "${part[@]}" --measure "${MEASURE:-normalised}" --unit text -o "$file" --by side
done
cxgen evaluate "${files[@]}" "${part[@]}" --by entity_type
