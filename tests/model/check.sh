#!/usr/bin/env bash
# Checks a model with spin.
#
#   check.sh passes MODEL FLAG...          the whole state space is searched, and has no error
#   check.sh "passes optimized" ...        the same, for a search of more than 10 s
#   check.sh ends MODEL FLAG...            no path goes round in a circle: each comes to its end
#   check.sh "fails: TEXT" MODEL FLAG...   there is a counterexample; spin's message has the text
#
# MODEL is a .pml file here; flags are for its preprocessor (-D STOP). What was built, spin's words
# and a counterexample stay in a folder that is named when the check fails.
set -euo pipefail
expected=$1
model=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/$2
shift 2

for program in spin gcc; do
  if ! command -v "$program" >/dev/null; then
    echo "[feedline skip] there is no $program: install the package '$program'"
    exit 0
  fi
done

folder=$(mktemp -d "${TMPDIR:-/tmp}/feedline-model.XXXXXX")
cd "$folder"
fail() {
  echo "model: $1"
  grep -v '^$' result.log | head -n 40 || true
  echo "model: all is in $folder; to see a counterexample: cd $folder, then spin -t -p -g model.pml"
  exit 1
}

# The preprocessed model, for the trail.
gcc -E -P -x c "$@" "$model" >model.pml
spin -a model.pml >spin.log 2>&1 || { cat spin.log; exit 1; }

# tcc compiles in 0.03 s what takes gcc 1 s; its code takes half as long again as that of gcc -O0.
# To optimize takes 4 s; up to two million states the search gains less.
quick=$(command -v tcc || command -v gcc)
case $expected in
  "passes optimized") compile=(gcc -O2 -D SAFETY) look=() ;;
  ends) compile=("$quick" -D NP) look=(-l) ;;  # non-progress cycles, where nothing is progress
  *) compile=("$quick" -D SAFETY) look=() ;;
esac
"${compile[@]}" -w -D COLLAPSE -D MEMLIM=3000 -o pan pan.c
./pan "${look[@]}" -m100000 -w22 >result.log 2>&1 || true

if [[ $expected == passes* || $expected == ends ]]; then
  grep -q 'errors: 0$' result.log || fail "an error was found"
  # Without these three lines all states were looked at.
  ! grep -qE 'Search not completed|max search depth too small|out of memory' result.log ||
    fail "the search was not complete"
  grep -q 'Full statespace search' result.log || fail "the search was not exhaustive"
  echo "model: $(grep -oE '[0-9.e+]+ states, stored' result.log), $(
    grep -oE 'depth reached [0-9]+' result.log)"
else
  text=${expected#fails: }
  grep -q 'errors: 1$' result.log || fail "there is no counterexample"
  grep -qF -- "$text" result.log || fail "the counterexample differs from '$text'"
  echo "model: counterexample: $(grep -m1 'pan:1' result.log)"
fi
rm -rf "$folder"
