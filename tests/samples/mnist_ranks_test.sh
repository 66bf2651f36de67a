#!/usr/bin/env bash
# mnist_ranks_test.sh CASE MNIST_SEVERAL_GPUS DIGITS WORK: the trainer as several ranks, and
# resumed: one case of those at the end.
#   DIGITS  folder with IDX files, left as it is
#   WORK    folder for what the case makes
#
# `several_gpus` is for a machine with two GPUs or more, and prints the time of a step in each form:
#   tests/samples/mnist_ranks_test.sh several_gpus MNIST_SEVERAL_GPUS data/digits /tmp/several_gpus
set -euo pipefail
case=$1 trainer=$2 digits=$3 work=$4
rm -rf "$work"
mkdir -p "$work"

fail() {
  echo "FAILED: $*" >&2
  exit 1
}

# value NAME FILE: NAME's value in the result line.
value() { sed -n "s/^result .*\b$1=\([^ ]*\).*/\1/p" "$2"; }

# same_losses WHAT FOUND WANTED: line after line the same batches, and about their losses. Sums over
# ranks round otherwise. That shows in the last digits, until an input of a ReLU that is nearly 0
# falls on its other side: from there the runs part, as runs of one rank do whose initial weights
# differ in the last bit. So the first losses are compared one by one, and then their mean.
same_losses() {
  paste -d' ' "$2" "$3" | awk -v what="$1" '
    NF != 6 || $1 != $4 || $2 != $5 { print what ": other lines: " $0; exit failed = 1 }
    { apart = $3 > $6 ? $3 - $6 : $6 - $3; found += $3; wanted += $6 }
    NR <= 20 && apart > first { first = apart }
    apart > most { most = apart }
    END {
      if (failed || NR == 0) exit 1
      mean = found / wanted - 1
      printf "%s: %d losses; the first 20 at most %.1e apart, all %.1e; mean %+.2f %%\n", what, NR,
        first, most, 100 * mean
      exit !(first < 0.001 && mean < 0.02 && mean > -0.02)
    }' || fail "$1: not the losses of one rank"
}

# refused CODE WORDS COMMAND...: it ends with the code and says the words.
refused() {
  local code=0 wanted=$1 words=$2
  shift 2
  "$@" >"$work/output" 2>"$work/errors" || code=$?
  [[ $code == "$wanted" ]] || fail "exit code $code, not $wanted, for: $*: $(cat "$work/errors")"
  grep -q -- "$words" "$work/errors" || fail "for: $*: no '$words' in: $(cat "$work/errors")"
  ! grep -q '^result' "$work/output" || fail "a result line for: $*"
}

one_curve() {
  local ranks
  # 6000 digits are 15 batches of 385, and one of 225 that neither 7 nor 11 divides: repeats.
  for ranks in 1 7 11; do
    "$trainer" --data "$digits" --device cpu --epochs 1 --batch-size 385 --ranks "$ranks" \
      --losses "$work/losses$ranks" --checksums "$work/checksums$ranks" >"$work/output$ranks"
  done
  [[ $(wc -l <"$work/losses1") == 16 ]] || fail "not a line a batch: $(wc -l <"$work/losses1")"
  for ranks in 7 11; do
    cmp "$work/checksums1" "$work/checksums$ranks" || fail "$ranks ranks have other batches"
    same_losses "$ranks ranks" "$work/losses$ranks" "$work/losses1"
    [[ $(value ranks "$work/output$ranks") == "$ranks" ]] || fail "no ranks=$ranks in the result"
    awk -v found="$(value accuracy "$work/output$ranks")" \
      -v wanted="$(value accuracy "$work/output1")" \
      'BEGIN { exit !(found - wanted < 0.005 && wanted - found < 0.005) }' ||
      fail "$ranks ranks have another accuracy"
  done
  "$trainer" --data "$digits" --device cpu --epochs 1 --batch-size 385 --seed 2 \
    --checksums "$work/other" >"$work/output"
  [[ $(sort "$work/other" | comm -12 - <(sort "$work/checksums1") | wc -l) == 0 ]] ||
    fail "other batches have the same checksums: they show nothing"
}

