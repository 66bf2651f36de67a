#!/usr/bin/env bash
# The GPU tests under compute-sanitizer: memcheck, then racecheck. Needs a GPU, and a build with
# CUDA.
#
#   tests/gpu/sanitize.sh [BUILD_FOLDER [PARTS]]     default: build/release, and a part for 2 cores
#
# Where Catch2 can split tests (3.0.1 and later), so many parts run side by side. The order mixes
# tests that take long with others, and those that call nothing of CUDA's, for a part of such alone
# is an error to the tool. The output of each part that fails is shown.
set -euo pipefail
build=${1:-$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)/build/release}
parts=${2:-$(($(nproc) / 2 + 1))}
tests=$build/tests/feedline_gpu_tests

if ! command -v compute-sanitizer >/dev/null; then
  echo "sanitize: no compute-sanitizer on the PATH: it comes with the CUDA toolkit" >&2
  exit 1
fi
if [[ ! -x $tests ]]; then
  echo "sanitize: no $tests: build with CUDA first (cmake --preset cuda-release, and build it)" >&2
  exit 1
fi
if [[ ! $parts =~ ^[1-9][0-9]*$ ]]; then
  echo "sanitize: PARTS is '$parts': it must be a number of parts, 1 or more" >&2
  exit 1
fi
[[ $("$tests" --help) == *--shard-count* ]] || parts=1

outputs=$(mktemp -d)
set -m  # each part is a process group: the tool, and the tests that it starts
finish() {
  local part
  for part in $(jobs -p); do kill -- "-$part" 2>/dev/null || true; done  # interrupted
  rm -rf "$outputs"
}
trap finish EXIT

# check TOOL TESTS [OPTION...]: runs the tests of that name under the tool.
check() {
  local tool=$1 named=$2 part failed=() running=() shard=()
  shift 2
  local began=$SECONDS
  echo "sanitize: $tool, parts: $parts"
  for ((part = 0; part < parts; ++part)); do
    ((parts == 1)) || shard=(--order rand --rng-seed 1 --shard-count "$parts" --shard-index "$part")
    compute-sanitizer --tool "$tool" --error-exitcode 9 "$@" "$tests" "$named" "${shard[@]}" \
      >"$outputs/$part" 2>&1 &
    running+=($!)
  done
  for part in "${!running[@]}"; do
    wait "${running[$part]}" || failed+=("$part")
    grep -hE '^========= [A-Z ]*SUMMARY|^All tests passed|^test cases:' "$outputs/$part" || true
  done
  for part in "${failed[@]}"; do
    echo "sanitize: $tool: part $part FAILED:"
    cat "$outputs/$part"
  done
  echo "sanitize: $tool: $((parts - ${#failed[@]})) of $parts parts passed," \
    "$((SECONDS - began)) s"
  ((${#failed[@]} == 0))
}

# Calls that fail are not reported: a test asks for more memory than there is, and checks the
# refusal. Rows across the bus are read by whole lines. Where a user pinned an array that begins
# within a page, the first and last line reach past it, on its own pages: memcheck, which counts
# bytes, takes that for another's memory. A kernel that breaks the context does what memcheck looks
# for. And a test that counts how often other threads sleep would count the tool's own.
status=0
check memcheck "~[whole_lines]~[broken_context]~[threads]" --report-api-errors no || status=1
# It looks at shared memory alone, and these tests run every kernel of ours that uses some. What
# takes minutes under it has a twin that draws less.
racechecked="~[long]assembly:*,~[long]block decoder:*,~[long]jpeg on the GPU:*,~[long]png on*"
racechecked+=",~[long]sized images on*,~[long]windows on*"
check racecheck "$racechecked" || status=1
exit $status
