#!/usr/bin/env bash
# quiet_test.sh SOURCE WORK: what the scripts show of ninja's and ctest's words.
set -euo pipefail
source=$1 work=$2
. "$source/.ci/quiet.sh"
mkdir -p "$work"

# same WHAT EXPECTED FOUND, where a number of seconds is written N
same() {
  local found
  found=$(sed -E 's/\([0-9]+ s\)/(N s)/' <<<"$3")
  if [[ $found != "$2" ]]; then
    printf 'FAILED: %s: expected\n%s\nfound\n%s\n' "$1" "$2" "$found" >&2
    exit 1
  fi
}

steps() { for ((i = 1; i <= $1; ++i)); do echo "[$i/$1] Building CXX object $i.o"; done; }
same "a build of 30 steps" \
  "$(for n in 3 6 9 12 15 18 21 24 27 30; do echo "t: built $n of 30 (N s)"; done)" \
  "$(steps 30 | feedline_show_build t)"
same "a build that fails" \
  $'t: built 1 of 2 (N s)\nx.cpp:3: error: no\nFAILED: x.o\nninja: build stopped' \
  "$(printf '%s\n' 'ninja: Entering directory' '[1/2] Building x.o' 'x.cpp:3: error: no' \
    'FAILED: x.o' 'ninja: build stopped' | feedline_show_build t)"

cat >"$work/ctest" <<'END'
Test project x
    Start 1: a
1/3 Test #1: a: it passes .....   Passed    0.03 sec
    Start 2: b
2/3 Test #2: b ................***Failed    0.03 sec
what b said
    Start 3: c
3/3 Test #3: c ................***Skipped   0.03 sec

67% tests passed, 1 tests failed out of 3

Total Test time (real) =   1.11 sec

The following tests did not run:
	  3 - c (Skipped)

The following tests FAILED:
	  2 - b (Failed)
END
same "tests" "t: ran 1 of 3 tests (N s)
t: ran 2 of 3 tests (N s)
2/3 Test #2: b ................***Failed    0.03 sec
what b said
t: ran 3 of 3 tests (N s)
67% tests passed, 1 tests failed out of 3
Total Test time (real) =   1.11 sec
The following tests FAILED:
"$'\t'"  2 - b (Failed)" "$(feedline_show_tests t <"$work/ctest")"

cat >"$work/log" <<'END'
1/3 Testing: gpu: one
gate.cpp:1: warning:
  [feedline skip] feedline was built without liblz4 or
  libzstd

2/3 Testing: gpu: two
[feedline skip] no GPU
<end of output>
3/3 Testing: gpu: three
[feedline skip] no GPU
<end of output>
END
same "skipped tests" "  1 skipped: feedline was built without liblz4 or libzstd (gpu: one)
  2 skipped: no GPU (gpu: two, …)" "$(feedline_show_skipped "$work/log")"
