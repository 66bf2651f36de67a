#!/usr/bin/env bash
# The state tables in docs/internals/pipeline.md, those beside the states in src/, the transitions
# that the code makes, and the transitions of the models are the same.
#
#   tables_test.sh REPOSITORY
set -euo pipefail
cd "$1"
failed=0

# rows_of FILE FROM TO: the rows `| from | to | who: what |` of the first table after a line that
# matches, as `from to who`. Rows that continue in the next line have empty first cells there.
rows_of() {
  sed -e 's,^/// ,,' "$1" | awk -v from="$2" -v to="$3" '
    $0 ~ from && !rows { on = 1; next }
    on && ($0 ~ to || (rows && !/^\|/)) { on = 0 }
    on && /^\|/ {
      split($0, cell, "|")
      gsub(/[` ]/, "", cell[2]); gsub(/[` ]/, "", cell[3]); gsub(/^ +| +$/, "", cell[4])
      if (cell[2] == "" || cell[2] == "from" || cell[2] ~ /^-/) next
      sub(/:.*/, "", cell[4])
      print cell[2], cell[3], cell[4]
      rows++
    }' | sort
}

# model_of NAME: what NAME(slot, from, to, who) says in the models.
model_of() {
  grep -hv '^#define' tests/model/*.pml |
    sed -nE "s/.*\b$1\([^,]+, ([a-z]+), ([a-z]+), ([a-z ]+)\).*/\1 \2 \3/p" | sort -u
}

# code_of STATE FILE...: `from to` of each move(…) in the code; the last state named is the one
# after it, those before may be the one before it.
code_of() {
  local state=$1
  shift
  cat "$@" | tr '\n' ' ' | grep -oE "move\([^;]*${state}::[^;]*;" | while read -r call; do
    mapfile -t names < <(grep -oE "${state}::[a-z]+" <<<"$call" | sed 's/.*:://')
    for ((i = 0; i + 1 < ${#names[@]}; ++i)); do echo "${names[i]} ${names[-1]}"; done
  done | sort -u
}

same() {  # same WHAT EXPECTED WHERE FOUND
  if [[ -z $2 || $2 != "$4" ]]; then
    echo "tables: $1: the document (<) and $3 (>) differ:"
    diff <(echo "$2") <(echo "$4") || true
    failed=1
  fi
}

check() {  # check TITLE HEADER STATE MODEL CODE...
  local title=$1 header=$2 state=$3 macro=$4 rows
  shift 4
  rows=$(rows_of docs/internals/pipeline.md "^### $title" '^##')
  same "$title" "$rows" "$header" "$(rows_of "$header" '^/* *[|] from' 'enum class')"
  same "$title" "$rows" "tests/model" "$(model_of "$macro")"
  same "$title" "$(awk '{ print $1, $2 }' <<<"$rows" | sort -u)" "the code" \
    "$(code_of "$state" "$@")"
  echo "tables: $title: $(wc -l <<<"$rows") transitions"
}

check "A staging slot" src/staging/staging_slot.hpp staging_state STAGING \
  src/staging/staging_ring.hpp src/staging/staging_ring.cpp
check "A device slot" src/batch/device_slot.hpp device_state DEVICE \
  src/batch/device_ring.hpp src/batch/device_ring.cpp src/batch/device_ring_release.cpp \
  src/batch/device_ring_further.cpp
check "A slot of results" src/results/slot.hpp result_state RESULT \
  src/results/slots.hpp src/results/slots.cpp
exit "$failed"
