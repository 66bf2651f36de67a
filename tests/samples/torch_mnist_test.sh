#!/usr/bin/env bash
# torch_mnist_test.sh TORCH_MNIST DIGITS: trains on some digits by both loaders, on the CPU.
# Network, order and step are the same, and the losses differ by rounding alone.
set -euo pipefail
program=$1 digits=$2
export OMP_NUM_THREADS=1  # sums in one order

# result LOADER NAME OPTION...: a number of the last epoch's line.
result() {
  local output
  output=$("$program" --data "$digits" --device cpu --epochs 2 --samples 3200 \
    --loader "$1" "${@:3}")
  echo "$output" >&2
  sed -nE "s/^$1 +epoch 2: .* $2 ([0-9.]+).*/\\1/p" <<<"$output"
}

# alike NAME OPTION...: both loaders' numbers differ by 0.0005 at most.
alike() {
  local by_torch by_feedline
  by_torch=$(result torch "$@")
  by_feedline=$(result feedline "$@")
  awk -v a="$by_torch" -v b="$by_feedline" \
    'BEGIN { exit !(a != "" && b != "" && a - b <= 0.0005 && b - a <= 0.0005) }' || {
    echo "FAILED: $1 is '$by_torch' by libtorch's loader and '$by_feedline' by feedline's" >&2
    exit 1
  }
}

alike "train loss" --workers 0
alike "test loss" --workers 2
