#!/usr/bin/env bash
# run_mnist_test.sh RUN_MNIST MNIST_TRAINER MNIST_SEVERAL_GPUS WORK: the answers of
# run_mnist.sh before it does anything.
set -euo pipefail
script=$1 trainer=$2 several=$3 work=$4
rm -rf "$work"
mkdir -p "$work/bin"

fail() {
  echo "FAILED: $*" >&2
  exit 1
}

# Replaces everything that would install or build: reports that it was called.
for command in apt-get cmake dpkg-query env sudo; do
  printf '#!/bin/sh\necho %s >>"%s/called"\nexit 9\n' "$command" "$work" >"$work/bin/$command"
  chmod +x "$work/bin/$command"
done

# answers CODE WORDS ARGUMENTS...: the script ends with the code, says the words, and did nothing.
answers() {
  local code=0 wanted=$1 words=$2
  shift 2
  rm -f "$work/called"
  PATH=$work/bin:$PATH bash "$script" "$@" >"$work/output" 2>&1 || code=$?
  [[ $code == "$wanted" ]] || fail "exit code $code, not $wanted, for: $*: $(cat "$work/output")"
  grep -q -- "$words" "$work/output" || fail "for: $*: no '$words' in: $(cat "$work/output")"
  [[ ! -e $work/called ]] || fail "for: $*: called $(cat "$work/called")"
}

answers 0 'Installs what is missing' --help
answers 0 'Installs what is missing' --epochs 2 -h
answers 2 "$work/nothing: no such file or folder (--data)" --data "$work/nothing"
answers 2 "$work/nothing: no such file or folder (--data)" --epochs 2 "--data=$work/nothing"
answers 2 '--data wants the path' --data
answers 2 'there is no option --epoch; --help lists them' --epoch 2
answers 2 'there is no option --epoch;' --data "$work" --epoch=2

bash "$script" --help >"$work/help"
for program in "$trainer" "$several"; do
  "$program" --help | grep -oE '^ +(-h,)?--[a-z-]+(,--[a-z-]+)?' | grep -oE -- '--[a-z-]+'
done >"$work/options"
[[ $(wc -l <"$work/options") -ge 10 ]] || fail "only these options found: $(cat "$work/options")"
while read -r option; do
  grep -q -- "^  $option " "$work/help" ||
    fail "run_mnist.sh --help does not name the trainer's $option"
done <"$work/options"

# With arguments that may be right, it continues.
PATH=$work/bin:$PATH bash "$script" --data "$work" --epochs=2 >"$work/output" 2>&1 &&
  fail "it passed with nothing to run"
grep -q 'FAILED while installing packages' "$work/output" ||
  fail "it did not get to installing: $(cat "$work/output")"
