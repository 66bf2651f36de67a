#!/usr/bin/env bash
# Fuzzes the readers of files: tests/fuzz/run.sh [SECONDS, default 60] [TARGET...]
#
# SECONDS are for each target, as many at a time as there are cores: all that CMakeLists.txt lists,
# or those named. Builds them with clang in build/fuzz and runs each on a copy of its seed corpus,
# which it extends there. Fails on any finding: a crash, a sanitizer's report, a hang, more than
# 1 GiB of memory. A finding's input lies in build/fuzz/findings; give it a unit test, and the
# corpus the file.
# FEEDLINE_FUZZ_CXX names the compiler where it is not clang++ or clang++-14. A build/fuzz that was
# configured before keeps its compiler.
set -euo pipefail

seconds=${1:-60}
wanted=("${@:2}")
source_dir=$(cd "$(dirname "$0")/../.." && pwd)
build_dir=$source_dir/build/fuzz

if ! grep -qs '^FEEDLINE_SANITIZE:.*=address$' "$build_dir/CMakeCache.txt"; then
  compiler=${FEEDLINE_FUZZ_CXX:-}
  for candidate in clang++ clang++-14 clang++-18; do
    [[ -n $compiler ]] || compiler=$(command -v "$candidate" || true)
  done
  [[ -n $compiler ]] || { echo "tests/fuzz/run.sh: clang++ is needed for libFuzzer" >&2; exit 1; }
  cmake --fresh --preset host-asan -S "$source_dir" -B "$build_dir" --log-level=WARNING \
    -D CMAKE_CXX_COMPILER="$compiler" -D FEEDLINE_FUZZ=ON -D CMAKE_UNITY_BUILD=ON \
    -D FEEDLINE_PROGRAMS=OFF -D FEEDLINE_SAMPLES=OFF
fi
# A target that is new is in the list once the build has been configured with it.
cmake "$build_dir" --log-level=WARNING

declare -A max_bytes=()
all=()
while read -r name bytes; do
  all+=("$name")
  max_bytes[$name]=$bytes
done < "$build_dir/tests/fuzz/targets"
((${#wanted[@]} > 0)) || wanted=("${all[@]}")
for name in "${wanted[@]}"; do
  if [[ -z ${max_bytes[$name]:-} ]]; then
    echo "tests/fuzz/run.sh: there is no target '$name'; there are: ${all[*]}" >&2
    exit 1
  fi
done

cmake --build "$build_dir" --target "${wanted[@]/%/_fuzz}" --parallel "$(nproc)"

export LSAN_OPTIONS=suppressions=$source_dir/tests/support/lsan.supp:print_suppressions=0
export HDF5_PLUGIN_PRELOAD=::  # no filter plugins that happen to be installed
export source_dir build_dir seconds

# fuzz NAME MAX_BYTES: its words go to a file, and come here at the end or where it found something.
fuzz() {
  local name=$1 log=$build_dir/$1.log code=0
  mkdir -p "$build_dir/corpus/$name" "$build_dir/findings"
  cp "$source_dir/tests/fuzz/corpus/$name"/* "$build_dir/corpus/$name/"
  "$build_dir/tests/fuzz/${name}_fuzz" "$build_dir/corpus/$name" \
    -max_total_time="$seconds" -max_len="$2" -timeout=10 -rss_limit_mb=1024 \
    -artifact_prefix="$build_dir/findings/$name-" -print_final_stats=1 > "$log" 2>&1 || code=$?
  if ((code != 0)); then
    tail -60 "$log"
    echo "tests/fuzz/run.sh: $name FAILED (exit code $code); the input is in $build_dir/findings"
  else
    echo "tests/fuzz/run.sh: $name: nothing found in" \
      "$(sed -n 's/^stat::number_of_executed_units: *//p' "$log") inputs"
  fi
  return "$code"
}
export -f fuzz

echo "tests/fuzz/run.sh: ${wanted[*]}, $seconds s each, $(nproc) at a time"
for name in "${wanted[@]}"; do printf '%s %s\n' "$name" "${max_bytes[$name]}"; done |
  xargs -P "$(nproc)" -L 1 bash -c 'fuzz "$0" "$1"'