refuses_ranks() {
  local few=(--data "$digits" --epochs 1)
  refused 2 'a global batch of 128 samples cannot be cut into 3 equal parts' \
    "$trainer" "${few[@]}" --device cpu --ranks 3
  refused 2 'or say --device cpu\|--gpus 1000: this machine has [0-9]* GPU' \
    "$trainer" "${few[@]}" --gpus 1000
  refused 2 'Value 0 not in range' "$trainer" "${few[@]}" --gpus 0

  local torchrun=(env RANK=1 WORLD_SIZE=2 LOCAL_RANK=1)
  refused 2 'rank 1 of 2 (torchrun): .* so --gpus must be 1' \
    "${torchrun[@]}" "$trainer" "${few[@]}" --gpus 2
  refused 2 'rank 1 of 2 (torchrun): --device cpu would be the same for all' \
    "${torchrun[@]}" "$trainer" "${few[@]}" --device cpu
  refused 2 "LOCAL_RANK is 'x', where the number of this process" \
    "${torchrun[@]}" LOCAL_RANK=x "$trainer" "${few[@]}"
  refused 2 'OMPI_COMM_WORLD_LOCAL_RANK is '"''" \
    env OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=2 "$trainer" "${few[@]}"
  refused 2 \
    'rank 1 of 2 (torchrun): .*\(built without CUDA\|each process needs a GPU\).* --device cpu' \
    "${torchrun[@]}" CUDA_VISIBLE_DEVICES= "$trainer" "${few[@]}"
}

refuses_checkpoints() {
  local run=("$trainer" --data "$digits" --device cpu)
  refused 2 '--resume requires --checkpoint' "${run[@]}" --resume
  refused 2 '--every requires --checkpoint' "${run[@]}" --every 3

  # Before the first batch, not at the first save.
  local lost=("${run[@]}" --checkpoint)
  refused 2 "--checkpoint $work/no/such: $work/no/such.new cannot be made: No such file or dir" \
    "${lost[@]}" "$work/no/such"
  grep -q "; make the folder, or name a file in one that can be written" "$work/errors" ||
    fail "no remedy: $(cat "$work/errors")"
  [[ ! -s $work/output ]] || fail "the training began: $(cat "$work/output")"
  : >"$work/file"
  refused 2 "file/such.new cannot be made: Not a directory" "${lost[@]}" "$work/file/such"
  refused 2 "--checkpoint $work: that is a folder, not a file" "${lost[@]}" "$work"
  if [[ $(id -u) != 0 ]]; then
    mkdir -m 500 "$work/locked"
    refused 2 "locked/such.new cannot be made: Permission denied" "${lost[@]}" "$work/locked/such"
  fi
  refused 1 "$work/no/such: cannot be written" "${run[@]}" --losses "$work/no/such"

  local file=$work/checkpoint
  "${run[@]}" --epochs 1 --resume --checkpoint "$file" >"$work/output" ||
    fail "nothing to resume: an error"
  grep -q "^resume: there is no $file yet" "$work/output" || fail "$(cat "$work/output")"
  [[ ! -e $file.new ]] || fail "$file.new is left"
  "${run[@]}" --epochs 1 --resume --checkpoint "$file" >"$work/output" ||
    fail "nothing left to do: an error"
  grep -q "^$file is the end of 1 epochs: nothing is left to do" "$work/output" ||
    fail "$(cat "$work/output")"

  local again=("${run[@]}" --epochs 2 --resume --checkpoint)
  head -c 100000 "$file" >"$work/cut"
  refused 2 "$work/cut: not a whole checkpoint, or more than one: it has 100000 bytes" \
    "${again[@]}" "$work/cut"
  head -c 60 "$file" >"$work/begun"
  refused 2 "$work/begun: not a whole checkpoint, or more than one: it has 60 bytes" \
    "${again[@]}" "$work/begun"
  cat "$file" "$file" >"$work/twice"
  refused 2 "$work/twice: not a whole checkpoint, or more than one" "${again[@]}" "$work/twice"
  refused 2 "labels-idx1-ubyte: no checkpoint of this trainer, which begins with 'feedline mnist" \
    "${again[@]}" "$digits/train-labels-idx1-ubyte"
  : >"$work/empty"
  refused 2 "$work/empty: no checkpoint of this trainer" "${again[@]}" "$work/empty"
  sed 's/^784 256 128 10$/100 256 128 10/' "$file" >"$work/smaller"
  refused 2 \
    "belongs to a network of sizes 100 256 128 10, but these digits make one of 784 256 128 10" \
    "${again[@]}" "$work/smaller"
  refused 2 'samples in a global batch are 128 in the state, and 100' \
    "${again[@]}" "$file" --batch-size 100
  refused 2 'the state is of another run: ' "${again[@]}" "$file" --seed 2
  "${again[@]}" "$file" >"$work/output" || fail "further epochs: $(cat "$work/output")"
  grep -q '^epoch 2/2 ' "$work/output" || fail "further epochs: $(cat "$work/output")"
}

