#!/usr/bin/env bash
# lines_test.sh SOURCE: no line of code, of a script or of a document is longer than 100 characters.
# Tables may be, and in documents code, because both are read by their columns.
set -euo pipefail
export LC_ALL=C.UTF-8
cd "$1"
code=$(grep -rnE '^.{101,}' include src tests samples data .ci CMakeLists.txt \
  --include='*.[hc]pp' --include='*.cu' --include='*.cuh' --include='*.cmake' --include='*.in' \
  --include='*.py' --include='*.sh' --include=CMakeLists.txt || true)
prose=$(grep -rnE '^.{101,}' ./*.md docs data src tests samples --include='*.md' |
  grep -vE '^[^:]+:[0-9]+:( *\||    )' || true)
if [[ -n $code$prose ]]; then
  printf '%s\n' "$code" "$prose" >&2
  echo "FAILED: lines of more than 100 characters: break them" >&2
  exit 1
fi
echo "no line is longer than 100 characters"
