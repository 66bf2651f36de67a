#!/usr/bin/env bash
# mnist_trainer_test.sh CASE MNIST_TRAINER DIGITS WORK FEEDLINE_CONVERT [hdf5]: one case of those at the end.
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

checksum() {
  local output
  output=$("$trainer" --data "$@" --device cpu --epochs 2)
  value batches_checksum "$output"
}

learns() {
  local output accuracy
  output=$("$trainer" --data "$digits" --device cpu --epochs 1 --batch-size 32)
  echo "$output"
  local lines='^epoch 1/1  loss [0-9.]+  accuracy [0-9.]+  [0-9]+ samples/s  waited for data [0-9.]+ ms \([0-9.]+ %\)$'
  [[ $(grep -cE "$lines" <<<"$output") == 1 ]] || fail "no line for the epoch"
  grep -qE '^The network waited for its data for [0-9.]+ % of the time\. That is (little|much): ' <<<"$output" ||
    fail "no words on the waiting"
  local result='^result accuracy=[01]\.[0-9]{4} samples_per_second=[0-9]+ wait_fraction=[01]\.[0-9]{4} batches_checksum=[0-9a-f]{16} device=cpu$'
  tail -n 1 <<<"$output" | grep -qE "$result" || fail "the last line is no result line"
  [[ $output != *$'\r'* && $output != *$'\x1b'* ]] || fail "a progress bar where there is no terminal"
  accuracy=$(value accuracy "$output")
  awk -v found="$accuracy" 'BEGIN { exit !(found >= 0.75) }' ||
    fail "accuracy $accuracy after an epoch of 6000 digits; at least 0.75 is usual"
}

# converted FOLDER ENDING ARGUMENTS...: the digits in WORK/FOLDER, as train and test with that ending.
converted() {
  local folder=$work/$1 ending=$2 set
  shift 2
  mkdir "$folder"
  for set in train t10k; do
    "$convert" "image=$digits/$set-images-idx3-ubyte" "label=$digits/$set-labels-idx1-ubyte" \
      --output "$folder/${set/t10k/test}$ending" "$@" >"$work/log" || fail "no $ending: $(cat "$work/log")"
  done
}

checksums() {
  local reference other set
  reference=$(checksum "$digits" --readers 0)
  [[ $reference =~ ^[0-9a-f]{16}$ ]] || fail "no checksum: '$reference'"

  same() {  # same WHAT CHECKSUM
    [[ $2 == "$reference" ]] || fail "$1: checksum $2, where zero readers have $reference"
  }
  same "three readers" "$(checksum "$digits" --readers 3)"
  same "no prefetch" "$(checksum "$digits" --no-prefetch 2>"$work/log")"
  grep -q ' 1 a slot; .* 0 readers$' "$work/log" || fail "no prefetch: $(cat "$work/log")"
  "$trainer" --data "$digits" --device cpu --epochs 1 --no-prefetch >"$work/words" 2>/dev/null
  grep -q 'of the time\. This is what reading costs where nothing is read ahead; leave out --no-prefetch' "$work/words" ||
    fail "no prefetch: no words on the waiting in: $(cat "$work/words")"
  same "batches of 50" "$(checksum "$digits" --batch-size 50)"

  mkdir "$work/mixed"
  cp "$digits"/*labels* "$work/mixed"
  gzip --stdout "$digits/train-images-idx3-ubyte" >"$work/mixed/train-images-idx3-ubyte.gz"
  gzip --stdout "$digits/t10k-images-idx3-ubyte" >"$work/mixed/t10k-images-idx3-ubyte.gz"
  same "images compressed, labels plain" "$(checksum "$work/mixed" --readers 2)"

  if [[ -n $hdf5 ]]; then
    converted contiguous .h5 --contiguous
    same "HDF5, contiguous" "$(checksum "$work/contiguous" --readers 2)"
    converted chunked .h5 --compression none --chunk-rows 100
    same "HDF5, chunked" "$(checksum "$work/chunked" --readers 2)"
    converted deflated .h5
    same "HDF5, chunked and compressed" "$(checksum "$work/deflated" --readers 3)"
    same "HDF5, chunks mixed all together" "$(checksum "$work/deflated" --within-chunks 100000)"
    same "HDF5, the file of training data" "$(checksum "$work/deflated/train.h5" --no-prefetch)"
  fi

  converted arrays "" --to npy
  same "NumPy files" "$(checksum "$work/arrays" --readers 2)"
  same "NumPy files, the folder of training data" "$(checksum "$work/arrays/train")"
  mkdir "$work/shards"
  for set in train t10k; do
    "$here/digits_to_tar.pl" "$digits/$set-images-idx3-ubyte" "$digits/$set-labels-idx1-ubyte" \
      "$work/shards/${set/t10k/test}.tar"
  done
  same "a tar shard" "$(checksum "$work/shards" --readers 2)"

  other=$(checksum "$digits" --seed 2)
  [[ $other != "$reference" ]] || fail "another seed has the same checksum: it shows nothing"
}

# What an order that mixes few chunks costs on digits that are stored by label, and that it is one order.
windows() {
  local poor good
  poor=$("$trainer" --data "$digits" --device cpu --epochs 1 --batch-size 32 --sorted-chunks 100 \
    --within-chunks 1 2>"$work/log")
  grep -q 'shuffle: windows of 1 chunks are fewer than 4 times' "$work/log" || fail "no warning: $(cat "$work/log")"
  good=$("$trainer" --data "$digits" --device cpu --epochs 1 --batch-size 32 --sorted-chunks 100 \
    --within-chunks 60)
  echo "$poor"
  echo "$good"
  awk -v poor="$(value accuracy "$poor")" -v good="$(value accuracy "$good")" \
    'BEGIN { exit !(poor < 0.5 && good > 0.75) }' || fail "chunks one by one should teach little, mixed well much"
  [[ $(checksum "$digits" --sorted-chunks 16 --within-chunks 20 --readers 0) == \
    $(checksum "$digits" --sorted-chunks 16 --within-chunks 20 --readers 3) ]] || fail "other batches for other readers"
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
  refused 2 "--device is 'gpu': say auto, cpu, or cuda:N" --data "$digits" --device gpu
  refused 2 "--device is 'cuda:-1'" --data "$digits" --device cuda:-1
  refused 2 'excludes' --data "$digits" --no-prefetch --readers 2
  refused 2 'no such file or folder' --data "$work/nothing"
  mkdir "$work/empty"
  refused 2 'train-images-idx3-ubyte, train-labels-idx1-ubyte, .*make_digits' --data "$work/empty"
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
  refused 1 '^mnist_trainer: a label is 11: ' --data "$work/labels" --device cpu --epochs 1
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
  [[ $(value batches_checksum "$gpu") == "$(value batches_checksum "$cpu")" ]] ||
    fail "the GPU was given other batches than the CPU"
  awk -v gpu="$(value accuracy "$gpu")" -v cpu="$(value accuracy "$cpu")" \
    'BEGIN { exit !(gpu - cpu < 0.03 && cpu - gpu < 0.03) }' ||
    fail "the same network, weights and batches, but other accuracies"

  cp -r "$digits" "$work/labels"
  printf '\x0b' | dd of="$work/labels/train-labels-idx1-ubyte" bs=1 seek=8 conv=notrunc status=none
  refused 1 '^mnist_trainer: 1 labels are above 9' --data "$work/labels" --epochs 1
}

"$case"
