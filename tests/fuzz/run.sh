#!/usr/bin/env bash
# Fuzzes the IDX reader: tests/fuzz/run.sh [SECONDS, default 60]
#
# Builds the target with clang in build/fuzz and runs it on a copy of the seed corpus, which it extends
# there. Fails on any finding: a crash, a sanitizer's report, a hang, more than 1 GiB of memory. A
# finding's input lies in build/fuzz/findings; give it a unit test, and the corpus the file.
# FEEDLINE_FUZZ_CXX names the compiler where it is not clang++ or clang++-14.
set -euo pipefail

seconds=${1:-60}
source_dir=$(cd "$(dirname "$0")/../.." && pwd)
build_dir=$source_dir/build/fuzz

compiler=${FEEDLINE_FUZZ_CXX:-}
for candidate in clang++ clang++-14 clang++-18; do
  [[ -n $compiler ]] || compiler=$(command -v "$candidate" || true)
done
[[ -n $compiler ]] || { echo "tests/fuzz/run.sh: clang++ is needed for libFuzzer" >&2; exit 1; }

generator=()
command -v ninja > /dev/null && generator=(-G Ninja)
cmake -S "$source_dir" -B "$build_dir" "${generator[@]}" --log-level=WARNING \
  -DCMAKE_CXX_COMPILER="$compiler" -DCMAKE_BUILD_TYPE=RelWithDebInfo -DFEEDLINE_FUZZ=ON \
  -DFEEDLINE_CUDA=OFF -DFEEDLINE_HDF5=OFF -DFEEDLINE_SAMPLES=OFF
cmake --build "$build_dir" --target idx_fuzz --parallel "$(nproc)"

mkdir -p "$build_dir/corpus/idx" "$build_dir/findings"
cp "$source_dir"/tests/fuzz/corpus/idx/* "$build_dir/corpus/idx/"
"$build_dir/tests/fuzz/idx_fuzz" "$build_dir/corpus/idx" \
  -max_total_time="$seconds" -max_len=4096 -timeout=10 -rss_limit_mb=1024 \
  -artifact_prefix="$build_dir/findings/" -print_final_stats=1