# form NAME COMMAND...: trains in one form, and compares with one GPU.
form() {
  local name=$1
  shift
  "$@" --data "$digits" --batch-size 1024 --losses "$work/losses-$name" >"$work/$name" ||
    fail "$name: $(cat "$work/$name")"
  "$@" --data "$digits" --batch-size 1024 --epochs 1 --checksums "$work/checksums-$name" \
    >"$work/log" || fail "$name: $(cat "$work/log")"
  same_losses "$name" "$work/losses-$name" "$work/losses-one"
  cmp "$work/checksums-$name" "$work/checksums-one" || fail "$name: other batches than one GPU has"
  printf '%-22s %10s us a step  %12s samples/s  ranks=%s\n' \
    "$name" "$(value step_us "$work/$name")" \
    "$(value samples_per_second "$work/$name")" "$(value ranks "$work/$name")"
}

several_gpus() {
  "$trainer" --data "$digits" --gpus 2 --epochs 1 >"$work/log" 2>&1 || {
    echo "[feedline skip] $(tail -n 1 "$work/log")"
    grep -qE 'built without|this machine has' "$work/log" || fail "$(cat "$work/log")"
    exit 0
  }
  form one "$trainer" --gpus 1
  form two-threads "$trainer" --gpus 2
  if command -v mpirun >"$work/log"; then
    local mpirun=(mpirun --allow-run-as-root --oversubscribe -np 2)
    if "${mpirun[@]}" "$trainer" --data "$digits" --epochs 1 2>&1 | grep 'built without MPI'; then
      mpirun=(env NCCL_COMM_ID=127.0.0.1:29516 "${mpirun[@]}" -x NCCL_COMM_ID)
    fi
    form two-by-mpirun "${mpirun[@]}" "$trainer"
  else
    echo "two-by-mpirun: left out, there is no mpirun"
  fi
  if command -v torchrun >"$work/log"; then
    form two-by-torchrun torchrun --nproc-per-node 2 --no-python "$trainer"
  fi
  # The same without torchrun: what it sets.
  local at=(env MASTER_ADDR=127.0.0.1 MASTER_PORT=29517 WORLD_SIZE=2)
  "${at[@]}" RANK=1 LOCAL_RANK=1 "$trainer" --data "$digits" --epochs 1 >"$work/second" &
  "${at[@]}" RANK=0 LOCAL_RANK=0 "$trainer" --data "$digits" --epochs 1 >"$work/first" ||
    fail "by torchrun's variables: $(cat "$work/first")"
  wait
  [[ $(value ranks "$work/first") == 2 && -z $(value ranks "$work/second") ]] ||
    fail "by torchrun's variables: not one result of two ranks"

  # A training of two GPUs is killed and continues with one; and the other way round.
  local from to
  for from in 1 2; do
    to=$((3 - from))
    rm -f "$work/checkpoint"
    local run=("$trainer" --data "$digits" --batch-size 1024 --epochs 2 --every 4 --resume
      --checkpoint "$work/checkpoint" --checksums "$work/checksums" --losses "$work/losses")
    "${run[@]}" --gpus "$from" >"$work/log" &
    local process=$!
    until [[ -e $work/checkpoint ]] || ! kill -0 "$process" 2>/dev/null; do sleep 0.01; done
    kill -KILL "$process" 2>/dev/null || true
    wait "$process" 2>/dev/null || true
    "${run[@]}" --gpus "$to" >"$work/log" || fail "from $from to $to: $(cat "$work/log")"
    grep '^resume' "$work/log"
    "$trainer" --data "$digits" --batch-size 1024 --epochs 2 --checksums "$work/whole" \
      --losses "$work/whole-losses" >"$work/log"
    cmp "$work/checksums" "$work/whole" || fail "from $from GPUs to $to: other batches"
    same_losses "from $from GPUs to $to" "$work/losses" "$work/whole-losses"
  done
}

"$case"
