#!/usr/bin/env bash
# Installs what is missing, builds an MNIST trainer, and trains. `--help` says more.
set -euo pipefail

usage() {
  cat <<'END'
Installs what is missing, builds an MNIST trainer, and trains.

  samples/run_mnist.sh                               on digits it makes itself, in data/digits
  samples/run_mnist.sh --data ~/mnist --epochs 10    arguments go to the trainer

On Debian 12 and 13 and Ubuntu 24.04, as root or with sudo; may be run again at any time. Uses CUDA
where there is a toolkit, and a GPU where there is one.

  --data PATH              MNIST's four IDX files, or digits in another format
  --batch-size N           digits in a batch, of all GPUs together
  --epochs N               passes over the training data
  --readers N              threads that read; 0: the training loop; -1: as suits the machine
  --placement PLACEMENT    auto, stream, gather, resident or cached
  --cache MIB              memory of the GPU that digits may stay in
  --device DEVICE          auto, cpu, or cuda:N
  --seed N                 seed of the order of the digits and of the initial weights
  --within-chunks N        chunks mixed at a time; 0: all digits with each other
  --no-prefetch            read each batch when it is asked for, to compare with

With one of these, samples/mnist_several_gpus trains instead of samples/mnist_trainer:

  --gpus N                 GPUs that share each batch
  --ranks N                the same; with --device cpu, threads that do
  --checkpoint FILE        file from which a training can be resumed
  --every N                batches between two checkpoints; 0: at the end of epochs only
  --resume                 continue from the checkpoint, if there is one
  --losses FILE            a line for each batch, to compare runs by
  --checksums FILE         the same, of the batch's bytes

  --help                   this text; the trainer's own says more, with all defaults:
                           build/samples/samples/mnist_trainer/mnist_trainer --help
END
}

# Arguments that cannot be right are refused before anything is installed or built.
refuse() {
  echo "run_mnist.sh: $*" >&2
  exit 2
}
data=""
trainer=mnist_trainer
arguments=("$@")
for ((i = 0; i < $#; ++i)); do
  argument=${arguments[i]}
  case $argument in
    --help | -h)
      usage
      exit 0
      ;;
    --data) data=${arguments[i + 1]:-} ;;
    --data=*) data=${argument#--data=} ;;
    --*)
      if [[ ${argument%%=*} =~ ^--(gpus|ranks|checkpoint|every|resume|losses|checksums)$ ]]; then
        trainer=mnist_several_gpus
      fi
      grep -q -- "^  ${argument%%=*} " < <(usage) ||
        refuse "there is no option ${argument%%=*}; --help lists them"
      continue
      ;;
    *) continue ;;
  esac
  [[ -n $data ]] || refuse "--data wants the path of the digits"
  [[ -e $data ]] ||
    refuse "$data: no such file or folder (--data); data/README.md says where to get MNIST"
done

started_in=$PWD
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. .ci/packages.sh
. .ci/quiet.sh

stage="installing packages"
finish() {
  local code=$?
  if ((code != 0)); then echo "run_mnist.sh: FAILED while $stage (exit code $code)" >&2; fi
}
trap finish EXIT

feedline_install_packages build samples

# A folder of its own, without the tests and the packages that they need. Everything that is
# installed is built as well, so that `cmake --install build/samples` works.
build=$PWD/build/samples
mkdir -p "$build"
stage="configuring"
echo "run_mnist.sh: configuring $build"
cmake --preset release -B "$build" -D FEEDLINE_TESTS=OFF \
  >"$build/configure.log" 2>&1 ||
  { cat "$build/configure.log"; exit 1; }
tail -n 4 "$build/configure.log" | grep feedline
stage="building"
echo "run_mnist.sh: building with $(nproc) jobs; on two cores this takes a few minutes the first" \
  "time"
cmake --build "$build" --parallel "$(nproc)" \
  --target "$trainer" make_digits src/programs/all 2>&1 |
  tee "$build/build.log" | feedline_show_build run_mnist.sh

chosen=()
if [[ -z $data ]]; then
  digits=$PWD/data/digits
  chosen=(--data "$digits")
  for name in train-images-idx3 train-labels-idx1 t10k-images-idx3 t10k-labels-idx1; do
    if [[ ! -e $digits/$name-ubyte ]]; then
      stage="making digits"
      echo "run_mnist.sh: no --data given: making digits" \
        "(data/README.md says where MNIST is to be had)"
      "$build/data/make_digits" "$digits"
      break
    fi
  done
fi

stage="training"
cd "$started_in"  # so that a relative --data means what the caller meant
echo "run_mnist.sh: $trainer ${chosen[*]} $*"
"$build/samples/$trainer/$trainer" "${chosen[@]}" "$@"
