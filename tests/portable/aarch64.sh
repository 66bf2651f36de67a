#!/usr/bin/env bash
# aarch64.sh WORK [REGEX]: cross-compiles feedline and its tests for aarch64 in WORK, and runs them
# by qemu-user: those whose names match REGEX, if it is given; for `digests` alone no other test is
# compiled. .ci/aarch64 runs it in a bare root of Debian 12, to which this adds an architecture and
# its packages.
#
# It uses clang, which fuses products and sums without being told to optimize: bytes that depend on
# that show here. Not built: programs, samples and parts that need a GPU. Not run: tests that start
# another program, which the emulator does not emulate; those that measure time; and those that ask
# the kernel for huge pages, of which the emulator does not tell.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
work=$(mkdir -p "$1" && readlink -f "$1")
only=${2:-.}

export DEBIAN_FRONTEND=noninteractive
dpkg --add-architecture arm64
apt-get -qq update
libraries=(libhdf5 libspdlog zlib1g libdeflate liblz4 libzstd libblosc libaec libzip libjpeg libpng
  libbz2 libzfp liblzo2)
apt-get -qq install --yes --no-install-recommends clang-14 lld-14 g++-aarch64-linux-gnu qemu-user \
  cmake ninja-build libboost-dev libcli11-dev catch2 nlohmann-json3-dev \
  "${libraries[@]/%/-dev:arm64}" >/dev/null

cmake -S . -B "$work" -G Ninja -D CMAKE_BUILD_TYPE=Debug -D CMAKE_CXX_FLAGS_DEBUG=-O0 \
  -D CMAKE_SYSTEM_NAME=Linux -D CMAKE_SYSTEM_PROCESSOR=aarch64 \
  -D CMAKE_C_COMPILER=clang-14 -D CMAKE_C_COMPILER_TARGET=aarch64-linux-gnu \
  -D CMAKE_CXX_COMPILER=clang++-14 -D CMAKE_CXX_COMPILER_TARGET=aarch64-linux-gnu \
  -D CMAKE_EXE_LINKER_FLAGS=-fuse-ld=lld -D CMAKE_CROSSCOMPILING_EMULATOR=qemu-aarch64 \
  -D CMAKE_INCLUDE_PATH=/usr/include/hdf5/serial \
  -D CMAKE_LIBRARY_PATH=/usr/lib/aarch64-linux-gnu/hdf5/serial \
  -D FEEDLINE_CUDA=OFF -D FEEDLINE_HDF5=ON -D FEEDLINE_GPL=ON -D FEEDLINE_WERROR=ON \
  -D FEEDLINE_PROGRAMS=OFF -D FEEDLINE_SAMPLES=OFF -D CMAKE_UNITY_BUILD=ON
programs=(digests_program unit_tests npz_tests zstd_tests lz4_tests bit_blocks_tests mixing_tests
  results_tests interop_tests formats_tests image_tests hdf5_tests hdf5_filter_tests
  hdf5_format_tests)
if [[ $only == digests ]]; then programs=(digests_program); fi
cmake --build "$work" --target "${programs[@]/#/feedline_}"
names=$(IFS='|' && echo "${programs[*]/#/feedline_}")
ctest --test-dir "$work" --output-on-failure --no-tests=error --parallel "$(nproc)" \
  --timeout 1200 --tests-regex "^(portable|$names): .*($only)" --exclude-regex "huge pages"
echo "aarch64.sh: feedline's tests pass on aarch64, by qemu-user"
