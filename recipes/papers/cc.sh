#!/usr/bin/env bash
# The comparative correlative (Weissweiler et al. 2022): a probe on every layer for the published grammar's sentences, with length, places and
# distance controlled (section 3), and the scenarios with calibrations and flips (section 4, Tables 2 to 5), at the published sizes.
#   recipes/papers/cc.sh FOLDER     a masked model; PER_VALUE=1000 DRAWS=9: fewer for a first try
set -euo pipefail
model=$(realpath "${1:?FOLDER, see the head of this file}")
cd "$(dirname "$0")/../.."
out=outputs/papers/cc && mkdir -p "$out"
sizes="s/per_value: [0-9]+/per_value: ${PER_VALUE:-1000}/; s/general: [0-9]+/general: ${PER_VALUE:-1000}/; s/draws: [0-9]+/draws: ${DRAWS:-9}/"
sed -E "$sizes" params.yaml > "$out/params.yaml"
printf 'where: {preset: published}\ndata: outputs/suites/cc_syntax\nmost: null\n' > "$out/probe.yaml"
recipe=$PWD/recipes/probe/run.py
cd "$out"
cxgen suites
python "$recipe" --model "$model" --config probe.yaml
cxgen evaluate --model "hf:$model" --config cc_semantics --split train --split test --unit word --measure pll --by scenario
