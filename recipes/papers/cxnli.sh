#!/usr/bin/env bash
# CxNLI (Scivetti et al. 2025): the questions of Tables 8 and 9, zero-shot, with one and with three examples (Table 4), by construction (Figure 1).
#   recipes/papers/cxnli.sh MODEL [OPTION ...]     MODEL: hf:FOLDER, or a server's; options go to `cxgen evaluate`: --items TABLE (the published
#   items, if you have them), --wording variation-2 (appendix E; servers), --think (appendix F), --base-url URL
set -euo pipefail
cd "$(dirname "$0")/../.."
model=${1:?MODEL, see the head of this file}
shift
out=outputs/papers/cxnli && mkdir -p "$out"
for shots in 0 1 3; do
  cxgen evaluate --model "$model" --config cxnli --shots "$shots" "$@" -o "$out/shots-$shots.jsonl" --by construction
done
