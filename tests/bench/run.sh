#!/usr/bin/env bash
# All benchmarks in one run, on a machine with a GPU and a release build: feedline and its peers, side by side.
#
#   tests/bench/run.sh [BUILD_FOLDER]     default: build/release
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
build=${1:-$here/../../build/release}/tests/bench

if [[ ! -x $build/feedline_bench_delivery ]]; then
  echo "bench: no $build/feedline_bench_delivery: build with CUDA first (cmake --preset cuda-release, and build it)" >&2
  exit 1
fi
for bench in delivery latency stall peers; do
  printf '\n==== %s\n' "$bench"
  "$build/feedline_bench_$bench"
done
printf '\n==== peers in Python\n'
if python3 -c 'import torch' 2>/dev/null; then
  python3 "$here/peers.py"
else
  echo "no torch: left out"
fi
