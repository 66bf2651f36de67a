#!/usr/bin/env bash
# Installs what is missing, builds the MNIST trainer, and trains.
#
#   samples/run_mnist.sh                               on digits it makes itself, in data/digits
#   samples/run_mnist.sh --data ~/mnist --epochs 10    arguments go to the trainer (--help lists them)
#
# On Debian 12 and Ubuntu 24.04, as root or with sudo; may be run again at any time. Uses CUDA where
# there is a toolkit, and a GPU where there is one.
set -euo pipefail
started_in=$PWD
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. .ci/packages.sh

stage="installing packages"
finish() {
  local code=$?
  if ((code != 0)); then echo "run_mnist.sh: FAILED while $stage (exit code $code)" >&2; fi
}
trap finish EXIT

feedline_install_packages build samples

# A folder of its own: without the tests, and so without what they need.
build=$PWD/build/samples
echo "run_mnist.sh: configuring and building $build with $(nproc) jobs"
stage="configuring"
cmake --preset release -B "$build" -D FEEDLINE_TESTS=OFF
stage="building"
cmake --build "$build" --parallel "$(nproc)" --target mnist_trainer make_digits

data=()
if [[ " $* " != *" --data "* && " $* " != *" --data="* && " $* " != *" --help "* && " $* " != *" -h "* ]]; then
  digits=$PWD/data/digits
  data=(--data "$digits")
  for name in train-images-idx3 train-labels-idx1 t10k-images-idx3 t10k-labels-idx1; do
    if [[ ! -e $digits/$name-ubyte ]]; then
      stage="making digits"
      echo "run_mnist.sh: no --data given: making digits (data/README.md says where MNIST is to be had)"
      "$build/data/make_digits" "$digits"
      break
    fi
  done
fi

stage="training"
cd "$started_in"  # so that a relative --data means what the caller meant
echo "run_mnist.sh: mnist_trainer ${data[*]} $*"
"$build/samples/mnist_trainer/mnist_trainer" "${data[@]}" "$@"
