#!/usr/bin/env bash
# All benchmarks in one run, on a machine with a GPU and a release build: the machine's limits,
# feedline, and its peers, side by side. Ends with one table; leaves results.json, results.svg and
# output.txt. About 10 minutes, and 3 more where networks are trained.
#
#   tests/bench/run.sh [BUILD_FOLDER [OUT_FOLDER]] [--quick]
#
#   Default: build/release, and OUT below it.
#
#   --quick   fewer and shorter runs: 2 to 3 minutes, for a look, and 1 more for the networks: for
#             each of two networks in each of two programs 10 seconds, and 20 to start them all
#
# libtorch's loader is a peer where the build has found Torch (src/cmake/torch.cmake says how),
# PyTorch's and CuPy's ways where python3 has them. Networks are trained by both likewise. The plot
# wants matplotlib;
# `report.py results.json --svg results.svg` draws it on any machine.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

command="tests/bench/run.sh $*"
quick=""
folders=()
for argument in "$@"; do
  if [[ $argument == --quick ]]; then quick=yes; else folders+=("$argument"); fi
done
build=${folders[0]:-$here/../../build/release}
out=${folders[1]:-$build/bench_results}
programs=$build/tests/bench
if [[ ! -x $programs/feedline_bench_delivery ]]; then
  echo "bench: no $programs/feedline_bench_delivery: build with CUDA first" \
    "(cmake --preset cuda-release, and build it)" >&2
  exit 1
fi
mkdir -p "$out"
parts=$(mktemp -d)
trap 'rm -rf "$parts"' EXIT

# measure NAME COMMAND...: runs one, which writes its results to a file of its own; continues if it
# fails.
measure() {
  local name=$1
  shift
  printf '\n==== %s\n' "$name"
  local began=$SECONDS
  if ! "$@" --json "$parts/$name.json"; then echo "bench: $name FAILED" | tee -a "$parts/failed"; fi
  echo "($((SECONDS - began)) s)"
}

all() {
  local few=() short=() python=(--seconds 0.5) idle=() stall=() training=()
  if [[ -n $quick ]]; then
    few=(--runs 3)
    short=(--seconds 0.1)
    python=(--seconds 0.3 --workers 8)
    idle=(--idle-seconds 0.5)
    stall=(--seconds 0.05)
    training=(--steps 10 --runs 3 --seconds 10)
  fi
  measure limits "$programs/feedline_bench_limits" "${few[@]}"
  measure delivery "$programs/feedline_bench_delivery" "${few[@]}" "${short[@]}"
  measure gpus "$programs/feedline_bench_gpus" "${few[@]}" "${short[@]}"
  measure readers "$programs/feedline_bench_readers" "${few[@]}" "${short[@]}"
  measure latency "$programs/feedline_bench_latency"
  measure stall "$programs/feedline_bench_stall" "${few[@]}" "${stall[@]}"
  if [[ -x $programs/feedline_bench_busy ]]; then
    measure busy "$programs/feedline_bench_busy" "${few[@]}" "${short[@]}"
  fi
  measure cpu "$programs/feedline_bench_cpu" "${few[@]}" "${short[@]}" "${idle[@]}"
  measure samplers "$programs/feedline_bench_samplers" "${few[@]}"
  measure policies "$programs/feedline_bench_policies" "${few[@]}" "${short[@]}"
  measure peers "$programs/feedline_bench_peers" "${few[@]}" "${short[@]}"
  if [[ -x $programs/feedline_bench_peers_libtorch ]]; then
    measure peers_libtorch "$programs/feedline_bench_peers_libtorch" "${few[@]}" "${short[@]}"
  else
    printf '\n==== peers_libtorch\nthe build has not found Torch: left out\n'
  fi
  if [[ -x $programs/feedline_bench_training ]]; then
    measure training "$programs/feedline_bench_training" "${training[@]}"
  else
    printf '\n==== training\nthe build has not found Torch: left out\n'
  fi
  if python3 -c 'import torch' 2>/dev/null; then
    measure peers_python python3 -B "$here/peers.py" "${few[@]}" "${python[@]}"
    measure training_python python3 -B "$here/training.py" "${training[@]}"
  else
    printf '\n==== peers_python, training_python\nno torch: left out\n'
  fi

  printf '\n==== all together\n'
  local commit written
  commit=$(git -C "$here" describe --always --dirty 2>/dev/null || echo unknown)
  mapfile -t written < <(ls "$parts"/*.json 2>/dev/null)
  if ((${#written[@]} == 0)); then
    echo "bench: nothing was measured"
    return
  fi
  python3 -B "$here/report.py" "$out/results.json" --merge "${written[@]}" --commit "$commit" \
    --command "$command"
  if python3 -c 'import matplotlib' 2>/dev/null; then
    python3 -B "$here/report.py" "$out/results.json" --svg "$out/results.svg" >/dev/null
  else
    echo "no matplotlib here: draw the plot with report.py $out/results.json --svg results.svg"
  fi
}

all 2>&1 | tee "$out/output.txt"
[[ ! -e $parts/failed ]]
