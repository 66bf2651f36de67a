#!/usr/bin/env bash
# convert_external_test.sh FEEDLINE_CONVERT EXTERNAL_LINK_PROGRAM WORK: files that an HDF5 file
# names are written out only if that was asked for.
#   WORK  folder for what the test makes
set -euo pipefail
convert=$(realpath "$1") make_files=$(realpath "$2") work=$3
rm -rf "$work"
mkdir -p "$work"
cd "$work"
"$make_files" .

for rule in "" "--external refuse" "--external same-folder"; do
  code=0
  # shellcheck disable=SC2086  # a rule is two words
  "$convert" near/link.h5 $rule --output out.h5 >printed 2>errors || code=$?
  [[ $code == 1 ]] || { echo "FAILED: exit code $code with '$rule'" >&2; exit 1; }
  grep -q "$PWD/other.h5" errors || { echo "FAILED: no path in: $(cat errors)" >&2; exit 1; }
  [[ ! -e out.h5 ]] || { echo "FAILED: something was written with '$rule'" >&2; exit 1; }
done
"$convert" near/link.h5 --external allow --output out.h5 | grep -q "200 samples, written"
