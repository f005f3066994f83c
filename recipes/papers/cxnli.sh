#!/usr/bin/env bash
# CxNLI (Scivetti et al. 2025): the questions of Tables 8 and 9, zero-shot, with one and with three examples (Table 4), by construction (Figure 1).
#   recipes/papers/cxnli.sh MODEL [OPTION ...]     MODEL: hf:FOLDER, or a server's; options go to `cxgen evaluate`: --wording variation-2 (appendix
#   E; servers), --think (appendix F), --base-url URL; ITEMS=TABLE: the published items beside ours, if you have them
set -euo pipefail
model=${1:?MODEL, see the head of this file}
shift
case $model in hf:*) model=hf:$(realpath "${model#hf:}") ;; esac
part=(--config cxnli)
[ -z "${ITEMS:-}" ] || part+=(--items "$(realpath "$ITEMS")")
cd "$(dirname "$0")/../.."
out=outputs/papers/cxnli && mkdir -p "$out"
for shots in 0 1 3; do
  cxgen evaluate --model "$model" "${part[@]}" --shots "$shots" "$@" -o "$out/$(basename "$model")-$shots.jsonl" --by construction
done
