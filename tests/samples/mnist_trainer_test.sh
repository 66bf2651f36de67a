#!/usr/bin/env bash
# mnist_trainer_test.sh CASE MNIST_TRAINER DIGITS WORK FEEDLINE_CONVERT [hdf5]: one case of
# those at the end.
#   DIGITS  folder with IDX files, left as it is
#   WORK    folder for what the case makes
#   hdf5    given where they were built with HDF5
set -euo pipefail
here=$(dirname "${BASH_SOURCE[0]}")
case=$1 trainer=$2 digits=$3 work=$4 convert=$5 hdf5=${6:-}
rm -rf "$work"
mkdir -p "$work"

fail() {
  echo "FAILED: $*" >&2
  exit 1
}

# value NAME OUTPUT: NAME's value in the result line.
value() { sed -n "s/^result .*\b$1=\([^ ]*\).*/\1/p" <<<"$2"; }

# The loss of the last epoch, to nine digits. The arithmetic is the same each time, so it differs
# as soon as a digit, a label or the order of the batches does.
loss() {
  local output
  output=$("$trainer" --data "$@" --epochs 2)
  value loss "$output"
}
cpu_loss() { loss "$@" --device cpu; }

learns() {
  local output accuracy
  output=$("$trainer" --data "$digits" --device cpu --epochs 1 --batch-size 32)
  echo "$output"
  local line='^epoch 1/1  loss [0-9.]+  accuracy [0-9.]+  [0-9]+ samples/s'
  line+='  waited for data [0-9.]+ ms \([0-9.]+ %\)$'
  [[ $(grep -cE "$line" <<<"$output") == 1 ]] || fail "no line for the epoch"
  local words='^The network waited for its data for [0-9.]+ % of the time\. That is (little|much): '
  grep -qE "$words" <<<"$output" || fail "no words on the waiting"
  local result='^result accuracy=[01]\.[0-9]{4} loss=[0-9.]+ samples_per_second=[0-9]+'
  result+=' wait_fraction=[01]\.[0-9]{4} step_us=[0-9.]+ ranks=1 device=cpu$'
  tail -n 1 <<<"$output" | grep -qE "$result" || fail "the last line is no result line"
  accuracy=$(value accuracy "$output")
  awk -v found="$accuracy" 'BEGIN { exit !(found >= 0.75) }' ||
    fail "accuracy $accuracy after an epoch of 6000 digits; at least 0.75 is usual"
}

# converted FOLDER ENDING ARGUMENTS...: the digits in WORK/FOLDER, as train and test.
converted() {
  local folder=$work/$1 ending=$2 set
  shift 2
  mkdir "$folder"
  for set in train t10k; do
    "$convert" "image=$digits/$set-images-idx3-ubyte" "label=$digits/$set-labels-idx1-ubyte" \
      --output "$folder/${set/t10k/test}$ending" "$@" >"$work/log" ||
      fail "no $ending: $(cat "$work/log")"
  done
}

