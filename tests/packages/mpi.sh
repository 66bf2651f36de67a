#!/usr/bin/env bash
# mpi.sh WORK: builds feedline with Debian's parallel HDF5 library, by Open MPI, and runs the sample
# of docs/guide/hdf5.md by mpirun: one process and two add up the same file to the same sum. Works
# in the root of a system that is for that alone:
#
#   .ci/bare-root bookworm tests/packages/mpi.sh /tmp/mpi
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
work=$(mkdir -p "$1" && readlink -f "$1")
export DEBIAN_FRONTEND=noninteractive
apt-get -qq update
apt-get -qq install --yes --no-install-recommends g++ cmake ninja-build libboost-dev libspdlog-dev \
  zlib1g-dev libhdf5-openmpi-dev openmpi-bin libcli11-dev >/dev/null

fail() {
  echo "mpi.sh: $*" >&2
  exit 1
}
cmake --preset release -B "$work/build" -D FEEDLINE_TESTS=OFF -D FEEDLINE_CUDA=OFF \
  -D FEEDLINE_HDF5=ON -D CMAKE_UNITY_BUILD=ON -D CMAKE_CXX_FLAGS_RELEASE=-O0
cmake --build "$work/build" --target hdf5_by_mpi feedline-convert
ldd "$work/build/samples/hdf5_by_mpi" | grep -q libhdf5_openmpi ||
  fail "the sample does not use the parallel library"

# 1,000 images of 28 by 28 bytes, each byte a 1.
{
  printf '\0\0\x08\x03\0\0\x03\xe8\0\0\0\x1c\0\0\0\x1c'
  head -c 784000 /dev/zero | tr '\0' '\1'
} >"$work/images"
"$work/build/src/programs/convert/feedline-convert" "image=$work/images" --output "$work/images.h5"
for processes in 1 2; do
  said=$(mpirun --allow-run-as-root --oversubscribe -np $processes \
    "$work/build/samples/hdf5_by_mpi" "$work/images.h5")
  echo "$said"
  # 1,000 samples in batches of 32 a process; the last batch is short.
  [[ $said == "$processes processes, sum 784000" ]] || fail "$processes processes said: $said"
done
echo "mpi.sh: feedline reads by a parallel HDF5 library, in processes of mpirun"
