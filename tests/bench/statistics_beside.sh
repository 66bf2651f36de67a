#!/usr/bin/env bash
# Cost of statistics for small batches: delivery of MNIST in batches of 64 with them, beside a build
# of a copy of this source that measures nothing. Needs a GPU.
#
#   tests/bench/statistics_beside.sh [ROUNDS [FOLDER [CMAKE_ARGUMENT...]]]
#
#   Default: 12 rounds, in build/statistics_beside. The programs take turns in each round, and the
#   one that begins changes. Ends with the medians of all rounds, and their ratio.
set -euo pipefail
source=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
rounds=${1:-12}
folder=${2:-$source/build/statistics_beside}
shift $(($# < 2 ? $# : 2))
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)

# The copy: clocks of stages that are never read and count nothing, no timed event, no sample of
# CPU times.
copy=$folder/without
rm -rf "$copy"
mkdir -p "$copy"
tar -C "$source" -c CMakeLists.txt CMakePresets.json LICENSE README.md .ci include src \
  tests samples docs |
  tar -C "$copy" -x

# change FILE LINE REPLACEMENT: the one line of the copy's file becomes the other.
change() {
  local found
  found=$(grep -cxF -e "$2" "$copy/src/$1" || true)
  if [[ $found != 1 ]]; then
    echo "statistics_beside: $found lines of src/$1 are '$2', not 1: say here what measures now" >&2
    exit 1
  fi
  LINE=$2 REPLACEMENT=$3 awk '$0 == ENVIRON["LINE"] { $0 = ENVIRON["REPLACEMENT"] } { print }' \
    "$copy/src/$1" >"$copy/changed"
  mv "$copy/changed" "$copy/src/$1"
}
clock=statistics/stage_clock.hpp
now="std::chrono::steady_clock::now()"
change $clock "  void enter(activity next, time_point now = $now) noexcept {" \
  "  void enter(activity next, time_point = {}) noexcept { now_ = next; }
  void measure(activity next, time_point now) noexcept {"
change $clock "  void lap(time_point now = $now) noexcept { enter(now_, now); }" \
  "  void lap(time_point = {}) noexcept {}"
for each in batches samples bytes; do
  change $clock "  void count_$each(std::uint64_t more) noexcept { add(${each}_, more); }" \
    "  void count_$each(std::uint64_t) noexcept {}"
done
change $clock "  void count_slot(time_point began, time_point ended) noexcept {" \
  "  void count_slot(time_point, time_point) noexcept {}
  void measure_slot(time_point began, time_point ended) noexcept {"
change statistics/cpu_sampler.hpp "    measures_ = now - last_ >= interval;" \
  "    measures_ = now == time_point::max();"
change device/stream_timer.hpp \
  "    for (std::size_t i = 0; i < pairs && device_->tells_times(); ++i)" \
  "    for (std::size_t i = 0; i < pairs && false; ++i)"

for each in with without; do
  of=$source
  if [[ $each == without ]]; then of=$copy; fi
  cmake -S "$of" -B "$folder/build_$each" -G Ninja -D CMAKE_BUILD_TYPE=Release -D FEEDLINE_CUDA=ON \
    -D FEEDLINE_SAMPLES=OFF -D FEEDLINE_PROGRAMS=OFF "$@" >"$folder/configure_$each.log"
  cmake --build "$folder/build_$each" --target feedline_bench_delivery --parallel "$(nproc)" \
    >"$folder/build_$each.log"
done

measure() {  # WITH_OR_WITHOUT
  "$folder/build_$1/tests/bench/feedline_bench_delivery" --shape mnist64 \
    --placement stream,resident --readers 8 --runs 9 --seconds 0.08 |
    grep '^mnist64' | sed "s/^mnist64 /$(printf '%-8s' "$1")/" | tee -a "$folder/rates.txt"
}
rm -f "$folder/rates.txt"
"$folder/build_with/tests/bench/feedline_bench_delivery" --shape mnist64 --placement stream \
  --readers 8 --runs 1 --seconds 0.1 | grep -v '^mnist64'
for ((round = 0; round < rounds; ++round)); do
  if ((round % 2 == 0)); then
    measure with
    measure without
  else
    measure without
    measure with
  fi
done

python3 - "$folder/rates.txt" <<'PYTHON'
import statistics
import sys

rates = {}
for line in open(sys.argv[1]):
    which, placement, _, batches, *_ = line.split()
    rates.setdefault(placement, {}).setdefault(which, []).append(float(batches))
print()
for placement, of in rates.items():
    ratios = [a / b for a, b in zip(of["with"], of["without"])]
    print(f"{placement:9s} with {statistics.median(of['with']):12.0f} batches/s, "
          f"without {statistics.median(of['without']):12.0f}: "
          f"{statistics.median(of['with']) / statistics.median(of['without']):.4f}; "
          f"median of the rounds' ratios {statistics.median(ratios):.4f} "
          f"[{min(ratios):.3f}, {max(ratios):.3f}]")
PYTHON