same_loss() {
  local reference other set
  reference=$(cpu_loss "$digits" --readers 0)
  [[ $reference =~ ^[0-9]\.[0-9]{5,}$ ]] || fail "no loss: '$reference'"

  same() {  # same WHAT LOSS
    [[ $2 == "$reference" ]] || fail "$1: loss $2, where zero readers have $reference"
  }
  same "three readers" "$(cpu_loss "$digits" --readers 3)"
  same "no prefetch" "$(cpu_loss "$digits" --no-prefetch 2>"$work/log")"
  grep -q ' 1 a slot; .* 0 readers$' "$work/log" || fail "no prefetch: $(cat "$work/log")"
  "$trainer" --data "$digits" --device cpu --epochs 1 --no-prefetch >"$work/words" 2>/dev/null
  grep -q 'of the time\. This is what reading costs where nothing is read ahead' "$work/words" ||
    fail "no prefetch: no words on the waiting in: $(cat "$work/words")"

  mkdir "$work/mixed"
  cp "$digits"/*labels* "$work/mixed"
  gzip --stdout "$digits/train-images-idx3-ubyte" >"$work/mixed/train-images-idx3-ubyte.gz"
  gzip --stdout "$digits/t10k-images-idx3-ubyte" >"$work/mixed/t10k-images-idx3-ubyte.gz"
  same "images compressed, labels plain" "$(cpu_loss "$work/mixed" --readers 2)"

  if [[ -n $hdf5 ]]; then
    converted contiguous .h5 --contiguous
    same "HDF5, contiguous" "$(cpu_loss "$work/contiguous" --readers 2)"
    converted chunked .h5 --compression none --chunk-rows 100
    same "HDF5, chunked" "$(cpu_loss "$work/chunked" --readers 2)"
    converted deflated .h5
    same "HDF5, chunked and compressed" "$(cpu_loss "$work/deflated" --readers 3)"
    same "HDF5, chunks mixed all together" "$(cpu_loss "$work/deflated" --within-chunks 100000)"
    same "HDF5, the file of training data" "$(cpu_loss "$work/deflated/train.h5" --no-prefetch)"
  fi

  converted arrays "" --to npy
  same "NumPy files" "$(cpu_loss "$work/arrays" --readers 2)"
  same "NumPy files, the folder of training data" "$(cpu_loss "$work/arrays/train")"
  mkdir "$work/shards"
  for set in train t10k; do
    "$here/digits_to_tar.pl" "$digits/$set-images-idx3-ubyte" \
      "$digits/$set-labels-idx1-ubyte" "$work/shards/${set/t10k/test}.tar"
  done
  same "a tar shard" "$(cpu_loss "$work/shards" --readers 2)"

  other=$(cpu_loss "$digits" --seed 2)
  [[ $other != "$reference" ]] || fail "another seed has the same loss: it shows nothing"
}

# refused CODE WORDS ARGUMENTS...: the trainer ends with the code and says the words, once.
refused() {
  local code=0 wanted=$1 words=$2
  shift 2
  "$trainer" "$@" >"$work/output" 2>"$work/errors" || code=$?
  [[ $code == "$wanted" ]] || fail "exit code $code, not $wanted, for: $*"
  grep -q -- "$words" "$work/errors" || fail "for: $*: no '$words' in: $(cat "$work/errors")"
  ! grep -q '^result' "$work/output" || fail "a result line for: $*"
}

refuses() {
  refused 2 'data is required'
  refused 2 "'gpu' is not a device: say auto, cpu, or cuda:N" --data "$digits" --device gpu
  refused 2 "'cuda:-1' is not a device" --data "$digits" --device cuda:-1
  refused 2 'excludes' --data "$digits" --no-prefetch --readers 2
  refused 2 "Path does not exist: $work/nothing" --data "$work/nothing"
  mkdir "$work/empty"
  refused 2 'empty/train-[a-z0-9-]*-ubyte: not there, .*make_digits' --data "$work/empty"
  touch "$work/lone.h5"
  refused 2 'test.h5: not there; beside .*lone.h5' --data "$work/lone.h5"
  if [[ -n $hdf5 ]]; then
    touch "$work/test.h5"
    refused 1 "^mnist_trainer: $work/lone.h5: " --data "$work/lone.h5"
  fi
  cp -r "$digits" "$work/cut"
  head -c 100000 "$digits/train-images-idx3-ubyte" >"$work/cut/train-images-idx3-ubyte"
  refused 1 "^mnist_trainer: $work/cut/train-images-idx3-ubyte: " --data "$work/cut" --device cpu
  cp -r "$digits" "$work/labels"
  printf '\x0b' | dd of="$work/labels/train-labels-idx1-ubyte" bs=1 seek=8 conv=notrunc status=none
  refused 1 '^mnist_trainer: 1 labels are above 9' --data "$work/labels" --device cpu --epochs 1
}

agrees_on_gpu() {
  local gpu cpu
  gpu=$("$trainer" --data "$digits" --device auto --epochs 2 --batch-size 50)
  echo "$gpu"
  if [[ $(value device "$gpu") == cpu ]]; then
    echo "[feedline skip] no GPU that can be used"
    exit 0
  fi
  cpu=$("$trainer" --data "$digits" --device cpu --epochs 2 --batch-size 50)
  echo "$cpu"
  local reference
  reference=$(loss "$digits" --readers 0)
  for placement in "stream --readers 3" gather resident "cached --cache 2"; do
    # shellcheck disable=SC2086  # the options are words of their own
    [[ $(loss "$digits" --placement $placement) == "$reference" ]] ||
      fail "placement $placement: other batches than with zero readers"
  done
  awk -v gpu="$(value accuracy "$gpu")" -v cpu="$(value accuracy "$cpu")" \
    'BEGIN { exit !(gpu - cpu < 0.03 && cpu - gpu < 0.03) }' ||
    fail "the same network, weights and batches, but other accuracies"

  cp -r "$digits" "$work/labels"
  printf '\x0b' | dd of="$work/labels/train-labels-idx1-ubyte" bs=1 seek=8 conv=notrunc status=none
  refused 1 '^mnist_trainer: 1 labels are above 9' --data "$work/labels" --epochs 1
}

"$case"
